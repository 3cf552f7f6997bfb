package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// regrouped joins left rows with an aggregate over the rows that equal them in some
// values, if that is all that right is: it is computed for all such values at once, by
// grouping by them. Then no rows of the left side are needed to compute it. nil: right is
// something else.
func (c *Context) regrouped(left, right logical.Node) logical.Node {
	width := len(left.Fields())
	var above []*logical.Project
	n := right
	for {
		p, ok := n.(*logical.Project)
		if !ok || refers(p.Exprs...) {
			break
		}
		above, n = append(above, p), p.Input
	}
	a, ok := n.(*logical.Aggregate)
	if !ok || len(a.Keys) > 0 || slices.ContainsFunc(a.Calls, func(call logical.AggregateCall) bool { return !total[call.Fn.Name] }) {
		return nil
	}
	in, pulled := c.pull(a.Input, width)
	if pulled == nil || len(referred(in)) > 0 {
		return nil
	}
	in = nearer(in)
	var asked, keys []expr.Expr // what left rows and rows of in have in common
	for _, condition := range expr.Conjuncts(pulled) {
		l, r, ok := equated(condition, width)
		if !ok {
			return nil
		}
		asked, keys = append(asked, l), append(keys, r)
	}
	fields := in.Fields()
	p := &logical.Project{Input: in, Exprs: columnsOf(fields), Names: namesOf(fields)}
	grouped := &logical.Aggregate{Input: p, Calls: a.Calls}
	for _, k := range keys {
		grouped.Keys = append(grouped.Keys, len(p.Exprs))
		p.Exprs, p.Names = append(p.Exprs, k), append(p.Names, "$key")
	}
	j := &logical.Join{Kind: logical.Left, Left: left, Right: grouped}
	columns := columnsOf(j.Fields())
	for i, l := range asked {
		j.Condition = c.and(j.Condition, c.call("=", l, columns[width+i]))
	}
	return c.overGroups(j, columns, width, a.Calls, above)
}

// total are the aggregates that never fail, and of no rows are NULL, or 0 if they count.
var total = map[string]bool{"COUNT": true, "SUM": true, "AVG": true, "MIN": true, "MAX": true,
	"VAR_POP": true, "VAR_SAMP": true, "STDDEV_POP": true, "STDDEV_SAMP": true}

// overGroups gives the left columns, and what was computed above the aggregate: for left
// rows without a group, too.
func (c *Context) overGroups(j *logical.Join, columns []expr.Expr, width int, calls []logical.AggregateCall, above []*logical.Project) logical.Node {
	first := len(columns) - len(calls)
	results := slices.Clone(columns[first:])
	names := make([]string, len(calls))
	for i, call := range calls {
		if names[i] = call.Name; call.Fn.Name == "COUNT" {
			results[i] = c.call("COALESCE", results[i], expr.Constant(types.Of(types.BigInt).NotNull(), int64(0)))
		}
	}
	for _, p := range slices.Backward(above) {
		over := make([]expr.Expr, len(p.Exprs))
		for i, e := range p.Exprs {
			over[i] = substituted(nearerExpr(e), results)
		}
		results, names = over, p.Names
	}
	fields := j.Fields()[:width]
	return &logical.Project{Input: j, Exprs: append(columnsOf(fields), results...), Names: append(namesOf(fields), names...)}
}

// substituted is an expression over what columns are computed by.
func substituted(e expr.Expr, columns []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok {
			return columns[in.Index]
		}
		return e
	})
}

// equated takes a condition apart that compares something of left columns with something
// of right ones, which it gives as the right side counts.
func equated(condition expr.Expr, left int) (l, r expr.Expr, ok bool) {
	call, is := condition.(*expr.Call)
	if !is || call.Fn.Name != "=" || volatile(condition) {
		return nil, nil, false
	}
	l, r = call.Args[0], call.Args[1]
	columns := logical.Columns(l)
	if len(columns) == 0 {
		return nil, nil, false
	}
	if columns[0] >= left {
		l, r = r, l
	}
	onLeft := func(e expr.Expr, want bool) bool {
		columns := logical.Columns(e)
		return len(columns) > 0 && !slices.ContainsFunc(columns, func(column int) bool { return (column < left) != want })
	}
	if !onLeft(l, true) || !onLeft(r, false) || !l.Type().EqualButNull(r.Type()) {
		return nil, nil, false
	}
	return l, moved(r, -left), true
}
