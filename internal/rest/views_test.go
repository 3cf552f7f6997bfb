package rest

import (
	"io/fs"
	"strconv"
	"testing/fstest"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	weirfs "github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

func openLogs(files fstest.MapFS) func(string) fs.FS { return func(string) fs.FS { return files } }

// way is how an attempt comes to each state, in order.
var way = []status.Execution{status.Created, status.Scheduled, status.Deploying, status.Initializing, status.Running}

// viewOf describes a job whose attempts have gone the first n steps of the way
// and then, where last is terminal, ended in it.
func viewOf(job ident.JobID, state status.Job, n int, last status.Execution) execgraph.View {
	graph := wordCount(job)
	v := execgraph.View{Job: job, Name: graph.Name, State: state, Start: epoch, Plan: graph}
	v.Stamps[status.JobInitializing], v.Stamps[status.JobCreated], v.Stamps[status.JobRunning] = epoch, epoch.Add(1e6), epoch.Add(2e6)
	if state.Terminal() {
		v.End = epoch.Add(30 * time.Second)
		v.Stamps[state] = v.End
	}
	for _, vertex := range graph.Vertices {
		view := &execgraph.VertexView{
			ID: vertex.ID, Name: vertex.Name, Parallelism: vertex.Parallelism, MaxParallelism: vertex.MaxParallelism,
			Status: last, SlotSharingGroup: execgraph.GroupID("default"),
		}
		for i := range vertex.Parallelism {
			a := execgraph.AttemptView{ID: ident.AttemptID{Graph: ident.GraphID{ID: ident.ID{3: 9}}, Vertex: vertex.ID, Subtask: i}, State: last}
			for step, s := range way[:n] {
				a.Stamps[s] = epoch.Add(time.Duration(step+1) * time.Second)
			}
			if n > 2 {
				a.TaskManager, a.Host = manager, "localhost:36119"
				a.Metrics = execgraph.Metrics{RecordsIn: 10, RecordsOut: 20, BytesIn: 100, BytesOut: 200, BusyMillis: 5}
				view.Start = a.Start()
			}
			if last == status.Running {
				a.Metrics.Figures = figuresOf(len(v.Vertices), i)
			}
			if last.Terminal() {
				a.Stamps[last] = epoch.Add(20 * time.Second)
				view.End = a.Stamps[last]
			}
			view.Tasks[last]++
			view.Subtasks = append(view.Subtasks, execgraph.SubtaskView{AttemptView: a})
		}
		v.Vertices = append(v.Vertices, view)
	}
	if last == status.Scheduled {
		for _, vertex := range v.Vertices {
			vertex.Status = status.Created
		}
	}
	return v
}

// figuresOf are the figures of a running subtask. Sources are held up by those
// behind them, which are busy.
func figuresOf(vertex, subtask int) *status.TaskFigures {
	f := &status.TaskFigures{
		RecordsIn: status.Count{Total: 4200, PerSecond: 50 + float64(subtask)}, RecordsOut: status.Count{Total: 4200, PerSecond: 50.516666666666666},
		Initialization: 259 * time.Millisecond, MailLatency: status.Distribution{Values: 60, Max: 4, Mean: 0.15}, OutQueued: 2, OutUse: 1.0 / 6,
	}
	if vertex == 0 {
		f.Blocked, f.BackPressured = status.Share{Total: time.Minute, MillisPerSecond: 995.9}, true
		f.Idle = status.Share{Total: time.Second, MillisPerSecond: 4.2}
	} else {
		f.HasInput, f.InputWatermark = true, status.NoWatermark
		f.Busy = status.Share{Total: 1072 * time.Millisecond, MillisPerSecond: 996}
	}
	for i, name := range [][]string{{"Source: text", "words"}, {"count"}}[vertex] {
		f.Operators = append(f.Operators, status.OperatorFigures{Name: name, DropsLate: true, Source: vertex == 0 && i == 0, RecordsOut: f.RecordsOut,
			InputWatermark: status.NoWatermark, OutputWatermark: status.NoWatermark})
	}
	return f
}

func runningView(job ident.JobID) execgraph.View {
	v := viewOf(job, status.JobRunning, 5, status.Running)
	v.Coordinators = []execgraph.CoordinatorView{{Vertex: vertexID(1), VertexName: v.Vertices[0].Name, Unassigned: 3}}
	return v
}

func waitingView(job ident.JobID) execgraph.View {
	return viewOf(job, status.JobRunning, 2, status.Scheduled)
}

func endedView(job ident.JobID, state status.Job, last status.Execution) execgraph.View {
	v := viewOf(job, state, 5, last)
	if state == status.JobFinished {
		a := &v.Vertices[0].Subtasks[0].AttemptView
		a.Accumulators = map[string]string{"my-count": "1000"}
		v.Accumulators = []execgraph.Accumulator{{Vertex: v.Vertices[0].ID, Name: "my-count", Value: "1000"}}
	}
	return v
}

// failedView is a job one of whose processes was killed while it ran.
func failedView(job ident.JobID) execgraph.View {
	v := viewOf(job, status.JobFailed, 5, status.Canceled)
	v.Stamps[status.JobFailing] = epoch.Add(19 * time.Second)
	first := v.Vertices[0]
	a := &first.Subtasks[0].AttemptView
	a.State = status.Failed
	a.Stamps[status.Failed], a.Stamps[status.Canceled] = a.Stamps[status.Canceled], time.Time{}
	a.Failure = &status.Failure{Kind: status.FailureSignal, Message: "the job's process was killed", Signal: "SIGKILL", Stderr: "last words", Chain: []string{"run words"}}
	first.Status, first.Tasks[status.Canceled], first.Tasks[status.Failed] = status.Failed, 1, 1
	lost := execgraph.FailureEntry{
		Failure: &status.Failure{Kind: status.FailureConsumer, Message: "connection reset"}, Time: epoch.Add(19 * time.Second),
		Task: "count (1/2)", Attempt: v.Vertices[1].Subtasks[0].ID, TaskManager: manager, Host: "localhost:36119",
	}
	v.Failures = []execgraph.FailureEntry{{
		Failure: a.Failure, Time: epoch.Add(19 * time.Second), Task: "Source: text -> words (1/2)", Attempt: a.ID,
		TaskManager: manager, Host: "localhost:36119", Concurrent: []execgraph.FailureEntry{lost},
	}}
	return v
}

// checkpointed gives a job checkpoints, of which one is gone, and a savepoint.
func checkpointed(v execgraph.View) execgraph.View {
	tracker := record.NewTracker(10, record.Settings{
		ExactlyOnce: true, Interval: 2 * time.Second, Timeout: 10 * time.Minute, MaxConcurrent: 1, DeleteOnCancel: true, Backend: "hashmap", AfterFinish: true,
	})
	var parts []record.Part
	for _, vertex := range v.Vertices {
		part := record.Part{Vertex: vertex.ID}
		for i := range vertex.Subtasks {
			part.Subtasks = append(part.Subtasks, i)
		}
		parts = append(parts, part)
	}
	for id := range int64(4) {
		kind, begun := snapshot.Checkpoint, epoch.Add(time.Duration(3+2*id)*time.Second)
		if id == 3 {
			kind = snapshot.Savepoint
		}
		tracker.Begin(id+1, kind, snapshot.Canonical, parts, begun)
		for _, part := range parts {
			for i := range part.Subtasks {
				tracker.Ack(id+1, part.Vertex, i, record.Figures{State: 100, Checkpointed: 50, Async: 2 * time.Millisecond}, begun.Add(20*time.Millisecond))
			}
		}
		tracker.Complete(id+1, weirfs.Location("file:/data/ckpt/"+v.Job.String()).Join("chk-"+strconv.FormatInt(id+1, 10)))
	}
	tracker.Discard(2)
	tracker.Restore(record.Restored{ID: 2, At: epoch.Add(8 * time.Second), Location: "file:/data/ckpt/chk-2"})
	v.Checkpoints = tracker.View()
	return v
}

// batchView is a job whose sources are bounded, ended well.
func batchView(job ident.JobID) execgraph.View {
	v := endedView(job, status.JobFinished, status.Finished)
	v.Plan.Batch = true
	return v
}
