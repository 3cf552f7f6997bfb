package physical

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// Options are what a plan is made with.
type Options struct {
	Registry *expr.Registry
	Session  *expr.Session
	// Estimate says which side of a join is likely to be the smaller; nil: nobody knows.
	Estimate *estimate.Estimator
	// Parallelism is about how many subtasks operators have, and MostBroadcast how many
	// bytes of rows may be brought to all of them.
	Parallelism   int
	MostBroadcast int64
}

// Sink plans a tree that ends in a Sink.
func Sink(o Options, s *logical.Sink) (plan.Node, error) {
	p := &planner{o}
	in, err := p.plan(s.Input)
	if err != nil {
		return nil, err
	}
	base := plan.Base{Schema: s.Fields()}
	if s.Table == nil {
		base.Inputs = []plan.Node{p.single(in).node}
		return &plan.Collect{Base: base}, nil
	}
	base.Inputs = []plan.Node{in.node}
	options := merged(s.Table.Options, s.Hints)
	return &plan.Write{Base: base, Table: s.Path.String(), Connector: options["connector"], Options: options,
		Columns: s.Table.Schema.Persisted(), PartitionKeys: s.Table.Partitions, Overwrite: s.Overwrite}, nil
}

// merged are options with those of a hint above them.
func merged(options, hints map[string]string) map[string]string {
	all := map[string]string{}
	for _, from := range []map[string]string{options, hints} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}

type planner struct{ Options }

// planned is a node, and where its rows are.
type planned struct {
	node plan.Node
	// one says that all rows are in one subtask, and hashed that those with equal values in
	// these columns are; nil: nothing is known.
	one    bool
	hashed []int
}

func (p planned) schema() []types.Field { return p.node.Common().Schema }

// over is the Base of a node over inputs.
func over(schema []types.Field, inputs ...planned) plan.Base {
	b := plan.Base{Schema: schema}
	for _, in := range inputs {
		b.Inputs = append(b.Inputs, in.node)
	}
	return b
}

// single brings all rows into one subtask.
func (p *planner) single(in planned) planned {
	if in.one {
		return in
	}
	e := &plan.Exchange{Base: over(in.schema(), in), Distribution: plan.Single}
	return planned{node: e, one: true}
}

// hash brings rows with equal keys into one subtask.
func (p *planner) hash(in planned, keys []int) planned {
	if len(keys) == 0 {
		return p.single(in)
	}
	if in.one || in.hashed != nil && slices.Equal(in.hashed, keys) {
		return in
	}
	e := &plan.Exchange{Base: over(in.schema(), in), Distribution: plan.Hash, Keys: keys}
	return planned{node: e, hashed: keys}
}

// broadcast brings all rows into each subtask.
func (p *planner) broadcast(in planned) planned {
	return planned{node: &plan.Exchange{Base: over(in.schema(), in), Distribution: plan.Broadcast}}
}

// spread gives rows to all subtasks of the next operator, whose number may be another,
// unless an exchange does so already.
func (p *planner) spread(in planned) planned {
	if _, moved := in.node.(*plan.Exchange); moved || in.hashed != nil {
		return in
	}
	return planned{node: &plan.Exchange{Base: over(in.schema(), in), Distribution: plan.Rebalance}}
}

func (p *planner) plan(n logical.Node) (planned, error) {
	switch n := n.(type) {
	case *logical.Values:
		return p.values(n)
	case *logical.Scan:
		return p.scan(n)
	case *logical.Join:
		return p.join(n)
	case *logical.SetOperation:
		return p.setOperation(n)
	}
	if len(n.Inputs()) != 1 {
		return planned{}, fmt.Errorf("there is no way to compute a %T", n)
	}
	switch n := n.(type) {
	case *logical.Filter:
		return p.calc(n.Input, n.Condition, nil, n.Fields())
	case *logical.Project:
		if f, ok := n.Input.(*logical.Filter); ok {
			return p.calc(f.Input, f.Condition, n.Exprs, n.Fields())
		}
		return p.calc(n.Input, nil, n.Exprs, n.Fields())
	}
	in, err := p.plan(n.Inputs()[0])
	if err != nil {
		return in, err
	}
	switch n := n.(type) {
	case *logical.Aggregate:
		return p.aggregate(n, in), nil
	case *logical.Expand:
		return planned{node: &plan.Expand{Base: over(n.Row, in), Projects: n.Lists}, one: in.one}, nil
	case *logical.Match:
		return p.match(n, in), nil
	case *logical.Over:
		return p.over(n, in)
	case *logical.Sort:
		return p.sort(n, in), nil
	case *logical.Unnest:
		return planned{node: &plan.Unnest{Base: over(n.Fields(), in), Collection: n.Collection, Ordinality: n.Ordinality, Outer: n.Outer}, one: in.one, hashed: in.hashed}, nil
	case *logical.Window:
		return p.window(n, in), nil
	}
	return planned{}, fmt.Errorf("there is no way to compute a %T", n)
}

// calc plans a condition and a list of expressions, each of which may be nil.
func (p *planner) calc(from logical.Node, condition expr.Expr, exprs []expr.Expr, schema []types.Field) (planned, error) {
	in, err := p.plan(from)
	if err != nil {
		return in, err
	}
	out := planned{node: &plan.Calc{Base: over(schema, in), Filter: condition, Project: exprs}, one: in.one, hashed: in.hashed}
	if exprs != nil {
		out.hashed = carried(in.hashed, exprs)
	}
	return out, nil
}

// carried is where columns are after a projection; nil if one is gone.
func carried(columns []int, exprs []expr.Expr) []int {
	var to []int
	for _, c := range columns {
		at := slices.IndexFunc(exprs, func(e expr.Expr) bool { in, ok := e.(*expr.Input); return ok && in.Index == c })
		if at < 0 {
			return nil
		}
		to = append(to, at)
	}
	return to
}

// scan plans the reading of a table.
func (p *planner) scan(n *logical.Scan) (planned, error) {
	s := &plan.Scan{Base: plan.Base{Schema: n.Fields()}, Table: n.Path.String(), Options: merged(n.Table.Options, n.Hints), Limit: -1,
		PartitionKeys: n.Table.Partitions}
	s.Connector = s.Options["connector"]
	place := map[int]int{}
	s.Columns = n.Table.Schema.Stored()
	for i, c := range n.Table.Schema.Columns {
		if c.Expression == "" {
			place[i] = len(place)
		}
	}
	for _, c := range n.Columns {
		s.Fields = append(s.Fields, place[c])
	}
	for _, f := range n.Filters {
		if s.Filter == nil {
			s.Filter = f
			continue
		}
		and, err := p.call("AND", s.Filter, f)
		if err != nil {
			return planned{}, err
		}
		s.Filter = and
	}
	return planned{node: s}, nil
}

func (p *planner) window(n *logical.Window, in planned) planned {
	w := &plan.Window{Kind: windowKinds[n.Kind], Time: n.Time, Size: n.Size, Slide: n.Slide, Offset: n.Offset, Keys: n.Partition, Zoned: n.Zone}
	if n.Kind == logical.Session {
		in = p.hash(in, n.Partition)
	}
	w.Base = over(n.Fields(), in)
	return planned{node: w, one: in.one, hashed: in.hashed}
}

var windowKinds = map[logical.WindowKind]plan.WindowKind{
	logical.Tumble: plan.Tumble, logical.Hop: plan.Hop, logical.Cumulate: plan.Cumulate, logical.Session: plan.Session,
}
