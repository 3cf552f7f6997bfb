package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// RestartID names one decision to run subtasks again; it is never used twice.
type RestartID int64

// A recovery is the plan to run subtasks again after a failure: when the pause
// is over and the attempts before have ended, each subtask of it of which
// nothing else was decided in the meantime gets a new attempt.
type recovery struct {
	id       RestartID
	entry    execgraph.EntryID // the failure it is for
	tasks    []*execgraph.Vertex
	versions []int64 // of the tasks, when the plan was made
	due      bool    // the pause is over
	// open counts the tasks that wait for this plan and whose attempt has not
	// ended.
	open int
	// asked says that the owner was asked how a late graph is laid out, layouts is
	// the answer.
	asked   bool
	layouts []execgraph.Layout
}

// recover makes the plan to run these subtasks again, and ends what they do
// now. A subtask that an older plan would restart waits for this one instead.
func (s *Scheduler) recover(tasks []*execgraph.Vertex, entry execgraph.EntryID, delay time.Duration, reason string) {
	if len(tasks) == 0 {
		return
	}
	s.restarts++
	r := &recovery{id: s.restarts, entry: entry, tasks: tasks, due: delay <= 0 && !s.asks}
	for _, v := range tasks {
		v.Version++
		r.versions = append(r.versions, v.Version)
		open := !v.Current.State().Terminal()
		if older := s.waiting[v]; older != nil && open {
			older.open--
		}
		if open {
			r.open++
		}
		s.waiting[v] = r
	}
	s.recoveries = append(s.recoveries, r)
	if s.graph.State() == status.JobRunning {
		s.setJob(status.JobRestarting, reason)
	}
	s.cancelTasks(tasks)
	if !r.due {
		s.emit(RestartAfter{Restart: r.id, Delay: delay, Tasks: tasks})
	}
}

// restartDue notes that the pause of a plan is over.
func (s *Scheduler) restartDue(id RestartID) {
	for _, r := range s.recoveries {
		if r.id == id {
			r.due = true
		}
	}
}

// restartReady carries out the plans for which there is nothing left to wait.
// One of them may make another: outputs that a new attempt needs may be lost.
func (s *Scheduler) restartReady() {
	for {
		s.askLayouts()
		i := slices.IndexFunc(s.recoveries, func(r *recovery) bool {
			return r.due && r.open == 0 && (!s.graph.Late() || r.layouts != nil)
		})
		if i < 0 {
			return
		}
		r := s.recoveries[i]
		s.recoveries = slices.Delete(s.recoveries, i, i+1)
		s.restart(r)
	}
}

// restart gives new attempts to the subtasks of a plan whose version has not
// moved since it was made.
func (s *Scheduler) restart(r *recovery) {
	var tasks []*execgraph.Vertex
	for i, v := range r.tasks {
		if v.Version == r.versions[i] {
			tasks = append(tasks, v)
			delete(s.waiting, v)
		}
	}
	if len(tasks) == 0 {
		return
	}
	if len(s.waiting) == 0 {
		s.setJob(status.JobRunning, "")
	}
	reset := TasksReset{}
	if s.graph.Late() {
		reset.Executions = s.resize(r.layouts)
	} else {
		s.releaseSuperseded(tasks)
		for _, v := range tasks {
			reset.Executions = append(reset.Executions, s.graph.NewAttempt(v, s.now))
			s.scheduled[v.Region.Index] = false
		}
	}
	s.emit(reset)
	s.scheduleRegions()
}

// dropRecoveries makes all plans to restart void.
func (s *Scheduler) dropRecoveries() {
	s.recoveries = nil
	clear(s.waiting)
}

func (r *recovery) String() string {
	if r.asked {
		return fmt.Sprintf("restart %d of %d tasks waits for its parallelism", r.id, len(r.tasks))
	}
	if r.open > 0 {
		return fmt.Sprintf("restart %d of %d tasks waits for %d to end", r.id, len(r.tasks), r.open)
	}
	return fmt.Sprintf("restart %d of %d tasks waits for the end of the pause", r.id, len(r.tasks))
}
