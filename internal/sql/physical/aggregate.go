package physical

import (
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// aggregate brings groups together and aggregates them.
func (p *planner) aggregate(n *logical.Aggregate, in planned) planned {
	if p.Session.Streaming {
		return p.changing(n, p.hash(in, n.Keys))
	}
	if moved := p.hash(in, n.Keys); moved.node != in.node {
		if out, ok := p.twice(n, in); ok {
			return out
		}
		in = moved
	}
	a := &plan.Aggregate{Phase: plan.Complete, Keys: n.Keys}
	if order := orderOf(n.Calls); order != nil { // groups one after the other, in the order asked for
		var by []plan.SortKey
		for _, k := range n.Keys {
			by = append(by, plan.SortKey{Column: k})
		}
		in.node = &plan.Sort{Base: over(in.schema(), in), Keys: append(by, keys(order)...), Fetch: -1}
		a.Sorted = true
	}
	a.Base = over(n.Fields(), in)
	for _, c := range n.Calls {
		a.Calls = append(a.Calls, call(c, in.schema()))
	}
	out := planned{node: a, one: in.one}
	if in.hashed != nil {
		for i := range n.Keys {
			out.hashed = append(out.hashed, i)
		}
	}
	return out
}

// changing aggregates rows as they come.
func (p *planner) changing(n *logical.Aggregate, in planned) planned {
	a := &plan.Aggregate{Phase: plan.Changing, Keys: n.Keys, Base: over(n.Fields(), in)}
	for _, c := range n.Calls {
		a.Calls = append(a.Calls, call(c, in.schema()))
	}
	return planned{node: a, one: in.one}
}

// mergeable are the aggregates whose states are smaller than what they are made of.
var mergeable = map[string]bool{
	"COUNT": true, "SUM": true, "$SUM0": true, "AVG": true, "MIN": true, "MAX": true,
	"VAR_POP": true, "VAR_SAMP": true, "STDDEV_POP": true, "STDDEV_SAMP": true,
}

// twice aggregates where rows are, and what that gives once more where groups come
// together; false: a call does not allow it.
func (p *planner) twice(n *logical.Aggregate, in planned) (planned, bool) {
	local := &plan.Aggregate{Phase: plan.Local, Keys: n.Keys, Base: over(nil, in)}
	schema := n.Fields()[:len(n.Keys)]
	for _, c := range n.Calls {
		if c.Distinct || len(c.Order) > 0 || !mergeable[c.Fn.Name] && c.Fn.Aggregate == nil {
			return planned{}, false
		}
		local.Calls = append(local.Calls, call(c, in.schema()))
	}
	var err error
	if local.Schema, err = exec.StateSchema(schema, local.Calls); err != nil {
		return planned{}, false
	}
	keys := make([]int, len(n.Keys))
	for i := range keys {
		keys[i] = i
	}
	together := p.hash(planned{node: local}, keys)
	global := &plan.Aggregate{Phase: plan.Global, Keys: keys, Calls: local.Calls, Base: over(n.Fields(), together)}
	return planned{node: global, one: together.one, hashed: together.hashed}, true
}

// orderOf is the order that a call asks for; nil: none does.
func orderOf(calls []logical.AggregateCall) []logical.SortKey {
	for _, c := range calls {
		if len(c.Order) > 0 {
			return c.Order
		}
	}
	return nil
}

func call(c logical.AggregateCall, in []types.Field) plan.AggregateCall {
	to := plan.AggregateCall{Function: c.Fn.Name, Custom: c.Fn.Aggregate, Args: c.Args, Filter: c.Filter, Distinct: c.Distinct, IgnoreNulls: c.IgnoreNulls, Type: c.T}
	for _, a := range c.Args {
		to.ArgTypes = append(to.ArgTypes, in[a].Type)
	}
	return to
}

func keys(of []logical.SortKey) []plan.SortKey {
	var to []plan.SortKey
	for _, k := range of {
		to = append(to, plan.SortKey{Column: k.Column, Descending: k.Descending, NullsLast: k.NullsLast})
	}
	return to
}

// sort orders rows. Where only some are wanted, each subtask gives no more than these.
func (p *planner) sort(n *logical.Sort, in planned) planned {
	if n.Fetch >= 0 && len(n.Keys) == 0 {
		atMost(in.node, n.Offset+n.Fetch)
	}
	if n.Fetch >= 0 && !in.one {
		in = planned{node: limited(in, n.Keys, 0, n.Offset+n.Fetch)}
	}
	in = p.single(in)
	return planned{node: limited(in, n.Keys, n.Offset, n.Fetch), one: true}
}

// atMost tells who reads a table how many rows are wanted, where each of them is.
func atMost(n plan.Node, rows int64) {
	switch n := n.(type) {
	case *plan.Calc:
		if n.Filter == nil {
			atMost(n.Inputs[0], rows)
		}
	case *plan.Scan:
		n.Limit = rows
	}
}

func limited(in planned, order []logical.SortKey, offset, fetch int64) plan.Node {
	base := over(in.schema(), in)
	if len(order) == 0 {
		return &plan.Limit{Base: base, Offset: offset, Fetch: fetch}
	}
	return &plan.Sort{Base: base, Keys: keys(order), Offset: offset, Fetch: fetch}
}

func (p *planner) setOperation(n *logical.SetOperation) (planned, error) {
	var inputs []planned
	one := true
	for _, of := range n.Of {
		in, err := p.plan(of)
		if err != nil {
			return in, err
		}
		inputs, one = append(inputs, in), one && in.one
	}
	whole := make([]int, len(n.Row))
	for i := range whole {
		whole[i] = i
	}
	if n.Kind == logical.Union {
		u := planned{node: &plan.Union{Base: over(n.Row, inputs...)}, one: len(inputs) == 1 && one}
		if n.All {
			return u, nil
		}
		u = p.hash(u, whole)
		return planned{node: &plan.Aggregate{Base: over(n.Row, u), Keys: whole}, one: u.one, hashed: u.hashed}, nil
	}
	for i := range inputs {
		if inputs[i].one && !one { // its rows go to where the others' are
			inputs[i] = planned{node: inputs[i].node}
		}
		inputs[i] = p.hash(inputs[i], whole)
	}
	s := &plan.SetOperation{Base: over(n.Row, inputs...), Except: n.Kind == logical.Except, All: n.All}
	return planned{node: s, one: one}, nil
}
