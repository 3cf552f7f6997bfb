package exec

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// variance has, by Welford's way, the mean of the values so far and the sum of the squares of
// their distances from it, which loses less than sums of values and squares.
type variance struct {
	result       types.Type
	arg          types.Type
	sample, root bool
	mean, m2     []float64
	n            []int64
}

func newVariance(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 || !c.ArgTypes[0].Kind.IsNumeric() {
		return nil, fmt.Errorf("of %v: want one number", c.ArgTypes)
	}
	v := &variance{result: c.Type, arg: c.ArgTypes[0], sample: true}
	switch c.Function {
	case "VAR_POP":
		v.sample = false
	case "STDDEV_POP":
		v.sample, v.root = false, true
	case "STDDEV_SAMP", "STDDEV":
		v.root = true
	}
	return v, nil
}

func (a *variance) grow(n int) {
	a.mean, a.m2, a.n = grown(a.mean, n), grown(a.m2, n), grown(a.n, n)
}

func (a *variance) update(groups []int32, args []*batch.Column, rows []int32) {
	c := args[0]
	for r, g := range groups {
		i := at(rows, r)
		if c.IsNull(i) {
			continue
		}
		v := numberOf(c, a.arg, i)
		a.n[g]++
		before := v - a.mean[g]
		a.mean[g] += before / float64(a.n[g])
		a.m2[g] += float64(before * (v - a.mean[g]))
	}
}

// numberOf is a number as a DOUBLE.
func numberOf(c *batch.Column, t types.Type, i int) float64 {
	switch c.Layout {
	case batch.Int8s:
		return float64(c.I8[i])
	case batch.Int16s:
		return float64(c.I16[i])
	case batch.Int32s:
		return float64(c.I32[i])
	case batch.Int64s:
		if t.Kind == types.Decimal {
			return decimal.ToFloat64(decimal.FromInt64(c.I64[i]), t.Scale)
		}
		return float64(c.I64[i])
	case batch.Int128s:
		return decimal.ToFloat64(c.I128[i], t.Scale)
	case batch.Float32s:
		return float64(c.F32[i])
	}
	return c.F64[i]
}

func (a *variance) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		mean, m2, n := states[0].F64[r], states[1].F64[r], states[2].I64[r]
		switch {
		case n == 0:
			continue
		case a.n[g] == 0:
			a.mean[g], a.m2[g], a.n[g] = mean, m2, n
			continue
		}
		apart, all := mean-a.mean[g], a.n[g]+n
		a.m2[g] += m2 + float64(apart*apart*float64(a.n[g])*float64(n)/float64(all))
		a.mean[g] += float64(apart * float64(n) / float64(all))
		a.n[g] = all
	}
}

func (a *variance) states(out []*batch.Column, from, to int) {
	for g := from; g < to; g++ {
		batch.Append(out[0], a.mean[g])
		batch.Append(out[1], a.m2[g])
		batch.Append(out[2], a.n[g])
	}
}

func (a *variance) results(out *batch.Column, from, to int) {
	for g := from; g < to; g++ {
		n := float64(a.n[g])
		below := n
		if a.sample {
			below--
		}
		if below <= 0 {
			out.AppendNull()
			continue
		}
		v := a.m2[g] / below
		if a.root {
			v = math.Sqrt(v)
		}
		if a.result.Kind != types.Decimal {
			appendFloat(out, v)
			continue
		}
		d, parsed := decimal.Parse(strconv.AppendFloat(nil, v, 'f', -1, 64), a.result.Precision, a.result.Scale)
		if parsed != decimal.Good {
			out.AppendNull()
			continue
		}
		appendDecimal(out, d)
	}
}

func (a *variance) size() int { return 8 * (cap(a.mean) + cap(a.m2) + cap(a.n)) }
func (a *variance) clear()    { a.mean, a.m2, a.n = nil, nil, nil }
