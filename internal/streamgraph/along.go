package streamgraph

import "slices"

// settleAlong decides which nodes with several inputs are chained along one of them. The
// task of such a node reads the others first, to their ends. So what they come from must
// be in no task that waits for this one: tasks that wait for one another would never
// begin.
func settleAlong(g *Graph) {
	t := newTasks(g)
	for _, n := range g.Nodes {
		e := n.Along
		if e == nil {
			continue
		}
		n.Along = nil
		othersFirst := !slices.ContainsFunc(n.In, func(other *Edge) bool { return other != e && !other.First })
		if !g.Batch || g.Pipelined || e.First || !othersFirst {
			continue
		}
		if n.Along = e; chainable(g, e) && !t.waits(e) {
			t.join(e.From, n)
		} else {
			n.Along = nil
		}
	}
}

// tasks says which nodes are in one task.
type tasks struct {
	of map[*Node]int
	in map[int][]*Node
}

// newTasks puts nodes together that are chained behind their only input.
func newTasks(g *Graph) *tasks {
	t := &tasks{of: map[*Node]int{}, in: map[int][]*Node{}}
	for i, n := range g.Nodes {
		t.of[n], t.in[i] = i, []*Node{n}
		if len(n.In) == 1 && chainable(g, n.In[0]) {
			t.join(n.In[0].From, n)
		}
	}
	return t
}

// join puts the tasks of two nodes together.
func (t *tasks) join(a, b *Node) {
	to, from := t.of[a], t.of[b]
	for _, n := range t.in[from] {
		t.of[n] = to
	}
	t.in[to] = append(t.in[to], t.in[from]...)
	delete(t.in, from)
}

// waits reports whether the task behind e gets, besides by e, what comes from the task
// before it.
func (t *tasks) waits(e *Edge) bool {
	behind := t.of[e.To]
	seen := map[int]bool{t.of[e.From]: true}
	next := []int{t.of[e.From]}
	for len(next) > 0 {
		nodes := t.in[next[0]]
		next = next[1:]
		for _, n := range nodes {
			for _, out := range n.Out {
				to := t.of[out.To]
				if out != e && to == behind {
					return true
				}
				if out != e && !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
	}
	return false
}

// inOrder puts each chain behind those that it reads from, and keeps their order
// otherwise.
func inOrder(chains []*Chain) []*Chain {
	of := map[*Node]*Chain{}
	for _, c := range chains {
		for _, n := range c.Nodes {
			of[n] = c
		}
	}
	placed := map[*Chain]bool{}
	var ordered []*Chain
	var place func(c *Chain)
	place = func(c *Chain) {
		if placed[c] {
			return
		}
		placed[c] = true
		for _, e := range c.Inputs {
			place(of[e.From])
		}
		ordered = append(ordered, c)
	}
	for _, c := range chains {
		place(c)
	}
	return ordered
}
