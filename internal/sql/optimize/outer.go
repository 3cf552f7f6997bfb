package optimize

import (
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// outer turns the sub-queries in the condition of an outer join into columns of the side
// that they refer to. The binder refuses those that refer to both.
func (c *Context) outer(n *logical.Join) logical.Node {
	width := len(n.Left.Fields())
	left, right := n.Left, n.Right
	condition := expr.Rewrite(n.Condition, func(e expr.Expr) expr.Expr {
		s, ok := e.(*logical.Subquery)
		if !ok {
			return e
		}
		value := &sided{}
		if used := logical.UsedColumns(s); len(used) > 0 && used[0] >= width {
			value.right = true
			value.Expr, right = c.value(c.moved(s, -width), right)
		} else {
			value.Expr, left = c.value(s, left)
		}
		return value
	})
	wider := len(left.Fields())
	j := *n
	j.Left, j.Right = left, right
	j.Condition = expr.Rewrite(condition, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Input:
			if e.Index >= width {
				return movedInput(e, wider-width)
			}
		case *sided:
			if e.right {
				return expr.Rewrite(e.Expr, func(e expr.Expr) expr.Expr { return movedInput(e, wider) })
			}
			return e.Expr
		}
		return e
	})
	fields := n.Fields()
	exprs := columnsOf(fields)
	for i := width; i < len(exprs); i++ {
		exprs[i] = movedInput(exprs[i], wider-width)
	}
	return &logical.Project{Input: &j, Exprs: exprs, Names: namesOf(fields)}
}

// sided is an expression over the columns of one side.
type sided struct {
	expr.Expr
	right bool
}

// movedInput is a column that lies further right; other expressions are as they were.
func movedInput(e expr.Expr, by int) expr.Expr {
	in, ok := e.(*expr.Input)
	if !ok {
		return e
	}
	to := *in
	to.Index += by
	return &to
}

// moved is a sub-query around which columns lie further right.
func (c *Context) moved(s *logical.Subquery, by int) *logical.Subquery {
	to := *s
	to.Operands = nil
	for _, o := range s.Operands {
		to.Operands = append(to.Operands, expr.Rewrite(o, func(e expr.Expr) expr.Expr {
			if inner, ok := e.(*logical.Subquery); ok {
				return c.moved(inner, by)
			}
			return movedInput(e, by)
		}))
	}
	to.Plan = logical.Rewrite(Subqueries(c, s.Plan), func(n logical.Node) logical.Node {
		return logical.MapExprs(n, func(e expr.Expr) expr.Expr {
			return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
				if o, ok := e.(*logical.Outer); ok && o.Levels == 1 {
					to := *o
					to.Index += by
					return &to
				}
				return e
			})
		})
	})
	return &to
}
