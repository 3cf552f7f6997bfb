package optimize

import (
	"fmt"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// Context is what rules make calls with.
type Context struct {
	Registry *expr.Registry
	Session  *expr.Session
	// Estimate says which way is likely to be the faster one.
	Estimate *estimate.Estimator
}

// call makes a call that cannot be refused: its arguments have the right types.
func (c *Context) call(name string, args ...expr.Expr) expr.Expr {
	e, err := c.Registry.Call(c.Session, name, ast.Span{}, args...)
	if err != nil {
		panic(fmt.Sprintf("a rule made a call of %s that is refused: %v", name, err))
	}
	return e
}

// and joins two conditions, each of which may be nil, which is true.
func (c *Context) and(a, b expr.Expr) expr.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return c.call("AND", a, b)
}

// Subqueries turns every sub-query, and every side of a join that refers to the other,
// into joins.
func Subqueries(c *Context, n logical.Node) logical.Node {
	return logical.Rewrite(n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Apply:
			return c.unapply(n.Kind, false, n.Left, Subqueries(c, n.Right), n.Condition)
		case *logical.Filter:
			return c.filter(n)
		case *logical.Join:
			switch {
			case !hasSubquery(n.Condition):
			case n.Kind == logical.Inner:
				return c.filter(&logical.Filter{Input: &logical.Join{Left: n.Left, Right: n.Right}, Condition: n.Condition})
			default:
				return c.outer(n)
			}
		}
		return c.values(n)
	})
}

func hasSubquery(e expr.Expr) (has bool) {
	if e == nil {
		return false
	}
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*logical.Subquery)
		has = has || is
		return !has
	})
	return has
}

// filter turns the sub-queries of a condition into joins. One that the condition asks for
// itself, or for its opposite, becomes a semi or an anti join.
func (c *Context) filter(f *logical.Filter) logical.Node {
	if !hasSubquery(f.Condition) {
		return f
	}
	in := f.Input
	width := len(in.Fields())
	var plain, rest expr.Expr
	var asking []expr.Expr
	for _, part := range expr.Conjuncts(f.Condition) {
		if hasSubquery(part) {
			asking = append(asking, part)
		} else {
			plain = c.and(plain, part)
		}
	}
	if plain != nil { // the fewer rows there are, the fewer are asked for
		in = &logical.Filter{Input: in, Condition: plain}
	}
	for _, part := range asking {
		kind, asked := logical.Semi, part
		if not, ok := part.(*expr.Call); ok && not.Fn.Name == "NOT" {
			kind, asked = logical.Anti, not.Args[0]
		}
		s, ok := asked.(*logical.Subquery)
		if !ok || s.Kind == logical.Scalar || hasSubqueryIn(s.Operands) {
			rest = c.and(rest, part)
			continue
		}
		condition := expr.Expr(nil)
		if s.Kind == logical.Some {
			condition = over(s, width)
		}
		in = c.unapply(kind, kind == logical.Anti && s.Kind == logical.Some, in, Subqueries(c, s.Plan), condition)
	}
	if rest == nil {
		return in
	}
	return c.values(&logical.Filter{Input: in, Condition: rest})
}

func hasSubqueryIn(es []expr.Expr) bool {
	for _, e := range es {
		if hasSubquery(e) {
			return true
		}
	}
	return false
}

// over is the test of a sub-query over left rows of a width, and then its own.
func over(s *logical.Subquery, width int) expr.Expr {
	return expr.Rewrite(s.Test, func(e expr.Expr) expr.Expr {
		in, ok := e.(*expr.Input)
		switch {
		case !ok:
			return e
		case in.Index < len(s.Operands):
			return s.Operands[in.Index]
		}
		moved := *in
		moved.Index += width - len(s.Operands)
		return &moved
	})
}

// values turns the sub-queries in an operator's expressions into columns of its input.
func (c *Context) values(n logical.Node) logical.Node {
	found := false
	for _, e := range logical.Exprs(n) {
		found = found || hasSubquery(e)
	}
	inputs := n.Inputs()
	if !found || len(inputs) > 1 {
		return n
	}
	before := n.Fields()
	if v, ok := n.(*logical.Values); ok {
		return c.rows(v)
	}
	in := inputs[0]
	n = logical.MapExprs(n, func(e expr.Expr) expr.Expr {
		e, in = c.value(e, in)
		return e
	}).With([]logical.Node{in})
	if n.Fields(); len(n.Fields()) != len(before) { // a filter gives all columns of its input
		return &logical.Project{Input: n, Exprs: columnsOf(n.Fields()[:len(before)]), Names: namesOf(before)}
	}
	return n
}

// rows makes constants that hold sub-queries a union of projections of nothing.
func (c *Context) rows(v *logical.Values) logical.Node {
	union := &logical.SetOperation{Kind: logical.Union, All: true, Row: v.Row}
	for _, r := range v.Rows {
		one := &logical.Project{Input: logical.Nothing(), Exprs: r, Names: namesOf(v.Row)}
		union.Of = append(union.Of, c.values(one))
	}
	if len(union.Of) == 1 {
		return union.Of[0]
	}
	return union
}

// value replaces the sub-queries of an expression by columns that are added to its input.
func (c *Context) value(e expr.Expr, in logical.Node) (expr.Expr, logical.Node) {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		s, ok := e.(*logical.Subquery)
		if !ok {
			return e
		}
		for i, o := range s.Operands {
			var replaced expr.Expr
			replaced, in = c.value(o, in)
			s.Operands[i] = replaced
		}
		var column expr.Expr
		column, in = c.column(s, in)
		return column
	}), in
}

// column adds the value of a sub-query to each row.
func (c *Context) column(s *logical.Subquery, in logical.Node) (expr.Expr, logical.Node) {
	plan := Subqueries(c, s.Plan)
	width := len(in.Fields())
	switch s.Kind {
	case logical.Scalar:
		if !atMostOne(plan) {
			plan = c.single(plan)
		}
		in = c.unapply(logical.Left, false, in, plan, nil)
		f := in.Fields()[width]
		return &expr.Input{Index: width, Name: f.Name, T: f.Type, At: s.At}, in
	case logical.Exists:
		in = c.unapply(logical.Left, false, in, c.count(plan, nil), nil)
		return c.positive(in, width), in
	}
	// How often the test is true and how often it is unknown says it all.
	test := expr.Rewrite(s.Test, func(e expr.Expr) expr.Expr {
		i, ok := e.(*expr.Input)
		switch {
		case !ok:
			return e
		case i.Index < len(s.Operands):
			return outside(s.Operands[i.Index])
		}
		moved := *i
		moved.Index -= len(s.Operands)
		return &moved
	})
	in = c.unapply(logical.Left, false, in, c.count(plan, []expr.Expr{c.call("IS TRUE", test), c.call("IS UNKNOWN", test)}), nil)
	yes, unknown := c.positive(in, width), c.positive(in, width+1)
	boolean := types.Of(types.Boolean)
	return c.call("CASE", yes, truth(true), unknown, expr.Null(boolean, ast.Span{}), truth(false)), in
}

func truth(v bool) *expr.Literal { return expr.Constant(types.Of(types.Boolean).NotNull(), v) }

// outside is an expression over the left rows, as the right side sees it.
func outside(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Input:
			return &logical.Outer{Levels: 1, Index: e.Index, Name: e.Name, T: e.T, At: e.At}
		case *logical.Outer:
			o := *e
			o.Levels++
			return &o
		}
		return e
	})
}

// positive is whether a count in a column is above zero.
func (c *Context) positive(in logical.Node, column int) expr.Expr {
	f := in.Fields()[column]
	return c.call(">", &expr.Input{Index: column, Name: f.Name, T: f.Type.NotNull()}, expr.Constant(types.Of(types.BigInt).NotNull(), int64(0)))
}

// count counts rows, for which each of the conditions is true if there are some.
func (c *Context) count(plan logical.Node, conditions []expr.Expr) logical.Node {
	fn, _ := c.Registry.Lookup("COUNT")
	a := &logical.Aggregate{Input: plan}
	if conditions == nil {
		a.Input = &logical.Project{Input: plan, Exprs: []expr.Expr{truth(true)}, Names: []string{"$c0"}}
		conditions = []expr.Expr{nil}
	} else {
		names := make([]string, len(conditions))
		for i := range names {
			names[i] = fmt.Sprintf("$c%d", i)
		}
		a.Input = &logical.Project{Input: plan, Exprs: conditions, Names: names}
	}
	for i, condition := range conditions {
		call := logical.AggregateCall{Fn: fn, T: types.Of(types.BigInt).NotNull(), Name: fmt.Sprintf("$count%d", i), Filter: -1}
		if condition != nil {
			call.Filter = i
		}
		a.Calls = append(a.Calls, call)
	}
	return a
}

// single gives the one row, NULL if there is none, and fails if there are several.
func (c *Context) single(plan logical.Node) logical.Node {
	fn, ok := c.Registry.Lookup("SINGLE_VALUE")
	if !ok {
		panic("the registry has no SINGLE_VALUE")
	}
	f := plan.Fields()[0]
	return &logical.Aggregate{Input: plan, Calls: []logical.AggregateCall{{Fn: fn, Args: []int{0}, Constants: []*expr.Literal{nil}, T: f.Type.OrNull(), Name: f.Name, Filter: -1}}}
}

// atMostOne reports whether a plan surely gives no more than one row.
func atMostOne(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Aggregate:
		return len(n.Keys) == 0
	case *logical.Project:
		return atMostOne(n.Input)
	case *logical.Filter:
		return atMostOne(n.Input)
	case *logical.Sort:
		return n.Fetch == 0 || n.Fetch == 1 || atMostOne(n.Input)
	case *logical.Values:
		return len(n.Rows) <= 1
	}
	return false
}

// columnsOf are the columns of a row as expressions.
func columnsOf(fields []types.Field) []expr.Expr {
	exprs := make([]expr.Expr, len(fields))
	for i, f := range fields {
		exprs[i] = &expr.Input{Index: i, Name: f.Name, T: f.Type}
	}
	return exprs
}

func namesOf(fields []types.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
