package taskexecutor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/rpc/registration"
	"github.com/weirstream/weir/internal/status"
)

// task is one attempt that this TaskManager has taken.
//
//	DEPLOYING ──worker──▶ INITIALIZING ──▶ RUNNING ──▶ FINISHED, CANCELED, FAILED
//	    └───────── worker died, refused or never came ────────▶ CANCELED, FAILED
//
// Invariant: state never leaves a terminal state; updates are the states the
// JobMaster has not acknowledged, in order, and only the first is under way.
type task struct {
	attempt    ident.AttemptID
	job        *job
	deployment *pb.TaskDeployment
	worker     *worker
	state      status.Execution
	handed     bool // RunTask was sent to the worker
	// canceled: the JobMaster asked for the end. aborted: this side did, and the
	// task ends FAILED with that failure whatever its worker says.
	canceled bool
	aborted  *status.Failure
	overdue  actor.Timer         // of the end that was asked for
	stopping actor.Timer         // of the next time it is asked for
	figures  *status.TaskFigures // reported last; nil: none yet

	updates []*pb.UpdateTaskExecutionStateRequest
	sending bool
	resent  int
	retry   actor.Timer
}

func (t *task) stopTimers() {
	stopTimer(&t.overdue)
	stopTimer(&t.stopping)
	stopTimer(&t.retry)
}

// submitTask takes a task through the three gates: the JobMaster is connected,
// it is the one that is meant, and it holds the slot.
func (e *Executor) submitTask(req *pb.SubmitTaskRequest, reply func(*pb.Empty, error)) {
	d := req.Task
	var id ident.JobID
	var allocation ident.AllocationID
	attempt, err := ident.ParseAttempt(d.GetAttempt())
	if err := errorOf(err, id.UnmarshalText([]byte(d.GetJobId())), allocation.UnmarshalText([]byte(d.GetAllocationId()))); err != nil {
		reply(nil, rpc.Refuse("submit task: %v", err))
		return
	}
	j := e.jobOf(id)
	switch {
	case j == nil || !e.inTime(j):
		reply(nil, rpc.Refuse("submit %s: TaskManager %s has no connection to the JobMaster of job %s", attempt, e.options.ResourceID, id))
		return
	case j.term.String() != req.JobMasterId:
		reply(nil, rpc.Refuse("submit %s: from JobMaster %s, this TaskManager is connected to %s", attempt, req.JobMasterId, j.term))
		return
	case e.tasks[attempt] != nil || j.hasEnded(attempt):
		reply(nil, rpc.Refuse("submit %s: the attempt was submitted before", attempt))
		return
	case d.Job == nil:
		reply(nil, rpc.Refuse("submit %s: the deployment does not say what the job's program is", attempt))
		return
	case !e.table.Activate(id, allocation) || !e.table.AddTask(id, allocation, attempt):
		reply(nil, rpc.Refuse("submit %s: job %s does not hold a slot under allocation %s", attempt, id, allocation))
		return
	}
	e.armExpiry()
	t := &task{attempt: attempt, job: j, deployment: d, state: status.Deploying}
	j.tasks = append(j.tasks, t)
	e.tasks[attempt] = t
	reply(&pb.Empty{}, nil)
	if j.worker == nil {
		e.launch(j, d.Job)
	}
	t.worker = j.worker
	e.run(t)
}

// run hands the task to its worker, if that is ready; else it waits there.
func (e *Executor) run(t *task) {
	w := t.worker
	if w.state != workerReady || t.handed || t.state.Terminal() || !e.affords(w) {
		return
	}
	t.handed = true
	gateway.RunTask.Call(e.system, e.loop, w.address, ident.LeaderID{}, t.deployment, 0, func(_ *pb.Empty, err error) {
		switch {
		case err == nil || t.state.Terminal():
		case errors.Is(err, rpc.ErrTimeout) && e.beats.Has(w):
			// It may be slow; its heartbeats tell whether it is alive.
		case unanswered(err):
			e.doubt(w, fmt.Sprintf("the job's process did not take a task: %v", err))
		default:
			e.end(t, status.Failed, status.FailureOf(err), nil)
		}
	})
}

func (e *Executor) cancelTask(req *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
	attempt, err := ident.ParseAttempt(req.Attempt)
	if err != nil {
		reply(nil, rpc.Refuse("cancel task: %v", err))
		return
	}
	t := e.tasks[attempt]
	switch {
	case t == nil:
		reply(nil, rpc.Refuse("cancel %s: TaskManager %s has no such task", attempt, e.options.ResourceID))
		return
	case t.job.term.String() != req.JobMasterId:
		reply(nil, rpc.Refuse("cancel %s: from JobMaster %s, this TaskManager is connected to %s", attempt, req.JobMasterId, t.job.term))
		return
	}
	reply(&pb.Empty{}, nil)
	t.canceled = true
	e.stop(t)
}

// abort ends a task by this side's own decision: it becomes FAILED, unless the
// JobMaster has canceled it.
func (e *Executor) abort(t *task, why *status.Failure) {
	if t.state.Terminal() {
		return
	}
	if t.aborted == nil {
		t.aborted = why
	}
	e.stop(t)
}

// stop asks the worker to end a task, and does not wait for it for ever.
func (e *Executor) stop(t *task) {
	if t.state.Terminal() {
		return
	}
	if !t.handed {
		e.end(t, status.Canceled, nil, nil)
		return
	}
	if t.overdue != nil {
		return
	}
	e.askToStop(t, 0)
	t.overdue = e.loop.After(e.options.CancellationTimeout, func() {
		e.log.Error("task does not end, its process is killed", "job", t.job.id, "attempt", t.attempt)
		e.kill(t.worker, &status.Failure{Kind: status.FailureError, Message: fmt.Sprintf(
			"the job's process was killed because task %s (%s) had not ended %s after it was canceled", t.deployment.VertexName, t.attempt, e.options.CancellationTimeout)})
	})
}

// askToStop tells a task's worker to end it, again when the connection has broken.
func (e *Executor) askToStop(t *task, tried int) {
	request := &pb.CancelTaskRequest{JobMasterId: t.job.term.String(), Attempt: t.attempt.String()}
	gateway.StopTask.Call(e.system, e.loop, t.worker.address, ident.LeaderID{}, request, 0, func(_ *pb.Empty, err error) {
		if err != nil && unanswered(err) && !t.state.Terminal() {
			t.stopping = e.loop.After(registration.Growing(tried), func() { e.askToStop(t, tried+1) })
		}
	})
}

// workerTaskState takes a state from a worker. News of a task that has ended or
// was never here are late and mean nothing.
func (e *Executor) workerTaskState(req *pb.UpdateTaskExecutionStateRequest, reply func(*pb.Empty, error)) {
	state, ok := status.ParseExecution(req.State)
	attempt, err := ident.ParseAttempt(req.Attempt)
	if !ok || err != nil || !state.Terminal() && state != status.Initializing && state != status.Running {
		reply(nil, rpc.Refuse("task state %q of attempt %q: want INITIALIZING, RUNNING, FINISHED, CANCELED or FAILED of an attempt", req.State, req.Attempt))
		return
	}
	reply(&pb.Empty{}, nil)
	t := e.tasks[attempt]
	switch {
	case t == nil || t.state.Terminal():
	case state.Terminal():
		e.end(t, state, gateway.FailureFromProto(req.Failure), req)
	case t.state.CanBecome(state):
		t.state = state
		t.measured(req.Metrics)
		e.report(t, req)
	}
}

// end brings a task to its terminal state. with is the worker's message, if it
// came from there.
func (e *Executor) end(t *task, state status.Execution, failure *status.Failure, with *pb.UpdateTaskExecutionStateRequest) {
	switch {
	case state == status.Canceled && t.aborted != nil && !t.canceled:
		state, failure = status.Failed, t.aborted
	case state == status.Canceled && !t.canceled:
		state, failure = status.Failed, &status.Failure{Kind: status.FailureError, Message: "the task was canceled without being asked to"}
	}
	if with == nil {
		with = &pb.UpdateTaskExecutionStateRequest{Attempt: t.attempt.String()}
	}
	with.State, with.Failure = state.String(), nil
	if state == status.Failed {
		if failure == nil {
			failure = &status.Failure{Kind: status.FailureError, Message: "the task failed without saying why"}
		}
		with.Failure = gateway.FailureToProto(failure)
	}
	t.state = state
	t.stopTimers()
	if state == status.Finished {
		e.keep(t)
	}
	e.log.Info("task ended", "job", t.job.id, "attempt", t.attempt, "to", state, "reason", with.Failure.GetMessage())
	e.report(t, with)
	e.carryOut(e.table.RemoveTask(t.attempt))
	e.review(t.job)
}

// report passes a state on to the JobMaster, after those before it.
func (e *Executor) report(t *task, update *pb.UpdateTaskExecutionStateRequest) {
	t.updates = append(t.updates, update)
	e.pump(t)
}

// pump sends the oldest update that the JobMaster has not acknowledged.
func (e *Executor) pump(t *task) {
	j := t.job
	if t.sending || len(t.updates) == 0 || j.state != connected || e.tasks[t.attempt] != t {
		return
	}
	t.sending = true
	stopTimer(&t.retry)
	term, update := j.term, t.updates[0]
	gateway.UpdateTaskExecutionState.Call(e.system, e.loop, j.address, term, update, 0, func(answer *pb.UpdateTaskExecutionStateResponse, err error) {
		t.sending = false
		if len(t.updates) == 0 || t.updates[0] != update {
			e.pump(t) // it was meant for an older JobMaster
			return
		}
		if err != nil && unanswered(err) && j.term == term {
			wait := registration.Growing(t.resent)
			t.resent++
			t.retry = e.loop.After(wait, func() { e.pump(t) })
			return
		}
		if err != nil {
			e.log.Warn("task state was not taken", "job", j.id, "attempt", t.attempt, "state", update.State, "error", err)
		}
		t.resent = 0
		t.updates = t.updates[1:]
		if err == nil && !answer.Known || err != nil && gone(err) {
			t.updates = nil
			e.abort(t, &status.Failure{Kind: status.FailureError, Message: "the JobMaster does not know the attempt"})
		}
		e.advance(t)
	})
}

// advance goes on after an update was acknowledged.
func (e *Executor) advance(t *task) {
	if len(t.updates) > 0 {
		e.pump(t)
		return
	}
	if t.state.Terminal() {
		e.settle(t)
	}
}

// settle forgets a task whose end the JobMaster knows, or will never ask for.
func (e *Executor) settle(t *task) {
	j := t.job
	t.stopTimers()
	delete(e.tasks, t.attempt)
	j.tasks = slices.DeleteFunc(j.tasks, func(other *task) bool { return other == t })
	j.noteEnd(t.attempt)
	e.review(j)
}

// workerRequest passes an operator's request on to its coordinator.
func (e *Executor) workerRequest(req *pb.OperatorRequest, reply func(*pb.OperatorResponse, error)) {
	attempt, err := ident.ParseAttempt(req.Attempt)
	t := e.tasks[attempt]
	switch {
	case err != nil || t == nil || t.state.Terminal():
		reply(nil, rpc.Refuse("operator request: TaskManager %s has no task %q", e.options.ResourceID, req.Attempt))
	case t.job.state != connected:
		reply(nil, fmt.Errorf("operator request of %s: no connection to the JobMaster: %w", attempt, rpc.ErrUnreachable))
	default:
		gateway.RequestOperator.Call(e.system, e.loop, t.job.address, t.job.term, req, 0, reply)
	}
}
