package schedule

import (
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// outputsLost notes that what had been produced on a TaskManager for other
// regions is gone. The end of a task may be heard of only afterwards.
func (s *Scheduler) outputsLost(ev OutputsLost) {
	var lost []*execgraph.Vertex
	for _, v := range s.graph.Vertices {
		if !v.Blocking() {
			continue
		}
		for _, sub := range v.Subtasks {
			e := sub.Current
			named := e.State() == status.Finished
			if len(ev.Attempts) > 0 {
				named = slices.Contains(ev.Attempts, e.ID) && e.Deployed()
			}
			if named && e.Slot != nil && e.Slot.TaskManager == ev.TaskManager && !e.OutputLost {
				e.LoseOutput()
				lost = append(lost, sub)
			}
		}
	}
	if len(lost) == 0 || !s.active() {
		return
	}
	s.someLost = true
	s.extendRecoveries(lost)
	s.scheduleRegions()
}

// extendRecoveries lets subtasks whose output was lost restart with those that
// wait to be restarted and need it. The loss and the failure that those recover
// from have one cause: a process that died is noticed by its readers, too, and
// who notices first is chance.
func (s *Scheduler) extendRecoveries(lost []*execgraph.Vertex) {
	for _, r := range slices.Clone(s.recoveries) {
		var needed []*execgraph.Vertex
		for _, v := range lost {
			if s.waiting[v] == nil && v.Current.State() == status.Finished && slices.ContainsFunc(r.tasks, func(reader *execgraph.Vertex) bool {
				return s.waiting[reader] == r && slices.Contains(reader.Region.Awaits, v)
			}) {
				needed = append(needed, v)
			}
		}
		if len(needed) == 0 {
			continue
		}
		tasks := s.failover.Restart(needed, s.lost)
		if root, ok := s.graph.Root(r.entry); ok && root.Decision != nil {
			more := *root.Decision
			for _, v := range tasks {
				if s.waiting[v] == nil {
					more.Tasks++
				}
			}
			s.graph.Decide(r.entry, more)
		}
		s.recover(tasks, r.entry, s.backoff.Delay(s.now), "")
	}
}

// releaseRead gives up what a region has read, of others and within it, once it
// and all other readers have finished.
func (s *Scheduler) releaseRead(r *execgraph.Region) {
	if !allFinished(r) {
		return
	}
	var release ReleaseOutputs
	var busy *execgraph.Region // a reader that has not finished, and its place: mostly that of all
	at := 0
	for _, producer := range slices.Concat(r.Awaits, r.Vertices) {
		e, readers := producer.Current, s.readers[producer]
		if !e.Readable() || !producer.Parent.ReadersLaidOut() || busy != nil && at < len(readers) && readers[at] == busy {
			continue
		}
		if i := slices.IndexFunc(readers, func(o *execgraph.Region) bool { return !allFinished(o) }); i >= 0 {
			busy, at = readers[i], i
			continue
		}
		if !allFinished(producer.Region) {
			continue // some of it may read, too
		}
		e.LoseOutput()
		release.Executions = append(release.Executions, e)
	}
	if len(release.Executions) > 0 {
		s.emit(release)
	}
}

// releaseSuperseded gives up what the attempts before have produced of subtasks
// that run again.
func (s *Scheduler) releaseSuperseded(tasks []*execgraph.Vertex) {
	var release ReleaseOutputs
	for _, v := range tasks {
		if v.Current.Readable() {
			release.Executions = append(release.Executions, v.Current)
		}
	}
	if len(release.Executions) > 0 {
		s.emit(release)
	}
}

func allFinished(r *execgraph.Region) bool {
	for _, v := range r.Vertices {
		if v.Current.State() != status.Finished {
			return false
		}
	}
	return true
}

// produceAgain is the failure of tasks that have finished, by the loss of their
// output, which somebody needs to begin.
func (s *Scheduler) produceAgain(reader string, producers []*execgraph.Execution) {
	first := producers[0]
	cause := failuref(status.FailurePartition, "what %s had produced on TaskManager %s is lost, and %s needs it",
		first.Vertex.Name(), first.Slot.TaskManager, reader)
	cause.Partition = first.ID.String()
	s.failed(producers, cause)
}

// lost reports whether what a subtask has produced for other regions cannot be
// read. What it will still produce is not lost.
func (s *Scheduler) lost(v *execgraph.Vertex) bool {
	state := v.Current.State()
	return v.Current.OutputLost || state == status.Failed || state == status.Canceled
}
