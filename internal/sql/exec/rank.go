package exec

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
)

// ranking is the functions that number rows.
type ranking struct {
	call  *plan.OverCall
	dense int64 // of the last row
}

var errBuckets = errors.New("NTILE: the number of buckets must be positive and not NULL")

func (k *ranking) compute(out *batch.Column, p *partition) {
	n := p.len()
	if p.before == 0 {
		k.dense = 0
	}
	for i := range n {
		begin, end := i, i+1
		if k.call.Function != "ROW_NUMBER" && k.call.Function != "NTILE" {
			begin, end = p.peersOf(i)
		}
		if begin == i {
			k.dense++
		}
		switch k.call.Function {
		case "ROW_NUMBER":
			appendInteger(out, int64(p.before+i+1))
		case "RANK":
			appendInteger(out, int64(p.before+begin+1))
		case "DENSE_RANK":
			appendInteger(out, k.dense)
		case "PERCENT_RANK":
			v := 0.0
			if n > 1 {
				v = float64(begin) / float64(n-1)
			}
			appendFloat(out, v)
		case "CUME_DIST":
			appendFloat(out, float64(end)/float64(n))
		case "NTILE":
			c := p.rows.Cols[k.call.Args[0]]
			buckets, ok := integerAt(c, p.from+i)
			if !ok || buckets <= 0 {
				operator.Abort(errBuckets)
			}
			appendInteger(out, ntile(int64(i), int64(n), buckets))
		}
	}
}

// ntile is the bucket of row i of n, where the first buckets have one more.
func ntile(i, n, buckets int64) int64 {
	size, more := n/buckets, n%buckets
	if first := more * (size + 1); i >= first {
		return more + (i-first)/size + 1
	}
	return i/(size+1) + 1
}

// integerAt is a whole number; false: it is NULL.
func integerAt(c *batch.Column, i int) (int64, bool) {
	if c.IsNull(i) {
		return 0, false
	}
	switch c.Layout {
	case batch.Int8s:
		return int64(c.I8[i]), true
	case batch.Int16s:
		return int64(c.I16[i]), true
	case batch.Int32s:
		return int64(c.I32[i]), true
	case batch.Int64s:
		return c.I64[i], true
	}
	return 0, false
}

// shifting is LEAD and LAG: the value so many rows away, or a default.
type shifting struct{ call *plan.OverCall }

func (s *shifting) compute(out *batch.Column, p *partition) {
	values := p.rows.Cols[s.call.Args[0]]
	for i := range p.len() {
		row := p.from + i
		distance := int64(1)
		if len(s.call.Args) > 1 {
			var ok bool
			if distance, ok = integerAt(p.rows.Cols[s.call.Args[1]], row); !ok {
				out.AppendNull()
				continue
			}
		}
		if s.call.Function == "LAG" {
			distance = -distance
		}
		switch other := int64(row) + distance; {
		case other >= int64(p.from) && other < int64(p.to):
			out.AppendFrom(values, int(other))
		case len(s.call.Args) > 2:
			out.AppendFrom(p.rows.Cols[s.call.Args[2]], row)
		default:
			out.AppendNull()
		}
	}
}
