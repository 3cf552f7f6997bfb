package streamgraph

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// Compiled is a program ready to run: the job as data, and for each of its
// vertices the nodes to execute, which never leave the process.
type Compiled struct {
	Graph  *jobgraph.Graph
	Chains map[ident.VertexID]*Chain
}

// Chain is the nodes of one JobVertex.
type Chain struct {
	Vertex *jobgraph.Vertex
	// Nodes stand in the order of the vertex's operators: the head first, each
	// after all that feed it. They form a tree.
	Nodes []*Node
	// Inputs are the edges into the head, and then those into nodes that are chained along
	// another input, in the order of Vertex.Inputs.
	Inputs []*Edge
	// Outputs are the edges that leave the chain, in the order of Vertex.Produces.
	Outputs []*Edge
}
