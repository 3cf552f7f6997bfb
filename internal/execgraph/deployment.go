package execgraph

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
)

// A Deployment is all that is needed to run one attempt. It shares nothing that
// changes with the graph.
type Deployment struct {
	Attempt        ident.AttemptID
	VertexName     string
	Parallelism    int
	MaxParallelism int
	Slot           *Slot
	Gates          []Gate      // one an input edge, in the vertex's input order
	Partitions     []Partition // one a produced data set, in order
}

// A Gate is what the attempt reads of one input edge.
type Gate struct {
	DataSet      ident.DataSetID
	Distribution jobgraph.Distribution
	Blocking     bool // the producers have finished
	Channels     []Channel
}

// A Channel is one subpartition of one producer, and where that runs.
type Channel struct {
	Producer     ident.AttemptID
	Subpartition int
	Slot         *Slot
}

// A Partition is what the attempt produces for one output edge.
type Partition struct {
	DataSet       ident.DataSetID
	Subpartitions int
	Blocking      bool // kept when the attempt has finished
}

// Deployment describes an attempt to whoever will run it. Its slot and those
// of all its producers must have been bound.
func (g *Graph) Deployment(e *Execution) Deployment {
	job := e.Vertex.Parent.Job
	invariant.Check(e.Slot != nil, "attempt %s of %s is deployed without a slot", e.ID, e.Vertex.Name())
	d := Deployment{
		Attempt: e.ID, VertexName: job.Name, Parallelism: job.Parallelism, MaxParallelism: job.MaxParallelism, Slot: e.Slot,
	}
	for _, in := range e.Vertex.Parent.Inputs {
		gate := Gate{DataSet: in.Edge.DataSet, Distribution: in.Edge.Distribution, Blocking: in.Set.Type == jobgraph.Blocking}
		for _, link := range Links(in.Edge.Distribution, len(in.Source.Subtasks), job.Parallelism, e.Vertex.Subtask) {
			producer := in.Source.Subtasks[link.Producer].Current
			if producer.Slot == nil {
				invariant.Broken("attempt %s reads attempt %s, which has no slot", e.ID, producer.ID)
			}
			if in.Source.Subtasks[link.Producer].Region == e.Vertex.Region {
				gate.Blocking = false // co-location lets it run at the same time
			}
			gate.Channels = append(gate.Channels, Channel{Producer: producer.ID, Subpartition: link.Subpartition, Slot: producer.Slot})
		}
		d.Gates = append(d.Gates, gate)
	}
	for _, set := range job.Produces {
		r := g.results[set.ID]
		d.Partitions = append(d.Partitions, Partition{DataSet: set.ID, Blocking: set.Type == jobgraph.Blocking,
			Subpartitions: Subpartitions(set.Distribution, job.Parallelism, len(r.consumer.Subtasks), e.Vertex.Subtask)})
	}
	return d
}
