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
	// KeyGroups are those of the subtask; none: the even share of its number.
	KeyGroups  Share
	Slot       *Slot
	Gates      []Gate      // one an input edge, in the vertex's input order
	Partitions []Partition // one a produced data set, in order
}

// A Gate is what the attempt reads of one input edge.
type Gate struct {
	DataSet      ident.DataSetID
	Distribution jobgraph.Distribution
	Blocking     bool // the producers have finished
	Channels     []Channel
}

// A Channel is some subpartitions of one producer, and where that runs.
type Channel struct {
	Producer ident.AttemptID
	Share
	Slot *Slot
}

// A Partition is what the attempt produces for one output edge.
type Partition struct {
	DataSet       ident.DataSetID
	Subpartitions int
	Blocking      bool // kept when the attempt has finished
	// MaxParallelism is that of who reads it: its number of key groups.
	MaxParallelism int
}

// Deployment describes an attempt to whoever will run it. Its slot and those
// of all its producers must have been bound.
func (g *Graph) Deployment(e *Execution) Deployment {
	job := e.Vertex.Parent.Job
	invariant.Check(e.Slot != nil, "attempt %s of %s is deployed without a slot", e.ID, e.Vertex.Name())
	d := Deployment{
		Attempt: e.ID, VertexName: job.Name, Parallelism: len(e.Vertex.Parent.Subtasks), MaxParallelism: job.MaxParallelism, Slot: e.Slot,
	}
	if shares := e.Vertex.Parent.layout.Shares; shares != nil {
		d.KeyGroups = shares[e.Vertex.Subtask]
	}
	for _, in := range e.Vertex.Parent.Inputs {
		gate := Gate{DataSet: in.Edge.DataSet, Distribution: in.Edge.Distribution, Blocking: in.Set.Type == jobgraph.Blocking}
		for _, link := range in.links(e.Vertex) {
			producer := in.Source.Subtasks[link.Producer].Current
			if producer.Slot == nil {
				invariant.Broken("attempt %s reads attempt %s, which has no slot", e.ID, producer.ID)
			}
			if in.Source.Subtasks[link.Producer].Region == e.Vertex.Region {
				gate.Blocking = false // co-location lets it run at the same time
			}
			gate.Channels = append(gate.Channels, Channel{Producer: producer.ID, Share: Share{First: link.Subpartition, Count: link.Count}, Slot: producer.Slot})
		}
		d.Gates = append(d.Gates, gate)
	}
	for _, set := range job.Produces {
		d.Partitions = append(d.Partitions, Partition{DataSet: set.ID, Blocking: set.Type == jobgraph.Blocking,
			Subpartitions: g.subpartitions(set, e.Vertex), MaxParallelism: g.results[set.ID].consumer.Consumer.Job.MaxParallelism})
	}
	return d
}

// subpartitions is how many a subtask writes of a data set. The number never
// changes: what was written before the consumer's parallelism was decided is
// read like what is written after.
func (g *Graph) subpartitions(set *jobgraph.DataSet, producer *Vertex) int {
	in := g.results[set.ID].consumer
	if in.Consumer.Job.Undecided() {
		return in.subpartitions()
	}
	return Subpartitions(set.Distribution, len(producer.Parent.Subtasks), in.Consumer.Parallelism(), producer.Subtask)
}
