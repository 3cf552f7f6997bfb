package exec

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

func init() {
	numbers := types.ArrayOf(types.Of(types.Double).NotNull()).NotNull()
	counts := types.ArrayOf(types.Of(types.BigInt).NotNull()).NotNull()
	define(func(*plan.AggregateCall) []types.Type { return []types.Type{numbers, counts, numbers} }, newPercentile, "PERCENTILE")
}

// weighted is a value and how often it counts.
type weighted struct {
	value float64
	count int64
}

// percentile is PERCENTILE: of each group it keeps the values. The shares asked for are
// the same for all groups: those of the row that came last.
type percentile struct {
	many   bool
	groups [][]weighted
	shares []float64
}

func newPercentile(c *plan.AggregateCall) (accumulator, error) {
	if n := len(c.ArgTypes); n < 2 || n > 3 || c.ArgTypes[0].Kind != types.Double {
		return nil, fmt.Errorf("of %v: want a DOUBLE, a share or an array of them, and perhaps a BIGINT", c.ArgTypes)
	}
	return &percentile{many: c.ArgTypes[1].Kind == types.Array}, nil
}

func (a *percentile) grow(n int) { a.groups = grown(a.groups, n) }

func (a *percentile) update(groups []int32, args []*batch.Column, rows []int32) {
	values, shares := args[0], args[1]
	for r, g := range groups {
		i := at(rows, r)
		a.ask(shares, i)
		count := int64(1)
		if len(args) > 2 {
			if args[2].IsNull(i) || args[2].I64[i] <= 0 {
				continue
			}
			count = args[2].I64[i]
		}
		if !values.IsNull(i) {
			a.groups[g] = append(a.groups[g], weighted{values.F64[i], count})
		}
	}
}

// ask notes the shares of a row.
func (a *percentile) ask(c *batch.Column, i int) {
	a.shares = a.shares[:0]
	switch {
	case c.IsNull(i):
	case !a.many:
		a.shares = append(a.shares, c.F64[i])
	default:
		from, to := c.Span(i)
		a.shares = append(a.shares, c.Children[0].F64[from:to]...)
	}
}

func (a *percentile) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		from, to := states[0].Span(r)
		for j := from; j < to; j++ {
			a.groups[g] = append(a.groups[g], weighted{states[0].Children[0].F64[j], states[1].Children[0].I64[j]})
		}
		if from, to := states[2].Span(r); from < to {
			a.shares = append(a.shares[:0], states[2].Children[0].F64[from:to]...)
		}
	}
}

func (a *percentile) states(out []*batch.Column, from, to int) {
	for _, values := range a.groups[from:to] {
		for _, v := range values {
			batch.Append(out[0].Children[0], v.value)
			batch.Append(out[1].Children[0], v.count)
		}
		for _, p := range a.shares {
			batch.Append(out[2].Children[0], p)
		}
		for _, c := range out {
			c.EndCollection()
		}
	}
}

func (a *percentile) results(out *batch.Column, from, to int) {
	for _, values := range a.groups[from:to] {
		if len(values) == 0 || len(a.shares) == 0 {
			out.AppendNull()
			continue
		}
		slices.SortFunc(values, func(x, y weighted) int { return compareDoubles(x.value, y.value) })
		total := int64(0)
		for _, v := range values {
			total += v.count
		}
		if !a.many {
			batch.Append(out, atShare(values, total, a.shares[0]))
			continue
		}
		for _, p := range a.shares {
			batch.Append(out.Children[0], atShare(values, total, p))
		}
		out.EndCollection()
	}
}

// compareDoubles has what is no number last.
func compareDoubles(x, y float64) int {
	if x != x || y != y {
		return -cmp.Compare(x, y)
	}
	return cmp.Compare(x, y)
}

// atShare is the value at a share of the way from the first to the last.
func atShare(values []weighted, total int64, share float64) float64 {
	place := share*float64(total-1) + 1 // counted from 1, which decides the last digit
	low, high := math.Floor(place), math.Ceil(place)
	x, y := atPlace(values, int64(low)-1), atPlace(values, int64(high)-1)
	if low == high || x == y {
		return x
	}
	return (high-place)*x + (place-low)*y
}

// atPlace is the value at a place from 0, where each is there as often as it counts.
func atPlace(values []weighted, n int64) float64 {
	for _, v := range values {
		if n -= v.count; n < 0 {
			return v.value
		}
	}
	return values[len(values)-1].value
}

func (a *percentile) size() int {
	n := 0
	for _, values := range a.groups {
		n += 24 + 16*cap(values)
	}
	return n
}

func (a *percentile) clear() { a.groups = nil }
