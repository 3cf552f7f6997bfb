package gofunc

import (
	"fmt"
	"reflect"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Aggregator is how values make an accumulator, and that a result.
type Aggregator[In, Acc, Out any] struct {
	Create func() Acc
	Add    func(acc *Acc, v In)
	Merge  func(acc *Acc, other Acc)
	Result func(acc *Acc) Out
}

// Aggregate makes a function of many rows. Accumulators travel between processes and to
// disk as package codec writes them.
func Aggregate[In, Acc, Out any](name string, a Aggregator[In, Acc, Out], o Options) (*expr.Function, error) {
	s, err := takeOne(name, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	if err != nil {
		return nil, err
	}
	if err := s.settle(o); err != nil {
		return nil, err
	}
	plan, err := codec.For[Acc]()
	if err != nil {
		return nil, fmt.Errorf("accumulator: %w", err)
	}
	f := s.entry(o)
	f.Infer = func(site *expr.Site) (types.Type, error) {
		_, err := s.infer(site)
		return s.returns, err
	}
	f.Aggregate = &expr.Aggregate{State: []types.Type{types.Bytes().NotNull()}, Open: func(args []types.Type, result types.Type) (expr.States, error) {
		bind, at := inputOf[In](s, args, time.UTC)
		return &states[In, Acc, Out]{signature: s, Aggregator: a, plan: plan, bind: bind, at: at, strictly: s.strict(len(args)), write: s.result.putter(result)}, nil
	}}
	return f, nil
}

// states are the accumulators of all groups.
type states[In, Acc, Out any] struct {
	*signature
	Aggregator[In, Acc, Out]
	plan     *codec.Plan[Acc]
	bind     func(args []*batch.Column)
	at       func(i int) (In, error)
	strictly []int
	write    put

	all []Acc
	one []Acc  // scratch
	buf []byte // scratch
	// sampled is about how many bytes an accumulator takes beside its own memory: every so
	// often one is encoded to see.
	sampled, samples int
}

// Grow makes room for n groups.
func (a *states[In, Acc, Out]) Grow(n int) {
	for len(a.all) < n {
		a.all = append(a.all, a.Create())
	}
}

// Update adds rows to their groups.
func (a *states[In, Acc, Out]) Update(groups []int32, args []*batch.Column, rows []int32) (err error) {
	a.bind(args)
	row := 0
	defer recovered(a.name, &row, &err)
	for r, g := range groups {
		if row = r; rows != nil {
			row = int(rows[r])
		}
		if anyNull(args, a.strictly, row) {
			continue
		}
		v, err := a.at(row)
		if err != nil {
			return failedAt(a.signature, row, err)
		}
		a.Add(&a.all[g], v)
	}
	if len(groups) > 0 {
		return a.sample(groups[0])
	}
	return nil
}

// Merge adds states to their groups.
func (a *states[In, Acc, Out]) Merge(groups []int32, of []*batch.Column) (err error) {
	row := 0
	defer recovered(a.name, &row, &err)
	for r, g := range groups {
		row = r
		one, _, err := a.plan.Decode(a.one[:0], 1, of[0].Bytes(r))
		if err != nil {
			return fmt.Errorf("read an accumulator of %s: %w", a.name, err)
		}
		a.Aggregator.Merge(&a.all[g], one[0])
		clear(one) // what Merge has kept, it keeps
		a.one = one
	}
	if len(groups) > 0 {
		return a.sample(groups[0])
	}
	return nil
}

// sample looks how large an accumulator is.
func (a *states[In, Acc, Out]) sample(group int32) error {
	if a.plan.PointerFree() {
		return nil
	}
	if err := a.encode(int(group)); err != nil {
		return err
	}
	a.samples++
	weight := min(a.samples, 16)
	a.sampled += (len(a.buf) - a.sampled) / weight
	return nil
}

// encode writes the accumulator of a group to buf.
func (a *states[In, Acc, Out]) encode(group int) (err error) {
	a.buf, err = a.plan.Append(a.buf[:0], a.all[group:group+1])
	if err != nil {
		return fmt.Errorf("write an accumulator of %s: %w", a.name, err)
	}
	return nil
}

// AppendStates appends the accumulators of groups from to before to.
func (a *states[In, Acc, Out]) AppendStates(out []*batch.Column, from, to int) error {
	for g := from; g < to; g++ {
		if err := a.encode(g); err != nil {
			return err
		}
		out[0].AppendBytes(a.buf)
	}
	return nil
}

// AppendResults appends the results of groups from to before to.
func (a *states[In, Acc, Out]) AppendResults(out *batch.Column, from, to int) (err error) {
	row := 0 // no row has to do with it
	defer recovered(a.name, &row, &err)
	for g := from; g < to; g++ {
		v := a.Result(&a.all[g])
		a.write(out, reflect.ValueOf(&v).Elem())
	}
	return nil
}

// Size is about how many bytes all accumulators take.
func (a *states[In, Acc, Out]) Size() int {
	const overhead = 2 // of memory against the encoding
	return cap(a.all)*int(reflect.TypeFor[Acc]().Size()) + len(a.all)*a.sampled*overhead
}

// Clear forgets all groups.
func (a *states[In, Acc, Out]) Clear() { a.all = nil }
