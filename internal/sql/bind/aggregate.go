package bind

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/sql/aggregate"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// grouping is the step that groups rows. What is bound over it sees the keys, and then
// the results of the aggregates, in the order in which they were met.
type grouping struct {
	b    *binder
	s    *selecting
	from *scope
	keys []expr.Expr // over the rows of FROM
	// kinds are the kinds of nodes that keys are written as: no other can be one.
	kinds map[reflect.Type]bool
	// sets are which keys each grouping set has; nil: one with all.
	sets [][]int
	// rows are what the aggregates work on: the keys, and then arguments.
	rows     []expr.Expr
	calls    []logical.AggregateCall
	written  []string // the calls as keys, to have equal ones once
	groupIDs []groupID
	window   *groupWindow // nil: none
}

// groupID is a call of GROUPING over some of the keys.
type groupID struct {
	keys []int
	copy bool // GROUP_ID: how many equal sets come before the row's
}

// grouped binds GROUP BY, if rows are grouped.
func (s *selecting) grouped(sel *ast.Select) error {
	if sel.GroupBy == nil && sel.Having == nil && !slices.ContainsFunc(sel.Items, func(i *ast.SelectItem) bool { return aggregateIn(s.b, i.Expr) != nil }) {
		return nil
	}
	g := &grouping{b: s.b, s: s, from: s.from, kinds: map[reflect.Type]bool{}}
	if sel.GroupBy != nil {
		if err := g.by(sel.GroupBy); err != nil {
			return err
		}
	}
	g.rows = slices.Clone(g.keys)
	s.group = g
	return nil
}

// by binds the keys, and lays out the grouping sets.
func (g *grouping) by(clause *ast.GroupBy) error {
	sets := [][]int{{}}
	plain := true
	for _, item := range clause.Items {
		next, err := g.element(item)
		if err != nil {
			return err
		}
		_, key := item.(*ast.GroupingKey)
		plain = plain && key
		var crossed [][]int
		for _, a := range sets {
			for _, b := range next {
				crossed = append(crossed, union(a, b))
			}
		}
		sets = crossed
	}
	if err := g.sessions(clause.Span); err != nil {
		return err
	}
	if len(sets) > maxGroupingSets {
		return expr.Refuse(clause.Span, "GROUP BY makes %d grouping sets; there may be %d", len(sets), maxGroupingSets)
	}
	if clause.Quantifier == ast.Distinct {
		sets = once(sets)
	}
	if !plain {
		g.sets = sets
	}
	return nil
}

const maxGroupingSets = 4096

// once leaves out sets that equal one before.
func once(sets [][]int) (distinct [][]int) {
	for _, s := range sets {
		if !slices.ContainsFunc(distinct, func(o []int) bool { return slices.Equal(s, o) }) {
			distinct = append(distinct, s)
		}
	}
	return distinct
}

func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// element gives the grouping sets of one element of GROUP BY.
func (g *grouping) element(item ast.GroupingElement) ([][]int, error) {
	switch item := item.(type) {
	case *ast.GroupingKey:
		var set []int
		for _, e := range item.Exprs {
			if keys, ok, err := g.windowed(e); ok {
				if err != nil {
					return nil, err
				}
				set = union(set, keys)
				continue
			}
			k, err := g.add(e)
			if err != nil {
				return nil, err
			}
			set = union(set, []int{k})
		}
		return [][]int{set}, nil
	case *ast.GroupingSets:
		return g.expanded(item)
	}
	return nil, expr.Refuse(item.Range(), "this cannot be grouped by")
}

// expanded gives the sets of ROLLUP, CUBE and GROUPING SETS.
func (g *grouping) expanded(item *ast.GroupingSets) ([][]int, error) {
	var parts [][][]int
	for _, i := range item.Items {
		sets, err := g.element(i)
		if err != nil {
			return nil, err
		}
		parts = append(parts, sets)
	}
	var sets [][]int
	switch item.Kind {
	case "ROLLUP":
		for n := len(parts); n >= 0; n-- {
			var set []int
			for _, p := range parts[:n] {
				set = union(set, p[0])
			}
			sets = append(sets, set)
		}
	case "CUBE":
		if len(parts) > bits.Len(maxGroupingSets)-1 {
			return nil, expr.Refuse(item.Span, "CUBE of %d columns makes too many grouping sets; there may be %d", len(parts), maxGroupingSets)
		}
		for m := 1<<len(parts) - 1; m >= 0; m-- {
			var set []int
			for i, p := range parts {
				if m>>(len(parts)-1-i)&1 != 0 {
					set = union(set, p[0])
				}
			}
			sets = append(sets, set)
		}
	default:
		sets = slices.Concat(parts...)
	}
	return sets, nil
}

// add makes an expression a key, and gives its place.
func (g *grouping) add(e ast.Expr) (int, error) {
	if call := aggregateIn(g.b, e); call != nil {
		return 0, expr.Refuse(call.Range(), "Aggregate expression is illegal in GROUP BY clause")
	}
	key, err := g.b.expression(e, g.from)
	if err != nil {
		return 0, err
	}
	g.kinds[reflect.TypeOf(e)] = true
	for i, k := range g.keys {
		if k.String() == key.String() {
			return i, nil
		}
	}
	g.keys = append(g.keys, key)
	return len(g.keys) - 1, nil
}

// key gives the column of an expression over FROM that is a key.
func (g *grouping) key(e expr.Expr) (expr.Expr, bool) {
	text := e.String()
	for i, k := range g.keys {
		if k.String() == text {
			t := k.Type()
			if g.sets != nil && slices.ContainsFunc(g.sets, func(s []int) bool { return !slices.Contains(s, i) }) {
				t = t.OrNull()
			}
			return &expr.Input{Index: i, Name: name(k, i), T: t, At: e.Span()}, true
		}
	}
	return nil, false
}

// name is what a key is called.
func name(k expr.Expr, i int) string {
	if in, ok := k.(*expr.Input); ok {
		return in.Name
	}
	return "$f" + strconv.Itoa(i)
}

// Column resolves a name, which must be a key.
func (g *grouping) Column(parts []ast.Name) (expr.Expr, int, error) {
	e, used, err := g.from.Column(parts)
	if err != nil {
		return nil, 0, err
	}
	if column, ok := g.key(e); ok {
		return column, used, nil
	}
	if outer, ok := e.(*logical.Outer); ok {
		return outer, used, nil
	}
	return nil, 0, expr.Refuse(e.Span(), "Expression '%s' is not being grouped", dotted(parts[:used]))
}

// special binds aggregates, keys that are no plain names, and sub-queries.
func (g *grouping) special(e ast.Expr, s *selecting) (expr.Expr, bool, error) {
	if call := g.b.aggregate(e); call != nil {
		value, err := g.call(call, s)
		return value, true, err
	}
	if c, ok := e.(*ast.Call); ok && (c.Name.Is("GROUPING") || c.Name.Is("GROUPING_ID") || c.Name.Is("GROUP_ID")) {
		value, err := g.groupingID(c)
		return value, true, err
	}
	if g.kinds[reflect.TypeOf(e)] {
		if bound, err := g.b.expression(e, g.from); err == nil {
			if column, ok := g.key(bound); ok {
				return column, true, nil
			}
		}
	}
	return g.b.subquery(e, s, g.from.ctes)
}

// call adds an aggregate, and gives the column of its result.
func (g *grouping) call(c *aggregateCall, _ *selecting) (expr.Expr, error) {
	call, err := g.b.bindAggregate(c, g.from, g.row)
	if err != nil {
		return nil, err
	}
	call.Name = "EXPR$" + strconv.Itoa(len(g.calls))
	if (len(g.keys) == 0 || call.Filter >= 0) && aggregate.MayBeNull(call.Fn) {
		call.T = call.T.OrNull() // a group may have no row that counts
	}
	for _, other := range g.calls {
		if len(call.Order) > 0 && len(other.Order) > 0 && !slices.Equal(call.Order, other.Order) {
			return nil, expr.Refuse(c.at, "aggregates of one query that ask for different orders are not supported")
		}
	}
	text := fmt.Sprint(call.Fn.Name, call.Args, call.Distinct, call.Filter, call.Order, call.IgnoreNulls)
	i := slices.Index(g.written, text)
	if i < 0 {
		i = len(g.calls)
		g.calls, g.written = append(g.calls, call), append(g.written, text)
	}
	return &expr.Input{Index: len(g.keys) + i, Name: g.calls[i].Name, T: g.calls[i].T, At: c.at}, nil
}

// row makes an expression a column of what the aggregates work on.
func (g *grouping) row(e expr.Expr) int { return place(&g.rows, e) }

// place gives the place of an expression in a list, to which it is added if it is not in
// it.
func place(list *[]expr.Expr, e expr.Expr) int {
	text := e.String()
	if i := slices.IndexFunc(*list, func(o expr.Expr) bool { return o.String() == text }); i >= 0 {
		return i
	}
	*list = append(*list, e)
	return len(*list) - 1
}

// groupingID binds GROUPING(a, b) and its like: a bit for each argument, which is set if
// the row's grouping set does not have it. GROUP_ID() counts the equal sets before it.
func (g *grouping) groupingID(c *ast.Call) (expr.Expr, error) {
	var keys []int
	for _, a := range c.Args {
		bound, err := g.b.expression(a, g.from)
		if err != nil {
			return nil, err
		}
		column, ok := g.key(bound)
		if !ok {
			return nil, expr.Refuse(a.Range(), "Argument to %s operator must be a grouped expression", c.Name.Last())
		}
		keys = append(keys, column.(*expr.Input).Index)
	}
	g.groupIDs = append(g.groupIDs, groupID{keys: keys, copy: c.Name.Is("GROUP_ID")})
	return &groupRef{len(g.groupIDs) - 1, c.Span}, nil
}

// groupRef stands for the result of a call of GROUPING until the step is built.
type groupRef struct {
	call int
	at   ast.Span
}

func (e *groupRef) Type() types.Type { return types.Of(types.BigInt).NotNull() }
func (e *groupRef) Span() ast.Span   { return e.at }
func (e *groupRef) String() string   { return "GROUPING#" + strconv.Itoa(e.call) }

// build makes the step: the rows that are grouped, expanded for grouping sets, and the
// aggregate.
func (g *grouping) build(plan logical.Node) (logical.Node, error) {
	if len(g.groupIDs) > 0 || g.sets != nil {
		return g.buildSets(plan)
	}
	names := make([]string, len(g.rows))
	for i, e := range g.rows {
		names[i] = name(e, i)
	}
	keys := make([]int, len(g.keys))
	for i := range keys {
		keys[i] = i
	}
	return &logical.Aggregate{Input: project(plan, g.rows, names), Keys: keys, Calls: g.calls}, nil
}
