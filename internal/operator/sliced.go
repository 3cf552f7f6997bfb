package operator

import (
	"math"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// Sliding are windows of one size, in event time, one beginning at every slide:
// tumbling ones if both are equal. Times are in milliseconds.
//
// Time is cut into slices, none of which reaches across the beginning or the end
// of a window. A record is added to the accumulator of its slice alone, however
// many windows it is in, and these are merged when a window ends, those that many
// windows share ahead of it. A slice is known by its end.
type Sliding struct {
	Size, Slide, Offset int64
}

// slice is how long a slice is.
func (s Sliding) slice() int64 {
	a, b := s.Size, s.Slide
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// end is the end of the first piece of time behind ts, on a grid of this width.
func (s Sliding) end(ts, width int64) int64 { return ts - floorMod(ts-s.Offset, width) + width }

// firstEnd is the end of the first window that a slice is in: windows begin at every
// slide, and end a size later.
func (s Sliding) firstEnd(slice int64) int64 {
	return slice + floorMod(s.Offset+s.Size-slice, s.Slide)
}

// lastEnd is the end of the last window that a slice is in: the one that begins
// last, at or before the slice.
func (s Sliding) lastEnd(slice int64) int64 {
	start := slice - s.slice()
	return start - floorMod(start-s.Offset, s.Slide) + s.Size
}

// Assign appends the windows of a record to dst, the earliest first.
func (s Sliding) Assign(dst []Window, ts int64) []Window {
	last := ts - floorMod(ts-s.Offset, s.Slide) // the beginning of the last one
	first := last - (s.Size-1-(ts-last))/s.Slide*s.Slide
	for start := first; start <= last; start += s.Slide {
		if start+s.Size > ts {
			dst = append(dst, Window{start, start + s.Size})
		}
	}
	return dst
}

// AggregateSlices makes the operator that aggregates the records of windows that
// slide in event time, emits result for each key of a window once, when event time
// has come to its end, and drops what comes later. a must have a Merge unless the
// windows are tumbling.
func AggregateSlices[K comparable, T, A, O, R any](s Sliding, key func(T) K, a state.Aggregator[T, A, O], late any, result func(k K, w Window, out O) R) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		keyed := newKeyed[K](c)
		accs, err := state.NewSliced[A](keyed.Backend, "slices")
		Check(err)
		o := &sliced[K, T, A, O, R]{
			Sliding: s, width: s.slice(), key: key, a: a, result: result, keyed: keyed, accs: accs,
			out: Output[R](out), c: c, late: c.Side[T](late), dropped: c.Late(), emitted: c.Emitted(),
			watermark: batch.NoTimestamp, suffixes: newSuffixes(c, s, keyed, accs, a.Merge),
		}
		if accs.InPlace() {
			o.each = func(i int, acc *A, created bool) { o.add(acc, created, o.at.vals[i]) }
		}
		c.Keep(c.OperatorID, Kept{Keyed: keyed.Backend, Lists: []KeptList{keptWatermark(c, "watermark", &o.watermark, &o.beyond)}, Prepare: func(int64) { o.drain() }})
		return &Receiver[T]{Push: o.push, Watermark: o.advance, Idle: o.out.Idle, Finish: func() {
			o.drain()
			o.out.Finish()
		}}
	})}
}

// sliced is the operator in one subtask.
type sliced[K comparable, T, A, O, R any] struct {
	Sliding
	width   int64
	key     func(T) K
	a       state.Aggregator[T, A, O]
	result  func(k K, w Window, out O) R
	keyed   *state.Keyed[K]
	accs    *state.Sliced[A]
	out     *Receiver[R]
	c       *Context
	late    *Receiver[T]
	dropped *int64
	emitted *int64

	watermark int64
	beyond    []passage          // of key groups that come from subtasks with later watermarks
	gathered  []*gathering[K, T] // by slice, the last used one first
	free      []*gathering[K, T]
	at        *gathering[K, T] // what each adds
	each      func(i int, acc *A, created bool)
	suffixes  *suffixes[K, A] // nil: each window merges its slices
}

// gathering is records of one slice that are folded together, so that the cache
// misses of their keys overlap.
type gathering[K comparable, T any] struct {
	slice int64
	keys  []K
	vals  []T
}

// push gathers a record, unless all its windows are over.
func (o *sliced[K, T, A, O, R]) push(v T, ts int64) {
	if ts == batch.NoTimestamp {
		o.c.failed(errNoEventTime)
	}
	slice := o.end(ts, o.width)
	if o.lastEnd(slice) < slice {
		return // between two windows
	}
	last := o.lastEnd(slice) - 1
	if o.watermark != batch.NoTimestamp && last <= o.watermark || len(o.beyond) > 0 && o.passed(o.key(v), last) {
		if o.late != nil {
			o.late.Push(v, ts)
		} else {
			*o.dropped++
		}
		return
	}
	g := o.gather(slice)
	g.keys, g.vals = append(g.keys, o.key(v)), append(g.vals, v)
	if len(g.keys) == foldRows {
		o.foldIn(g)
	}
}

// gather gives what is gathered of a slice.
func (o *sliced[K, T, A, O, R]) gather(slice int64) *gathering[K, T] {
	for i, g := range o.gathered {
		if g.slice == slice {
			if i > 0 {
				o.gathered[0], o.gathered[i] = g, o.gathered[0]
			}
			return g
		}
	}
	var g *gathering[K, T]
	if n := len(o.free); n > 0 {
		g, o.free = o.free[n-1], o.free[:n-1]
	} else {
		g = &gathering[K, T]{keys: make([]K, 0, foldRows), vals: make([]T, 0, foldRows)}
	}
	g.slice = slice
	o.gathered = append(o.gathered, g)
	o.gathered[0], o.gathered[len(o.gathered)-1] = g, o.gathered[0]
	return g
}

// foldIn adds what was gathered to the state.
func (o *sliced[K, T, A, O, R]) foldIn(g *gathering[K, T]) {
	if o.suffixes != nil {
		o.suffixes.changed(g.slice, g.keys)
	}
	if o.each != nil {
		o.at = g
		state.UpsertSlice(o.keyed, o.accs, g.slice, g.keys, o.each)
	} else {
		o.keyed.Ready(g.keys)
		for i := range g.keys {
			o.keyed.Use(i)
			acc, some := o.accs.Get(g.slice)
			o.add(&acc, !some, g.vals[i])
			o.accs.Set(g.slice, acc)
		}
	}
	clear(g.vals)
	g.keys, g.vals = g.keys[:0], g.vals[:0]
}

func (o *sliced[K, T, A, O, R]) add(acc *A, created bool, v T) {
	if created {
		*acc = o.a.Create()
	}
	o.a.Add(acc, v)
}

// drain adds all that was gathered to the state.
func (o *sliced[K, T, A, O, R]) drain() {
	for _, g := range o.gathered {
		o.foldIn(g)
	}
	o.free = append(o.free, o.gathered...)
	o.gathered = o.gathered[:0]
}

// advance fires the windows that a watermark ends, and drops the slices that none
// needs any more.
func (o *sliced[K, T, A, O, R]) advance(t int64) {
	o.drain()
	for _, end := range o.ended(t) {
		o.fire(Window{end - o.Size, end})
	}
	o.watermark = max(o.watermark, t)
	o.beyond = slices.DeleteFunc(o.beyond, func(p passage) bool { return p.at <= o.watermark })
	for _, slice := range slices.Clone(o.accs.Slices()) {
		if o.lastEnd(slice)-1 <= t {
			o.accs.Drop(slice)
		}
	}
	if o.suffixes != nil && len(o.accs.Slices()) == 0 {
		o.suffixes.drop()
	}
	o.out.Watermark(t)
}

// ended gives the ends of windows that have records and end at a watermark or
// before, but not before the last one, in order.
func (o *sliced[K, T, A, O, R]) ended(t int64) []int64 {
	var ends []int64
	for _, slice := range o.accs.Slices() {
		end, last := o.firstEnd(slice), o.lastEnd(slice)
		if o.watermark != batch.NoTimestamp && end-1 <= o.watermark {
			if last-1 <= o.watermark {
				continue
			}
			end += ((o.watermark-(end-1))/o.Slide + 1) * o.Slide
		}
		for ; end <= last && end-1 <= t; end += o.Slide {
			ends = append(ends, end)
			if end > math.MaxInt64-o.Slide {
				break
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// fire emits the result of a window for each key in it.
func (o *sliced[K, T, A, O, R]) fire(w Window) {
	within := slices.DeleteFunc(slices.Clone(o.accs.Slices()), func(slice int64) bool { return slice <= w.Start || slice > w.End })
	if len(within) == 1 {
		state.EachInSlice(o.keyed, o.accs, within[0], func(k K, acc A) bool {
			o.emit(k, w, &acc)
			return true
		})
		return
	}
	if o.suffixes == nil || !o.suffixes.each(w, within, func(k K, acc *A) { o.emit(k, w, acc) }) {
		o.merge(w, within)
	}
}

// merge emits the results of a window of several slices.
func (o *sliced[K, T, A, O, R]) merge(w Window, within []int64) {
	all := table[K, A](o.c, false)
	for _, slice := range within {
		state.EachInSlice(o.keyed, o.accs, slice, func(k K, acc A) bool {
			if into, created := all.Upsert(k, o.keyed.Hash(k)); created {
				*into = acc
			} else {
				o.a.Merge(into, acc)
			}
			return true
		})
	}
	all.Range(func(k K, acc *A) bool {
		o.emit(k, w, acc)
		return true
	})
}

func (o *sliced[K, T, A, O, R]) emit(k K, w Window, acc *A) {
	o.c.Signal.Attend()
	if len(o.beyond) > 0 && o.passed(k, w.Last()) {
		return
	}
	*o.emitted++
	o.out.Push(o.result(k, w, o.a.Result(acc)), w.Last())
}

// passed reports whether event time had come so far for a key, although the subtask began
// with less: what it had been late for stays so, and what was emitted is not once more.
func (o *sliced[K, T, A, O, R]) passed(k K, at int64) bool {
	group := keygroup.Group(o.keyed.Hash(k), o.c.MaxParallelism)
	return slices.ContainsFunc(o.beyond, func(p passage) bool { return p.first <= group && group <= p.last && at <= p.at })
}
