package optimize

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// relations is a set of relations: bit i is the i-th.
type relations uint64

func (s relations) has(i int) bool              { return s>>i&1 != 0 }
func (s relations) within(other relations) bool { return s&^other == 0 }

// joinGraph is what inner joins bring together, whatever their order.
type joinGraph struct {
	c      *Context
	all    []joined
	of     []int   // relation of each column
	equal  []class // columns that are equal to each other
	others []term
	// near are the relations that something compares with each.
	near []relations
}

// joined is one of the relations that joins bring together.
type joined struct {
	node  logical.Node
	first int // of its columns among all
	width int
	rows  float64
}

// class are columns of which all are equal. Whichever of them are compared, the others
// follow.
type class struct {
	columns []int
	in      relations
	// values is how many there are in the columns' tables.
	values float64
}

// term is another condition, over the columns of some relations.
type term struct {
	condition expr.Expr
	of        relations
	share     float64 // of the rows for which it holds
}

// newJoinGraph takes joins apart.
func (c *Context) newJoinGraph(j *logical.Join) *joinGraph {
	g := &joinGraph{c: c}
	conditions := g.gather(j, 0)
	if len(g.all) > 64 {
		return g
	}
	g.of = make([]int, len(j.Fields()))
	for i, r := range g.all {
		for k := range r.width {
			g.of[r.first+k] = i
		}
	}
	g.near = make([]relations, len(g.all))
	for _, condition := range conditions {
		if a, b, ok := equalColumns(condition); ok && g.of[a] != g.of[b] {
			g.same(a, b)
			continue
		}
		g.others = append(g.others, g.ask(condition))
	}
	for i := range g.equal {
		k := &g.equal[i]
		k.values = math.Inf(1)
		for _, column := range k.columns {
			r := g.all[g.of[column]]
			k.in |= 1 << g.of[column]
			k.values = min(k.values, c.Estimate.Domain(r.node, column-r.first))
		}
		g.meet(k.in)
	}
	slices.SortStableFunc(g.equal, func(a, b class) int { return int(math.Copysign(1, b.values-a.values)) })
	return g
}

// gather collects relations, and gives the conditions over all their columns.
func (g *joinGraph) gather(n logical.Node, first int) (conditions []expr.Expr) {
	j, ok := n.(*logical.Join)
	if !ok || !flat(j) {
		n = OrderJoins(g.c, n)
		g.all = append(g.all, joined{n, first, len(n.Fields()), g.c.Estimate.Rows(n)})
		return nil
	}
	conditions = g.gather(j.Left, first)
	conditions = append(conditions, g.gather(j.Right, first+len(j.Left.Fields()))...)
	for _, condition := range expr.Conjuncts(j.Condition) {
		conditions = append(conditions, moved(condition, first))
	}
	return conditions
}

// moved is an expression over columns that are further to the right, or below 0 to the left.
func moved(e expr.Expr, by int) expr.Expr {
	if by == 0 {
		return e
	}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok {
			to := *in
			to.Index += by
			return &to
		}
		return e
	})
}

// equalColumns gives two columns of one type that a condition says are equal.
func equalColumns(condition expr.Expr) (a, b int, ok bool) {
	call, ok := condition.(*expr.Call)
	if !ok || call.Fn.Name != "=" {
		return 0, 0, false
	}
	l, lOk := call.Args[0].(*expr.Input)
	r, rOk := call.Args[1].(*expr.Input)
	if !lOk || !rOk || !l.T.EqualButNull(r.T) {
		return 0, 0, false
	}
	return l.Index, r.Index, true
}

// same notes that two columns are equal.
func (g *joinGraph) same(a, b int) {
	find := func(column int) int {
		return slices.IndexFunc(g.equal, func(k class) bool { return slices.Contains(k.columns, column) })
	}
	i, k := find(a), find(b)
	switch {
	case i < 0 && k < 0:
		g.equal = append(g.equal, class{columns: []int{a, b}})
	case i < 0:
		g.equal[k].columns = append(g.equal[k].columns, a)
	case k < 0:
		g.equal[i].columns = append(g.equal[i].columns, b)
	case i != k:
		g.equal[i].columns = append(g.equal[i].columns, g.equal[k].columns...)
		g.equal = slices.Delete(g.equal, k, k+1)
	}
}

// ask notes another condition. One that differs from call to call is asked last.
func (g *joinGraph) ask(condition expr.Expr) term {
	a := term{condition: condition, share: g.c.Estimate.Selectivity(condition, g.nodes()...)}
	for _, column := range logical.Columns(condition) {
		a.of |= 1 << g.of[column]
	}
	if call, ok := condition.(*expr.Call); ok && call.Fn.Name == "=" {
		g.meet(a.of)
	}
	if a.of == 0 || volatile(condition) {
		a.of = 1<<len(g.all) - 1
	}
	return a
}

func (g *joinGraph) nodes() []logical.Node {
	all := make([]logical.Node, len(g.all))
	for i, r := range g.all {
		all[i] = r.node
	}
	return all
}

// meet notes that something compares these relations.
func (g *joinGraph) meet(set relations) {
	for i := range g.all {
		if set.has(i) {
			g.near[i] |= set
		}
	}
}

// meets reports whether something compares relations of two sets.
func (g *joinGraph) meets(a, b relations) bool {
	for i := range g.all {
		if a.has(i) && g.near[i]&b != 0 {
			return true
		}
	}
	return false
}

// rows guesses how many rows the join of a set gives. What compares relations that are
// compared already says less than it would say alone.
func (g *joinGraph) rows(set relations) float64 {
	rows := 1.0
	var group [64]int8
	for i, r := range g.all {
		if group[i] = int8(i); set.has(i) {
			rows *= r.rows
		}
	}
	for _, k := range g.equal {
		before := -1
		for i := range g.all {
			if !(k.in & set).has(i) {
				continue
			}
			if before >= 0 {
				if group[i] == group[before] {
					rows /= math.Sqrt(k.values)
				} else {
					rows /= k.values
					from, to := group[i], group[before]
					for m := range g.all {
						if group[m] == from {
							group[m] = to
						}
					}
				}
			}
			before = i
		}
	}
	for _, a := range g.others {
		if a.of.within(set) && bits.OnesCount64(uint64(a.of)) > 1 {
			rows *= a.share
		}
	}
	return max(1, rows)
}
