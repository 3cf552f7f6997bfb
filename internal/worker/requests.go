package worker

import (
	"errors"
	"slices"
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

// requests are those of one attempt to its coordinators. A checkpoint waits for the
// answers that were given before the coordinators' own parts of it were taken.
type requests struct {
	numbers map[ident.OperatorID]int64          // the last one given
	open    map[ident.OperatorID]map[int64]bool // that are not answered
	waiting []*waiting                          // in the order they came
}

// waiting is a checkpoint that is begun when some answers have been received.
type waiting struct {
	checkpoint int64
	given      []*pb.GivenAnswers
	begin      func()
}

// asker gives the function that carries a task's requests to its coordinators.
func (w *Worker) asker(attempt ident.AttemptID) func(ident.OperatorID, []byte, func([]byte, error)) {
	return func(op ident.OperatorID, payload []byte, then func([]byte, error)) {
		request := &pb.OperatorRequest{Attempt: attempt.String(), Operator: op.String(), Payload: payload}
		w.Loop.Post(func() {
			if t := w.tasks[attempt]; t != nil {
				then = t.requests.number(op, request, then)
			}
			w.ask(attempt, request, firstPause, then)
		})
	}
}

// number numbers a request, and gives what is to be called with its answer.
func (r *requests) number(op ident.OperatorID, request *pb.OperatorRequest, then func([]byte, error)) func([]byte, error) {
	if r.numbers == nil {
		r.numbers, r.open = map[ident.OperatorID]int64{}, map[ident.OperatorID]map[int64]bool{}
	}
	if r.open[op] == nil {
		r.open[op] = map[int64]bool{}
	}
	r.numbers[op]++
	n := r.numbers[op]
	r.open[op][n] = true
	request.Number, request.Settled = n, n
	for older := range r.open[op] { // order: the least one counts
		request.Settled = min(request.Settled, older)
	}
	return func(payload []byte, err error) {
		then(payload, err)
		delete(r.open[op], n)
		r.beginWaiting()
	}
}

// await begins a checkpoint once these answers have been received.
func (r *requests) await(checkpoint int64, given []*pb.GivenAnswers, begin func()) {
	r.waiting = append(r.waiting, &waiting{checkpoint, given, begin})
	r.beginWaiting()
}

// beginWaiting begins the checkpoints that wait for nothing any more, in their order.
func (r *requests) beginWaiting() {
	for len(r.waiting) > 0 && !r.owed(r.waiting[0].given) {
		next := r.waiting[0]
		r.waiting = r.waiting[1:]
		next.begin()
	}
}

// owed reports whether one of the answers is still to come.
func (r *requests) owed(given []*pb.GivenAnswers) bool {
	for _, g := range given {
		var op ident.OperatorID
		if op.UnmarshalText([]byte(g.Operator)) != nil {
			continue
		}
		for _, n := range g.Numbers {
			if r.open[op][n] {
				return true
			}
		}
	}
	return false
}

// giveUp forgets a checkpoint that waits.
func (r *requests) giveUp(checkpoint int64) {
	r.waiting = slices.DeleteFunc(r.waiting, func(w *waiting) bool { return w.checkpoint == checkpoint })
	r.beginWaiting()
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
