package physical

import (
	"errors"
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

var joinKinds = map[logical.JoinKind]plan.JoinKind{
	logical.Inner: plan.Inner, logical.Left: plan.LeftOuter, logical.Right: plan.RightOuter, logical.Full: plan.FullOuter,
	logical.Semi: plan.Semi, logical.Anti: plan.Anti,
}

// key is a comparison that rows of both sides can be brought together by.
type key struct {
	left, right expr.Expr // each over its own side
	nullSafe    bool
}

// join brings rows together by what the condition says is equal, and holds one side. Where
// nothing is, every pair is looked at.
func (p *planner) join(n *logical.Join) (planned, error) {
	if n.Temporal {
		return planned{}, errors.New("a join with a table as of a time has no way to be computed as a stream")
	}
	left, err := p.plan(n.Left)
	if err != nil {
		return left, err
	}
	right, err := p.plan(n.Right)
	if err != nil {
		return right, err
	}
	keys, rest := keysOf(n.Condition, len(n.Left.Fields()))
	if n.NullAware {
		if len(keys) == 1 && !keys[0].nullSafe && len(rest) == 0 {
			return p.notIn(n, left, right, keys[0])
		}
		if keys, rest, err = p.neverUnknown(n); err != nil {
			return left, err
		}
	}
	condition, err := p.all(rest)
	if err != nil {
		return left, err
	}
	j := &plan.Join{Kind: joinKinds[n.Kind], Strategy: plan.NestedLoop, Condition: condition}
	if len(keys) == 0 {
		return p.pairs(n, j, left, right), nil
	}
	return p.hashed(n, j, left, right, keys)
}

// neverUnknown gives the keys and conditions of a join that answers NOT IN: rows are
// brought together by what is true or false, and never unknown; of the others, the
// condition must be false, and not unknown, with every right row.
func (p *planner) neverUnknown(n *logical.Join) (keys []key, rest []expr.Expr, err error) {
	var open []expr.Expr
	for _, c := range expr.Conjuncts(n.Condition) {
		call, ok := c.(*expr.Call)
		asked := c
		if ok && call.Fn.Name == "IS TRUE" {
			asked = call.Args[0]
		}
		switch k, equal := keyOf(asked, len(n.Left.Fields())); {
		case equal && (k.nullSafe || asked != c):
			keys = append(keys, k)
		case asked != c:
			rest = append(rest, c)
		default:
			open = append(open, c)
		}
	}
	all, err := p.all(open)
	if err != nil || all == nil {
		return keys, rest, err
	}
	all, err = p.call("IS NOT FALSE", all)
	return keys, append(rest, all), err
}

// all joins conditions by AND; nil: there are none.
func (p *planner) all(conditions []expr.Expr) (all expr.Expr, err error) {
	for _, c := range conditions {
		if all == nil {
			all = c
		} else if all, err = p.call("AND", all, c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pairs looks at every pair of rows: the right ones are brought to all left ones, or all
// into one subtask where right rows without a partner are wanted, too.
func (p *planner) pairs(n *logical.Join, j *plan.Join, left, right planned) planned {
	out := planned{one: left.one}
	switch {
	case n.Kind == logical.Right || n.Kind == logical.Full:
		left, right, out.one = p.single(left), p.single(right), true
	case left.one:
		right = p.single(right)
	default:
		left, right = p.spread(left), p.broadcast(right)
	}
	j.Base = over(n.Fields(), left, right)
	out.node = j
	return out
}

// hashed brings rows with equal keys together.
func (p *planner) hashed(n *logical.Join, j *plan.Join, left, right planned, keys []key) (planned, error) {
	j.Strategy = plan.HashJoin
	leftWidth := len(left.schema())
	var lefts, rights []expr.Expr
	for _, k := range keys {
		lefts, rights, j.NullSafe = append(lefts, k.left), append(rights, k.right), append(j.NullSafe, k.nullSafe)
	}
	left, j.LeftKeys = p.keyed(left, lefts)
	right, j.RightKeys = p.keyed(right, rights)
	p.hold(n, j)
	out := planned{}
	left, right, out.hashed = p.meet(n, j, left, right)
	added := len(left.schema()) - leftWidth
	if j.Condition != nil && added > 0 {
		j.Condition = expr.Rewrite(j.Condition, func(e expr.Expr) expr.Expr {
			if in, ok := e.(*expr.Input); ok && in.Index >= leftWidth {
				moved := *in
				moved.Index += added
				return &moved
			}
			return e
		})
	}
	schema := slices.Clone(left.schema())
	if n.Kind != logical.Semi && n.Kind != logical.Anti {
		schema = append(schema, right.schema()...)
	}
	j.Base = over(nullable(schema, n, len(left.schema())), left, right)
	out.node, out.one = j, left.one
	if len(schema) == len(n.Fields()) {
		return out, nil
	}
	c := &plan.Calc{Base: over(n.Fields(), out)}
	for i, f := range n.Fields() {
		at := i
		if i >= leftWidth {
			at += added
		}
		c.Project = append(c.Project, &expr.Input{Index: at, Name: f.Name, T: f.Type})
	}
	return planned{node: c, one: out.one, hashed: carried(out.hashed, c.Project)}, nil
}

// nullable lets columns be NULL that may be missing.
func nullable(schema []types.Field, n *logical.Join, left int) []types.Field {
	schema = slices.Clone(schema)
	for i := range schema {
		if n.Kind == logical.Full || n.Kind == logical.Left && i >= left || n.Kind == logical.Right && i < left {
			schema[i].Type = schema[i].Type.OrNull()
		}
	}
	return schema
}

// notIn plans NOT IN: all right rows are held by every subtask.
func (p *planner) notIn(n *logical.Join, left, right planned, k key) (planned, error) {
	leftWidth := len(left.schema())
	j := &plan.Join{Kind: plan.Anti, Strategy: plan.HashJoin, NullAware: true}
	left, j.LeftKeys = p.keyed(left, []expr.Expr{k.left})
	right, j.RightKeys = p.keyed(right, []expr.Expr{k.right})
	if left.one {
		right = p.single(right)
	} else {
		right = p.broadcast(right)
	}
	j.Base = over(left.schema(), left, right)
	out := planned{node: j, one: left.one}
	if len(left.schema()) == leftWidth {
		return out, nil
	}
	c := &plan.Calc{Base: over(n.Fields(), out)}
	for i, f := range n.Fields() {
		c.Project = append(c.Project, &expr.Input{Index: i, Name: f.Name, T: f.Type})
	}
	return planned{node: c, one: out.one}, nil
}

// keyed computes keys that are no columns behind the others, and gives where they are.
func (p *planner) keyed(in planned, keys []expr.Expr) (planned, []int) {
	schema := in.schema()
	var exprs []expr.Expr
	for i, f := range schema {
		exprs = append(exprs, &expr.Input{Index: i, Name: f.Name, T: f.Type})
	}
	fields := slices.Clone(schema)
	at := make([]int, len(keys))
	for i, k := range keys {
		if column, ok := k.(*expr.Input); ok {
			at[i] = column.Index
			continue
		}
		at[i] = len(exprs)
		exprs, fields = append(exprs, k), append(fields, types.Field{Name: "$key", Type: k.Type()})
	}
	if len(exprs) == len(schema) {
		return in, at
	}
	c := &plan.Calc{Base: over(fields, in), Project: exprs}
	return planned{node: c, one: in.one, hashed: in.hashed}, at
}

// keysOf takes the comparisons out of a condition that have each side of the join on one
// of theirs.
func keysOf(condition expr.Expr, left int) (keys []key, rest []expr.Expr) {
	for _, c := range expr.Conjuncts(condition) {
		if k, ok := keyOf(c, left); ok {
			keys = append(keys, k)
		} else {
			rest = append(rest, c)
		}
	}
	return keys, rest
}

func keyOf(e expr.Expr, left int) (k key, ok bool) {
	call, is := e.(*expr.Call)
	if !is || call.Fn.Name != "=" && call.Fn.Name != "IS NOT DISTINCT FROM" {
		return k, false
	}
	k.nullSafe = call.Fn.Name != "="
	k.left, k.right = call.Args[0], call.Args[1]
	if sideOf(k.left, left) == 1 {
		k.left, k.right = k.right, k.left
	}
	if sideOf(k.left, left) != 0 || sideOf(k.right, left) != 1 || !k.left.Type().EqualButNull(k.right.Type()) {
		return k, false
	}
	k.right = expr.Rewrite(k.right, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok {
			moved := *in
			moved.Index -= left
			return &moved
		}
		return e
	})
	return k, true
}

// sideOf is which side's columns an expression uses: 0 left, 1 right, -1 none or both.
func sideOf(e expr.Expr, left int) int {
	columns := logical.Columns(e)
	switch {
	case len(columns) == 0:
		return -1
	case columns[len(columns)-1] < left:
		return 0
	case columns[0] >= left:
		return 1
	}
	return -1
}
