package exec

import (
	"errors"
	"sort"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
)

// frames finds the frame of each row of a partition.
type frames struct {
	order ordering
	call  *plan.OverCall
}

// of is where the frame of row i begins and ends, counted from the partition's first; it
// is empty where to is not after from.
func (f *frames) of(p *partition, i int) (from, to int) {
	if f.call.Unit == plan.Rows {
		from = clamp(f.rowBound(f.call.Start, i, p), p.len())
		return from, clamp(f.rowBound(f.call.End, i, p)+1, p.len())
	}
	return f.rangeStart(p, i), f.rangeEnd(p, i)
}

func clamp(i, n int) int { return max(0, min(n, i)) }

// rowBound is the row that a bound names, which may be outside.
func (f *frames) rowBound(b plan.Bound, i int, p *partition) int {
	distance := int(min(b.Offset, int64(p.len())))
	switch b.Kind {
	case plan.UnboundedPreceding:
		return 0
	case plan.Preceding:
		return i - distance
	case plan.Following:
		return i + distance
	case plan.UnboundedFollowing:
		return p.len() - 1
	}
	return i
}

func (f *frames) rangeStart(p *partition, i int) int {
	b := f.call.Start
	switch b.Kind {
	case plan.UnboundedPreceding:
		return 0
	case plan.UnboundedFollowing:
		return p.len()
	case plan.CurrentRow:
		from, _ := p.peersOf(i)
		return from
	}
	if f.isNull(p, i) {
		from, _ := p.peersOf(i)
		return from
	}
	return sort.Search(p.len(), func(k int) bool { return f.reaches(p, k, i, b, false) })
}

func (f *frames) rangeEnd(p *partition, i int) int {
	b := f.call.End
	switch b.Kind {
	case plan.UnboundedPreceding:
		return 0
	case plan.UnboundedFollowing:
		return p.len()
	case plan.CurrentRow:
		_, to := p.peersOf(i)
		return to
	}
	if f.isNull(p, i) {
		_, to := p.peersOf(i)
		return to
	}
	return sort.Search(p.len(), func(k int) bool { return f.reaches(p, k, i, b, true) })
}

func (f *frames) isNull(p *partition, i int) bool {
	return p.rows.Cols[f.order[0].Column].IsNull(p.from + i)
}

// reaches reports whether the sort key of row k is at the bound of row i, or past it;
// beyond: only past it. NULLs are where the order puts them.
func (f *frames) reaches(p *partition, k, i int, b plan.Bound, beyond bool) bool {
	key := f.order[0]
	c := p.rows.Cols[key.Column]
	if c.IsNull(p.from + k) {
		return key.NullsLast
	}
	sign := int64(1)
	if key.Descending != (b.Kind == plan.Preceding) {
		sign = -1
	}
	order := compareDistance(c, p.from+k, p.from+i, sign, b)
	if key.Descending {
		order = -order
	}
	return order > 0 || order == 0 && !beyond
}

// compareDistance compares value k with value i moved by a distance.
func compareDistance(c *batch.Column, k, i int, sign int64, b plan.Bound) int {
	switch c.Layout {
	case batch.Float64s:
		return compareFloats(c.F64[k], c.F64[i]+float64(sign)*b.Double)
	case batch.Float32s:
		return compareFloats(float64(c.F32[k]), float64(c.F32[i])+float64(sign)*b.Double)
	case batch.Moments:
		if order := compareMoved(c.I64[k], c.I64[i], sign*b.Offset); order != 0 {
			return order
		}
		return int(c.Nanos(k)) - int(c.Nanos(i))
	}
	x, okX := integerAt(c, k)
	y, okY := integerAt(c, i)
	if !okX || !okY {
		operator.Abort(errDistance)
	}
	return compareMoved(x, y, sign*b.Offset)
}

// compareMoved compares x with y moved by d, which is out of range at the ends.
func compareMoved(x, y, d int64) int {
	moved := y + d
	switch {
	case d > 0 && moved < y:
		return -1
	case d < 0 && moved > y:
		return 1
	case x < moved:
		return -1
	case x > moved:
		return 1
	}
	return 0
}

var errDistance = errors.New("a RANGE with distances is sorted by what has none")

// framed is an aggregate over the frame.
type framed struct {
	frames
	aggregateCall
	zero []int32 // as many zeros as rows: the only group's number
}

// take adds rows of the partition to the group.
func (f *framed) take(p *partition, from, to int) {
	if from >= to {
		return
	}
	for len(f.zero) < to-from {
		f.zero = append(f.zero, 0)
	}
	b := *p.rows
	b.Sel = between(p.from+from, p.from+to)
	f.rows(f.zero[:to-from], &b)
}

// begin empties the group.
func (f *framed) begin() {
	f.accumulator.clear()
	if f.distinct != nil {
		f.distinct.clear()
	}
	f.grow(1)
}

// compute adds to the group while frames only grow, and begins anew where one has lost a
// row.
func (f *framed) compute(out *batch.Column, p *partition) {
	if p.before == 0 {
		f.begin()
	}
	hasFrom, hasTo := 0, 0
	for i := range p.len() {
		from, to := f.of(p, i)
		to = max(from, to)
		if from != hasFrom || to < hasTo {
			f.begin()
			hasFrom, hasTo = from, from
		}
		f.take(p, hasTo, to)
		hasTo = to
		f.results(out, 0, 1)
	}
}

// nth is NTH_VALUE: the value of one row of the frame.
type nth struct{ frames }

func (f *nth) compute(out *batch.Column, p *partition) {
	values := p.rows.Cols[f.call.Args[0]]
	for i := range p.len() {
		from, to := f.of(p, i)
		n, ok := integerAt(p.rows.Cols[f.call.Args[1]], p.from+i)
		if at := from + int(n) - 1; ok && n > 0 && at < to {
			out.AppendFrom(values, p.from+at)
		} else {
			out.AppendNull()
		}
	}
}
