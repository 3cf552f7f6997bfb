package execgraph

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// Graph is a job in parallel: one life of it at one master.
//
// Its owner is the scheduler of that master; nobody else holds a reference.
// Everything in it stands in slices in the job graph's order; the maps are for
// looking up only.
type Graph struct {
	Job *jobgraph.Graph // never changed, but replaced by TakeOver
	ID  ident.GraphID
	// Vertices are the job's vertices in topological order.
	Vertices []*JobVertex
	// Regions are the pipelined regions in topological order.
	Regions []*Region

	state  status.Job
	stamps [jobStates]time.Time // zero: never was in that state
	// late says that every vertex is laid out by Resize, and as often as wanted.
	late bool
	// open counts the subtasks whose current attempt is not terminal, finished
	// those whose current attempt is FINISHED.
	open, finished int
	laidOut        int // vertices that have their subtasks
	restarts       Restarts
	attempts       int // earlier ones that a subtask remembers
	history        history
	byVertex       map[ident.VertexID]*JobVertex
	results        map[ident.DataSetID]*result
}

const (
	jobStates       = int(status.JobReconciling) + 1
	executionStates = int(status.Reconciling) + 1
)

// A result is what a vertex produces for one output edge, with both its ends.
type result struct {
	set      *jobgraph.DataSet
	producer *JobVertex
	index    int    // of the set among those of the producer
	consumer *Input // nil while it is not known
}

// A JobVertex is a vertex of the job graph with its subtasks.
type JobVertex struct {
	Job *jobgraph.Vertex
	// Index is the vertex's place in Graph.Vertices.
	Index int
	// Subtasks has one Vertex for each parallel subtask; none before the vertex
	// is laid out.
	Subtasks []*Vertex
	// retired are subtasks that there were before the vertex was made narrower, by
	// their numbers from len(Subtasks) on. Their current attempts have ended.
	retired []*Vertex
	// Inputs has one entry for each input edge, in the job graph's order.
	Inputs []*Input
	// Outputs are the inputs of other vertices that read what this one produces.
	Outputs []*Input
	// Splits are what a source has to read; nil: nobody has said.
	Splits *Splits

	layout   Layout
	finished int // subtasks whose current attempt is FINISHED

	// view is the part of the Graph's View about this vertex; nil when
	// something changed since it was built.
	view *VertexView
}

// Splits are how much a source has to read.
type Splits struct {
	Count int
	Bytes int64
}

// An Input is one input edge of a vertex with the vertex that produces it.
type Input struct {
	Edge             *jobgraph.Edge
	Set              *jobgraph.DataSet
	Source, Consumer *JobVertex
	output           int // the set's place among those of the source
}

// A Vertex is one parallel subtask. It has one current attempt at any time.
type Vertex struct {
	Parent  *JobVertex
	Subtask int
	// Region is the pipelined region the subtask belongs to.
	Region *Region
	// Version rises with every decision that makes older plans for this
	// subtask void: a plan remembers the number, and is dropped silently when
	// it has moved.
	Version int64
	// Current is the attempt that counts; Earlier are the ones before it that are
	// remembered.
	Current *Execution
	Earlier []*Execution
}

// Blocking reports whether the vertex produces something that is read only when
// it is complete.
func (v *JobVertex) Blocking() bool {
	return slices.ContainsFunc(v.Job.Produces, func(set *jobgraph.DataSet) bool { return set.Type == jobgraph.Blocking })
}

// TakeOver gives vertices the maximum parallelism of the state that they begin with,
// before any of them runs: by vertex, those that are not named keep theirs. It
// reports whether any changed, after which Job is another graph.
func (g *Graph) TakeOver(maxParallelism map[ident.VertexID]int) bool {
	job := *g.Job
	job.Vertices = slices.Clone(job.Vertices)
	changed := false
	for i, v := range g.Vertices {
		n, named := maxParallelism[v.Job.ID]
		if !named || n == v.Job.MaxParallelism {
			continue
		}
		vertex := *v.Job
		vertex.MaxParallelism = n
		job.Vertices[i], v.Job, v.view, changed = &vertex, &vertex, nil, true
	}
	if changed {
		g.Job = &job
	}
	return changed
}

// Name is the subtask as people read it: "Map (2/4)".
func (v *Vertex) Name() string {
	return fmt.Sprintf("%s (%d/%d)", v.Parent.Job.Name, v.Subtask+1, len(v.Parent.Subtasks))
}

// New lays out the job in parallel, in state INITIALIZING since begun and
// CREATED since now. It refuses a job graph that contradicts itself.
func New(job *jobgraph.Graph, id ident.GraphID, begun, now time.Time) (*Graph, error) {
	g, err := newGraph(job, id, begun)
	if err != nil {
		return nil, err
	}
	for _, v := range g.Vertices {
		if v.CanLayOut() && !v.Job.Undecided() {
			g.split(v, Layout{Parallelism: v.Job.Parallelism, Why: v.Job.Why}, now)
		}
	}
	g.Regions = buildRegions(g)
	g.SetState(status.JobCreated, now)
	return g, nil
}

// NewLate is New for a job whose parallelism follows the slots there are: no vertex
// has subtasks before Resize.
func NewLate(job *jobgraph.Graph, id ident.GraphID, begun, now time.Time) (*Graph, error) {
	g, err := newGraph(job, id, begun)
	if err == nil && job.Undecided() {
		err = fmt.Errorf("job %q leaves a parallelism open, which is decided by what there is to read and not by slots", job.Name)
	}
	if err != nil {
		return nil, err
	}
	g.late = true
	for _, v := range g.Vertices {
		v.layout.Why = "it waits for slots"
	}
	g.SetState(status.JobCreated, now)
	return g, nil
}

// newGraph makes the graph of a job, in which no vertex is laid out.
func newGraph(job *jobgraph.Graph, id ident.GraphID, begun time.Time) (*Graph, error) {
	g := &Graph{Job: job, ID: id, byVertex: map[ident.VertexID]*JobVertex{}, results: map[ident.DataSetID]*result{}}
	g.history.limit, g.attempts = DefaultHistory, DefaultAttempts
	g.stamps[status.JobInitializing] = begun
	for i, v := range job.Vertices {
		if err := g.addVertex(i, v); err != nil {
			return nil, fmt.Errorf("job %q: vertex %q: %w", job.Name, v.Name, err)
		}
	}
	if len(g.Vertices) == 0 {
		return nil, fmt.Errorf("job %q has no vertices: nothing to run", job.Name)
	}
	for _, v := range job.Vertices {
		for _, set := range v.Produces {
			if g.results[set.ID].consumer == nil {
				return nil, fmt.Errorf("job %q: vertex %q produces data set %s for vertex %s, which does not read it",
					job.Name, v.Name, set.ID, set.Consumer)
			}
		}
	}
	if err := errors.Join(g.checkCoLocation(), g.checkOpen()); err != nil {
		return nil, fmt.Errorf("job %q: %w", job.Name, err)
	}
	return g, nil
}

func (g *Graph) addVertex(index int, job *jobgraph.Vertex) error {
	switch {
	case g.byVertex[job.ID] != nil:
		return fmt.Errorf("its id %s is that of vertex %q", job.ID, g.byVertex[job.ID].Job.Name)
	case job.Parallelism < 0:
		return fmt.Errorf("parallelism is %d, must be at least 1, or 0 to leave it open", job.Parallelism)
	case job.MaxParallelism < max(1, job.Parallelism):
		return fmt.Errorf("parallelism %d is above the maximum parallelism %d", job.Parallelism, job.MaxParallelism)
	}
	v := &JobVertex{Job: job, Index: index}
	for _, edge := range job.Inputs {
		r := g.results[edge.DataSet]
		switch {
		case r == nil || r.producer.Job.ID != edge.Source:
			return fmt.Errorf("it reads data set %s of vertex %s, which no vertex before it produces", edge.DataSet, edge.Source)
		case r.consumer != nil || r.set.Consumer != job.ID:
			return fmt.Errorf("it reads data set %s of vertex %q, which is made for vertex %s", edge.DataSet, r.producer.Job.Name, r.set.Consumer)
		case r.set.Distribution != edge.Distribution:
			return fmt.Errorf("it reads data set %s of vertex %q %s, which is produced %s", edge.DataSet, r.producer.Job.Name, edge.Distribution, r.set.Distribution)
		case edge.Distribution != jobgraph.Pointwise && edge.Distribution != jobgraph.AllToAll:
			return fmt.Errorf("it reads data set %s with distribution %q, want %s or %s", edge.DataSet, edge.Distribution, jobgraph.Pointwise, jobgraph.AllToAll)
		}
		r.consumer = &Input{Edge: edge, Set: r.set, Source: r.producer, Consumer: v, output: r.index}
		r.producer.Outputs = append(r.producer.Outputs, r.consumer)
		v.Inputs = append(v.Inputs, r.consumer)
	}
	for i, set := range job.Produces {
		if g.results[set.ID] != nil {
			return fmt.Errorf("it produces data set %s, as vertex %q does", set.ID, g.results[set.ID].producer.Job.Name)
		}
		g.results[set.ID] = &result{set: set, producer: v, index: i}
	}
	g.byVertex[job.ID] = v
	g.Vertices = append(g.Vertices, v)
	return nil
}

// checkCoLocation refuses co-located vertices that could not share slots.
func (g *Graph) checkCoLocation() error {
	first := map[string]*jobgraph.Vertex{}
	for _, v := range g.Vertices {
		name := v.Job.CoLocation
		if name == "" {
			continue
		}
		other := first[name]
		if other == nil {
			first[name] = v.Job
			continue
		}
		if other.SlotSharingGroup != v.Job.SlotSharingGroup {
			return fmt.Errorf("co-location group %q: vertex %q is in slot sharing group %q, vertex %q in %q: co-located vertices must share a group",
				name, other.Name, other.SlotSharingGroup, v.Job.Name, v.Job.SlotSharingGroup)
		}
		if other.Parallelism != v.Job.Parallelism {
			return fmt.Errorf("co-location group %q: vertex %q has parallelism %d, vertex %q has %d: co-located vertices must agree",
				name, other.Name, other.Parallelism, v.Job.Name, v.Job.Parallelism)
		}
	}
	return nil
}

// State is the job's state.
func (g *Graph) State() status.Job { return g.state }

// SetState makes a step of the job's state machine. A step that is not in the
// table is a broken invariant.
func (g *Graph) SetState(next status.Job, now time.Time) {
	invariant.Check(g.state.CanBecome(next), "job %s: %s may not become %s", g.Job.Job, g.state, next)
	g.state = next
	g.stamps[next] = now
}

// Restarts count how often the job was restarted.
type Restarts struct {
	// All are all of them, Full those in which every subtask that had begun ran
	// again. Failures that were merged into one restart count once.
	All, Full int
}

// CountRestart counts one restart and gives its number, from 1.
func (g *Graph) CountRestart(full bool) int {
	g.restarts.All++
	if full {
		g.restarts.Full++
	}
	return g.restarts.All
}

// AllTerminal reports whether no current attempt can change any more.
func (g *Graph) AllTerminal() bool { return g.open == 0 }

// AllFinished reports whether every subtask has finished.
func (g *Graph) AllFinished() bool {
	total := 0
	for _, v := range g.Vertices {
		total += len(v.Subtasks)
	}
	return g.AllLaidOut() && g.finished == total
}

// Attempt finds a current attempt; nil when the id names none, or one that has
// been replaced.
func (g *Graph) Attempt(id ident.AttemptID) *Execution {
	v := g.byVertex[id.Vertex]
	if v == nil || id.Subtask < 0 || id.Subtask >= len(v.Subtasks) {
		return nil
	}
	if e := v.Subtasks[id.Subtask].Current; e.ID == id {
		return e
	}
	return nil
}

// JobVertex finds a vertex by its id; nil when there is none.
func (g *Graph) JobVertex(id ident.VertexID) *JobVertex { return g.byVertex[id] }
