package streamgraph

import (
	"errors"
	"fmt"
	"slices"
)

// chainable says whether the node behind e runs in the task of the node before
// it. These are Flink's conditions, each of which has a test; what Flink has inside its
// sources is a node here, which belongs to the source.
func chainable(g *Graph, e *Edge) bool {
	return (!g.ChainingDisabled || e.To.WithSource) &&
		(len(e.To.In) == 1 || e.To.Along == e) &&
		e.Partitioner == Forward &&
		e.From.Parallelism == e.To.Parallelism &&
		e.From.SlotSharingGroup == e.To.SlotSharingGroup &&
		e.From.CoLocation == e.To.CoLocation &&
		e.To.Chaining == Always &&
		e.From.Chaining != Never
}

// chain groups the nodes: each group's head first, every other node after the
// one that feeds it. Groups stand in the order of their heads in the program, but behind
// those that they read from.
func chain(g *Graph) []*Chain {
	var chains []*Chain
	for _, n := range g.Nodes {
		if slices.ContainsFunc(n.In, func(e *Edge) bool { return chainable(g, e) }) {
			continue
		}
		c := &Chain{Inputs: slices.Clone(n.In)}
		collect(g, n, c)
		chains = append(chains, c)
	}
	return inOrder(chains)
}

// checkTogether refuses nodes that are not in the task that they have to be in.
func checkTogether(g *Graph) error {
	var problems []error
	for _, n := range g.Nodes {
		if n.Together != "" && !(len(n.In) == 1 && chainable(g, n.In[0])) {
			problems = append(problems, fmt.Errorf("%s: %s: %s, but it is not in the task of the operation before it: "+
				"give both the same parallelism, slot sharing group and co-location group, and let them be chained", n.Site, n.Name, n.Together))
		}
	}
	return errors.Join(problems...)
}

// collect adds n and all that is chained behind it to c.
func collect(g *Graph, n *Node, c *Chain) {
	c.Nodes = append(c.Nodes, n)
	for _, e := range n.Out {
		if chainable(g, e) {
			for _, beside := range e.To.In {
				if beside != e {
					c.Inputs = append(c.Inputs, beside)
				}
			}
			collect(g, e.To, c)
		} else {
			c.Outputs = append(c.Outputs, e)
		}
	}
}
