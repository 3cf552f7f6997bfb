package worker

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// reports are the states of one task that the TaskExecutor has not acknowledged,
// in order. Only the first is under way: a connection that breaks loses it, and
// then it is sent again. A TaskExecutor that waits for the end of a task would
// wait for ever otherwise.
type reports struct {
	waiting []*pb.UpdateTaskExecutionStateRequest
	resent  int // of the first
}

// The pauses before a report is sent again.
const shortestPause, longestPause = 10 * time.Millisecond, time.Second

// send reports a state after those before it.
func (w *Worker) send(r *reports, update *pb.UpdateTaskExecutionStateRequest) {
	if r.waiting = append(r.waiting, update); len(r.waiting) == 1 {
		w.pump(r)
	}
}

// pump sends the first report. That the TaskExecutor gets one twice does no harm:
// a task in that state, or past it, stays as it is.
func (w *Worker) pump(r *reports) {
	gateway.WorkerTaskState.Call(w.System, w.Loop, w.TaskExecutor, ident.LeaderID{}, r.waiting[0], 0, func(_ *pb.Empty, err error) {
		if (errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrTimeout)) && !w.closing {
			pause := min(longestPause, shortestPause<<min(r.resent, 10))
			r.resent++
			w.Loop.After(pause, func() { w.pump(r) })
			return
		}
		if err != nil && !w.closing {
			w.Logger.Warn("a task's state was not taken", "job", w.Job, "attempt", r.waiting[0].Attempt, "state", r.waiting[0].State, "error", err)
		}
		r.resent = 0
		if r.waiting = r.waiting[1:]; len(r.waiting) > 0 {
			w.pump(r)
		}
	})
}
