package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// mostVertices is how many vertices a job has at most.
const mostVertices = 4

// randomGraph makes a job of 1 to 4 vertices that needs at most slots slots,
// which is at least 1.
func randomGraph(r *rand.Rand, id ident.JobID, bounded bool, slots int) *jobgraph.Graph {
	g := &jobgraph.Graph{Job: id, Name: fmt.Sprintf("job %.4s", id.String()), Batch: bounded}
	groups := []string{"default"}
	if slots >= 2 && r.IntN(3) == 0 {
		groups = append(groups, "other")
	}
	most := max(1, min(4, slots/len(groups)))
	for i := range 1 + r.IntN(mostVertices) {
		v := &jobgraph.Vertex{
			ID: ident.VertexID{ID: ident.New(r)}, Name: fmt.Sprintf("Vertex %d", i+1), Parallelism: 1 + r.IntN(most), MaxParallelism: 128,
			SlotSharingGroup: pick(r, groups...),
			Operators:        []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.New(r)}, Name: fmt.Sprintf("op %d", i+1), Digest: "d"}},
		}
		for j := range g.Vertices {
			if j == i-1 && r.IntN(6) > 0 || r.IntN(5) == 0 {
				connect(r, g.Vertices[j], v)
			}
		}
		g.Vertices = append(g.Vertices, v)
	}
	return g
}

func connect(r *rand.Rand, from, to *jobgraph.Vertex) {
	set := &jobgraph.DataSet{ID: ident.DataSetID{ID: ident.New(r)}, Type: jobgraph.Pipelined, Distribution: jobgraph.Pointwise, Consumer: to.ID}
	ship := "RESCALE"
	if r.IntN(2) == 0 {
		set.Distribution, ship = jobgraph.AllToAll, "HASH"
	}
	from.Produces = append(from.Produces, set)
	to.Inputs = append(to.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: from.ID, Distribution: set.Distribution, Ship: ship})
}

// stages makes some exchanges of a bounded job blocking.
func stages(r *rand.Rand, g *jobgraph.Graph) {
	for _, v := range g.Vertices {
		for _, set := range v.Produces {
			if r.IntN(2) == 0 {
				set.Type = jobgraph.Blocking
			}
		}
	}
}

// slotsNeeded is the sum over the slot sharing groups of the widest vertex.
func slotsNeeded(g *jobgraph.Graph) int {
	widest, sum := map[string]int{}, 0
	for _, v := range g.Vertices {
		if more := cmp.Or(v.Parallelism, v.MaxParallelism) - widest[v.SlotSharingGroup]; more > 0 {
			widest[v.SlotSharingGroup] += more
			sum += more
		}
	}
	return sum
}
