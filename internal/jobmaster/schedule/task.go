package schedule

import (
	"github.com/weirstream/weir/internal/execgraph"
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
		s.taskFinished(e, ev.Sizes)
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

func (s *Scheduler) taskFinished(e *execgraph.Execution, sizes [][]int64) {
	switch e.State() {
	case status.Canceling:
		s.setTask(e, status.Canceled, "finished while being canceled")
		if e.Vertex.Parent.Blocking() {
			s.emit(ReleaseOutputs{Executions: one(e)})
		}
	case status.Created, status.Scheduled:
		s.outOfPlace(e, status.Finished)
	default:
		if err := s.graph.Produced(e, sizes); err != nil {
			s.attemptsFailed(one(e), failuref(status.FailureError, "%v", err), true)
			return
		}
		s.advance(e, status.Running)
		s.setTask(e, status.Finished, "")
		s.releaseRead(e.Vertex.Region)
		if s.active() {
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
	s.jobFailed(failuref(status.FailureError, "task %s was canceled by its TaskManager while in state %s", e.Vertex.Name(), was))
}

func (s *Scheduler) cancelJob() {
	if s.graph.State() == status.JobCancelling {
		return
	}
	s.setJob(status.JobCancelling, "canceled by the user")
	s.dropRecoveries()
	s.cancelAttempts()
}

// cancelAttempts makes all plans void and ends every attempt.
func (s *Scheduler) cancelAttempts() {
	clear(s.plans)
	var all []*execgraph.Vertex
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			sub.Version++
			all = append(all, sub)
		}
	}
	s.cancelTasks(all)
}

// cancelTasks ends the attempts of subtasks: first it takes back what was asked
// for them, then it stops those that were deployed.
func (s *Scheduler) cancelTasks(tasks []*execgraph.Vertex) {
	var deployed []*execgraph.Execution
	for _, v := range tasks {
		switch e := v.Current; e.State() {
		case status.Created, status.Scheduled:
			s.setTask(e, status.Canceled, "")
		case status.Deploying, status.Initializing, status.Running:
			deployed = append(deployed, e)
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
	s.dropRecoveries()
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
