package failover

import (
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// A Strategy says which subtasks run again when some have failed.
type Strategy interface {
	// Restart lists the subtasks that run again because these have failed, in
	// the graph's order of regions. lost says of a subtask that what it produced
	// for another region cannot be read any more. Subtasks that are CREATED are
	// left out: they have not begun, and will run when their time comes.
	Restart(failed []*execgraph.Vertex, lost func(*execgraph.Vertex) bool) []*execgraph.Vertex
	// String is the strategy's name in the configuration.
	String() string
}

// Full runs everything again.
type Full struct{ graph *execgraph.Graph }

// NewFull makes the strategy for a job.
func NewFull(g *execgraph.Graph) *Full { return &Full{graph: g} }

// Restart lists all subtasks that have begun.
func (f *Full) Restart([]*execgraph.Vertex, func(*execgraph.Vertex) bool) []*execgraph.Vertex {
	var all []*execgraph.Vertex
	for _, r := range f.graph.Regions {
		all = appendBegun(all, r)
	}
	return all
}

func (f *Full) String() string { return "full" }

// Region runs the failed pipelined regions again, with what that entails.
type Region struct {
	graph *execgraph.Graph
	// readers are the regions that read what a region produces, by its index.
	readers [][]*execgraph.Region
}

// NewRegion makes the strategy for a job.
func NewRegion(g *execgraph.Graph) *Region {
	return &Region{graph: g}
}

// follow takes the regions that the graph has got since the last call.
func (s *Region) follow() {
	known := len(s.readers)
	s.readers = append(s.readers, make([][]*execgraph.Region, len(s.graph.Regions)-known)...)
	for _, r := range s.graph.Regions[known:] {
		seen := make([]bool, len(s.graph.Regions))
		for _, producer := range r.Awaits {
			if p := producer.Region.Index; !seen[p] {
				seen[p] = true
				s.readers[p] = append(s.readers[p], r)
			}
		}
	}
}

// Restart walks the regions, beginning with those of the failed subtasks. With
// a region restart the regions whose output it needs and cannot read, and all
// that read its own output: what it produces a second time may differ.
func (s *Region) Restart(failed []*execgraph.Vertex, lost func(*execgraph.Vertex) bool) []*execgraph.Vertex {
	s.follow()
	in := make([]bool, len(s.graph.Regions))
	var queue []*execgraph.Region
	add := func(r *execgraph.Region) {
		if !in[r.Index] {
			in[r.Index] = true
			queue = append(queue, r)
		}
	}
	for _, v := range failed {
		add(v.Region)
	}
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		for _, producer := range r.Awaits {
			if lost(producer) {
				add(producer.Region)
			}
		}
		for _, reader := range s.readers[r.Index] {
			add(reader)
		}
	}
	var all []*execgraph.Vertex
	for i, r := range s.graph.Regions {
		if in[i] {
			all = appendBegun(all, r)
		}
	}
	return all
}

func (s *Region) String() string { return "region" }

func appendBegun(to []*execgraph.Vertex, r *execgraph.Region) []*execgraph.Vertex {
	for _, v := range r.Vertices {
		if v.Current.State() != status.Created {
			to = append(to, v)
		}
	}
	return to
}
