package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// LowerSemiJoins asks whether a row has a partner, or none, before the row is joined with
// others, where it asks so of fewer rows.
func LowerSemiJoins(c *Context, n logical.Node) logical.Node {
	return logical.Rewrite(n, func(n logical.Node) logical.Node {
		if j, ok := n.(*logical.Join); ok && (j.Kind == logical.Semi || j.Kind == logical.Anti) {
			return c.lowered(j)
		}
		return n
	})
}

// lowered is a semi join, or below the inner join that gives its left rows.
func (c *Context) lowered(n *logical.Join) logical.Node {
	below, ok := n.Left.(*logical.Join)
	if !ok || !flat(below) || n.Condition == nil || volatile(n.Condition) {
		return n
	}
	whole, left := len(below.Fields()), len(below.Left.Fields())
	from, to := left, 0 // of the columns that it asks about
	for _, column := range logical.Columns(n.Condition) {
		if column < whole {
			from, to = min(from, column), max(to, column)
		}
	}
	onLeft := to < left
	side, first := below.Right, left
	if onLeft {
		side, first = below.Left, 0
	} else if from < left {
		return n
	}
	if c.Estimate.Rows(side) > c.Estimate.Rows(below) {
		return n
	}
	width := len(side.Fields())
	asked := *n
	asked.Left = side
	asked.Condition = expr.Rewrite(n.Condition, func(e expr.Expr) expr.Expr {
		in, ok := e.(*expr.Input)
		if !ok {
			return e
		}
		moved := *in
		if moved.Index -= first; in.Index >= whole {
			moved.Index = width + in.Index - whole
		}
		return &moved
	})
	inputs := slices.Clone(below.Inputs())
	if inputs[1] = c.lowered(&asked); onLeft {
		inputs[0], inputs[1] = inputs[1], below.Right
	}
	return below.With(inputs)
}
