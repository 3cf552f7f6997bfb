package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// Share makes one of the parts of plans that compute the same, so that it is computed once:
// of scans of one table, if that is wanted, which read the columns that any of them wants,
// and then of all operators that do the same with the same input. What differs from row to row by chance
// stays as often as it is written.
func Share(o Options, roots []plan.Node, scans bool) []plan.Node {
	s := sharing{p: &planner{o}, scans: map[string]*sharedScan{}, made: map[string]plan.Node{}, done: map[plan.Node]plan.Node{}, keys: map[plan.Node]string{}}
	for _, r := range roots {
		if scans {
			s.collect(r)
		}
	}
	shared := make([]plan.Node, len(roots))
	for i, r := range roots {
		shared[i] = s.node(r)
	}
	return shared
}

type sharing struct {
	p     *planner
	scans map[string]*sharedScan
	made  map[string]plan.Node    // by what it computes
	done  map[plan.Node]plan.Node // what has become of a node
	keys  map[plan.Node]string    // of those that have been made
}

// sharedScan are the scans of one table.
type sharedScan struct {
	of   []*plan.Scan
	scan *plan.Scan // that does for all; nil: there is only one
}

// collect finds the scans that may read together: those of which all rows are wanted.
func (s *sharing) collect(n plan.Node) {
	if scan, ok := n.(*plan.Scan); ok && scan.Limit < 0 {
		key := tableKey(scan)
		if s.scans[key] == nil {
			s.scans[key] = &sharedScan{}
		}
		if all := s.scans[key]; !slices.Contains(all.of, scan) {
			all.of = append(all.of, scan)
		}
	}
	for _, in := range n.Common().Inputs {
		s.collect(in)
	}
}

// tableKey says which table a scan reads, and how.
func tableKey(n *plan.Scan) string {
	var options []string
	for k, v := range n.Options {
		options = append(options, fmt.Sprintf("%q=%q", k, v))
	}
	slices.Sort(options)
	return fmt.Sprint(n.Table, n.Connector, options, len(n.Columns), n.Parallelism)
}

// node gives the node that does what n does.
func (s *sharing) node(n plan.Node) plan.Node {
	if made, ok := s.done[n]; ok {
		return made
	}
	var made plan.Node
	if scan, ok := n.(*plan.Scan); ok && scan.Limit < 0 {
		made = s.read(scan)
	} else {
		made = n
		for i, in := range n.Common().Inputs {
			n.Common().Inputs[i] = s.node(in)
		}
		made = s.only(made)
	}
	s.done[n] = made
	return made
}

// only gives the node that was made first of those that do the same.
func (s *sharing) only(n plan.Node) plan.Node {
	key, ok := s.key(n)
	if !ok {
		return n
	}
	if made := s.made[key]; made != nil {
		return made
	}
	s.made[key], s.keys[n] = n, fmt.Sprintf("#%d", len(s.made)+1)
	return n
}

// key says what a node computes; false: it is not shared.
func (s *sharing) key(n plan.Node) (string, bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "%T %d", n, n.Common().Parallelism)
	for _, in := range n.Common().Inputs {
		key, ok := s.keys[in]
		if !ok {
			return "", false
		}
		b.WriteString(" " + key)
	}
	for _, t := range n.Common().Types() {
		b.WriteString(" " + t.String())
	}
	settled := true
	write := func(es ...expr.Expr) {
		for _, e := range es {
			if e == nil {
				b.WriteString("; -")
				continue
			}
			b.WriteString("; " + e.String())
			expr.Walk(e, func(e expr.Expr) bool {
				call, ok := e.(*expr.Call)
				settled = settled && (!ok || call.Fn.Volatility != expr.PerRow)
				return settled
			})
		}
	}
	switch n := n.(type) {
	case *plan.Scan:
		b.WriteString(tableKey(n))
		fmt.Fprint(&b, n.Fields, n.Limit)
		write(n.Filter)
	case *plan.Calc:
		fmt.Fprint(&b, len(n.Project), n.Project == nil)
		write(append([]expr.Expr{n.Filter}, n.Project...)...)
	case *plan.Exchange:
		fmt.Fprint(&b, n.Distribution, n.Keys)
	case *plan.Aggregate:
		fmt.Fprint(&b, n.Phase, n.Keys, n.Sorted)
		for _, c := range n.Calls {
			fmt.Fprint(&b, " ", c.Function, c.Args, c.Filter, c.Distinct, c.IgnoreNulls, c.Type)
			settled = settled && steady[c.Function]
		}
	case *plan.Join:
		fmt.Fprint(&b, n.Kind, n.Strategy, n.LeftKeys, n.RightKeys, n.NullSafe, n.NullAware, n.BuildLeft)
		write(n.Condition)
	case *plan.Union:
	default:
		return "", false
	}
	return b.String(), settled
}

// steady are the aggregates that give the same whenever they are computed.
var steady = map[string]bool{"COUNT": true, "SUM": true, "$SUM0": true, "AVG": true, "MIN": true, "MAX": true,
	"VAR_POP": true, "VAR_SAMP": true, "STDDEV_POP": true, "STDDEV_SAMP": true, "SINGLE_VALUE": true}

// read gives a scan, or its columns of the one that reads for several.
func (s *sharing) read(n *plan.Scan) plan.Node {
	all := s.scans[tableKey(n)]
	if all == nil || len(all.of) < 2 {
		return s.only(n)
	}
	if all.scan == nil {
		all.scan = s.together(all.of)
		s.only(all.scan)
	}
	if slices.Equal(n.Fields, all.scan.Fields) {
		return all.scan
	}
	c := &plan.Calc{Base: plan.Base{Schema: n.Schema, Inputs: []plan.Node{all.scan}, Parallelism: n.Parallelism}}
	for i, field := range n.Fields {
		c.Project = append(c.Project, &expr.Input{Index: slices.Index(all.scan.Fields, field), Name: n.Schema[i].Name, T: n.Schema[i].Type})
	}
	return s.only(c)
}

// together makes the scan that reads what any of some wants.
func (s *sharing) together(of []*plan.Scan) *plan.Scan {
	all := *of[0]
	all.Fields, all.Schema, all.Filter = nil, nil, nil
	fields := map[int]types.Field{}
	for _, n := range of {
		for i, f := range n.Fields {
			fields[f] = n.Schema[i]
			all.Fields = append(all.Fields, f)
		}
	}
	slices.Sort(all.Fields)
	all.Fields = slices.Compact(all.Fields)
	for _, f := range all.Fields {
		all.Schema = append(all.Schema, fields[f])
	}
	var wanted expr.Expr // by any
	for _, n := range of {
		if n.Filter == nil {
			return &all
		}
		filter := expr.Rewrite(n.Filter, func(e expr.Expr) expr.Expr {
			if in, ok := e.(*expr.Input); ok {
				moved := *in
				moved.Index = slices.Index(all.Fields, n.Fields[in.Index])
				return &moved
			}
			return e
		})
		if wanted == nil || wanted.String() == filter.String() {
			wanted = filter
			continue
		}
		either, err := s.p.call("OR", wanted, filter)
		if err != nil {
			return &all
		}
		wanted = either
	}
	all.Filter = wanted
	return &all
}
