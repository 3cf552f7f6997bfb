package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// OrderJoins lays inner joins out so that each has something to compare with those before
// it, where the conditions allow that: FROM may name tables in an order in which two
// come together that have nothing in common, and every pair of their rows would be made.
// Otherwise the order of FROM stays.
func OrderJoins(c *Context, n logical.Node) logical.Node {
	if j, ok := n.(*logical.Join); ok && flat(j) {
		return c.ordered(j)
	}
	inputs := n.Inputs()
	if len(inputs) == 0 {
		return n
	}
	ordered := make([]logical.Node, len(inputs))
	for i, in := range inputs {
		ordered[i] = OrderJoins(c, in)
	}
	return n.With(ordered)
}

// flat reports whether a join only pairs rows.
func flat(j *logical.Join) bool { return j.Kind == logical.Inner && !j.NullAware && !j.Temporal }

// joined is one of the relations that joins bring together.
type joined struct {
	node  logical.Node
	first int // of its columns among all
	width int
}

// gather takes joins apart: the relations, and the conditions over all their columns.
func (c *Context) gather(n logical.Node, first int) (relations []joined, conditions []expr.Expr) {
	j, ok := n.(*logical.Join)
	if !ok || !flat(j) {
		return []joined{{OrderJoins(c, n), first, len(n.Fields())}}, nil
	}
	left, conditions := c.gather(j.Left, first)
	right, more := c.gather(j.Right, first+len(j.Left.Fields()))
	conditions = append(conditions, more...)
	for _, condition := range expr.Conjuncts(j.Condition) {
		conditions = append(conditions, expr.Rewrite(condition, func(e expr.Expr) expr.Expr {
			if in, ok := e.(*expr.Input); ok && first > 0 {
				moved := *in
				moved.Index += first
				return &moved
			}
			return e
		}))
	}
	return append(left, right...), conditions
}

// ordered joins the relations again, each next one being the first that a condition
// compares with those before it.
func (c *Context) ordered(j *logical.Join) logical.Node {
	relations, conditions := c.gather(j, 0)
	at := make(places, len(j.Fields()))
	for i := range at {
		at[i] = -1
	}
	var tree logical.Node
	width := 0
	for len(relations) > 0 {
		next := max(0, slices.IndexFunc(relations, func(r joined) bool { return width == 0 || compares(conditions, r, at) }))
		r := relations[next]
		relations = slices.Delete(relations, next, next+1)
		for i := range r.width {
			at[r.first+i] = width + i
		}
		width += r.width
		if tree == nil {
			tree = r.node
		} else {
			tree = &logical.Join{Left: tree, Right: r.node}
		}
		var rest []expr.Expr
		for _, condition := range conditions {
			if !there(condition, at) {
				rest = append(rest, condition)
			} else if on, ok := tree.(*logical.Join); ok && flat(on) && on.Right == r.node {
				on.Condition = c.and(on.Condition, at.of(condition))
			} else {
				tree = c.above(tree, []expr.Expr{at.of(condition)})
			}
		}
		conditions = rest
	}
	exprs := make([]expr.Expr, len(at))
	for i, f := range j.Fields() {
		exprs[i] = &expr.Input{Index: at[i], Name: f.Name, T: f.Type}
	}
	if slices.IsSorted(at) {
		return tree
	}
	return &logical.Project{Input: tree, Exprs: exprs, Names: namesOf(j.Fields())}
}

// there reports whether all columns of a condition have a place.
func there(condition expr.Expr, at places) bool {
	return !slices.ContainsFunc(logical.Columns(condition), func(c int) bool { return at[c] < 0 })
}

// compares reports whether an equality has a relation on one side, and those that have a
// place on the other.
func compares(conditions []expr.Expr, r joined, at places) bool {
	of := func(e expr.Expr) (here, before bool) {
		columns := logical.Columns(e)
		here, before = len(columns) > 0, len(columns) > 0
		for _, c := range columns {
			here = here && c >= r.first && c < r.first+r.width
			before = before && at[c] >= 0
		}
		return here, before
	}
	return slices.ContainsFunc(conditions, func(e expr.Expr) bool {
		call, ok := e.(*expr.Call)
		if !ok || call.Fn.Name != "=" {
			return false
		}
		leftHere, leftBefore := of(call.Args[0])
		rightHere, rightBefore := of(call.Args[1])
		return leftHere && rightBefore || leftBefore && rightHere
	})
}
