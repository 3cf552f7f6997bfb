package worker

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// The pauses before a request to a coordinator is made again.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// asker gives the function that carries a task's requests to its coordinators.
func (w *Worker) asker(attempt ident.AttemptID) func(ident.OperatorID, []byte, func([]byte, error)) {
	return func(op ident.OperatorID, payload []byte, then func([]byte, error)) {
		request := &pb.OperatorRequest{Attempt: attempt.String(), Operator: op.String(), Payload: payload}
		w.Loop.Post(func() { w.ask(attempt, request, firstPause, then) })
	}
}

// ask makes a request. One that nobody answered is made again as long as its task
// is there: the JobMaster may be out of reach for a while, and when it counts as
// lost the TaskExecutor ends the task.
func (w *Worker) ask(attempt ident.AttemptID, request *pb.OperatorRequest, pause time.Duration, then func([]byte, error)) {
	gateway.WorkerRequest.Call(w.System, w.Loop, w.TaskExecutor, ident.LeaderID{}, request, 0, func(r *pb.OperatorResponse, err error) {
		if !unanswered(err) || w.tasks[attempt] == nil {
			then(r.GetPayload(), err)
			return
		}
		w.Logger.Info("a request to a coordinator was not answered", "attempt", attempt, "error", err, "again", pause)
		w.Loop.After(pause, func() {
			if w.tasks[attempt] == nil {
				then(nil, err)
				return
			}
			w.ask(attempt, request, min(2*pause, lastPause), then)
		})
	})
}

// unanswered reports whether a call may succeed when it is made again.
func unanswered(err error) bool {
	return errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrDisconnected)
}
