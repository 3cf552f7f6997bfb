package taskexecutor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

type connectionState uint8

const (
	connecting connectionState = iota
	connected
	closed // the JobMaster has gone; the job only winds down
)

// job is one job this TaskManager serves, and the connection to its JobMaster.
//
// Invariant: term and address are those of the JobMaster the ResourceManager
// named last; what belongs to an older epoch of the connection has no effect.
type job struct {
	id      ident.JobID
	term    ident.LeaderID
	address rpc.Address
	state   connectionState
	epoch   int
	attempt int
	retry   actor.Timer
	silence actor.Timer // runs out when no heartbeat comes
	expires time.Time   // when silence runs out
	unwatch func()

	offers   int  // made so far
	offerDue bool // one is about to be made
	// unlisted are the active slots that were not in the JobMaster's last list,
	// with the time since when.
	unlisted map[ident.AllocationID]time.Time

	tasks  []*task // until the JobMaster knows how they ended
	worker *worker // takes new tasks; nil: none runs
	// outputs are what tasks that have finished leave for others to read.
	outputs []output
	// ended is, of each subtask, the newest attempt whose end the JobMaster knows:
	// neither it nor an older one starts again. The key is attempt 0 of the subtask.
	ended map[ident.AttemptID]int
}

// hasEnded reports whether an attempt may not start any more.
func (j *job) hasEnded(a ident.AttemptID) bool {
	newest, ok := j.ended[firstAttempt(a)]
	return ok && a.Attempt <= newest
}

// noteEnd keeps that the JobMaster knows the end of an attempt.
func (j *job) noteEnd(a ident.AttemptID) {
	if j.ended == nil {
		j.ended = map[ident.AttemptID]int{}
	}
	j.ended[firstAttempt(a)] = max(a.Attempt, j.ended[firstAttempt(a)])
}

func firstAttempt(a ident.AttemptID) ident.AttemptID {
	a.Attempt = 0
	return a
}

func (e *Executor) jobOf(id ident.JobID) *job {
	i := slices.IndexFunc(e.jobs, func(j *job) bool { return j.id == id })
	if i < 0 {
		return nil
	}
	return e.jobs[i]
}

// follow turns to the JobMaster that the ResourceManager has named. Tasks of an
// older one end.
func (e *Executor) follow(j *job, term ident.LeaderID, address rpc.Address) {
	if !j.term.IsZero() && j.term != term {
		e.orphan(j, "the job has another JobMaster")
		for _, t := range slices.Clone(j.tasks) {
			t.updates = nil
			if t.state.Terminal() {
				e.settle(t)
			}
		}
	}
	j.term, j.address = term, address
	e.reconnect(j)
}

// disconnect ends the connection to the JobMaster.
func (j *job) disconnect(next connectionState) {
	j.epoch++
	j.state = next
	stopTimer(&j.retry)
	stopTimer(&j.silence)
	if j.unwatch != nil {
		j.unwatch()
		j.unwatch = nil
	}
}

// reconnect makes the connection to the JobMaster anew. If there was one, the
// JobMaster is not waited for as long as for one that is silent.
func (e *Executor) reconnect(j *job) {
	had := j.silence != nil
	j.disconnect(connecting)
	if had {
		e.extend(j, max(0, min(j.expires.Sub(e.loop.Now()), 2*e.options.HeartbeatInterval)))
	}
	j.attempt = 0
	e.registerAtJobMaster(j)
}

func (e *Executor) registerAtJobMaster(j *job) {
	epoch := j.epoch
	request := &pb.RegisterTaskManagerRequest{JobId: j.id.String(), ResourceId: string(e.options.ResourceID), RpcAddress: e.system.Self(),
		DataAddresses: e.options.DataAddresses, Host: e.options.Host}
	gateway.RegisterTaskManager.Call(e.system, e.loop, j.address, j.term, request, e.options.Registration.Timeout(j.attempt), func(answer *pb.RegisterTaskManagerResponse, err error) {
		switch {
		case j.epoch != epoch || e.stopped != nil:
		case errors.Is(err, rpc.ErrUnknownEndpoint):
			// Its process answers and does not have it: it was started anew, or
			// the job has ended there.
			e.log.Warn("JobMaster is gone", "job", j.id, "error", err)
			e.windDown(j, "the JobMaster does not exist any more")
		case err != nil:
			wait := e.options.Registration.Pause(j.attempt, err)
			j.attempt++
			if wait >= time.Second {
				e.log.Warn("no connection to the JobMaster yet", "job", j.id, "error", err, "again", wait)
			}
			j.retry = e.loop.After(wait, func() { e.registerAtJobMaster(j) })
		case answer.Rejected != "":
			e.log.Warn("JobMaster refused this TaskManager", "job", j.id, "reason", answer.Rejected)
			e.windDown(j, "the JobMaster refused this TaskManager: "+answer.Rejected)
		default:
			e.connectedTo(j)
		}
	})
}

func (e *Executor) connectedTo(j *job) {
	j.state = connected
	epoch := j.epoch
	e.extend(j, e.options.HeartbeatTimeout)
	j.unwatch = e.system.Watch(e.loop, j.address.Process, func(error) {
		if j.epoch == epoch {
			e.reconnect(j)
		}
	})
	e.log.Info("connected to the JobMaster", "job", j.id, "term", j.term)
	if j.worker != nil {
		e.beats.PingNow(j.worker) // it may not have been asked for long
	}
	e.offer(j, true)
	for _, t := range slices.Clone(j.tasks) {
		e.pump(t)
	}
}

// retryAt tries at once to reach the JobMasters of a process that answers
// again, rather than when their next attempt is due.
func (e *Executor) retryAt(process string) {
	for _, j := range slices.Clone(e.jobs) {
		if j.state == connecting && j.retry != nil && j.address.Process == process {
			stopTimer(&j.retry)
			j.epoch++ // an attempt may be under way
			j.attempt = 0
			e.registerAtJobMaster(j)
		}
	}
}

// extend starts the JobMaster's time of silence anew.
func (e *Executor) extend(j *job, d time.Duration) {
	stopTimer(&j.silence)
	j.expires = e.loop.Now().Add(d)
	j.silence = e.loop.After(d, func() { e.loseJobMaster(j) })
}

// inTime reports whether a job's JobMaster is connected and was heard of in time. If this
// process has stood still for too long, the JobMaster has given it up, and what waits here
// is of before: the JobMaster is lost, as if the turn of the timer had come first.
func (e *Executor) inTime(j *job) bool {
	if j.state != connected || e.loop.Now().Before(j.expires) {
		return j.state == connected
	}
	e.loseJobMaster(j)
	return false
}

// loseJobMaster ends the tasks; the slots wait a while for the JobMaster to
// come back.
func (e *Executor) loseJobMaster(j *job) {
	cause := fmt.Sprintf("no heartbeat for %s", e.options.HeartbeatTimeout)
	if j.state != connected {
		cause = "it cannot be reached"
	}
	e.log.Warn("JobMaster lost", "job", j.id, "cause", cause)
	e.orphan(j, "the JobMaster was lost: "+cause)
	e.review(j)
	if e.jobOf(j.id) == j {
		e.reconnect(j)
	}
}

// orphan takes the job's slots back from its JobMaster and ends its tasks.
func (e *Executor) orphan(j *job, cause string) {
	e.dropOutputs(j, every)
	j.disconnect(connecting)
	e.table.Deactivate(j.id, e.loop.Now())
	e.armExpiry()
	for _, t := range slices.Clone(j.tasks) {
		e.abort(t, &status.Failure{Kind: status.FailureLost, Message: cause})
	}
}

// windDown ends the connection for good and gives all slots of the job back.
func (e *Executor) windDown(j *job, cause string) {
	j.disconnect(closed)
	j.outputs = nil // the worker ends
	for _, s := range e.table.OfJob(j.id) {
		e.carryOut(e.table.Free(s.Allocation, cause))
	}
	e.review(j)
}

func (e *Executor) disconnectJobManager(req *pb.DisconnectJobManagerRequest, reply func(*pb.Empty, error)) {
	if j := e.jobBy(req.JobId, req.JobMasterId); j != nil {
		e.windDown(j, "the JobMaster disconnected: "+req.Cause)
	}
	reply(&pb.Empty{}, nil)
}

// jobBy finds a job by the texts of a message, if that JobMaster is its own.
func (e *Executor) jobBy(id, term string) *job {
	i := slices.IndexFunc(e.jobs, func(j *job) bool { return j.id.String() == id && j.term.String() == term })
	if i < 0 {
		return nil
	}
	return e.jobs[i]
}

// heartbeatFromJobMaster compares what the JobMaster holds with what is here.
func (e *Executor) heartbeatFromJobMaster(req *pb.HeartbeatFromJobMasterRequest, reply func(*pb.JobHeartbeat, error)) {
	j := e.jobBy(req.JobId, req.JobMasterId)
	if j == nil || !e.inTime(j) {
		reply(nil, rpc.Refuse("TaskManager %s is not connected to JobMaster %s of job %s", e.options.ResourceID, req.JobMasterId, req.JobId))
		return
	}
	e.extend(j, e.options.HeartbeatTimeout)
	answer := &pb.JobHeartbeat{}
	for _, t := range j.tasks {
		answer.Attempts = append(answer.Attempts, t.attempt.String())
	}
	for _, o := range j.outputs {
		answer.Outputs = append(answer.Outputs, o.attempt.String())
	}
	reply(answer, nil)
	e.reconcile(j, req.Allocations)
}

// reconcile fails slots that only the JobMaster believes in, and frees those
// that only this side does. The latter are given until a later heartbeat, since
// the list may have been made before the slot was taken, and half an interval at
// least: heartbeats that were made together come together, such as the first one
// and one after a broken connection.
func (e *Executor) reconcile(j *job, listed []string) {
	now, unlisted := e.loop.Now(), map[ident.AllocationID]time.Time{}
	here := map[string]bool{}
	var gone []ident.AllocationID
	for _, s := range e.table.OfJob(j.id) {
		text := s.Allocation.String()
		if s.State != slottable.Releasing {
			here[text] = true
		}
		if s.State == slottable.Active && !slices.Contains(listed, text) {
			since, before := j.unlisted[s.Allocation]
			if !before {
				since = now
			} else if now.Sub(since) >= e.options.HeartbeatInterval/2 {
				gone = append(gone, s.Allocation)
			}
			unlisted[s.Allocation] = since
		}
	}
	j.unlisted = unlisted
	for _, a := range listed {
		if !here[a] {
			e.failSlot(j, a, "the TaskManager does not hold the slot")
		}
	}
	for _, a := range gone {
		e.carryOut(e.table.Free(a, "the JobMaster does not hold the slot"))
	}
}

// review ends what a job without slots, tasks and outputs does not need: first its
// worker, then, once its JobMaster knows everything, the job.
func (e *Executor) review(j *job) {
	if e.jobOf(j.id) != j || len(e.table.OfJob(j.id)) > 0 || len(j.outputs) > 0 {
		return
	}
	if slices.ContainsFunc(j.tasks, func(t *task) bool { return !t.state.Terminal() }) {
		return
	}
	if j.worker != nil {
		e.shutDown(j.worker)
	}
	if len(j.tasks) == 0 || j.state != connected {
		e.forget(j)
	}
}

// forget drops a job with all that is still known of its tasks.
func (e *Executor) forget(j *job) {
	j.disconnect(closed)
	for _, t := range j.tasks {
		t.stopTimers()
		delete(e.tasks, t.attempt)
	}
	j.tasks = nil
	e.jobs = slices.DeleteFunc(e.jobs, func(other *job) bool { return other == j })
	e.log.Info("job left this TaskManager", "job", j.id)
}

// gone reports whether an error says that the JobMaster does not exist in this
// term any more, so that sending again is of no use.
func gone(err error) bool {
	return errors.Is(err, rpc.ErrFenced) || errors.Is(err, rpc.ErrUnknownEndpoint)
}
