package execgraph

import (
	"maps"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// A View is a job as it was at one moment. It never changes and may be read
// from anywhere; nothing that can be reached through it may be written.
type View struct {
	Job   ident.JobID
	Name  string
	State status.Job
	// Stamps is when the job entered each state, by state; zero: never.
	Stamps [jobStates]time.Time
	// Start is when the job was begun; End when it ended, zero while it runs.
	Start, End time.Time
	Vertices   []*VertexView
	// Failures are the failure history, newest first; Truncated says that older
	// ones were dropped.
	Failures  []FailureEntry
	Truncated bool
	Restarts  Restarts
	// Accumulators are the user's named results of the attempts that finished,
	// in the order of the vertices.
	Accumulators []Accumulator
	// Coordinators are those that give work to subtasks, in the order of the
	// vertices; who owns the job and hosts them adds them.
	Coordinators []CoordinatorView
	// Checkpoints are what is remembered of the job's checkpoints; nil: it takes
	// none. Who owns the job adds them.
	Checkpoints *record.View
	// Adaptive is set for a job whose parallelism follows the slots there are. Who owns
	// the job adds it.
	Adaptive *AdaptiveView
	// Plan is the job's graph: its vertices, edges and configuration.
	Plan *jobgraph.Graph
}

// Duration is how long the job has run, at now or at its end.
func (v *View) Duration(now time.Time) time.Duration {
	if v.End.IsZero() {
		return now.Sub(v.Start)
	}
	return v.End.Sub(v.Start)
}

// Since is when the job entered a state; zero: never.
func (v *View) Since(s status.Job) time.Time { return v.Stamps[s] }

// Tasks counts the job's subtasks by the state of their current attempt.
func (v *View) Tasks() [executionStates]int {
	var sum [executionStates]int
	for _, vertex := range v.Vertices {
		for s, n := range vertex.Tasks {
			sum[s] += n
		}
	}
	return sum
}

// Vertex finds a vertex; nil when there is none with the id.
func (v *View) Vertex(id ident.VertexID) *VertexView {
	for _, vertex := range v.Vertices {
		if vertex.ID == id {
			return vertex
		}
	}
	return nil
}

// A VertexView is one vertex of a View.
type VertexView struct {
	ID   ident.VertexID
	Name string
	// Parallelism is 0 while it is not decided.
	Parallelism, MaxParallelism int
	// Why says where the parallelism comes from; empty while it is not decided.
	Why string
	// Splits are what a source has to read; nil: nobody has said.
	Splits *Splits
	// Status is one state for all subtasks, as Flink puts them together.
	Status           status.Execution
	SlotSharingGroup ident.ID
	// Tasks counts the subtasks by state of the current attempt.
	Tasks [executionStates]int
	// Start is when the first subtask was deployed, zero: none yet. End is when
	// the last one ended, zero while one has not.
	Start, End time.Time
	Metrics    Metrics // summed over the current attempts
	Subtasks   []SubtaskView
}

// Duration is how long the vertex has run, at now or at its end; 0 before it
// starts.
func (v *VertexView) Duration(now time.Time) time.Duration {
	return between(v.Start, v.End, now)
}

// A SubtaskView is one subtask of a View: its current attempt and those before.
type SubtaskView struct {
	AttemptView
	Earlier []AttemptView
}

// An AttemptView is one attempt.
type AttemptView struct {
	ID    ident.AttemptID
	State status.Execution
	// Stamps is when the attempt entered each state, by state; zero: never.
	Stamps [executionStates]time.Time
	// TaskManager and Host say where it runs; empty: nowhere yet.
	TaskManager  ident.ResourceID
	Host         string
	Metrics      Metrics
	Failure      *status.Failure
	Accumulators map[string]string // never written
}

// Since is when the attempt entered a state; zero: never.
func (a *AttemptView) Since(s status.Execution) time.Time { return a.Stamps[s] }

// Start is when the attempt was deployed; zero: not yet.
func (a *AttemptView) Start() time.Time { return a.Stamps[status.Deploying] }

// End is when the attempt ended; zero: not yet.
func (a *AttemptView) End() time.Time {
	if a.State.Terminal() {
		return a.Stamps[a.State]
	}
	return time.Time{}
}

// Duration is how long the attempt has run, at now or at its end.
func (a *AttemptView) Duration(now time.Time) time.Duration {
	return between(a.Start(), a.End(), now)
}

// StateDuration is how long the attempt was in a state, from its entry to the
// entry of the next one it passed through, or to now; -1: it never was.
func (a *AttemptView) StateDuration(s status.Execution, now time.Time) time.Duration {
	from := a.Stamps[s]
	if from.IsZero() {
		return -1
	}
	if s == a.State {
		if s.Terminal() {
			return 0
		}
		return now.Sub(from)
	}
	end := now
	for other, at := range a.Stamps {
		later := at.After(from) || at.Equal(from) && passes(s, status.Execution(other))
		if status.Execution(other) != s && !at.IsZero() && later && at.Before(end) {
			end = at
		}
	}
	return max(end.Sub(from), 0)
}

// passes reports whether to comes after from on an attempt's way.
func passes(from, to status.Execution) bool { return to > from }

func between(start, end, now time.Time) time.Duration {
	switch {
	case start.IsZero():
		return 0
	case end.IsZero():
		return max(now.Sub(start), 0)
	default:
		return max(end.Sub(start), 0)
	}
}

// An Accumulator is one named result, as the subtask that made it gave it.
type Accumulator struct {
	Vertex  ident.VertexID
	Subtask int
	Name    string
	Value   string
}

// A CoordinatorView is what the coordinator of a source has left to give.
type CoordinatorView struct {
	Vertex     ident.VertexID
	VertexName string
	Operator   ident.OperatorID
	Unassigned int // splits that no subtask has
}

// View gives the job as it is. It costs little: only vertices in which
// something has changed since the last View are described anew.
func (g *Graph) View() View {
	v := View{
		Job: g.Job.Job, Name: g.Job.Name, State: g.state, Stamps: g.stamps, Plan: g.Job,
		Start: g.stamps[status.JobInitializing], Vertices: make([]*VertexView, len(g.Vertices)),
		Failures: g.history.shown(), Truncated: g.history.truncated, Restarts: g.restarts,
	}
	if g.state.Terminal() {
		v.End = g.stamps[g.state]
	}
	for i, vertex := range g.Vertices {
		if vertex.view == nil {
			vertex.view = vertex.describe()
		}
		v.Vertices[i] = vertex.view
		for _, s := range vertex.Subtasks {
			if len(s.Current.Accumulators) == 0 {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(s.Current.Accumulators)) {
				v.Accumulators = append(v.Accumulators, Accumulator{Vertex: vertex.Job.ID, Subtask: s.Subtask, Name: name, Value: s.Current.Accumulators[name]})
			}
		}
	}
	return v
}

func (v *JobVertex) describe() *VertexView {
	view := &VertexView{
		ID: v.Job.ID, Name: v.Job.Name, Parallelism: v.Parallelism(), MaxParallelism: v.Job.MaxParallelism,
		Why: v.layout.Why, Splits: v.Splits,
		SlotSharingGroup: GroupID(v.Job.SlotSharingGroup), Subtasks: make([]SubtaskView, len(v.Subtasks)),
	}
	ended := true
	for i, s := range v.Subtasks {
		sub := &view.Subtasks[i]
		sub.AttemptView = s.Current.describe()
		for _, e := range s.Earlier {
			sub.Earlier = append(sub.Earlier, e.describe())
		}
		view.Tasks[sub.State]++
		view.Metrics = view.Metrics.add(sub.Metrics)
		if at := sub.Start(); !at.IsZero() && (view.Start.IsZero() || at.Before(view.Start)) {
			view.Start = at
		}
		ended = ended && sub.State.Terminal()
		if at := sub.End(); at.After(view.End) {
			view.End = at
		}
	}
	if !ended {
		view.End = time.Time{}
	}
	view.Status = together(view.Tasks, len(v.Subtasks))
	return view
}

func (e *Execution) describe() AttemptView {
	a := AttemptView{ID: e.ID, State: e.state, Stamps: e.stamps, Metrics: e.Metrics, Failure: e.Failure, Accumulators: e.Accumulators}
	if e.Slot != nil {
		a.TaskManager, a.Host = e.Slot.TaskManager, e.Slot.Host
	}
	return a
}

// together makes one state of those of all subtasks, as Flink does.
func together(tasks [executionStates]int, parallelism int) status.Execution {
	for _, s := range []status.Execution{status.Failed, status.Canceling, status.Canceled, status.Initializing, status.Running} {
		if tasks[s] > 0 {
			return s
		}
	}
	switch tasks[status.Finished] {
	case 0:
		return status.Created
	case parallelism:
		return status.Finished
	}
	return status.Running
}

// GroupID is the identifier REST shows for a slot sharing group: a hash of its
// name, so that it is the same in every answer about one job.
func GroupID(name string) ident.ID {
	const prime1, prime2 = 0x100000001b3, 0x9e3779b97f4a7c15 // FNV-1a, and a second lane
	a, b := uint64(0xcbf29ce484222325), uint64(0x84222325cbf29ce4)
	for _, c := range []byte(name) {
		a = (a ^ uint64(c)) * prime1
		b = (b ^ uint64(c)) * prime2
	}
	var id ident.ID
	for i := range 8 {
		id[i], id[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return id
}
