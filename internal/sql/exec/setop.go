package exec

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// setOperation makes the operator of INTERSECT and EXCEPT: it counts equal rows of both
// sides, as an aggregate does, and gives each as often as the counts say.
func (e *environment) setOperation(n *plan.SetOperation) operator.Factory {
	count := types.Field{Type: types.Of(types.BigInt).NotNull()}
	counted := plan.Base{Schema: append(slices.Clone(n.Inputs[0].Common().Schema), count, count)}
	inner := &plan.Aggregate{Base: plan.Base{Inputs: []plan.Node{&plan.Values{Base: counted}}, Schema: counted.Schema}}
	width := len(n.Schema)
	for i := range width {
		inner.Keys = append(inner.Keys, i)
	}
	for side := range 2 {
		inner.Calls = append(inner.Calls, plan.AggregateCall{Function: "$SUM0", Args: []int{width + side}, ArgTypes: []types.Type{count.Type}, Filter: -1, Type: count.Type})
	}
	return managing{operator.FactoryFunc(func(c *operator.Context, out any) any {
		o := operator.Output[*batch.Columns](out)
		emit := emitTo(c, o)
		g := newGroups(c, inner, func(b *batch.Columns) {
			if rows := timesOf(n, b.Cols[width].I64, b.Cols[width+1].I64); len(rows) > 0 {
				giveTimes(emit, b.Cols[:width], rows)
			}
		})
		sides := operator.Inputs{}
		for side := range 2 {
			sides = append(sides, receiver(stage{func(b *batch.Columns) { g.pushRows(withCounts(b, side)) }, g.finish}, o))
		}
		return sides
	})}
}

// withCounts puts beside each row how often it counts for either side.
func withCounts(b *batch.Columns, side int) *batch.Columns {
	out := *b
	out.Cols = slices.Clone(b.Cols)
	for s := range 2 {
		c := &batch.Column{Layout: batch.Int64s, Len: b.N, I64: make([]int64, b.N)}
		if s == side {
			for i := range c.I64 {
				c.I64[i] = 1
			}
		}
		out.Cols = append(out.Cols, c)
	}
	return &out
}

// timesOf gives each row as often as the operation does that was so often on the left and
// on the right.
func timesOf(n *plan.SetOperation, left, right []int64) []int32 {
	var rows []int32
	for i, l := range left {
		r := right[i]
		times := int64(0)
		switch {
		case n.All && n.Except:
			times = l - r
		case n.All:
			times = min(l, r)
		case l > 0 && (r > 0) != n.Except:
			times = 1
		}
		for range times {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// giveTimes emits rows of columns, of which each may be there often.
func giveTimes(emit emitter, cols []*batch.Column, rows []int32) {
	for len(rows) > 0 {
		n := min(batch.MaxRows, len(rows))
		out := &batch.Columns{N: n}
		for _, c := range cols {
			out.Cols = append(out.Cols, c.Rows(rows[:n]))
		}
		emit(out)
		rows = rows[n:]
	}
}
