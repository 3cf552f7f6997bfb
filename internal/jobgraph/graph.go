// Package jobgraph holds a job as data: vertices, the data sets between them,
// and what the control plane must know to run them in parallel.
//
// It promises that a Graph is complete and self-contained: it can be encoded,
// sent, stored and compared, and two encodings of equal graphs are equal byte
// for byte. It never holds a function, a record type or user code.
package jobgraph

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
)

// Graph is a job: its vertices in topological order, sources first.
type Graph struct {
	Job  ident.JobID `json:"job"`
	Name string      `json:"name"`
	// Batch says that every source is bounded and that the job runs in batch
	// mode: keyed aggregates emit once, at the end.
	Batch    bool      `json:"batch"`
	Vertices []*Vertex `json:"vertices"`
	// Configuration holds the settings the job itself carries, Flink's keys.
	Configuration map[string]string `json:"configuration,omitempty"`
	// Artifact is the program whose workers run the vertices; zero: there is a Plan,
	// or the job runs in the submitting process.
	Artifact Artifact `json:"artifact,omitzero"`
	// Plan, if not empty, is an SQL plan, of which workers make the vertices. Without an
	// Artifact they are processes of Weir's own binary.
	Plan []byte `json:"plan,omitempty"`
	// Pipeline is the plan of the StreamGraph's nodes as `weir info` prints it.
	Pipeline []PlanNode `json:"pipeline,omitempty"`
}

// Artifact names a program by content, with the arguments its main gets.
type Artifact struct {
	SHA256    string   `json:"sha256"`
	Name      string   `json:"name"`
	Size      int64    `json:"size"`
	Arguments []string `json:"arguments,omitempty"`
}

// Vertex is a chain of operators that run in one task.
type Vertex struct {
	ID          ident.VertexID `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"` // HTML-escaped, lines end in <br/>, as REST shows it
	// Parallelism is the number of subtasks; 0: it is decided while the job runs,
	// by what there is to read, and is at most MaxParallelism. All data sets of a
	// job that has such a vertex are blocking.
	Parallelism int `json:"parallelism"`
	// Why says for people where Parallelism comes from; empty where it is open.
	Why string `json:"why,omitempty"`
	// MaxParallelism is the number of key groups.
	MaxParallelism   int         `json:"maxParallelism"`
	SlotSharingGroup string      `json:"slotSharingGroup"`
	CoLocation       string      `json:"coLocation,omitempty"` // empty: none
	Operators        []*Operator `json:"operators"`            // head first
	Inputs           []*Edge     `json:"inputs,omitempty"`     // in input order
	// Beside is how many of Inputs, the last ones, feed operators behind the head. They are
	// blocking, and read before all else.
	Beside   int        `json:"beside,omitempty"`
	Produces []*DataSet `json:"produces,omitempty"`
}

// Undecided reports whether the program leaves the vertex's parallelism open.
func (v *Vertex) Undecided() bool { return v.Parallelism == 0 }

// Source reports whether the vertex's head has no input.
func (v *Vertex) Source() bool { return len(v.Inputs) == v.Beside }

// Operator is one operator of a chain, as far as the control plane knows it.
type Operator struct {
	ID   ident.OperatorID `json:"id"`
	UID  string           `json:"uid,omitempty"`
	Name string           `json:"name"`
	// Digest changes when what the operator is changes: kind, types, name, edges.
	Digest string `json:"digest"`
	// Coordinator, if set, is hosted beside the JobMaster for this operator.
	Coordinator *Coordinator `json:"coordinator,omitempty"`
}

// Coordinator describes an operator's coordinator: Kind selects one of those
// built in ("files"), Spec is its own configuration as JSON text.
type Coordinator struct {
	Kind string `json:"kind"`
	Spec string `json:"spec"`
}

// Distribution says which consumers read which producers.
type Distribution string

// The distributions of an edge.
const (
	// Pointwise: each consumer reads a contiguous share of the producers, or
	// each producer feeds a contiguous share of the consumers.
	Pointwise Distribution = "POINTWISE"
	// AllToAll: each consumer reads every producer.
	AllToAll Distribution = "ALL_TO_ALL"
)

// WithParallelism is the job with other parallelisms, of its vertices in order. It
// shares all else with g.
func (g *Graph) WithParallelism(parallelism []int) *Graph {
	other := *g
	other.Vertices = make([]*Vertex, len(g.Vertices))
	for i, v := range g.Vertices {
		one := *v
		one.Parallelism = parallelism[i]
		other.Vertices[i] = &one
	}
	return &other
}

// ResultType says how a data set is exchanged.
type ResultType string

// Undecided reports whether the parallelism of any vertex is left open.
func (g *Graph) Undecided() bool {
	return slices.ContainsFunc(g.Vertices, (*Vertex).Undecided)
}

// The result types. Blocking ones belong to batch scheduling.
const (
	Pipelined ResultType = "PIPELINED"
	Blocking  ResultType = "BLOCKING"
)

// DataSet is what a vertex produces for one output edge.
type DataSet struct {
	ID           ident.DataSetID `json:"id"`
	Type         ResultType      `json:"type"`
	Distribution Distribution    `json:"distribution"`
	Consumer     ident.VertexID  `json:"consumer"`
}

// Edge is one input of a vertex.
type Edge struct {
	DataSet      ident.DataSetID `json:"dataSet"`
	Source       ident.VertexID  `json:"source"`
	Distribution Distribution    `json:"distribution"`
	// Ship is the partitioner as REST shows it: FORWARD, HASH, REBALANCE, …
	Ship string `json:"ship"`
}

// PlanNode is one node of the StreamGraph in Flink's plan JSON.
type PlanNode struct {
	ID           int               `json:"id"`
	Type         string            `json:"type"`
	Pact         string            `json:"pact"`
	Contents     string            `json:"contents"`
	Parallelism  int               `json:"parallelism"`
	Predecessors []PlanPredecessor `json:"predecessors,omitempty"`
}

// PlanPredecessor is an input of a PlanNode.
type PlanPredecessor struct {
	ID           int    `json:"id"`
	ShipStrategy string `json:"ship_strategy"`
	Side         string `json:"side"`
}
