package streamgraph

import "slices"

// mayLeaveOpen reports whether nodes without a parallelism of their own get it
// while the job runs. Co-located nodes run at the same time, so nothing could be
// decided in between.
func mayLeaveOpen(g *Graph) bool {
	return g.OpenUpTo > 0 && g.Batch && !g.Pipelined &&
		!slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.CoLocation != "" })
}

// settleBound bounds a parallelism that is left open: by the number of key
// groups, and so by as many.
func settleBound(g *Graph, n *Node) {
	if n.MaxParallelism == 0 {
		n.MaxParallelism = g.OpenUpTo
	}
	if n.MaxAllowed > 0 {
		n.MaxParallelism = min(n.MaxParallelism, n.MaxAllowed)
	}
}

// settleOpen makes nodes agree that a forward edge connects: they have one
// parallelism. So one whose number is given gives it to the others, and the
// smallest bound holds for all.
func settleOpen(g *Graph) {
	for _, n := range g.Nodes {
		if !n.Open || len(n.In) < 2 {
			continue
		}
		for _, e := range n.In {
			switch {
			case e.Partitioner != Forward || !e.From.Open:
			case e == n.Along: // one task
			case e.Implicit: // several producers need not become equally many
				e.Partitioner = Rescale
			default:
				n.Open = false
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, n := range g.Nodes {
			for _, e := range n.In {
				if e.Partitioner == Forward && agree(e.From, n) {
					changed = true
				}
			}
		}
	}
}

// agree lets two nodes have one parallelism, and reports whether that changes
// one of them.
func agree(a, b *Node) bool {
	switch {
	case a.Open != b.Open:
		if a.Open {
			a, b = b, a
		}
		b.Open, b.Why = false, a.Why
		b.MaxParallelism = max(b.MaxParallelism, b.Parallelism)
		return true
	case a.Open && a.MaxParallelism != b.MaxParallelism:
		least := min(a.MaxParallelism, b.MaxParallelism)
		a.MaxParallelism, b.MaxParallelism = least, least
		return true
	}
	return false
}
