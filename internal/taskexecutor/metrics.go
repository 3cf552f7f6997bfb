package taskexecutor

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// workerTaskMetrics keeps what a worker tells of itself and its tasks, and passes
// on what the JobMasters want.
func (e *Executor) workerTaskMetrics(req *pb.ReportTaskMetricsRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	if i := slices.IndexFunc(e.workers, func(w *worker) bool { return w.token == req.Token }); i >= 0 && req.Process != nil {
		e.workers[i].process = gateway.ProcessFiguresFromProto(req.Process)
	}
	byJob := map[*job][]*pb.TaskMetrics{}
	for _, m := range req.Metrics {
		attempt, err := ident.ParseAttempt(m.Attempt)
		if err != nil || e.tasks[attempt] == nil {
			continue
		}
		t := e.tasks[attempt]
		t.measured(m)
		byJob[t.job] = append(byJob[t.job], m)
	}
	for _, j := range e.jobs {
		if metrics := byJob[j]; len(metrics) > 0 && j.state == connected {
			gateway.ReportTaskMetrics.Send(e.system, e.loop, j.address, j.term, &pb.ReportTaskMetricsRequest{Metrics: metrics})
		}
	}
}

// measured keeps the figures of a report that has some.
func (t *task) measured(m *pb.TaskMetrics) {
	if m.GetFigures() != nil {
		t.figures = gateway.TaskFiguresFromProto(m.Figures)
	}
}

// process gives the figures of the TaskManager: this process and its workers,
// counted as one; nil: nobody measures.
func (e *Executor) process() *status.ProcessFigures {
	if e.options.Process == nil {
		return nil
	}
	f := *e.options.Process()
	for _, w := range e.workers {
		if w.process != nil {
			f = f.Add(*w.process)
		}
	}
	f.ManagedTotal = e.options.Total.Managed
	return &f
}

// Figures are what the Executor knows of itself and its tasks in numbers. What
// can be reached through it is never changed.
type Figures struct {
	Process *status.ProcessFigures // nil: nobody measures
	Tasks   []TaskFigures          // those that have reported, in the order of their jobs
}

// TaskFigures are a task's figures and whose they are.
type TaskFigures struct {
	Job         ident.JobID
	JobName     string
	Vertex      string // its name
	Attempt     ident.AttemptID
	TaskFigures *status.TaskFigures
}

// Figures gives the newest ones.
func (e *Executor) Figures() Figures {
	f := Figures{Process: e.process()}
	for _, j := range e.jobs {
		for _, t := range j.tasks {
			if t.figures != nil && !t.state.Terminal() {
				f.Tasks = append(f.Tasks, TaskFigures{j.id, t.deployment.Job.GetName(), t.deployment.VertexName, t.attempt, t.figures})
			}
		}
	}
	return f
}
