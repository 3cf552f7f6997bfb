package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// FactorDisjunctions takes out of the ORs of conditions what all their branches ask for, so
// that it can be moved by itself: (a AND b) OR (a AND c) becomes a AND (b OR c).
func FactorDisjunctions(c *Context, n logical.Node) logical.Node {
	return logical.Rewrite(n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			f := *n
			f.Condition = c.factored(n.Condition)
			return &f
		case *logical.Join:
			if n.Condition != nil {
				j := *n
				j.Condition = c.factored(n.Condition)
				return &j
			}
		}
		return n
	})
}

// disjuncts takes a condition apart at its ORs.
func disjuncts(e expr.Expr) []expr.Expr {
	call, ok := e.(*expr.Call)
	if !ok || call.Fn.Name != "OR" {
		return []expr.Expr{e}
	}
	var all []expr.Expr
	for _, a := range call.Args {
		all = append(all, disjuncts(a)...)
	}
	return all
}

// factored takes common conjuncts out of each OR of a condition.
func (c *Context) factored(condition expr.Expr) (all expr.Expr) {
	changed := false
	for _, part := range expr.Conjuncts(condition) {
		common, rest := c.common(part)
		changed = changed || len(common) > 0
		for _, e := range append(common, rest) {
			if e != nil {
				all = c.and(all, e)
			}
		}
	}
	if !changed {
		return condition
	}
	return all
}

// common gives what all branches of a condition ask for, and the OR of what is left of
// them, nil if nothing is left of one.
func (c *Context) common(condition expr.Expr) (common []expr.Expr, rest expr.Expr) {
	branches := disjuncts(condition)
	if len(branches) < 2 || volatile(condition) {
		return nil, condition
	}
	parts := make([][]expr.Expr, len(branches))
	texts := make([][]string, len(branches))
	for i, b := range branches {
		parts[i] = expr.Conjuncts(b)
		for _, p := range parts[i] {
			texts[i] = append(texts[i], p.String())
		}
	}
	var shared []string
	for k, text := range texts[0] {
		everywhere := !slices.Contains(shared, text)
		for _, others := range texts[1:] {
			everywhere = everywhere && slices.Contains(others, text)
		}
		if everywhere {
			shared, common = append(shared, text), append(common, parts[0][k])
		}
	}
	if len(common) == 0 {
		return nil, condition
	}
	for i := range branches {
		var left expr.Expr
		for k, p := range parts[i] {
			if !slices.Contains(shared, texts[i][k]) {
				left = c.and(left, p)
			}
		}
		if left == nil { // this branch asks for nothing more
			return common, nil
		}
		rest = c.or(rest, left)
	}
	return common, rest
}

// implied is what a condition says about some columns alone: of an OR each of whose
// branches says something about them. nil: nothing, or all of it is about them.
func (c *Context) implied(condition expr.Expr, of func(column int) bool) (all expr.Expr) {
	branches := disjuncts(condition)
	if len(branches) < 2 || volatile(condition) {
		return nil
	}
	for _, b := range branches {
		var said expr.Expr
		for _, p := range expr.Conjuncts(b) {
			columns := logical.Columns(p)
			if len(columns) > 0 && !slices.ContainsFunc(columns, func(column int) bool { return !of(column) }) {
				said = c.and(said, p)
			}
		}
		if said == nil {
			return nil
		}
		all = c.or(all, said)
	}
	return all
}

// or joins two conditions, each of which may be nil, which is none.
func (c *Context) or(a, b expr.Expr) expr.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return c.call("OR", a, b)
}
