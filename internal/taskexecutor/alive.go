package taskexecutor

import (
	"fmt"

	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// watchWorkers makes the manager of the heartbeats to workers. The death of a
// process is seen at once, by its exit: they are for one that is there and does
// not answer. What its tasks do does not keep a worker from answering, so only
// silence counts.
func (e *Executor) watchWorkers() {
	ping := func(w *worker, done func(error)) {
		if !w.job.expires.IsZero() && !e.loop.Now().Before(w.job.expires) {
			// The JobMaster has given it up, or is about to: the worker is not to hear that
			// it is counted on.
			e.loop.Post(func() { done(nil) })
			return
		}
		gateway.HeartbeatToWorker.Call(e.system, e.loop, w.address, ident.LeaderID{}, &pb.Empty{}, e.options.HeartbeatTimeout,
			func(_ *pb.Empty, err error) { done(err) })
	}
	e.beats = heartbeat.NewManager(e.loop, heartbeat.Options{
		Interval: e.options.HeartbeatInterval, Timeout: e.options.HeartbeatTimeout, FailureThreshold: -1, Unreachable: unanswered,
	}, ping, e.loseWorker)
}

// watchWorker begins to ask a worker whether it lives, unless it is in this very
// process.
func (e *Executor) watchWorker(w *worker, pid int32) {
	if pid != 0 {
		e.beats.Add(w)
	}
}

// loseWorker ends a worker that does not answer any more. Its tasks end with it.
func (e *Executor) loseWorker(w *worker, loss *heartbeat.Loss) {
	message := fmt.Sprintf("%s did not answer for %s and was killed", w.describe(), loss.Silence)
	if condition := w.handle.Condition(); condition != "" {
		message += "; it was " + condition
	}
	if loss.Cause != nil && !unanswered(loss.Cause) {
		message += fmt.Sprintf("; the last question failed: %v", loss.Cause)
	}
	e.kill(w, &status.Failure{Kind: status.FailureHung, Message: message})
}
