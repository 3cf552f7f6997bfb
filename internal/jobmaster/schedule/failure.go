package schedule

import (
	"fmt"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// The texts that Flink puts around the cause of a job's end.
const (
	notRecoverable = "The failure is not recoverable"
	suppressed     = "Recovery is suppressed by "
)

// fatal is the decision about a failure that says itself that it will come again.
var fatal = execgraph.Decision{Why: "the failure is marked as one that a restart does not cure"}

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
			s.anotherFailure(s.entryOf(e), e, cause)
		default:
			s.attemptFailed(e, cause, stop)
			failed = append(failed, e)
		}
	}
	if len(failed) > 0 {
		s.failed(failed, cause)
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

// jobFailed is the failure of the whole.
func (s *Scheduler) jobFailed(cause *status.Failure) { s.failed(nil, cause) }

// active reports whether a failure is still to be decided about: the job has
// not begun to end.
func (s *Scheduler) active() bool {
	switch s.graph.State() {
	case status.JobRunning, status.JobRestarting:
		return true
	case status.JobCreated:
		return len(s.waiting) > 0
	}
	return false
}

// failed decides what a failure means for the job. It is that of these
// attempts, which have ended by it, or of the whole, when there are none.
func (s *Scheduler) failed(attempts []*execgraph.Execution, cause *status.Failure) {
	switch state := s.graph.State(); state {
	case status.JobFailing, status.JobCancelling:
		s.more(s.final, attempts, cause)
		return
	case status.JobCreated:
		if len(s.waiting) == 0 {
			s.giveUp(attempts, cause, notRecoverable, execgraph.Decision{Why: "it failed before it was started"})
			return
		}
	case status.JobRunning, status.JobRestarting:
	default:
		invariant.Broken("job %s fails while %s", s.graph.Job.Job, state)
	}
	if cause.Fatal {
		s.giveUp(attempts, cause, notRecoverable, fatal)
		return
	}
	entry := s.sameDeath(attempts, cause)
	if entry != 0 {
		s.more(entry, attempts, cause)
	} else if s.backoff.Failed(s.now) {
		if !s.backoff.MayRestart() {
			s.giveUp(attempts, cause, suppressed+s.backoff.String(), execgraph.Decision{Strategy: s.backoff.String(), Why: s.backoff.Refusal()})
			return
		}
	} else {
		entry = s.newest
		s.more(entry, attempts, cause)
	}
	tasks := s.toRestart(attempts, cause)
	delay := s.backoff.Delay(s.now)
	if entry == 0 {
		entry = s.record(attempts, cause)
		for _, f := range attempts[min(1, len(attempts)):] {
			s.graph.RecordConcurrent(entry, f, cause, s.now)
		}
		s.graph.Decide(entry, execgraph.Decision{
			Restarted: true, Delay: delay, Tasks: len(tasks), Strategy: s.backoff.String(), Attempt: s.graph.CountRestart(len(tasks) == s.begun()),
		})
	} else if root, ok := s.graph.Root(entry); ok && root.Decision != nil {
		merged := *root.Decision
		merged.Tasks += len(tasks)
		s.graph.Decide(entry, merged)
	}
	s.recover(tasks, entry, delay, reasonOf(attempts, cause))
}

// toRestart lists what runs again because of a failure.
func (s *Scheduler) toRestart(attempts []*execgraph.Execution, cause *status.Failure) []*execgraph.Vertex {
	if len(attempts) == 0 {
		var all []*execgraph.Vertex
		for _, r := range s.graph.Regions {
			for _, v := range r.Vertices {
				if v.Current.State() != status.Created {
					all = append(all, v)
				}
			}
		}
		return all
	}
	var failed []*execgraph.Vertex
	for _, e := range attempts {
		failed = append(failed, e.Vertex)
	}
	var unreadable *execgraph.Execution
	if id, err := ident.ParseAttempt(cause.Partition); err == nil {
		unreadable = s.graph.Attempt(id) // nil: it has been produced again
	}
	return s.failover.Restart(failed, func(v *execgraph.Vertex) bool { return s.lost(v) || v.Current == unreadable })
}

// begun counts the subtasks that are not CREATED.
func (s *Scheduler) begun() int {
	n := 0
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			if sub.Current.State() != status.Created {
				n++
			}
		}
	}
	return n
}

// sameDeath finds the decision about the death that these attempts died of, if
// there was one. One worker runs all tasks of a job on a TaskManager, and when
// it dies each task is reported by itself: an attempt that was deployed before
// that death was noticed, in the same place, and that tells of the same death,
// has died of it. It is no new failure.
func (s *Scheduler) sameDeath(attempts []*execgraph.Execution, cause *status.Failure) execgraph.EntryID {
	if len(attempts) == 0 || !cause.ProcessDied() && cause.Kind != status.FailureLost && cause.Kind != status.FailureMismatch {
		return 0
	}
	e := attempts[0]
	return s.graph.FindRoot(func(f *execgraph.FailureEntry) bool {
		return f.Decision != nil && f.Decision.Restarted && e.Slot != nil && e.Slot.TaskManager == f.TaskManager &&
			f.Failure.Kind == cause.Kind && f.Failure.Message == cause.Message && f.Failure.Stderr == cause.Stderr &&
			!e.Since(status.Deploying).After(f.Time)
	})
}

// giveUp lets the job end by a failure. text is put around its cause.
func (s *Scheduler) giveUp(attempts []*execgraph.Execution, cause *status.Failure, text string, why execgraph.Decision) {
	entry := s.record(attempts, cause.Wrapped(text))
	for _, f := range attempts[min(1, len(attempts)):] {
		s.graph.RecordConcurrent(entry, f, cause, s.now)
	}
	s.endBy(entry, cause, text, why)
}

// endBy lets the job end by the failure of an entry.
func (s *Scheduler) endBy(entry execgraph.EntryID, cause *status.Failure, text string, why execgraph.Decision) {
	s.final, s.first, s.around = entry, cause, text
	s.graph.Decide(entry, why)
	s.setJob(status.JobFailing, cause.Wrapped(text).Error())
	s.dropRecoveries()
	s.cancelAttempts()
}

// record begins an entry of the failure history with the first of the attempts.
func (s *Scheduler) record(attempts []*execgraph.Execution, cause *status.Failure) execgraph.EntryID {
	var first *execgraph.Execution
	if len(attempts) > 0 {
		first = attempts[0]
	}
	s.newest = s.graph.RecordFailure(first, cause, s.now)
	return s.newest
}

// entryOf is the entry of the failure for which an attempt is being canceled.
func (s *Scheduler) entryOf(e *execgraph.Execution) execgraph.EntryID {
	if r := s.waiting[e.Vertex]; r != nil {
		return r.entry
	}
	return s.final
}

// more adds failures to an entry: those of attempts, or one of the whole.
func (s *Scheduler) more(to execgraph.EntryID, attempts []*execgraph.Execution, cause *status.Failure) {
	if len(attempts) == 0 {
		s.anotherFailure(to, nil, cause)
	}
	for _, e := range attempts {
		s.anotherFailure(to, e, cause)
	}
}

// anotherFailure notes a failure that came while an earlier one is being
// recovered from, or while the job ends. It may follow from that one; and that
// one may follow from it: when a process dies, its peers often notice their
// broken connections before anybody has noticed the death.
func (s *Scheduler) anotherFailure(to execgraph.EntryID, e *execgraph.Execution, cause *status.Failure) {
	root, ok := s.graph.Root(to)
	ends := cause.Fatal && s.active()
	switch {
	case !ok && s.graph.State() == status.JobCancelling:
		s.final = s.graph.RecordFailure(e, cause, s.now)
		s.graph.Decide(s.final, execgraph.Decision{Why: "the job is being canceled"})
	case !ok && ends:
		s.giveUp(asList(e), cause, notRecoverable, fatal)
	case !ok: // forgotten: there were many since; or it was no failure but a rescale
	case secondary(&root) && cause.Kind != status.FailureConsumer:
		s.becomeRoot(to, root, e, cause, ends)
	case ends:
		s.giveUp(asList(e), cause, notRecoverable, fatal)
	case follows(e, cause, &root):
		s.graph.Fold(to, e, cause, s.now)
	default:
		s.graph.RecordConcurrent(to, e, cause, s.now)
	}
}

// becomeRoot puts a cause in the place of what followed from it. ends says that
// the job, which was to recover from that, cannot recover from this.
func (s *Scheduler) becomeRoot(of execgraph.EntryID, root execgraph.FailureEntry, e *execgraph.Execution, cause *status.Failure, ends bool) {
	before, now := root.Failure, cause
	switch {
	case ends:
		now = cause.Wrapped(notRecoverable)
	case of == s.final && s.first != nil:
		before, now = s.first, cause.Wrapped(s.around)
		s.first = cause
	}
	s.graph.ReplaceRoot(of, e, now, before, secondary, s.now)
	if ends {
		s.endBy(of, cause, notRecoverable, fatal)
	}
}

// secondary reports whether a failure is known to follow from another one.
func secondary(f *execgraph.FailureEntry) bool { return f.Failure.Kind == status.FailureConsumer }

// follows reports whether a failure follows from the root of an entry: it is a
// broken connection, or the loss of a place of which is known what happened
// there.
func follows(e *execgraph.Execution, cause *status.Failure, root *execgraph.FailureEntry) bool {
	switch cause.Kind {
	case status.FailureConsumer:
		return root.Failure.Kind != status.FailureConsumer
	case status.FailureLost:
		return root.Failure.ProcessDied() && e != nil && e.Slot != nil && e.Slot.TaskManager == root.TaskManager
	}
	return false
}

func asList(e *execgraph.Execution) []*execgraph.Execution {
	if e == nil {
		return nil
	}
	return one(e)
}

// reasonOf is a failure as the job's log tells it.
func reasonOf(attempts []*execgraph.Execution, cause *status.Failure) string {
	if len(attempts) == 0 {
		return cause.Error()
	}
	return attempts[0].Vertex.Name() + ": " + cause.Error()
}

func failuref(kind status.FailureKind, format string, args ...any) *status.Failure {
	return &status.Failure{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
