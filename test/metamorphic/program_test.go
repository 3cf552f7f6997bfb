package metamorphic

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/stream"
)

// item is the record of the random programs. What a step makes of it never depends
// on the order in which records of different subtasks come.
type item struct{ Key, Val int64 }

type items = stream.DataStream[item]

// step is one operation of a random program.
type step struct {
	name  string
	build func(items) items
}

// program is a random program over the numbers from 0.
type program struct {
	records int64
	steps   []step
}

func newProgram(r *rand.Rand) *program {
	p := &program{records: 100 + r.Int64N(300)}
	add := func(n int, from func(*rand.Rand) step) {
		for range n {
			p.steps = append(p.steps, from(r))
		}
	}
	add(r.IntN(4), stateless)
	add(r.IntN(2), timed)
	add(r.IntN(3), stateless)
	add(r.IntN(3), keyed)
	add(r.IntN(2), stateless)
	return p
}

func (p *program) String() string {
	names := []string{fmt.Sprintf("%d records", p.records)}
	for _, s := range p.steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// failures are those that a run still has to meet.
type failures struct {
	left  atomic.Int64
	every int64 // records between two of them
	seen  atomic.Int64
}

// build adds the program to e, with failures behind some of its steps.
func (p *program) build(e *stream.Env, f *failures, behind int) items {
	s := stream.Sequence(e, 0, p.records-1).
		Map(slowly).
		Watermarks(stream.Monotonic(func(v int64) time.Time { return time.UnixMilli(v * 10) })).
		Map(func(v int64) item { return item{v % 7, v} })
	for i, step := range p.steps {
		if i == behind {
			s = s.Map(f.meet)
		}
		s = step.build(s)
	}
	if behind >= len(p.steps) {
		s = s.Map(f.meet)
	}
	return s
}

// meet fails now and then, as long as failures are left.
func (f *failures) meet(v item) item {
	if f.seen.Add(1)%f.every == 0 && f.left.Add(-1) >= 0 {
		panic(errors.New("it was to fail"))
	}
	return v
}

// stateless draws a step that keeps nothing.
func stateless(r *rand.Rand) step {
	n := r.Int64N(5) + 2
	move := func(v item) item { return item{(v.Key*n + v.Val) % 11, v.Val + n} }
	keep := func(v item) bool { return (v.Key+v.Val)%n != 0 }
	switch r.IntN(10) {
	case 0:
		return step{fmt.Sprint("Map ", n), func(s items) items { return s.Map(move) }}
	case 1:
		return step{fmt.Sprint("Filter ", n), func(s items) items { return s.Filter(keep) }}
	case 2:
		return step{"FlatMap", func(s items) items {
			return s.FlatMap(func(v item) iter.Seq[item] { return slices.Values([]item{v, {v.Key, -v.Val}}[:1+v.Val&1]) })
		}}
	case 3:
		return step{"Rebalance", items.Rebalance}
	case 4:
		return step{"Rescale", items.Rescale}
	case 5:
		return step{"Shuffle", items.Shuffle}
	case 6:
		return step{"Union", func(s items) items { return s.Map(move).Union(s.Filter(keep)) }}
	case 7:
		p := r.IntN(4) + 1
		return step{fmt.Sprint("Map at parallelism ", p), func(s items) items { return s.Map(move).Parallelism(p) }}
	case 8:
		return step{"PartitionBy", func(s items) items {
			return s.PartitionBy(func(v item, of int) int { return int(uint64(v.Val) % uint64(of)) })
		}}
	}
	return step{"Map in a task of its own", func(s items) items { return s.Map(move).DisableChaining() }}
}

func keyOf(v item) int64 { return v.Key }

// timed draws a step of event time, whose results come with it.
func timed(r *rand.Rand) step {
	size := time.Duration(r.IntN(5)+1) * 50 * time.Millisecond
	windowed := func(name string, w stream.Windows) step {
		return step{fmt.Sprint(name, " of ", size), func(s items) items {
			return s.KeyBy(keyOf).Window(w).Process(func() stream.WindowFunction[int64, item, item] { return summer{} })
		}}
	}
	switch r.IntN(5) {
	case 0:
		return windowed("tumbling windows", stream.Tumbling(size))
	case 1:
		return windowed("sliding windows", stream.Sliding(2*size, size))
	case 2:
		return windowed("sessions", stream.Session(size/5))
	case 3:
		return step{fmt.Sprint("sliding counts of ", size), func(s items) items {
			return s.KeyBy(keyOf).Window(stream.Sliding(2*size, size)).Count().
				Map(func(w stream.Windowed[int64, int64]) item { return item{w.Key, w.Start.UnixMilli() + w.Value<<20} })
		}}
	}
	return step{fmt.Sprint("timers of ", size), func(s items) items {
		return s.KeyBy(keyOf).Process(func() stream.KeyedProcessFunction[int64, item, item] { return &buckets{size: size.Milliseconds()} })
	}}
}

// summer gives the sum of a window's values, and where it begins and ends.
type summer struct{}

func (summer) Process(c *stream.WindowContext[int64], records iter.Seq[item], emit func(item)) error {
	sum := c.Start.UnixMilli() + 3*c.End.UnixMilli()
	for v := range records {
		sum += v.Val * 31
	}
	emit(item{c.Key, sum})
	return nil
}

// buckets adds values up by time, in a map whose entries timers remove.
type buckets struct {
	size int64
	sums *stream.MapState[int64, int64]
}

func (b *buckets) Open(c *stream.OpenContext) error {
	b.sums = stream.NewMapState[int64, int64](c, "sums")
	return nil
}

func (b *buckets) Process(v item, c *stream.KeyedContext[int64], _ func(item)) error {
	at, _ := c.Timestamp()
	end := (at.UnixMilli()/b.size + 1) * b.size
	sum, _ := b.sums.Get(end)
	b.sums.Put(end, sum+v.Val)
	c.RegisterEventTimer(time.UnixMilli(end))
	return nil
}

func (b *buckets) OnTimer(t stream.Timer, c *stream.KeyedContext[int64], emit func(item)) error {
	sum, _ := b.sums.Get(t.At.UnixMilli())
	b.sums.Remove(t.At.UnixMilli())
	emit(item{c.Key(), sum ^ t.At.UnixMilli()})
	return nil
}

// keyed draws a step with keyed state in which the order of records does not show.
func keyed(r *rand.Rand) step {
	process := func(name string, f func() stream.KeyedProcessFunction[int64, item, item]) step {
		return step{name, func(s items) items { return s.KeyBy(keyOf).Process(f) }}
	}
	switch r.IntN(4) {
	case 0:
		return process("numbers", func() stream.KeyedProcessFunction[int64, item, item] { return &numbers{} })
	case 1:
		return process("distinct", func() stream.KeyedProcessFunction[int64, item, item] { return &distinct{} })
	case 2:
		return step{"Count", func(s items) items {
			return s.KeyBy(keyOf).Count().Map(func(p stream.Pair[int64, int64]) item { return item{p.Key, p.Value} })
		}}
	}
	return step{"Connect", func(s items) items {
		other := s.Map(func(v item) item { return item{v.Val % 5, 1} })
		return s.KeyBy(keyOf).Connect(other.KeyBy(keyOf)).
			Process(func() stream.KeyedCoProcessFunction[int64, item, item, item] { return &sides{} })
	}}
}

// numbers numbers the records of each key, in a list's length.
type numbers struct{ all *stream.ListState[int64] }

func (n *numbers) Open(c *stream.OpenContext) error {
	n.all = stream.NewListState[int64](c, "all")
	return nil
}

func (n *numbers) Process(_ item, c *stream.KeyedContext[int64], emit func(item)) error {
	n.all.Add(1)
	emit(item{c.Key(), int64(len(n.all.Get()))})
	return nil
}

// distinct lets the first of equal records pass.
type distinct struct{ seen *stream.MapState[int64, bool] }

func (d *distinct) Open(c *stream.OpenContext) error {
	d.seen = stream.NewMapState[int64, bool](c, "seen")
	return nil
}

func (d *distinct) Process(v item, _ *stream.KeyedContext[int64], emit func(item)) error {
	if _, old := d.seen.Get(v.Val); !old {
		d.seen.Put(v.Val, true)
		emit(v)
	}
	return nil
}

// sides counts the records of both sides of a key.
type sides struct{ left, right *stream.ValueState[int64] }

func (s *sides) Open(c *stream.OpenContext) error {
	s.left, s.right = stream.NewValueState[int64](c, "left"), stream.NewValueState[int64](c, "right")
	return nil
}

func (s *sides) Process1(_ item, c *stream.KeyedContext[int64], emit func(item)) error {
	return next(s.left, c, 1, emit)
}

func (s *sides) Process2(_ item, c *stream.KeyedContext[int64], emit func(item)) error {
	return next(s.right, c, -1, emit)
}

func next(n *stream.ValueState[int64], c *stream.KeyedContext[int64], sign int64, emit func(item)) error {
	v, _ := n.Value()
	n.Update(v + 1)
	emit(item{c.Key(), sign * (v + 1)})
	return nil
}
