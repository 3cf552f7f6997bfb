package worker

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/task"
)

// metricsInterval is how often the figures of running tasks are reported.
const metricsInterval = time.Second

// reportMetrics sends the figures of the running tasks and of the process, again
// and again.
func (w *Worker) reportMetrics() {
	if w.closing {
		return
	}
	w.Loop.After(metricsInterval, w.reportMetrics)
	process := w.process()
	if len(w.tasks) == 0 && process == nil {
		return
	}
	now := w.Loop.Now()
	request := &pb.ReportTaskMetricsRequest{Token: w.Token, Process: gateway.ProcessFiguresToProto(process)}
	for attempt, r := range w.tasks { // order: the receiver files them by attempt
		m := metricsOf(attempt, r.Task)
		m.Figures = gateway.TaskFiguresToProto(r.meter.Read(now))
		request.Metrics = append(request.Metrics, m)
	}
	gateway.WorkerTaskMetrics.Send(w.System, w.Loop, w.TaskExecutor, ident.LeaderID{}, request)
}

// process gives the figures of this process and its network buffers; nil: it is
// not the worker's alone.
func (w *Worker) process() *status.ProcessFigures {
	if w.Process == nil {
		return nil
	}
	f := *w.Process()
	_, reserved, taken := w.shuffle.Use()
	f.BuffersReserved, f.BuffersTaken, f.BufferSize = int64(reserved), int64(taken), int64(w.BufferSize)
	for _, r := range w.tasks { // order: a sum
		f.ManagedUsed += r.Managed()
	}
	return &f
}

func metricsOf(attempt ident.AttemptID, t *task.Task) *pb.TaskMetrics {
	m := t.Metrics()
	return &pb.TaskMetrics{
		Attempt: attempt.String(), RecordsIn: m.RecordsIn, RecordsOut: m.RecordsOut, BytesIn: m.BytesIn, BytesOut: m.BytesOut,
		BusyMillis: m.Busy.Milliseconds(), IdleMillis: m.Idle.Milliseconds(), BackpressuredMillis: m.Blocked.Milliseconds(),
	}
}
