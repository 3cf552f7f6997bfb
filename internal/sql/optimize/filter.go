package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// PushFilters moves conditions towards where rows come from, as far as their columns
// allow: through projections that compute nothing that they use, into the sides of joins,
// and below what does not look at single rows. What an inner join compares across its
// sides becomes part of its condition. A condition that gives another value at each call
// stays where it is.
func PushFilters(c *Context, n logical.Node) logical.Node {
	return c.push(n, nil)
}

// push gives n under conditions over its columns.
func (c *Context) push(n logical.Node, conditions []expr.Expr) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		return c.push(n.Input, append(conditions, expr.Conjuncts(n.Condition)...))
	case *logical.Project:
		down, stay := c.through(n, conditions)
		p := *n
		p.Input = c.push(n.Input, down)
		return c.above(&p, stay)
	case *logical.Scan:
		return c.above(asked(n, conditions), conditions)
	case *logical.Join:
		return c.pushJoin(n, conditions)
	case *logical.SetOperation:
		s := *n
		s.Of = nil
		for _, in := range n.Of {
			s.Of = append(s.Of, c.push(in, conditions))
		}
		return &s
	case *logical.Sort:
		if n.Fetch < 0 && n.Offset == 0 {
			s := *n
			s.Input = c.push(n.Input, conditions)
			return &s
		}
	case *logical.Aggregate:
		down, stay := within(conditions, func(i int) (int, bool) {
			if i < len(n.Keys) {
				return n.Keys[i], true
			}
			return 0, false
		})
		if len(n.Keys) > 0 {
			a := *n
			a.Input = c.push(n.Input, down)
			return c.above(&a, stay)
		}
	}
	inputs := n.Inputs()
	pushed := make([]logical.Node, len(inputs))
	for i, in := range inputs {
		pushed[i] = c.push(in, nil)
	}
	if len(inputs) > 0 {
		n = n.With(pushed)
	}
	return c.above(n, conditions)
}

// above puts conditions over an operator.
func (c *Context) above(n logical.Node, conditions []expr.Expr) logical.Node {
	var all expr.Expr
	for _, condition := range conditions {
		all = c.and(all, condition)
	}
	if all == nil {
		return n
	}
	return &logical.Filter{Input: n, Condition: all}
}

// volatile reports whether an expression differs from call to call.
func volatile(e expr.Expr) (is bool) {
	expr.Walk(e, func(e expr.Expr) bool {
		call, ok := e.(*expr.Call)
		is = is || ok && call.Fn.Volatility == expr.PerRow
		return !is
	})
	return is
}

// within gives the conditions whose columns are there below, over the columns below, and
// the others.
func within(conditions []expr.Expr, below func(column int) (int, bool)) (down, stay []expr.Expr) {
	for _, condition := range conditions {
		fits := !volatile(condition)
		for _, column := range logical.Columns(condition) {
			_, ok := below(column)
			fits = fits && ok
		}
		if !fits {
			stay = append(stay, condition)
			continue
		}
		down = append(down, expr.Rewrite(condition, func(e expr.Expr) expr.Expr {
			if in, ok := e.(*expr.Input); ok {
				moved := *in
				moved.Index, _ = below(in.Index)
				return &moved
			}
			return e
		}))
	}
	return down, stay
}

// through gives the conditions over columns that a projection passes on, or computes by
// next to nothing, over its input, and the others.
func (c *Context) through(p *logical.Project, conditions []expr.Expr) (down, stay []expr.Expr) {
	for _, condition := range conditions {
		fits := !volatile(condition)
		for _, column := range logical.Columns(condition) {
			fits = fits && cheap(p.Exprs[column])
		}
		if fits {
			down = append(down, substituted(condition, p.Exprs))
		} else {
			stay = append(stay, condition)
		}
	}
	return down, stay
}

// cheap reports whether an expression may as well be computed twice: it is a column, or a
// little arithmetic that cannot fail.
func cheap(e expr.Expr) bool {
	calls, plain := 0, true
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Literal, *expr.Input:
		case *expr.Call:
			calls++
			switch e.Fn.Name {
			case "+", "-", "*", "COALESCE":
			case "CAST":
				plain = plain && e.T.Kind.IsNumeric() && e.Args[0].Type().Kind.IsNumeric()
			default:
				plain = false
			}
		default:
			plain = false
		}
		return plain
	})
	return plain && calls <= 3
}

// pushJoin gives conditions to the sides of a join: those above it where rows without a
// partner are not made up on that side, and those of its own where they are not kept.
func (c *Context) pushJoin(n *logical.Join, above []expr.Expr) logical.Node {
	n = withoutNulls(n, above)
	width := len(n.Left.Fields())
	left := func(i int) (int, bool) { return i, i < width }
	right := func(i int) (int, bool) { return i - width, i >= width }
	own := expr.Conjuncts(n.Condition)
	if n.Kind == logical.Inner && !n.NullAware {
		own, above = append(own, notVolatile(above)...), onlyVolatile(above)
	}
	var toLeft, toRight, down []expr.Expr
	if n.Kind == logical.Left || n.Kind == logical.Semi || n.Kind == logical.Anti {
		toLeft, above = within(above, left)
	}
	if n.Kind == logical.Right {
		toRight, above = within(above, right)
	}
	if !n.NullAware {
		if n.Kind == logical.Inner || n.Kind == logical.Right || n.Kind == logical.Semi {
			down, own = within(c.withImplied(own, left), left)
			toLeft = append(toLeft, down...)
		}
		if n.Kind != logical.Right && n.Kind != logical.Full {
			down, own = within(c.withImplied(own, right), right)
			toRight = append(toRight, down...)
		}
	}
	j := *n
	j.Left, j.Right, j.Condition = c.push(n.Left, toLeft), c.push(n.Right, toRight), nil
	for _, condition := range own {
		j.Condition = c.and(j.Condition, condition)
	}
	return c.above(&j, above)
}

// withImplied adds to conditions what those that stay say about one side of a join.
func (c *Context) withImplied(conditions []expr.Expr, below func(column int) (int, bool)) []expr.Expr {
	on := func(column int) bool { _, ok := below(column); return ok }
	all := conditions
	for _, condition := range conditions {
		if slices.ContainsFunc(logical.Columns(condition), func(column int) bool { return !on(column) }) {
			if e := c.implied(condition, on); e != nil {
				all = append(all[:len(all):len(all)], e)
			}
		}
	}
	return all
}

func notVolatile(es []expr.Expr) (kept []expr.Expr) {
	for _, e := range es {
		if !volatile(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

func onlyVolatile(es []expr.Expr) (kept []expr.Expr) {
	for _, e := range es {
		if volatile(e) {
			kept = append(kept, e)
		}
	}
	return kept
}
