package operator

import (
	"container/heap"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/spill"
)

// Sorted makes the operator that emits all records at the end, in the order of
// compare; those that are equal in the order in which they came. It holds what
// its memory allows and puts the rest on disk.
func Sorted[T any](compare func(a, b T) int) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		o := Output[T](out)
		s, emitted := newSorter(c, compare), c.Emitted()
		return &Receiver[T]{
			Push:      s.push,
			Watermark: func(int64) {}, // all records come after the last one
			Idle:      func(bool) {},
			Finish: func() {
				s.finish(func(r *stamped[T]) {
					c.Signal.Attend()
					*emitted++
					o.Push(r.Value, r.Time)
				})
				o.Watermark(element.MaxWatermark)
				o.Finish()
			},
		}
	})}
}

// stamped is a record with its event time.
type stamped[T any] struct {
	Value T
	Time  int64
}

// A sorter sorts more records than it can hold: it sorts what it holds, writes
// that as a run, and merges the runs at the end, some of them before if there
// are too many.
//
// Invariant: runs are in the order in which their records came.
type sorter[T any] struct {
	c        *Context
	compare  func(a, b T) int
	plan     *codec.Plan[stamped[T]]
	budget   int
	size     int  // bytes of a record in memory, about
	indirect bool // records point to more, which size has from their encoding
	buf      []byte
	used     *int64 // of managed memory, for who measures it

	held  []stamped[T]
	runs  []*run[T]
	files map[*spill.Writer]struct{} // to be discarded
}

const (
	// runBlock is about how many bytes are written and read of a run at once.
	runBlock = 64 << 10
	// leastMerged and mostMerged bound how many runs are merged together.
	leastMerged, mostMerged = 4, 256
)

// newSorter makes a sorter. Records that cannot be encoded are refused now, and
// not when the memory is used up.
func newSorter[T any](c *Context, compare func(a, b T) int) *sorter[T] {
	plan, err := codec.For[stamped[T]]()
	if err != nil {
		Abort(fmt.Errorf("%s sorts and may have to put its records on disk, but they cannot be encoded: %w", c.Operator, err))
	}
	return &sorter[T]{
		c: c, compare: compare, plan: plan, budget: budget(c), used: c.managed(),
		size: int(reflect.TypeFor[stamped[T]]().Size()), indirect: !plan.PointerFree(),
	}
}

func (s *sorter[T]) push(v T, ts int64) {
	// The slice doubles at most: while it is copied, it is there three times.
	if n := len(s.held) * s.size; n > s.budget || 3*n > s.budget && len(s.held) == cap(s.held) {
		s.spill()
	}
	s.held = append(s.held, stamped[T]{v, ts})
	if len(s.held)%foldRows == 0 {
		if s.indirect {
			s.measure()
		}
		*s.used = int64(len(s.held) * s.size)
	}
}

// measure learns how large records are from some of the last.
func (s *sorter[T]) measure() {
	var err error
	s.buf, err = s.plan.Append(s.buf[:0], s.held[len(s.held)-sampled:])
	s.check(err)
	now := int(reflect.TypeFor[stamped[T]]().Size()) + len(s.buf)/sampled
	s.size = max(1, s.size+(now-s.size)/4)
}

func (s *sorter[T]) check(err error) {
	if err != nil {
		Abort(fmt.Errorf("the records that %s sorts on disk: %w", s.c.Operator, err))
	}
}

// sort sorts what is held.
func (s *sorter[T]) sort() {
	slices.SortStableFunc(s.held, func(a, b stamped[T]) int { return s.compare(a.Value, b.Value) })
}

// spill writes what is held as a run.
func (s *sorter[T]) spill() {
	s.sort()
	w := s.newRun()
	for i := range s.held {
		w.add(&s.held[i])
	}
	clear(s.held)
	s.held, *s.used = s.held[:0], 0
	s.runs = append(s.runs, w.finish())
}

// finish calls emit with all records in order.
func (s *sorter[T]) finish(emit func(*stamped[T])) {
	if len(s.runs) == 0 {
		s.sort()
		for i := range s.held {
			emit(&s.held[i])
		}
		s.held = nil
		return
	}
	if len(s.held) > 0 {
		s.spill()
	}
	s.held = nil
	together := max(leastMerged, min(mostMerged, s.budget/(4*runBlock)))
	for len(s.runs) > together {
		s.reduce(together)
	}
	s.merge(s.runs, emit)
	s.runs = nil
}

// reduce merges as many runs as must be before so many can be merged together,
// each at most once. Neighbours, so that equal records stay in order.
func (s *sorter[T]) reduce(together int) {
	var merged []*run[T]
	left, excess := s.runs, len(s.runs)-together
	for excess > 0 && len(left) > 1 {
		n := min(together, excess+1, len(left))
		w := s.newRun()
		s.merge(left[:n], w.add)
		merged, left = append(merged, w.finish()), left[n:]
		excess -= n - 1
	}
	s.runs = append(merged, left...)
}

// merge calls emit with the records of some runs in order, and discards them.
func (s *sorter[T]) merge(runs []*run[T], emit func(*stamped[T])) {
	m := &merging[T]{compare: s.compare}
	for i, r := range runs {
		if r.number = i; r.open() {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	for len(m.runs) > 0 {
		r := m.runs[0]
		emit(&r.vals[r.next])
		if r.next++; r.next < len(r.vals) || r.load() {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	for _, r := range runs {
		r.discard()
	}
}

// merging is a heap of runs by their next record, and of equal ones by number.
type merging[T any] struct {
	compare func(a, b T) int
	runs    []*run[T]
}

func (m *merging[T]) Len() int      { return len(m.runs) }
func (m *merging[T]) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *merging[T]) Push(any)      {}

func (m *merging[T]) Less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	if order := m.compare(a.vals[a.next].Value, b.vals[b.next].Value); order != 0 {
		return order < 0
	}
	return a.number < b.number
}

func (m *merging[T]) Pop() any {
	last := len(m.runs) - 1
	m.runs[last] = nil
	m.runs = m.runs[:last]
	return nil
}

// A run is sorted records on disk: first written, then read once.
type run[T any] struct {
	sorter *sorter[T]
	number int // among those it is merged with
	writer *spill.Writer
	data   *spill.Data
	reader *spill.Reader
	vals   []stamped[T] // a block, being filled or read
	next   int          // record to be read
	rows   int          // records of a block that is filled
}

// newRun makes a run that is to be written.
func (s *sorter[T]) newRun() *run[T] {
	if s.c.Scratch == nil {
		Abort(fmt.Errorf("the records of %s need more than %d bytes, and there is no directory for temporary files (io.tmp.dirs)", s.c.Operator, s.budget))
	}
	w, err := spill.NewWriter(s.c.Scratch, fmt.Sprintf("%s-%d-run", s.c.Operator, s.c.Subtask), 1, 4*runBlock)
	s.check(err)
	if s.files == nil {
		s.files = map[*spill.Writer]struct{}{}
		s.c.OnClose(func(bool) {
			for w := range s.files {
				_ = w.Discard()
			}
		})
	}
	s.files[w] = struct{}{}
	return &run[T]{sorter: s, writer: w, rows: max(1, min(batch.MaxRows, runBlock/s.size))}
}

// add appends a record, which is no less than the one before.
func (r *run[T]) add(v *stamped[T]) {
	if r.vals = append(r.vals, *v); len(r.vals) >= r.rows {
		r.write()
	}
}

func (r *run[T]) write() {
	s := r.sorter
	s.c.Signal.Attend()
	dst, err := r.writer.Begin()
	if err == nil {
		dst, err = s.plan.Append(dst, r.vals)
	}
	if err == nil {
		err = r.writer.End(0, len(r.vals), dst)
	}
	s.check(err)
	clear(r.vals)
	r.vals = r.vals[:0]
}

// finish ends the writing.
func (r *run[T]) finish() *run[T] {
	if len(r.vals) > 0 {
		r.write()
	}
	var err error
	r.data, err = r.writer.Finish()
	r.sorter.check(err)
	r.vals = nil
	return r
}

// open begins the reading. It is false if there are no records.
func (r *run[T]) open() bool {
	var err error
	r.reader, err = r.data.Read(shuffle.One(0), nil)
	r.sorter.check(err)
	return r.load()
}

// load reads the next block. It is false at the end.
func (r *run[T]) load() bool {
	s := r.sorter
	s.c.Signal.Attend()
	records, encoded, err := r.reader.Next()
	s.check(err)
	if encoded == nil {
		return false
	}
	vals, rest, err := s.plan.Decode(r.vals[:0], records, encoded)
	if err == nil && (len(rest) > 0 || records == 0) {
		err = errors.New("not as many records as it says")
	}
	if err != nil {
		s.check(fmt.Errorf("decode a block of %d records: %w", records, err))
	}
	r.vals, r.next = vals, 0
	return true
}

// discard gives the file back.
func (r *run[T]) discard() {
	delete(r.sorter.files, r.writer)
	_ = r.writer.Discard() // what cannot be removed now goes with its directory
	r.reader, r.vals = nil, nil
}
