package execgraph

import (
	"maps"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// An Execution is one attempt to run one subtask.
//
// Invariant: Slot is set, once, before the attempt leaves SCHEDULED; Failure is
// set exactly when it is FAILED. After a terminal state nothing changes.
type Execution struct {
	ID     ident.AttemptID
	Vertex *Vertex
	// Slot is where the attempt runs; nil until slots are bound.
	Slot *Slot
	// Failure is why the attempt FAILED.
	Failure *status.Failure
	// Metrics are the counts last reported.
	Metrics Metrics
	// Accumulators are the user's named results, set with a terminal state.
	Accumulators map[string]string
	// OutputLost says that what the attempt produced for other regions cannot be
	// read any more: it is lost, or was given up because nobody needs it.
	OutputLost bool
	// Sizes are the bytes in each subpartition of what the attempt produced, by
	// produced data set, as long as a consumer's parallelism is to be decided by
	// them; nil before the attempt has finished, and when its output is lost.
	Sizes [][]int64

	state  status.Execution
	stamps [executionStates]time.Time
}

// A Slot is one slot of a TaskManager that was allocated to the job. Slots are
// values: they are replaced, never changed.
type Slot struct {
	Allocation  ident.AllocationID
	Index       int
	TaskManager ident.ResourceID
	// Host is the TaskManager as people read it: "host:dataPort".
	Host string
	// DataAddresses are where other tasks fetch what is produced here,
	// preferred first.
	DataAddresses []string
}

// Metrics are what a task has counted so far.
type Metrics struct {
	RecordsIn, RecordsOut, BytesIn, BytesOut    int64
	BusyMillis, IdleMillis, BackpressuredMillis int64
	// Figures is all that the task told of itself while it ran, never changed;
	// nil: nothing yet. Sums have none.
	Figures *status.TaskFigures
}

// add sums two tasks' counts.
func (m Metrics) add(o Metrics) Metrics {
	return Metrics{
		RecordsIn: m.RecordsIn + o.RecordsIn, RecordsOut: m.RecordsOut + o.RecordsOut,
		BytesIn: m.BytesIn + o.BytesIn, BytesOut: m.BytesOut + o.BytesOut,
		BusyMillis: m.BusyMillis + o.BusyMillis, IdleMillis: m.IdleMillis + o.IdleMillis,
		BackpressuredMillis: m.BackpressuredMillis + o.BackpressuredMillis,
	}
}

func newExecution(graph ident.GraphID, v *Vertex, attempt int, now time.Time) *Execution {
	e := &Execution{
		ID:     ident.AttemptID{Graph: graph, Vertex: v.Parent.Job.ID, Subtask: v.Subtask, Attempt: attempt},
		Vertex: v,
	}
	e.stamps[status.Created] = now
	return e
}

// State is the attempt's state.
func (e *Execution) State() status.Execution { return e.state }

// Since is when the attempt entered a state; zero: never.
func (e *Execution) Since(s status.Execution) time.Time { return e.stamps[s] }

// Deployed reports whether a TaskManager was, or may have been, told to run
// the attempt.
func (e *Execution) Deployed() bool { return !e.stamps[status.Deploying].IsZero() }

// Readable reports whether what the attempt produced for other regions is
// complete and can be read.
func (e *Execution) Readable() bool {
	return e.state == status.Finished && !e.OutputLost && e.Slot != nil && e.Vertex.Parent.Blocking()
}

// LoseOutput notes that what the attempt produced cannot be read any more.
func (e *Execution) LoseOutput() { e.OutputLost, e.Sizes = true, nil }

// SetExecution makes a step of an attempt's state machine. A step that is not
// in the table is a broken invariant.
func (g *Graph) SetExecution(e *Execution, next status.Execution, now time.Time) {
	if !e.state.CanBecome(next) {
		invariant.Broken("attempt %s of %s: %s may not become %s", e.ID, e.Vertex.Name(), e.state, next)
	}
	if e != e.Vertex.Current {
		invariant.Broken("attempt %s of %s has been replaced and may not become %s", e.ID, e.Vertex.Name(), next)
	}
	e.state = next
	e.stamps[next] = now
	if next.Terminal() {
		g.open--
		e.Metrics.Figures = nil // what was true of a running task
	}
	if next == status.Finished {
		g.finished++
		e.Vertex.Parent.finished++
	}
	e.Vertex.Parent.view = nil
}

// Fail makes an attempt FAILED, with its cause.
func (g *Graph) Fail(e *Execution, cause *status.Failure, now time.Time) {
	e.Failure = cause
	g.SetExecution(e, status.Failed, now)
}

// Bind gives an attempt its slot.
func (g *Graph) Bind(e *Execution, slot *Slot) {
	invariant.Check(e.Slot == nil && e.state == status.Scheduled, "attempt %s is %s and cannot be given a slot", e.ID, e.state)
	e.Slot = slot
	e.Vertex.Parent.view = nil
}

// Measure keeps the counts a task reported. Counts only rise: a report that
// was overtaken by a later one is ignored. One without figures leaves them.
func (g *Graph) Measure(e *Execution, m Metrics) {
	if m.Figures == nil {
		m.Figures = e.Metrics.Figures
	}
	if m == e.Metrics || m.BusyMillis+m.IdleMillis+m.BackpressuredMillis < e.Metrics.BusyMillis+e.Metrics.IdleMillis+e.Metrics.BackpressuredMillis {
		return
	}
	e.Metrics = m
	e.Vertex.Parent.view = nil
}

// Accumulate keeps the accumulators of an attempt that has ended.
func (g *Graph) Accumulate(e *Execution, values map[string]string) {
	if len(values) > 0 {
		e.Accumulators = maps.Clone(values)
	}
}

// DefaultAttempts is how many earlier attempts of a subtask are remembered:
// Flink's jobmanager.execution.attempts-history-size.
const DefaultAttempts = 16

// LimitAttempts sets how many earlier attempts of a subtask are remembered; at
// least 1.
func (g *Graph) LimitAttempts(n int) { g.attempts = max(n, 1) }

// NewAttempt replaces the terminal current attempt of a subtask by a new one,
// CREATED, with the next number.
func (g *Graph) NewAttempt(v *Vertex, now time.Time) *Execution {
	return g.newAttempt(v, v.Current.ID.Attempt+1, now)
}

func (g *Graph) newAttempt(v *Vertex, number int, now time.Time) *Execution {
	old := v.Current
	invariant.Check(old.state.Terminal(), "attempt %s is %s and cannot be replaced", old.ID, old.state)
	if old.state == status.Finished {
		g.finished--
		v.Parent.finished--
	}
	g.open++
	if n := len(v.Earlier) + 1 - g.attempts; n > 0 {
		v.Earlier = slices.Delete(v.Earlier, 0, n)
	}
	v.Earlier = append(v.Earlier, old)
	v.Current = newExecution(g.ID, v, number, now)
	v.Parent.view = nil
	return v.Current
}
