package schedule

import (
	"fmt"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// taskReport takes a TaskManager's word about an attempt.
//
// Reports may come twice, and one may overtake another: calls are answered in
// no promised order, and are repeated when an answer was lost. So a report of a
// state the attempt has passed is ignored, and one that skips states passes
// through them: a task that runs has been initialized.
func (s *Scheduler) taskReport(ev TaskReport) {
	e := s.graph.Attempt(ev.Attempt)
	if e == nil || e.State().Terminal() {
		return
	}
	if ev.Metrics != nil {
		s.graph.Measure(e, *ev.Metrics)
	}
	if ev.State.Terminal() {
		s.graph.Accumulate(e, ev.Accumulators)
	}
	switch ev.State {
	case status.Initializing, status.Running:
		s.taskProgress(e, ev.State)
	case status.Finished:
		s.taskFinished(e)
	case status.Canceled:
		s.taskCanceled(e)
	case status.Failed:
		cause := ev.Failure
		if cause == nil {
			cause = failuref(status.FailureError, "%s failed; its TaskManager named no cause", e.Vertex.Name())
		}
		s.attemptsFailed(one(e), cause, false)
	default:
		s.attemptsFailed(one(e), failuref(status.FailureError, "TaskManager reported %s, which no task reports", ev.State), true)
	}
}

func (s *Scheduler) taskProgress(e *execgraph.Execution, to status.Execution) {
	switch e.State() {
	case status.Canceling:
		s.emit(CancelTask{Execution: e}) // the one sent before may be lost
	case status.Created, status.Scheduled:
		s.outOfPlace(e, to)
	default:
		s.advance(e, to)
	}
}

// advance steps an attempt through DEPLOYING, INITIALIZING, RUNNING up to a
// state; one that is there or past it stays.
func (s *Scheduler) advance(e *execgraph.Execution, to status.Execution) {
	for e.State() < to {
		s.setTask(e, e.State()+1, "")
	}
}

// outOfPlace handles the report of a task that nobody deployed.
func (s *Scheduler) outOfPlace(e *execgraph.Execution, reported status.Execution) {
	s.attemptsFailed(one(e), failuref(status.FailureError, "received %s while in state %s", reported, e.State()), true)
}

func (s *Scheduler) taskFinished(e *execgraph.Execution) {
	switch e.State() {
	case status.Canceling:
		s.setTask(e, status.Canceled, "finished while being canceled")
	case status.Created, status.Scheduled:
		s.outOfPlace(e, status.Finished)
	default:
		s.advance(e, status.Running)
		s.setTask(e, status.Finished, "")
		if s.graph.State() == status.JobRunning {
			s.scheduleRegions()
		}
	}
}

// taskCanceled takes the report that a task was canceled. One that nobody
// canceled shows that master and TaskManager do not agree about the job, which
// is a failure of the whole.
func (s *Scheduler) taskCanceled(e *execgraph.Execution) {
	if e.State() == status.Canceling {
		s.setTask(e, status.Canceled, "")
		return
	}
	was := e.State()
	if was == status.Created || was == status.Scheduled {
		s.setTask(e, status.Canceled, "canceled by its TaskManager")
	} else {
		s.setTask(e, status.Canceling, "canceled by its TaskManager")
		s.setTask(e, status.Canceled, "")
	}
	e.Vertex.Version++
	s.jobFailed(nil, failuref(status.FailureError, "task %s was canceled by its TaskManager while in state %s", e.Vertex.Name(), was))
}

// attemptsFailed is the funnel of all failures of attempts: those that failed
// by one cause. All of them are ended before the job's fate is decided, so that
// none is taken for a victim of that decision. stop says that they may be
// running and must be stopped.
func (s *Scheduler) attemptsFailed(attempts []*execgraph.Execution, cause *status.Failure, stop bool) {
	var failed []*execgraph.Execution
	for _, e := range attempts {
		switch e.State() {
		case status.Finished, status.Canceled, status.Failed:
		case status.Canceling:
			s.setTask(e, status.Canceled, "failed while being canceled: "+cause.Error())
			s.anotherFailure(e, cause)
		default:
			s.attemptFailed(e, cause, stop)
			failed = append(failed, e)
		}
	}
	for _, e := range failed {
		s.jobFailed(e, cause)
	}
}

func (s *Scheduler) attemptFailed(e *execgraph.Execution, cause *status.Failure, stop bool) {
	from := e.State()
	e.Vertex.Version++
	if stop && e.Slot != nil {
		s.emit(CancelTask{Execution: e})
	}
	s.graph.Fail(e, cause, s.now)
	s.changed(e, from, cause.Error())
}

func one(e *execgraph.Execution) []*execgraph.Execution { return []*execgraph.Execution{e} }

// jobFailed decides what a failure means for the job: e is the attempt that
// failed, or nil for a failure of the whole.
func (s *Scheduler) jobFailed(e *execgraph.Execution, cause *status.Failure) {
	switch s.graph.State() {
	case status.JobFailing, status.JobCancelling:
		s.anotherFailure(e, cause)
		return
	case status.JobCreated, status.JobRunning, status.JobRestarting:
	default:
		invariant.Broken("job %s fails while %s", s.graph.Job.Job, s.graph.State())
	}
	// A strategy that lets the job restart will be heeded here: the failover
	// regions' attempts are then canceled, and new ones planned after the
	// back-off. None does so yet, and a job that may restart must not lose data
	// by starting over without its state.
	_, restart := s.strategy.Decide(cause, s.now)
	invariant.Check(!restart, "restart strategy %s restarts a job whose state cannot be restored", s.strategy)
	s.first = cause
	final := suppressed(cause, s.strategy)
	s.graph.RecordFailure(e, final, s.now)
	s.setJob(status.JobFailing, final.Error())
	s.cancelAttempts()
}

// anotherFailure notes a failure that came while the job ends. When a process
// dies, its peers often notice their broken connections before anybody has
// noticed the death: a cause then takes the place of what followed from it.
func (s *Scheduler) anotherFailure(e *execgraph.Execution, cause *status.Failure) {
	follows := s.first != nil && s.first.Kind == status.FailureConsumer && cause.Kind != status.FailureConsumer
	if !follows || s.graph.State() != status.JobFailing {
		s.graph.RecordConcurrent(e, cause, s.now)
		return
	}
	s.graph.ReplaceRoot(e, suppressed(cause, s.strategy), s.first, s.now)
	s.first = cause
}

func (s *Scheduler) cancelJob() {
	if s.graph.State() == status.JobCancelling {
		return
	}
	s.setJob(status.JobCancelling, "canceled by the user")
	s.cancelAttempts()
}

// cancelAttempts makes all plans void, takes back what they asked for, and then
// stops every attempt that was deployed.
func (s *Scheduler) cancelAttempts() {
	var deployed []*execgraph.Execution
	s.plans = nil
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			sub.Version++
			switch e := sub.Current; e.State() {
			case status.Created, status.Scheduled:
				s.setTask(e, status.Canceled, "")
			case status.Deploying, status.Initializing, status.Running:
				deployed = append(deployed, e)
			}
		}
	}
	for _, e := range deployed {
		s.setTask(e, status.Canceling, "")
		s.emit(CancelTask{Execution: e})
	}
}

// suspend ends the job here, and only here: another master may lead it. Its
// tasks are stopped by whoever carries this out, or by their TaskManagers when
// these see the next master.
func (s *Scheduler) suspend() {
	s.cancelAttempts()
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			if sub.Current.State() == status.Canceling {
				s.setTask(sub.Current, status.Canceled, "the job is suspended")
			}
		}
	}
	s.setJob(status.JobSuspended, "this master no longer leads the job")
}

func failuref(kind status.FailureKind, format string, args ...any) *status.Failure {
	return &status.Failure{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
