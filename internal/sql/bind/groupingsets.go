package bind

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// buildSets makes the step for grouping sets: each row comes once for each set, with NULL
// for the keys that are not in it and with the number of the set, which is a key too. Above
// it the results lie as without sets, and those of GROUPING come after them.
func (g *grouping) buildSets(plan logical.Node) (logical.Node, error) {
	sets := g.sets
	if sets == nil {
		whole := make([]int, len(g.keys))
		for i := range whole {
			whole[i] = i
		}
		sets = [][]int{whole}
	}
	n := len(g.keys)
	names := make([]string, len(g.rows))
	for i, e := range g.rows {
		names[i] = name(e, i)
	}
	plan = &logical.Project{Input: plan, Exprs: g.rows, Names: names}
	fields := plan.Fields()
	row := make([]types.Field, 0, 2*n+len(fields))
	for i := range n { // keys as groups see them
		f := fields[i]
		f.Type = f.Type.OrNull()
		row = append(row, f)
	}
	row = append(row, types.Field{Name: "$e", Type: types.Of(types.BigInt).NotNull()})
	row = append(row, fields...) // arguments may be the keys as well, as they were
	e := &logical.Expand{Input: plan, Row: row}
	for number, set := range sets {
		var list []expr.Expr
		for i := range n {
			if slices.Contains(set, i) {
				list = append(list, input(i, fields[i], ast.Span{}))
			} else {
				list = append(list, expr.Null(fields[i].Type.OrNull(), ast.Span{}))
			}
		}
		list = append(list, bigint(int64(number)))
		e.Lists = append(e.Lists, append(list, all(fields)...))
	}
	calls := slices.Clone(g.calls)
	for i := range calls {
		calls[i] = shifted(calls[i], n+1)
	}
	keys := make([]int, n+1)
	for i := range keys {
		keys[i] = i
	}
	aggregate := &logical.Aggregate{Input: e, Keys: keys, Calls: calls}
	return g.withIDs(aggregate, sets)
}

func bigint(v int64) *expr.Literal { return expr.Constant(types.Of(types.BigInt).NotNull(), v) }

// shifted is a call over columns that lie further right.
func shifted(c logical.AggregateCall, by int) logical.AggregateCall {
	c.Args, c.Order = slices.Clone(c.Args), slices.Clone(c.Order)
	for i := range c.Args {
		c.Args[i] += by
	}
	for i := range c.Order {
		c.Order[i].Column += by
	}
	if c.Filter >= 0 {
		c.Filter += by
	}
	return c
}

// withIDs takes the number of the set away, and adds the results of GROUPING.
func (g *grouping) withIDs(a *logical.Aggregate, sets [][]int) (logical.Node, error) {
	fields, n := a.Fields(), len(g.keys)
	p := &logical.Project{Input: a}
	add := func(e expr.Expr, name string) { p.Exprs, p.Names = append(p.Exprs, e), append(p.Names, name) }
	for i, f := range fields {
		if i != n {
			add(input(i, f, ast.Span{}), f.Name)
		}
	}
	number := input(n, fields[n], ast.Span{})
	for _, id := range g.groupIDs {
		var value expr.Expr = bigint(idOf(id, sets, len(sets)-1))
		for s := len(sets) - 2; s >= 0; s-- {
			is, err := g.b.call("=", ast.Span{}, number, bigint(int64(s)))
			if err != nil {
				return nil, err
			}
			if value, err = g.b.call("CASE", ast.Span{}, is, bigint(idOf(id, sets, s)), value); err != nil {
				return nil, err
			}
		}
		add(value, "$grouping")
	}
	return p, nil
}

// idOf is the result of a call of GROUPING, or of GROUP_ID, in the set of a number.
func idOf(id groupID, sets [][]int, number int) (value int64) {
	set := sets[number]
	if id.copy {
		for _, before := range sets[:number] {
			if sameSet(before, set) {
				value++
			}
		}
		return value
	}
	for _, k := range id.keys {
		value <<= 1
		if !slices.Contains(set, k) {
			value |= 1
		}
	}
	return value
}

// sameSet reports whether two grouping sets have the same keys.
func sameSet(a, b []int) bool {
	within := func(a, b []int) bool {
		return !slices.ContainsFunc(a, func(k int) bool { return !slices.Contains(b, k) })
	}
	return within(a, b) && within(b, a)
}

// resolve gives the calls of GROUPING their columns, which come after the results.
func (g *grouping) resolve(e expr.Expr) expr.Expr {
	if g == nil || len(g.groupIDs) == 0 {
		return e
	}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if r, ok := e.(*groupRef); ok {
			return &expr.Input{Index: len(g.keys) + len(g.calls) + r.call, Name: "$grouping", T: r.Type(), At: r.at}
		}
		return e
	})
}
