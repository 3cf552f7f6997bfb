package exec

import (
	"fmt"
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// The sums: SUM keeps the type of its argument and wraps around, $SUM0 is 0 where
// there are no values, AVG counts besides.

func init() {
	define(sumState, newSum, "SUM", "$SUM0", "SUM0", "AVG")
	define(func(*plan.AggregateCall) []types.Type {
		double := types.Of(types.Double).NotNull()
		return []types.Type{double, double, types.Of(types.BigInt).NotNull()}
	}, newVariance, "VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV")
}

// sumState is the sum and how many values it has; of a DECIMAL the count is below 0 where
// the sum has overflowed and stays NULL.
func sumState(c *plan.AggregateCall) []types.Type {
	sum := types.Of(types.BigInt)
	switch k := c.ArgTypes[0].Kind; {
	case k == types.Decimal:
		sum = types.DecimalOf(types.MaxPrecision, c.ArgTypes[0].Scale)
	case k.IsApproximate():
		sum = types.Of(types.Double)
	}
	return []types.Type{sum.NotNull(), types.Of(types.BigInt).NotNull()}
}

func newSum(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 {
		return nil, fmt.Errorf("%d arguments, want 1", len(c.ArgTypes))
	}
	arg := c.ArgTypes[0]
	base := sumOf{result: c.Type, average: c.Function == "AVG", zero: c.Function == "$SUM0" || c.Function == "SUM0"}
	switch {
	case arg.Kind.IsInteger():
		return &integerSum{sumOf: base}, nil
	case arg.Kind == types.Float:
		return &floatSum{sumOf: base, single: !base.average}, nil
	case arg.Kind == types.Double:
		return &floatSum{sumOf: base}, nil
	case arg.Kind == types.Decimal:
		return &decimalSum{sumOf: base, scale: arg.Scale}, nil
	}
	return nil, fmt.Errorf("of values of type %s", arg)
}

// sumOf is what the sums have in common: how many values each group has.
type sumOf struct {
	result        types.Type
	average, zero bool
	n             []int64
}

// empty appends the result of a group without values, if that is one.
func (s *sumOf) empty(out *batch.Column, group int) bool {
	if s.n[group] != 0 || s.zero {
		return false
	}
	out.AppendNull()
	return true
}

// integerSum sums whole numbers in 64 bits, which wrap around.
type integerSum struct {
	sumOf
	sum []int64
}

func (a *integerSum) grow(n int) { a.n, a.sum = grown(a.n, n), grown(a.sum, n) }

func (a *integerSum) update(groups []int32, args []*batch.Column, rows []int32) {
	switch c := args[0]; c.Layout {
	case batch.Int64s:
		addIntegers(a, groups, c, c.I64, rows)
	case batch.Int32s:
		addIntegers(a, groups, c, c.I32, rows)
	case batch.Int16s:
		addIntegers(a, groups, c, c.I16, rows)
	case batch.Int8s:
		addIntegers(a, groups, c, c.I8, rows)
	}
}

func addIntegers[T int8 | int16 | int32 | int64](a *integerSum, groups []int32, c *batch.Column, v []T, rows []int32) {
	if c.Valid == nil && rows == nil {
		for r, g := range groups {
			a.sum[g] += int64(v[r])
			a.n[g]++
		}
		return
	}
	for r, g := range groups {
		if i := at(rows, r); !c.IsNull(i) {
			a.sum[g] += int64(v[i])
			a.n[g]++
		}
	}
}

func (a *integerSum) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		a.sum[g] += states[0].I64[r]
		a.n[g] += states[1].I64[r]
	}
}

func (a *integerSum) states(out []*batch.Column, from, to int) {
	for g := from; g < to; g++ {
		batch.Append(out[0], a.sum[g])
		batch.Append(out[1], a.n[g])
	}
}

func (a *integerSum) results(out *batch.Column, from, to int) {
	for g := from; g < to; g++ {
		if a.empty(out, g) {
			continue
		}
		v := a.sum[g]
		if a.average {
			v /= a.n[g]
		}
		appendInteger(out, v)
	}
}

// appendInteger appends a whole number, cut to the size of the column's.
func appendInteger(out *batch.Column, v int64) {
	switch out.Layout {
	case batch.Int8s:
		batch.Append(out, int8(v))
	case batch.Int16s:
		batch.Append(out, int16(v))
	case batch.Int32s:
		batch.Append(out, int32(v))
	case batch.Int64s:
		batch.Append(out, v)
	case batch.Int128s:
		batch.Append(out, decimal.FromInt64(v))
	case batch.Float32s:
		batch.Append(out, float32(v))
	case batch.Float64s:
		batch.Append(out, float64(v))
	}
}

func (a *integerSum) size() int { return 8 * (cap(a.n) + cap(a.sum)) }
func (a *integerSum) clear()    { a.n, a.sum = nil, nil }

// floatSum sums FLOAT, in that precision unless it is for an average, and DOUBLE.
type floatSum struct {
	sumOf
	single bool
	sum    []float64
}

func (a *floatSum) grow(n int) { a.n, a.sum = grown(a.n, n), grown(a.sum, n) }

func (a *floatSum) update(groups []int32, args []*batch.Column, rows []int32) {
	c := args[0]
	for r, g := range groups {
		i := at(rows, r)
		if c.IsNull(i) {
			continue
		}
		a.n[g]++
		switch {
		case c.Layout == batch.Float64s:
			a.sum[g] += c.F64[i]
		case a.single:
			a.sum[g] = float64(float32(a.sum[g]) + c.F32[i])
		default:
			a.sum[g] += float64(c.F32[i])
		}
	}
}

func (a *floatSum) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		if a.sum[g] += states[0].F64[r]; a.single {
			a.sum[g] = float64(float32(a.sum[g]))
		}
		a.n[g] += states[1].I64[r]
	}
}

func (a *floatSum) states(out []*batch.Column, from, to int) {
	for g := from; g < to; g++ {
		batch.Append(out[0], a.sum[g])
		batch.Append(out[1], a.n[g])
	}
}

func (a *floatSum) results(out *batch.Column, from, to int) {
	for g := from; g < to; g++ {
		if a.empty(out, g) {
			continue
		}
		v := a.sum[g]
		if a.average {
			v /= float64(a.n[g])
		}
		appendFloat(out, v)
	}
}

// appendFloat appends a number as the column has it, cutting fractions.
func appendFloat(out *batch.Column, v float64) {
	switch out.Layout {
	case batch.Float64s:
		batch.Append(out, v)
	case batch.Float32s:
		batch.Append(out, float32(v))
	case batch.Int64s:
		batch.Append(out, wholeOf(v))
	default:
		appendInteger(out, min(max(wholeOf(v), math.MinInt32), math.MaxInt32))
	}
}

// wholeOf cuts the fraction; what is out of range is the nearest, what is no number 0.
func wholeOf(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

func (a *floatSum) size() int { return 8 * (cap(a.n) + cap(a.sum)) }
func (a *floatSum) clear()    { a.n, a.sum = nil, nil }

// decimalSum sums DECIMAL in 38 digits. A sum that has more is NULL, as overflow says.
type decimalSum struct {
	sumOf
	scale int
	sum   []batch.Int128
}

func (a *decimalSum) grow(n int) { a.n, a.sum = grown(a.n, n), grown(a.sum, n) }

// add adds n values with a sum to a group.
func (a *decimalSum) add(g int32, v batch.Int128, n int64) {
	if a.n[g] < 0 {
		return
	}
	sum := decimal.Sum128(a.sum[g], v) // which does not fit either if it wraps around
	if n < 0 || !decimal.Fits(sum, types.MaxPrecision) {
		a.overflow(g)
		return
	}
	a.sum[g] = sum
	a.n[g] += n
}

// overflow gives up a sum. As in Flink, SUM is NULL then, and begins anew with the next
// value; the others stay NULL.
func (a *decimalSum) overflow(g int32) {
	if a.n[g] = -1; !a.average && !a.zero {
		a.n[g], a.sum[g] = 0, batch.Int128{}
	}
}

func (a *decimalSum) update(groups []int32, args []*batch.Column, rows []int32) {
	c := args[0]
	if c.Layout == batch.Int64s {
		a.addShort(groups, c, rows)
		return
	}
	for r, g := range groups {
		if i := at(rows, r); !c.IsNull(i) {
			a.add(g, c.I128[i], 1)
		}
	}
}

// ample is the upper half of 10^38: a sum whose upper half is nearer to zero has no
// more than 38 digits.
const ample = 0x4b3b4ca85a86c47a

// addShort adds values of 64 bits: they cannot overflow 38 digits before there are 10^19.
func (a *decimalSum) addShort(groups []int32, c *batch.Column, rows []int32) {
	for r, g := range groups {
		i := at(rows, r)
		if c.IsNull(i) || a.n[g] < 0 {
			continue
		}
		v, s := c.I64[i], &a.sum[g]
		lo := s.Lo + uint64(v)
		hi := s.Hi + v>>63
		if lo < s.Lo {
			hi++
		}
		if s.Lo, s.Hi = lo, hi; (hi >= ample || hi <= -ample) && !decimal.Fits(*s, types.MaxPrecision) {
			a.overflow(g)
			continue
		}
		a.n[g]++
	}
}

func (a *decimalSum) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		a.add(g, states[0].I128[r], states[1].I64[r])
	}
}

func (a *decimalSum) states(out []*batch.Column, from, to int) {
	for g := from; g < to; g++ {
		batch.Append(out[0], a.sum[g])
		batch.Append(out[1], a.n[g])
	}
}

func (a *decimalSum) results(out *batch.Column, from, to int) {
	for g := from; g < to; g++ {
		if a.empty(out, g) {
			continue
		}
		v, ok := a.sum[g], a.n[g] >= 0
		switch {
		case !ok:
		case a.average:
			v, ok = decimal.Divide(v, a.scale, decimal.FromInt64(a.n[g]), 0, a.result.Precision, a.result.Scale)
		default:
			v, ok = decimal.Rescale(v, a.scale, a.result.Precision, a.result.Scale)
		}
		if !ok {
			out.AppendNull()
			continue
		}
		appendDecimal(out, v)
	}
}

func appendDecimal(out *batch.Column, v batch.Int128) {
	if out.Layout == batch.Int64s {
		batch.Append(out, decimal.Low(v))
	} else {
		batch.Append(out, v)
	}
}

func (a *decimalSum) size() int { return 8*cap(a.n) + 16*cap(a.sum) }
func (a *decimalSum) clear()    { a.n, a.sum = nil, nil }
