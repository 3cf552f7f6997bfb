package schedule

import (
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// What is special about a late graph, whose layout its owner decides each time it
// is begun, by the slots there are. Its Failover restarts all of it at any failure.

// rescale runs everything again, though nothing has failed.
func (s *Scheduler) rescale(reason string) {
	if !s.graph.Late() || s.graph.State() != status.JobRunning {
		return
	}
	s.graph.CountRestart(true)
	s.recover(s.failover.Restart(nil, s.lost), 0, 0, reason)
}

// awaitSlots shows a job that restarts as one that waits for slots.
func (s *Scheduler) awaitSlots() {
	if s.graph.State() == status.JobRestarting {
		s.setJob(status.JobCreated, "it waits for slots")
	}
}

// askLayouts asks for the layouts of restarts for which nothing else is missing,
// and drops those that a newer one has taken the place of.
func (s *Scheduler) askLayouts() {
	if !s.graph.Late() {
		return
	}
	s.recoveries = slices.DeleteFunc(s.recoveries, func(r *recovery) bool { return !s.waits(r) })
	for _, r := range s.recoveries {
		if r.due && r.open == 0 && !r.asked {
			r.asked = true
			s.emit(AskLayout{Restart: r.id})
		}
	}
}

// waits reports whether some subtask waits for this plan and no newer one.
func (s *Scheduler) waits(r *recovery) bool {
	return slices.ContainsFunc(r.tasks, func(v *execgraph.Vertex) bool { return s.waiting[v] == r })
}

// layOutAgain takes the layouts of a restart that is still wanted.
func (s *Scheduler) layOutAgain(ev LayOut) {
	for _, r := range s.recoveries {
		if r.id == ev.Restart && r.asked {
			r.layouts = ev.Layouts
		}
	}
}

// resize lays the graph out anew, and gives the new attempts of subtasks that had
// one before. What was planned for the old ones is void.
func (s *Scheduler) resize(layouts []execgraph.Layout) []*execgraph.Execution {
	var changed []*execgraph.JobVertex
	for i, v := range s.graph.Vertices {
		if len(v.Subtasks) != layouts[i].Parallelism {
			changed = append(changed, v)
		}
	}
	again := s.graph.Resize(layouts, s.now)
	clear(s.plans)
	clear(s.readers)
	s.scheduled = nil
	for _, r := range s.graph.Regions {
		s.addRegion(r)
	}
	for _, v := range changed {
		s.emit(LaidOut{Vertex: v})
	}
	return again
}
