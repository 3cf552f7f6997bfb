package execgraph

// disjoint is a partition of 0..n-1 into sets, each named by its smallest
// member.
type disjoint []int

func newDisjoint(n int) disjoint {
	d := make(disjoint, n)
	for i := range d {
		d[i] = i
	}
	return d
}

func (d disjoint) find(i int) int {
	for d[i] != i {
		d[i] = d[d[i]]
		i = d[i]
	}
	return i
}

func (d disjoint) union(a, b int) {
	a, b = d.find(a), d.find(b)
	if a < b {
		d[b] = a
	} else {
		d[a] = b
	}
}

// mergeCycles joins the parts that wait for each other over the links, and
// gives the new part of each element. Two parts wait for each other exactly
// when each is reachable from the other.
func mergeCycles(parts []int, links func(visit func(producer, consumer int))) []int {
	next := make([][]int, len(parts)) // parts that read a part
	linked := false
	links(func(p, c int) {
		if p, c := parts[p], parts[c]; p != c {
			next[p] = append(next[p], c)
			linked = true
		}
	})
	if !linked {
		return parts
	}
	merged := newDisjoint(len(parts))
	for _, component := range components(next) {
		for _, part := range component[1:] {
			merged.union(component[0], part)
		}
	}
	out := make([]int, len(parts))
	for i, part := range parts {
		out[i] = merged.find(part)
	}
	return out
}

// components gives the strongly connected components of a graph of successor
// lists, by Tarjan's algorithm with a stack of its own, as jobs may be deep.
func components(next [][]int) [][]int {
	type frame struct{ node, edge int }
	var (
		found   [][]int
		index   = make([]int, len(next)) // 0: not seen
		low     = make([]int, len(next))
		onStack = make([]bool, len(next))
		stack   []int
		count   int
	)
	enter := func(n int) frame {
		count++
		index[n], low[n] = count, count
		stack = append(stack, n)
		onStack[n] = true
		return frame{node: n}
	}
	for root := range next {
		if index[root] != 0 {
			continue
		}
		for calls := []frame{enter(root)}; len(calls) > 0; {
			f := &calls[len(calls)-1]
			if f.edge < len(next[f.node]) {
				to := next[f.node][f.edge]
				f.edge++
				if index[to] == 0 {
					calls = append(calls, enter(to))
				} else if onStack[to] {
					low[f.node] = min(low[f.node], index[to])
				}
				continue
			}
			n := f.node
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].node
				low[parent] = min(low[parent], low[n])
			}
			if low[n] != index[n] {
				continue
			}
			var component []int
			for {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				onStack[top] = false
				component = append(component, top)
				if top == n {
					break
				}
			}
			found = append(found, component)
		}
	}
	return found
}
