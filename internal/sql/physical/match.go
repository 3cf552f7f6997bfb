package physical

import (
	"fmt"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// match brings partitions together and finds matches in them.
func (p *planner) match(n *logical.Match, in planned) planned {
	in = p.hash(in, n.Partition)
	m := &plan.Match{Base: over(n.Fields(), in), Partition: n.Partition, Order: keys(n.Order), Elements: n.Elements, Variables: n.Variables,
		AtFirst: n.AtFirst, AtLast: n.AtLast, Skip: n.Skip, Within: n.Within}
	v := &matchValues{node: m, known: map[string]int{}}
	for _, name := range n.Variables {
		var condition expr.Expr
		if c := n.Defines[name]; c != nil {
			condition = v.of(c)
		}
		m.Conditions = append(m.Conditions, condition)
	}
	for _, e := range n.Measures {
		m.Measures = append(m.Measures, v.of(e))
	}
	out := planned{node: m, one: in.one}
	if in.hashed != nil {
		for i := range n.Partition {
			out.hashed = append(out.hashed, i)
		}
	}
	return out
}

// matchValues collects what the expressions of a Match know of matches.
type matchValues struct {
	node  *plan.Match
	known map[string]int // values by their text
}

// of is an expression over the values.
func (v *matchValues) of(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		var value plan.MatchValue
		switch e := e.(type) {
		case *logical.MatchRow:
			value = plan.MatchValue{Elements: v.elements(e.Variables), Column: e.Column, First: e.First, Offset: e.Offset, Time: e.Time, Type: e.T}
		case *logical.MatchAggregate:
			call := plan.AggregateCall{Function: e.Fn.Name, Filter: -1, Type: e.T}
			for i, a := range e.Args {
				call.Args, call.ArgTypes = append(call.Args, i), append(call.ArgTypes, a.Type())
			}
			value = plan.MatchValue{Elements: v.elements(e.Variables), Call: call, Args: e.Args, Type: e.T}
		default:
			return e
		}
		return &expr.Input{Index: v.number(value), Name: e.String(), T: value.Type, At: e.Span()}
	})
}

// number is the place of a value among those there are.
func (v *matchValues) number(value plan.MatchValue) int {
	key := fmt.Sprint(value.Elements, value.Column, value.First, value.Offset, value.Time, value.Call.Function, typesOf(value.Args), value.Args)
	at, known := v.known[key]
	if !known {
		at = len(v.node.Values)
		v.known[key], v.node.Values = at, append(v.node.Values, value)
	}
	return at
}

func typesOf(es []expr.Expr) []types.Type {
	var all []types.Type
	for _, e := range es {
		all = append(all, e.Type())
	}
	return all
}

// elements are those of variables, in the order of the pattern; nil: all of them.
func (v *matchValues) elements(variables []string) []int {
	var all []int
	for i, name := range v.node.Variables {
		wanted := variables == nil
		for _, w := range variables {
			wanted = wanted || w == name
		}
		if wanted {
			all = append(all, i)
		}
	}
	return all
}
