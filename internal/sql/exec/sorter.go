package exec

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// iterator gives batches one after the other; nil: there is none left. A batch holds
// until the next call.
type iterator interface{ next() *batch.Columns }

// sorter sorts more rows than it can hold: it sorts what it holds, writes that as a run,
// and merges the runs at the end. Equal rows stay in their order.
//
// Invariant: runs are in the order in which their rows came.
type sorter struct {
	order  ordering
	schema []types.Type
	budget int
	most   int // rows that are wanted, the first; below 0: all
	held   *batch.Columns
	runs   []*file
	disk   *disk

	entries []entry
	wanted  []int32 // scratch
	cut     int     // held rows after which those that are not wanted are dropped
	bound   *batch.Columns
}

// entry is a row of what is held.
type entry struct {
	prefix uint64
	row    int32
}

// leastMerged and mostMerged bound how many runs are merged together.
const leastMerged, mostMerged = 4, 256

// mostKept is the most rows of which a sorter only keeps the first, and does not sort all.
const mostKept = 100_000

func newSorter(d *disk, schema []types.Type, order ordering, most int64, budget int) *sorter {
	s := &sorter{order: order, schema: schema, budget: min(budget, 1<<30), most: -1, held: newBatch(schema), disk: d}
	if most >= 0 && most <= mostKept {
		s.most = int(most)
		s.cut = max(4096, 2*s.most)
	}
	return s
}

// add takes the rows of a batch.
func (s *sorter) add(b *batch.Columns) {
	if s.most == 0 {
		return
	}
	if s.bound != nil {
		s.wanted = s.wanted[:0]
		for r := range b.Len() {
			row := at(b.Sel, r)
			if s.order.compare(b, row, s.bound, 0) < 0 {
				s.wanted = append(s.wanted, int32(row))
			}
		}
		if len(s.wanted) == 0 {
			return
		}
		addRows(s.held, b, s.wanted)
	} else {
		addRows(s.held, b, nil)
	}
	if s.most >= 0 && s.held.N >= s.cut {
		s.drop()
	}
	// Entries and the growth of columns by doubling take about as much again.
	if bytesOf(s.held)+s.held.N*16 > s.budget/2 {
		s.spill()
	}
}

// sort makes the entries of what is held, in order.
func (s *sorter) sort() []entry {
	s.entries = resize(s.entries, s.held.N)
	for i := range s.entries {
		s.entries[i] = entry{s.order.prefix(s.held, i), int32(i)}
	}
	slices.SortFunc(s.entries, func(a, b entry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if order := s.order.compare(s.held, int(a.row), s.held, int(b.row)); order != 0 {
			return order
		}
		return cmp.Compare(a.row, b.row)
	})
	return s.entries
}

// drop keeps the rows that are wanted, and learns which later ones are not.
func (s *sorter) drop() {
	sorted := s.sort()[:s.most]
	kept := newBatch(s.schema)
	addRows(kept, s.held, rowsOf(sorted))
	s.held = kept
	s.bound = newBatch(s.schema)
	addRows(s.bound, kept, []int32{int32(kept.N - 1)})
}

func rowsOf(entries []entry) []int32 {
	rows := make([]int32, len(entries))
	for i, e := range entries {
		rows[i] = e.row
	}
	return rows
}

// spill writes what is held as a run.
func (s *sorter) spill() {
	f := s.disk.create(1, shape(s.schema))
	sorted := s.sort()
	for len(sorted) > 0 {
		n := min(batch.MaxRows, len(sorted))
		f.add(0, s.held, rowsOf(sorted[:n]))
		sorted = sorted[n:]
	}
	f.finish()
	s.runs = append(s.runs, f)
	s.held, s.entries = newBatch(s.schema), nil
}

// finish gives all rows in order. Runs are discarded when they have been read.
func (s *sorter) finish() iterator {
	if len(s.runs) == 0 {
		return &heldRows{held: s.held, sorted: s.sort(), out: newBatch(s.schema)}
	}
	if s.held.N > 0 {
		s.spill()
	}
	together := max(leastMerged, min(mostMerged, s.budget/(4*blockBytes)))
	for len(s.runs) > together {
		s.reduce(together)
	}
	return s.merge(s.runs)
}

// reduce merges as many runs as must be before so many can be merged together, each at
// most once. Neighbours, so that equal rows stay in order.
func (s *sorter) reduce(together int) {
	var merged []*file
	left, excess := s.runs, len(s.runs)-together
	for excess > 0 && len(left) > 1 {
		n := min(together, excess+1, len(left))
		f := s.disk.create(1, shape(s.schema))
		m := s.merge(left[:n])
		for b := m.next(); b != nil; b = m.next() {
			f.add(0, b, nil)
		}
		f.finish()
		merged, left = append(merged, f), left[n:]
		excess -= n - 1
	}
	s.runs = append(merged, left...)
}

// heldRows gives sorted rows that are in memory.
type heldRows struct {
	held   *batch.Columns
	sorted []entry
	out    *batch.Columns
}

func (h *heldRows) next() *batch.Columns {
	n := min(batch.MaxRows, len(h.sorted))
	if n == 0 {
		return nil
	}
	clearBatch(h.out)
	addRows(h.out, h.held, rowsOf(h.sorted[:n]))
	h.sorted = h.sorted[n:]
	return h.out
}

// merge gives the rows of some runs in order.
func (s *sorter) merge(runs []*file) *merging {
	m := &merging{order: s.order, out: newBatch(s.schema)}
	for i, f := range runs {
		r := &run{number: i, file: f, reader: f.reader(0)}
		if r.load(s.order) {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	return m
}

// run is sorted rows on disk that are being read.
type run struct {
	number int
	file   *file
	reader *fileReader
	rows   *batch.Columns
	at     int
	prefix uint64 // of the row at
}

// load reads the next batch; false: there is none, and the file is gone.
func (r *run) load(o ordering) bool {
	r.rows, r.at = r.reader.next(), 0
	if r.rows == nil {
		r.file.discard()
		return false
	}
	r.prefix = o.prefix(r.rows, 0)
	return true
}

// merging is a heap of runs by their next row, and of equal ones by number.
type merging struct {
	order ordering
	runs  []*run
	out   *batch.Columns
}

func (m *merging) Len() int      { return len(m.runs) }
func (m *merging) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *merging) Push(any)      {}

func (m *merging) Less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	if order := m.order.compare(a.rows, a.at, b.rows, b.at); order != 0 {
		return order < 0
	}
	return a.number < b.number
}

func (m *merging) Pop() any {
	last := len(m.runs) - 1
	m.runs[last] = nil
	m.runs = m.runs[:last]
	return nil
}

func (m *merging) next() *batch.Columns {
	clearBatch(m.out)
	for len(m.runs) > 0 && m.out.N < batch.MaxRows {
		r := m.runs[0]
		for i, c := range m.out.Cols {
			c.AppendFrom(r.rows.Cols[i], r.at)
		}
		m.out.N++
		if r.at++; r.at < r.rows.N {
			r.prefix = m.order.prefix(r.rows, r.at)
			heap.Fix(m, 0)
		} else if r.load(m.order) {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	if m.out.N == 0 {
		return nil
	}
	return m.out
}
