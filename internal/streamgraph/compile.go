package streamgraph

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// DefaultSlotSharingGroup is the group of nodes that name none.
const DefaultSlotSharingGroup = "default"

// Compile decides everything the program left open, chains nodes into vertices
// and gives the job. It changes g and is called once. What the program got wrong
// is an error that names the line that made the node.
func Compile(g *Graph, job ident.JobID) (*Compiled, error) {
	if len(g.Nodes) == 0 {
		return nil, errors.New("the program has no streams: nothing to execute")
	}
	if g.Batch {
		splitAggregates(g)
	}
	if err := settle(g); err != nil {
		return nil, err
	}
	if err := checkTogether(g); err != nil {
		return nil, err
	}
	chains := chain(g)
	ids := hashes(g)
	if exchange(g) != jobgraph.Blocking {
		for _, n := range g.Nodes {
			for _, e := range n.In {
				e.First = false
			}
		}
	}
	return translate(g, job, chains, ids)
}

// splitAggregates puts the first phase of every two-phase aggregate behind its
// producers.
func splitAggregates(g *Graph) {
	var nodes []*Node
	for _, n := range g.Nodes {
		if n.TwoPhase != nil {
			for _, e := range n.In {
				nodes = append(nodes, splitEdge(e, n))
			}
			n.Operator = n.TwoPhase.Final
		}
		nodes = append(nodes, n)
	}
	g.Nodes = nodes
	for i, n := range g.Nodes {
		n.ID = i + 1
	}
}

// splitEdge puts the first phase of n on its input edge e: it is chained to the
// producer, and the exchange comes after it.
func splitEdge(e *Edge, n *Node) *Node {
	local := &Node{
		Kind: Transform, Name: n.TwoPhase.Name, Op: n.TwoPhase.Name, Types: n.TwoPhase.Types,
		Parallelism: e.From.Parallelism, MaxParallelism: e.From.MaxParallelism, MaxAllowed: e.From.MaxAllowed,
		CoLocation: e.From.CoLocation,
		Site:       n.Site, Operator: n.TwoPhase.Operator, Stream: n.TwoPhase.Stream,
	}
	if e.Partitioner == Hash && n.UID != "" {
		local.UID = n.UID + "/local"
	}
	local.In = []*Edge{{From: e.From, To: local, Implicit: true}}
	for i, out := range e.From.Out {
		if out == e {
			e.From.Out[i] = local.In[0]
		}
	}
	e.From, e.Route = local, n.TwoPhase.Route
	local.Out = []*Edge{e}
	return local
}

// settle gives every node its parallelism and group, and every edge its
// partitioner.
func settle(g *Graph) error {
	var problems []error
	fail := func(n *Node, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s: %w", n.Site, n.Name, fmt.Errorf(format, args...)))
	}
	open := mayLeaveOpen(g)
	for _, n := range g.Nodes {
		settleParallelism(g, n, open)
		if n.MaxParallelism < n.Parallelism && !n.Open {
			fail(n, "parallelism %d is above max parallelism %d, the number of key groups", n.Parallelism, n.MaxParallelism)
		}
		if n.SlotSharingGroup == "" {
			n.SlotSharingGroup = inheritedGroup(n)
		}
		for _, e := range n.In {
			if e.Implicit {
				e.Partitioner = Forward
				if e.From.Parallelism != n.Parallelism {
					e.Partitioner = Rebalance
				}
			} else if e.Partitioner == Forward && e.From.Parallelism != n.Parallelism {
				fail(n, "Forward from %q with parallelism %d to parallelism %d: they must be equal; use Rescale or Rebalance",
					e.From.Name, e.From.Parallelism, n.Parallelism)
			}
		}
	}
	settleAlong(g)
	if open {
		settleOpen(g)
	}
	return errors.Join(problems...)
}

// Where a parallelism comes from that is not decided while the job runs.
const (
	whyProgram = "set by the program"
	whyDefault = "the default of the job (parallelism.default, -p)"
	whyAllowed = "this operation allows no more"
)

func settleParallelism(g *Graph, n *Node, open bool) {
	if n.Why = whyProgram; n.Parallelism == 0 && n.WithSource && !n.In[0].From.Open {
		from := n.In[0].From
		n.Parallelism, n.MaxAllowed, n.Why = from.Parallelism, from.MaxAllowed, from.Why
	} else if n.Parallelism == 0 {
		n.Parallelism, n.Why, n.Open = max(1, g.Parallelism), whyDefault, open
		if n.MaxAllowed > 0 && n.MaxAllowed <= n.Parallelism {
			n.Parallelism, n.Why, n.Open = n.MaxAllowed, whyAllowed, open && n.MaxAllowed > 1
		}
	}
	if n.MaxParallelism == 0 {
		n.MaxParallelism = g.MaxParallelism
	}
	if n.Open {
		settleBound(g, n)
		return
	}
	if n.MaxParallelism == 0 {
		n.MaxParallelism = keygroup.DefaultMax(n.Parallelism)
	}
}

// inheritedGroup is the inputs' common slot sharing group, or the default.
func inheritedGroup(n *Node) string {
	if len(n.In) == 0 {
		return DefaultSlotSharingGroup
	}
	group := n.In[0].From.SlotSharingGroup
	for _, e := range n.In[1:] {
		if e.From.SlotSharingGroup != group {
			return DefaultSlotSharingGroup
		}
	}
	return group
}
