package execgraph

import (
	"slices"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
)

// A Region is a set of subtasks that must run at the same time, because they
// are connected by pipelined exchanges. Regions are deployed, and later
// restarted, as wholes.
type Region struct {
	// Index is the region's place in Graph.Regions.
	Index int
	// Vertices stand in topological order.
	Vertices []*Vertex
	// Awaits are the vertices of other regions whose whole output must exist
	// before this region can start: the producers of its blocking inputs.
	Awaits []*Vertex
}

// buildRegions cuts the graph into its pipelined regions.
//
// Vertices connected by pipelined edges make a logical region. One that holds
// an all-to-all edge is one region, whatever its subtasks: deploying a part of
// it could wait for ever for the rest. Otherwise the subtasks that the edges
// connect make a region each. Co-located subtasks belong together. Regions that
// wait for each other, through blocking edges, are merged.
func buildRegions(g *Graph) []*Region {
	all := []*Vertex{}
	number := map[*Vertex]int{} // looked up, never ranged
	for _, v := range g.Vertices {
		for _, s := range v.Subtasks {
			number[s] = len(all)
			all = append(all, s)
		}
	}
	set := newDisjoint(len(all))
	join := func(a, b *Vertex) { set.union(number[a], number[b]) }
	joinLogical(g, join)
	joinCoLocated(g, join)

	parts := make([]int, len(all)) // region of each subtask, by the smallest member
	for i := range all {
		parts[i] = set.find(i)
	}
	parts = mergeCycles(parts, func(visit func(producer, consumer int)) {
		eachBlockingLink(g, func(p, c *Vertex) { visit(number[p], number[c]) })
	})
	return orderRegions(g, all, parts)
}

// joinLogical joins what pipelined edges connect.
func joinLogical(g *Graph, join func(a, b *Vertex)) {
	logical := newDisjoint(len(g.Vertices))
	eachInput(g, jobgraph.Pipelined, func(in *Input, v *JobVertex) { logical.union(in.Source.Index, v.Index) })
	dense := make([]bool, len(g.Vertices)) // by logical region: has an all-to-all edge
	eachInput(g, jobgraph.Pipelined, func(in *Input, v *JobVertex) {
		if in.Edge.Distribution == jobgraph.AllToAll {
			dense[logical.find(v.Index)] = true
		}
	})
	for _, v := range g.Vertices {
		if root := logical.find(v.Index); dense[root] {
			for _, s := range v.Subtasks {
				join(g.Vertices[root].Subtasks[0], s)
			}
		}
	}
	eachInput(g, jobgraph.Pipelined, func(in *Input, v *JobVertex) {
		if dense[logical.find(v.Index)] {
			return // it is one region already
		}
		for _, s := range v.Subtasks {
			for _, link := range in.links(s) {
				join(in.Source.Subtasks[link.Producer], s)
			}
		}
	})
}

func joinCoLocated(g *Graph, join func(a, b *Vertex)) {
	first := map[string]*JobVertex{}
	for _, v := range g.Vertices {
		name := v.Job.CoLocation
		if name == "" {
			continue
		}
		if first[name] == nil {
			first[name] = v
		}
		for i, s := range v.Subtasks {
			join(first[name].Subtasks[i], s)
		}
	}
}

func eachInput(g *Graph, kind jobgraph.ResultType, visit func(*Input, *JobVertex)) {
	for _, v := range g.Vertices {
		for _, in := range v.Inputs {
			if in.Set.Type == kind {
				visit(in, v)
			}
		}
	}
}

// eachBlockingLink visits the ends of every connection over blocking edges.
func eachBlockingLink(g *Graph, visit func(producer, consumer *Vertex)) {
	eachInput(g, jobgraph.Blocking, func(in *Input, v *JobVertex) {
		for _, s := range v.Subtasks {
			for _, link := range in.links(s) {
				visit(in.Source.Subtasks[link.Producer], s)
			}
		}
	})
}

// orderRegions makes the regions of the parts, in topological order; among
// those that could come next, the one with the first subtask does.
func orderRegions(g *Graph, all []*Vertex, parts []int) []*Region {
	byPart := make([]*Region, len(all))
	var regions []*Region // in order of their first subtask
	for i, v := range all {
		if byPart[parts[i]] == nil {
			byPart[parts[i]] = &Region{}
			regions = append(regions, byPart[parts[i]])
		}
		v.Region = byPart[parts[i]]
		v.Region.Vertices = append(v.Region.Vertices, v)
	}
	type wait struct {
		region   *Region
		producer *Vertex
	}
	seen := map[wait]bool{}
	eachBlockingLink(g, func(p, c *Vertex) {
		if w := (wait{c.Region, p}); p.Region != c.Region && !seen[w] {
			seen[w] = true
			c.Region.Awaits = append(c.Region.Awaits, p)
		}
	})
	ordered := make([]*Region, 0, len(regions))
	placed := map[*Region]bool{}
	for len(regions) > 0 {
		i := slices.IndexFunc(regions, func(r *Region) bool {
			return !slices.ContainsFunc(r.Awaits, func(v *Vertex) bool { return !placed[v.Region] })
		})
		invariant.Check(i >= 0, "regions of job %s wait for each other", g.Job.Job)
		r := regions[i]
		r.Index = len(ordered)
		placed[r] = true
		ordered = append(ordered, r)
		if i == 0 { // the usual case, in which nothing need be moved
			regions = regions[1:]
		} else {
			regions = slices.Delete(regions, i, i+1)
		}
	}
	return ordered
}
