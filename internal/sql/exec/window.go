package exec

import (
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
)

// window makes the operator that gives each row once for each window it is in. Rows
// without a time are in none.
func (e *environment) window(n *plan.Window) operator.Factory {
	if n.Kind == plan.Session {
		return e.sessions(n)
	}
	return transform(func(_ *operator.Context, emit emitter) stage {
		w := &windowing{node: n, emit: emit, times: newTimes()}
		if n.Zoned {
			w.zone = e.session.Zone
		}
		return stage{push: w.push}
	})
}

// windowing lays out windows of fixed size.
type windowing struct {
	node  *plan.Window
	emit  emitter
	zone  *time.Location // windows are laid out in it; nil: as times are
	rows  []int32
	times []*batch.Column // start, end and time of the windows of rows
}

func newTimes() []*batch.Column {
	return []*batch.Column{{Layout: batch.Moments}, {Layout: batch.Moments}, {Layout: batch.Moments}}
}

func (w *windowing) push(b *batch.Columns) {
	c := b.Cols[w.node.Time]
	for r := range b.Len() {
		row := at(b.Sel, r)
		if c.IsNull(row) {
			continue
		}
		w.assign(int32(row), w.local(c.I64[row]))
		if len(w.rows) >= batch.MaxRows {
			w.flush(b)
		}
	}
	w.flush(b)
}

// local is the time on the clock that windows are laid out by.
func (w *windowing) local(at int64) int64 {
	if w.zone == nil {
		return at
	}
	_, offset := time.UnixMilli(at).In(w.zone).Zone()
	return at + int64(offset)*1000
}

// instant is when the clock that windows are laid out by shows a time.
func (w *windowing) instant(local int64) int64 {
	if w.zone == nil {
		return local
	}
	t := time.UnixMilli(local).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), w.zone).UnixMilli()
}

// assign adds the windows that a time is in.
func (w *windowing) assign(row int32, at int64) {
	n := w.node
	switch n.Kind {
	case plan.Tumble:
		start := floor(at, n.Size, n.Offset)
		w.add(row, start, start+n.Size)
	case plan.Hop:
		for start := floor(at, n.Slide, n.Offset); start > at-n.Size; start -= n.Slide {
			w.add(row, start, start+n.Size)
		}
	case plan.Cumulate:
		start := floor(at, n.Size, n.Offset)
		for end := floor(at, n.Slide, n.Offset) + n.Slide; end <= start+n.Size; end += n.Slide {
			w.add(row, start, end)
		}
	}
}

// floor is the greatest multiple of size, moved by offset, that is not after at.
func floor(at, size, offset int64) int64 {
	rest := (at - offset) % size
	if rest < 0 {
		rest += size
	}
	return at - rest
}

func (w *windowing) add(row int32, start, end int64) {
	w.rows = append(w.rows, row)
	w.times[0].AppendMoment(start, 0)
	w.times[1].AppendMoment(end, 0)
	w.times[2].AppendMoment(w.instant(end-1), 0)
}

// flush emits the rows that have been given windows.
func (w *windowing) flush(b *batch.Columns) {
	if len(w.rows) == 0 {
		return
	}
	out := &batch.Columns{N: len(w.rows)}
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Rows(w.rows))
	}
	out.Cols = append(out.Cols, w.times...)
	w.emit(out)
	w.rows, w.times = w.rows[:0], newTimes()
}

// sessions makes the operator of session windows: rows are sorted by keys and time, and a
// session ends where the next row is later than the gap allows.
func (e *environment) sessions(n *plan.Window) operator.Factory {
	schema := n.Inputs[0].Common().Types()
	return managing{transform(func(c *operator.Context, emit emitter) stage {
		var order ordering
		for _, k := range n.Keys {
			order = append(order, plan.SortKey{Column: k})
		}
		keys := order
		order = append(order[:len(order):len(order)], plan.SortKey{Column: n.Time, NullsLast: true})
		rows := newSorter(newDisk(c), schema, order, -1, budget(c))
		s := &sessioning{windowing: windowing{node: n, emit: emit, times: newTimes()}, keys: keys, held: newBatch(schema)}
		if n.Zoned {
			s.zone = e.session.Zone
		}
		return stage{push: rows.add, finish: func() {
			sorted := rows.finish()
			for b := sorted.next(); b != nil; b = sorted.next() {
				s.take(b)
			}
			s.close()
		}}
	})}
}

// sessioning holds the rows of the session that goes on.
type sessioning struct {
	windowing
	keys ordering
	held *batch.Columns
}

func (s *sessioning) take(b *batch.Columns) {
	for i := range b.N {
		c := b.Cols[s.node.Time]
		if c.IsNull(i) {
			continue
		}
		if last := s.held.N - 1; last >= 0 &&
			(s.keys.compare(s.held, last, b, i) != 0 || s.local(c.I64[i]) > s.local(s.held.Cols[s.node.Time].I64[last])+s.node.Size) {
			s.close()
		}
		addRows(s.held, b, []int32{int32(i)})
	}
}

// close ends the session.
func (s *sessioning) close() {
	if s.held.N == 0 {
		return
	}
	c := s.held.Cols[s.node.Time]
	start, end := s.local(c.I64[0]), s.local(c.I64[s.held.N-1])+s.node.Size
	for i := range s.held.N {
		s.add(int32(i), start, end)
		if len(s.rows) >= batch.MaxRows {
			s.flush(s.held)
		}
	}
	s.flush(s.held)
	clearBatch(s.held)
}
