package rescale

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// A shape is what of a job graph says how parallel its vertices may be.
type shape struct {
	vertices []*jobgraph.Vertex
	groups   []string // slot sharing groups, in the order of their first vertices
	group    []int    // by vertex
	// tie is by vertex the first of the vertices with which it has one parallelism:
	// those that forward edges connect, and those that are co-located.
	tie []int
}

func shapeOf(g *jobgraph.Graph) *shape {
	s := &shape{vertices: g.Vertices}
	place, together := map[ident.VertexID]int{}, map[string]int{} // looked up, never ranged
	join := func(a, b int) {
		a, b = min(s.tie[a], s.tie[b]), max(s.tie[a], s.tie[b])
		for i, t := range s.tie {
			if t == b {
				s.tie[i] = a
			}
		}
	}
	for i, v := range g.Vertices {
		at := slices.Index(s.groups, v.SlotSharingGroup)
		if at < 0 {
			at = len(s.groups)
			s.groups = append(s.groups, v.SlotSharingGroup)
		}
		s.group, s.tie = append(s.group, at), append(s.tie, i)
		place[v.ID] = i
		for _, e := range v.Inputs {
			if e.Ship == execgraph.Forward {
				join(place[e.Source], i)
			}
		}
		if v.CoLocation != "" {
			if first, known := together[v.CoLocation]; known {
				join(first, i)
			} else {
				together[v.CoLocation] = i
			}
		}
	}
	return s
}

// Initial are the bounds that a job begins with: at least one subtask each, and at
// most as many as the program says, or in reactive mode as there may ever be.
func Initial(g *jobgraph.Graph, reactive bool) []execgraph.Bounds {
	all := make([]execgraph.Bounds, len(g.Vertices))
	for i, v := range g.Vertices {
		all[i] = execgraph.Bounds{Lower: 1, Upper: v.Parallelism}
		if reactive {
			all[i].Upper = v.MaxParallelism
		}
	}
	return all
}

// Check makes bounds for a job of what a person wishes for its vertices, or tells
// everything that is wrong with the wish, one sentence each. The texts are Flink's.
func Check(g *jobgraph.Graph, wish map[ident.VertexID]execgraph.Bounds) (bounds []execgraph.Bounds, wrong []string) {
	known := map[ident.VertexID]*jobgraph.Vertex{}
	for _, v := range g.Vertices {
		known[v.ID] = v
		bounds = append(bounds, wish[v.ID])
	}
	byText := func(a, b ident.VertexID) int { return cmp.Compare(a.String(), b.String()) }
	refuse := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, id := range slices.SortedFunc(maps.Keys(wish), byText) {
		b, v := wish[id], known[id]
		switch {
		case v == nil:
			refuse("Job vertex [%s] was not found in the JobGraph.", id)
			continue
		case b.Lower < 1 || b.Upper < 1:
			refuse("Both, the requested lower bound [%d] and upper bound [%d] for job vertex [%s] must be greater than zero.", b.Lower, b.Upper, id)
			continue
		case b.Lower > b.Upper:
			refuse("The requested lower bound [%d] for job vertex [%s] is higher than the upper bound [%d].", b.Lower, id, b.Upper)
		}
		if b.Upper > v.MaxParallelism {
			refuse("The newly requested parallelism %d for the job vertex %s exceeds its maximum parallelism %d.", b.Upper, id, v.MaxParallelism)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(known), byText) {
		if _, named := wish[id]; !named {
			refuse("The request is incomplete, missing job vertex [%s] resource requirements.", id)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	s := shapeOf(g)
	for i, tied := range s.together(bounds) {
		if s.tie[i] == i && tied.Lower > tied.Upper {
			refuse("Job vertex [%s] and those it is connected with by forward edges, or co-located with, have one parallelism: "+
				"the greatest of their lower bounds, [%d], is higher than the least of their upper bounds, [%d].", g.Vertices[i].ID, tied.Lower, tied.Upper)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return bounds, nil
}

// together gives each vertex the bounds that hold for all it has one parallelism
// with.
func (s *shape) together(bounds []execgraph.Bounds) []execgraph.Bounds {
	all := slices.Clone(bounds)
	for i, b := range bounds {
		first := &all[s.tie[i]]
		*first = execgraph.Bounds{Lower: max(first.Lower, b.Lower), Upper: min(first.Upper, b.Upper)}
	}
	for i := range all {
		all[i] = all[s.tie[i]]
	}
	return all
}

// groupBounds gives the slots that each group needs at least, and can use at most.
func (s *shape) groupBounds(bounds []execgraph.Bounds) []execgraph.Bounds {
	all := make([]execgraph.Bounds, len(s.groups))
	for i, b := range s.together(bounds) {
		g := &all[s.group[i]]
		g.Lower, g.Upper = max(g.Lower, b.Lower), max(g.Upper, b.Upper)
	}
	return all
}

// wanted is how many slots a job can use, needed how many it needs.
func (s *shape) wanted(bounds []execgraph.Bounds) (wanted, needed int) {
	for _, g := range s.groupBounds(bounds) {
		wanted, needed = wanted+g.Upper, needed+g.Lower
	}
	return wanted, needed
}

// allocate deals slots to the groups and says how parallel each vertex is then;
// nil: they are too few. Each group gets what it needs; what is left is dealt out
// evenly, beginning with the group that can use the fewest, so that what that leaves
// goes to others.
func (s *shape) allocate(bounds []execgraph.Bounds, slots int) []int {
	groups := s.groupBounds(bounds)
	_, needed := s.wanted(bounds)
	if slots < needed {
		return nil
	}
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(groups[a].Upper-groups[a].Lower, groups[b].Upper-groups[b].Lower)
	})
	dealt := make([]int, len(groups))
	left := slots - needed
	for i, g := range order {
		more := min(groups[g].Upper-groups[g].Lower, left/(len(order)-i))
		dealt[g] = groups[g].Lower + more
		left -= more
	}
	tied := s.together(bounds)
	layout := make([]int, len(s.vertices))
	for i, b := range tied {
		layout[i] = min(b.Upper, dealt[s.group[i]])
	}
	for i, p := range layout {
		layout[s.tie[i]] = min(layout[s.tie[i]], p)
	}
	for i := range layout {
		layout[i] = layout[s.tie[i]]
	}
	return layout
}

// used is how many slots each group needs for a layout.
func (s *shape) used(layout []int) []int {
	all := make([]int, len(s.groups))
	for i, p := range layout {
		all[s.group[i]] = max(all[s.group[i]], p)
	}
	return all
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}
