package logical

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
)

// Rewrite gives a tree with every operator replaced by what replace makes of it, inputs
// first.
func Rewrite(n Node, replace func(Node) Node) Node {
	inputs := n.Inputs()
	changed := false
	rewritten := make([]Node, len(inputs))
	for i, in := range inputs {
		rewritten[i] = Rewrite(in, replace)
		changed = changed || rewritten[i] != in
	}
	if changed {
		n = n.With(rewritten)
	}
	return replace(n)
}

// MapExprs gives an operator with each of its expressions replaced; those of its inputs
// stay.
func MapExprs(n Node, f func(expr.Expr) expr.Expr) Node {
	list := func(es []expr.Expr) []expr.Expr {
		to := make([]expr.Expr, len(es))
		for i, e := range es {
			to[i] = f(e)
		}
		return to
	}
	lists := func(ls [][]expr.Expr) [][]expr.Expr {
		to := make([][]expr.Expr, len(ls))
		for i, l := range ls {
			to[i] = list(l)
		}
		return to
	}
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Filters = list(n.Filters)
		return &c
	case *Values:
		c := *n
		c.Rows = lists(n.Rows)
		return &c
	case *Project:
		c := *n
		c.Exprs = list(n.Exprs)
		return &c
	case *Filter:
		c := *n
		c.Condition = f(n.Condition)
		return &c
	case *Join:
		c := *n
		if n.Condition != nil {
			c.Condition = f(n.Condition)
		}
		return &c
	case *Apply:
		c := *n
		if n.Condition != nil {
			c.Condition = f(n.Condition)
		}
		return &c
	case *Expand:
		c := *n
		c.Lists = lists(n.Lists)
		return &c
	case *Unnest:
		c := *n
		c.Collection = f(n.Collection)
		return &c
	}
	return n // the others have none, but for constants
}

// Exprs are an operator's expressions, without those of its inputs.
func Exprs(n Node) (all []expr.Expr) {
	MapExprs(n, func(e expr.Expr) expr.Expr { all = append(all, e); return e })
	return all
}

// WalkExprs calls visit with each expression of a tree and all below it.
func WalkExprs(n Node, visit func(expr.Expr) bool) {
	for _, e := range Exprs(n) {
		expr.Walk(e, visit)
	}
	for _, in := range n.Inputs() {
		WalkExprs(in, visit)
	}
}

// Columns are the columns that expressions use, in ascending order.
func Columns(es ...expr.Expr) []int {
	var used []int
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) bool {
			if in, ok := e.(*expr.Input); ok {
				used = append(used, in.Index)
			}
			return true
		})
	}
	slices.Sort(used)
	return slices.Compact(used)
}
