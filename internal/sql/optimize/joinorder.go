package optimize

import (
	"math"
	"math/bits"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// OrderJoins lays inner joins out in the order that is likely to be the fastest: few rows
// are held, few are passed on, and none are paired that have nothing in common as long as
// conditions allow that. The side with more rows is the left one.
func OrderJoins(c *Context, n logical.Node) logical.Node {
	if j, ok := n.(*logical.Join); ok && flat(j) {
		if g := c.newJoinGraph(j); len(g.all) <= 64 {
			return g.ordered(j)
		}
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

// joinTree is an order of some relations.
type joinTree struct {
	set         relations
	left, right *joinTree // nil: one relation
	rows, cost  float64
}

// mostSearched is how many relations are tried in all orders.
const mostSearched = 9

// ordered joins the relations in the best order, with the columns as they were.
func (g *joinGraph) ordered(j *logical.Join) logical.Node {
	trees := make([]*joinTree, len(g.all))
	for i, r := range g.all {
		trees[i] = &joinTree{set: 1 << i, rows: r.rows}
	}
	var best *joinTree
	if len(trees) <= mostSearched {
		best = g.searched(trees)
	} else {
		best = g.greedy(trees)
	}
	columns := make([]int, 0, len(g.of))
	tree := g.build(best, &columns)
	at := make(places, len(columns))
	inOrder := true
	for i, column := range columns {
		at[column] = i
		inOrder = inOrder && column == i
	}
	if inOrder {
		return tree
	}
	exprs := make([]expr.Expr, len(at))
	for i, f := range j.Fields() {
		exprs[i] = &expr.Input{Index: at[i], Name: f.Name, T: f.Type}
	}
	return &logical.Project{Input: tree, Exprs: exprs, Names: namesOf(j.Fields())}
}

// What a join costs for a row that it holds, one that it looks up, and one that it gives.
const (
	costHeld   = 2
	costLooked = 0.3
	costGiven  = 1
	// costApart is that of a join that compares nothing, beside its pairs.
	costApart = 1e6
)

// together is the join of two trees.
func (g *joinGraph) together(a, b *joinTree) *joinTree {
	if a.rows < b.rows {
		a, b = b, a
	}
	t := &joinTree{set: a.set | b.set, left: a, right: b, rows: g.rows(a.set | b.set)}
	t.cost = a.cost + b.cost + costHeld*b.rows + costLooked*a.rows + costGiven*t.rows
	if !g.meets(a.set, b.set) {
		t.cost += costApart + a.rows*b.rows
	}
	return t
}

// searched tries all orders.
func (g *joinGraph) searched(trees []*joinTree) *joinTree {
	best := make([]*joinTree, 1<<len(trees))
	for _, t := range trees {
		best[t.set] = t
	}
	for set := range relations(len(best)) {
		if set == 0 || best[set] != nil {
			continue
		}
		lowest := relations(1) << bits.TrailingZeros64(uint64(set))
		for part := (set - 1) & set; part != 0; part = (part - 1) & set {
			if part&lowest == 0 {
				continue // it is the other part of another
			}
			if t := g.together(best[part], best[set&^part]); best[set] == nil || t.cost < best[set].cost {
				best[set] = t
			}
		}
	}
	return best[len(best)-1]
}

// greedy joins the two that cost least, again and again.
func (g *joinGraph) greedy(trees []*joinTree) *joinTree {
	for len(trees) > 1 {
		var least *joinTree
		first, second, cost := 0, 0, math.Inf(1)
		for i := range trees {
			for k := i + 1; k < len(trees); k++ {
				t := g.together(trees[i], trees[k])
				if own := t.cost - trees[i].cost - trees[k].cost; least == nil || own < cost {
					least, first, second, cost = t, i, k, own
				}
			}
		}
		trees[first] = least
		trees = append(trees[:second], trees[second+1:]...)
	}
	return trees[0]
}

// build makes the operators of a tree, and adds which columns they give.
func (g *joinGraph) build(t *joinTree, columns *[]int) logical.Node {
	from := len(*columns)
	if t.left == nil {
		r := g.all[bits.TrailingZeros64(uint64(t.set))]
		for i := range r.width {
			*columns = append(*columns, r.first+i)
		}
		return g.c.above(r.node, g.due(t, (*columns)[from:]))
	}
	left := g.build(t.left, columns)
	right := g.build(t.right, columns)
	j := &logical.Join{Left: left, Right: right}
	for _, e := range g.due(t, (*columns)[from:]) {
		j.Condition = g.c.and(j.Condition, e)
	}
	return j
}

// due are the conditions that are asked at the root of a tree with these columns, over
// them.
func (g *joinGraph) due(t *joinTree, columns []int) (all []expr.Expr) {
	at := make(places, len(g.of))
	for i, column := range columns {
		at[column] = i
	}
	for _, k := range g.equal {
		all = append(all, g.compared(t, k, at)...)
	}
	for _, a := range g.others {
		earlier := t.left != nil && (a.of.within(t.left.set) || a.of.within(t.right.set))
		if a.of.within(t.set) && !earlier {
			all = append(all, at.of(a.condition))
		}
	}
	return all
}

// compared compares a column of each side, or of one relation all, of a class.
func (g *joinGraph) compared(t *joinTree, k class, at places) (all []expr.Expr) {
	var left, right []int
	for _, column := range k.columns {
		of := relations(1) << g.of[column]
		switch {
		case !of.within(t.set):
		case t.left != nil && of.within(t.right.set):
			right = append(right, column)
		default:
			left = append(left, column)
		}
	}
	input := func(column int) expr.Expr {
		r := g.all[g.of[column]]
		f := r.node.Fields()[column-r.first]
		return &expr.Input{Index: at[column], Name: f.Name, T: f.Type}
	}
	if t.left != nil {
		if len(left) > 0 && len(right) > 0 {
			all = append(all, g.c.call("=", input(left[0]), input(right[0])))
		}
		return all
	}
	for _, column := range left[min(1, len(left)):] {
		all = append(all, g.c.call("=", input(left[0]), input(column)))
	}
	return all
}
