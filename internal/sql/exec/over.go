package exec

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// over makes the operator that adds columns computed over the rows around each. It sorts
// its rows, on disk if need be, and holds whole partitions: one that is larger than the
// memory is refused, unless all calls look only at rows before, of which they keep what
// they need.
func (e *environment) over(n *plan.Over) (operator.Factory, error) {
	for i := range n.Calls {
		if _, err := newOverCall(n, &n.Calls[i]); err != nil {
			return nil, err
		}
	}
	return managing{transform(func(c *operator.Context, emit emitter) stage {
		o := newPartitions(n, emit)
		o.memory, o.name = budget(c), c.Operator
		keys := o.partition
		rows := newSorter(newDisk(c), o.schemaOf(), append(slices.Clone(keys), n.Order...), -1, budget(c)/2)
		return stage{push: rows.add, finish: func() {
			sorted := rows.finish()
			for b := sorted.next(); b != nil; b = sorted.next() {
				o.take(b)
			}
			o.give(o.rows.N)
		}}
	})}, nil
}

// partitions computes calls over sorted rows, partition by partition.
type partitions struct {
	node      *plan.Over
	emit      emitter
	partition ordering
	order     ordering
	calls     []overCall

	rows   *batch.Columns
	starts []int // where partitions begin in rows

	memory int // for the rows of a partition
	name   string
	// onward says that calls need no row but those before, and peers that those of equal
	// order must be together.
	onward, peers bool
	// before is how many rows of the first partition in rows were given already.
	before int
}

// overCall computes one call.
type overCall interface {
	// compute appends the results of a partition's rows.
	compute(out *batch.Column, p *partition)
}

// partition is the rows of one.
type partition struct {
	rows     *batch.Columns
	from, to int
	// before is how many rows of the partition came before from and are gone. It is 0 but
	// for calls that go onward.
	before int
	order  ordering
	peers  []int // where the peers of each row end, counted from the partition's first; made when asked for
	begins []int // and where they begin
}

func newPartitions(n *plan.Over, emit emitter) *partitions {
	o := &partitions{node: n, emit: emit, order: n.Order, onward: true}
	for _, k := range n.Partition {
		o.partition = append(o.partition, plan.SortKey{Column: k})
	}
	for i := range n.Calls {
		c, err := newOverCall(n, &n.Calls[i])
		operator.Check(err)
		o.calls = append(o.calls, c)
		onward, peers := goesOnward(&n.Calls[i])
		o.onward, o.peers = o.onward && onward, o.peers || peers
	}
	o.rows = newBatch(o.schemaOf())
	return o
}

// schemaOf are the input's columns.
func (o *partitions) schemaOf() []types.Type { return o.node.Inputs[0].Common().Types() }

// take takes rows in order.
func (o *partitions) take(b *batch.Columns) {
	had := o.rows.N
	addRows(o.rows, b, nil)
	for i := had; i < o.rows.N; i++ {
		if i == 0 || o.partition.compare(o.rows, i-1, o.rows, i) != 0 {
			o.starts = append(o.starts, i)
		}
	}
	if last := o.starts[len(o.starts)-1]; last >= batch.MaxRows {
		o.give(last)
	}
	if o.onward && o.rows.N >= onwardRows && len(o.starts) == 1 {
		if cut := o.cut(); cut > 0 {
			o.give(cut)
		}
	}
	if o.memory > 0 && bytesOf(o.rows) > o.memory {
		operator.Abort(fmt.Errorf("%s: a partition of more than %d rows needs more than %d bytes of memory: partition by more columns, or give the slot more managed memory", o.name, o.rows.N-1, o.memory))
	}
}

// onwardRows is how many rows of a partition are held where it can be cut.
const onwardRows = 8 * batch.MaxRows

// goesOnward reports whether a call needs no row but those before, and whether it needs
// to know which rows are of equal order.
func goesOnward(c *plan.OverCall) (onward, peers bool) {
	switch c.Function {
	case "ROW_NUMBER":
		return true, false
	case "RANK", "DENSE_RANK":
		return true, true
	case "PERCENT_RANK", "CUME_DIST", "NTILE", "LEAD", "LAG", "NTH_VALUE":
		return false, true
	}
	return c.Start.Kind == plan.UnboundedPreceding && c.End.Kind == plan.CurrentRow, c.Unit == plan.Range
}

// cut is before which row the partition may be cut; 0: before none.
func (o *partitions) cut() int {
	i := o.rows.N - 1
	for ; o.peers && i > 0 && o.order.compare(o.rows, i-1, o.rows, i) == 0; i-- {
	}
	return i
}

// give computes and emits the first n rows, which are whole partitions.
func (o *partitions) give(n int) {
	if n == 0 {
		return
	}
	width := len(o.rows.Cols)
	results := newBatch(o.node.Types()[width:])
	for k, from := range o.starts {
		if from >= n {
			break
		}
		to := n
		if k+1 < len(o.starts) {
			to = min(n, o.starts[k+1])
		}
		p := &partition{rows: o.rows, from: from, to: to, order: o.order}
		if k == 0 {
			p.before = o.before
		}
		for i, c := range o.calls {
			c.compute(results.Cols[i], p)
		}
	}
	for from := 0; from < n; from += batch.MaxRows {
		rows := between(from, min(n, from+batch.MaxRows))
		out := &batch.Columns{N: len(rows)}
		for _, c := range o.rows.Cols {
			out.Cols = append(out.Cols, c.Rows(rows))
		}
		for _, c := range results.Cols {
			out.Cols = append(out.Cols, c.Rows(rows))
		}
		o.emit(out)
	}
	rest := newBatch(o.schemaOf())
	addRows(rest, o.rows, between(n, o.rows.N))
	switch last := o.starts[len(o.starts)-1]; {
	case last >= n: // another begins where the rest does
		o.before = 0
	case last == 0: // the rest is of the one that was cut, or there is none
		o.before += n
	default:
		o.before = n - last
	}
	o.rows, o.starts = rest, o.starts[:0]
	if rest.N > 0 {
		o.starts = append(o.starts, 0)
	}
}

// between are the numbers from one to before another.
func between(from, to int) []int32 {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	return rows
}

func (p *partition) len() int { return p.to - p.from }

// peersOf is where the rows equal to row i begin and end, counted from the partition's
// first.
func (p *partition) peersOf(i int) (from, to int) {
	if p.peers == nil {
		n := p.len()
		p.begins, p.peers = make([]int, n), make([]int, n)
		begin := 0
		for k := range n {
			if k > 0 && p.order.compare(p.rows, p.from+k-1, p.rows, p.from+k) != 0 {
				for j := begin; j < k; j++ {
					p.peers[j] = k
				}
				begin = k
			}
			p.begins[k] = begin
		}
		for j := begin; j < n; j++ {
			p.peers[j] = n
		}
	}
	return p.begins[i], p.peers[i]
}

// newOverCall finds what computes a call.
func newOverCall(n *plan.Over, c *plan.OverCall) (overCall, error) {
	switch c.Function {
	case "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE":
		return &ranking{call: c}, nil
	case "LEAD", "LAG":
		return &shifting{call: c}, nil
	case "NTH_VALUE":
		return &nth{frames{order: n.Order, call: c}}, nil
	}
	acc, err := newAccumulator(&c.AggregateCall)
	if err != nil {
		return nil, err
	}
	if c.Unit == plan.Range && (c.Start.Kind == plan.Preceding || c.Start.Kind == plan.Following || c.End.Kind == plan.Preceding || c.End.Kind == plan.Following) && len(n.Order) != 1 {
		return nil, fmt.Errorf("%s: a RANGE with distances has %d sort keys, want 1", c.Function, len(n.Order))
	}
	f := &framed{frames: frames{order: n.Order, call: c}, aggregateCall: aggregateCall{AggregateCall: &c.AggregateCall, accumulator: acc}}
	if c.Distinct {
		f.distinct = newDistinct(c.ArgTypes)
	}
	return f, nil
}
