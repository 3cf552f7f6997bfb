package cluster

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// settled checks what must hold when there were no faults for long enough: all
// are there; every job runs or has ended as it should (7); and all sides agree
// about the slots (6, 8).
func (k *checks) settled() bool {
	c := k.c
	if c.master == nil || c.manager == nil {
		k.broken("testkit", "no master runs after the faults")
		return false
	}
	live := map[ident.JobID]int{} // slots of the jobs that run
	for _, w := range c.master.jobs {
		v := w.master.View()
		if v.State.Terminal() {
			continue
		}
		n := v.Tasks()
		tasks := 0
		for _, vertex := range v.Vertices {
			tasks += vertex.Parallelism
		}
		if v.State != status.JobRunning || n[status.Running]+n[status.Finished] != tasks {
			k.broken("7", "job %s is %s, with %d of %d tasks RUNNING and %d FINISHED", v.Job, v.State, n[status.Running], tasks, n[status.Finished])
		}
		if w.graph.Batch {
			k.broken("7", "job %s is bounded and has not ended", v.Job)
		}
		live[v.Job] = slotsNeeded(w.graph)
		if declared := w.master.Pool().Counts().Declared; declared != live[v.Job] {
			k.broken("6", "job %s needs %d slots and declares %d", v.Job, live[v.Job], declared)
		}
	}
	for _, j := range c.jobs {
		k.fair(j)
	}
	k.archived()
	k.stored()
	k.agreed(live)
	return k.first == nil
}

// fair checks that a job ended as what happened to it lets it.
func (k *checks) fair(j *job) {
	c := k.c
	if j.at != c.master.proc.Life() {
		return
	}
	switch state := c.stateOf(j); {
	case state == status.JobCanceled && j.canceled != j.at:
		k.broken("7", "job %s is CANCELED and nobody asked for it", j.id)
	case state == status.JobFinished && !j.bounded:
		k.broken("7", "job %s is unbounded and FINISHED", j.id)
	case state == status.JobFailed && c.settings.restarts.persistence == endless && len(c.checkpoints.shelf.torn) == 0:
		k.broken("7", "job %s FAILED, though nothing may end it: %s", j.id, k.causeOf(j))
	case state == status.JobFailed && c.settings.calm:
		k.broken("7", "job %s FAILED, though nothing went wrong: %s", j.id, k.causeOf(j))
	case state == status.JobRunning && j.canceled == j.at:
		k.broken("7", "job %s was canceled and is RUNNING", j.id)
	}
}

// reborn reports whether some TaskManager came back under the id it had: only
// that loses tasks without a word.
func (k *checks) reborn() bool {
	return slices.ContainsFunc(k.c.machines, func(m *machine) bool { return m.again })
}

func (k *checks) causeOf(j *job) string {
	for _, w := range k.c.master.jobs {
		if w.graph == j.graph {
			if v := w.master.View(); len(v.Failures) > 0 {
				return v.Failures[0].Failure.Error()
			}
		}
	}
	return "no cause is known"
}

// agreed checks that JobMasters, ResourceManager and TaskManagers agree about
// all slots: every live job has what it needs, and nobody else has any.
func (k *checks) agreed(live map[ident.JobID]int) {
	c := k.c
	held := map[ident.JobID]int{}
	believed := map[ident.ResourceID]*slotmanager.TaskExecutor{}
	for _, t := range c.manager.Slots().TaskExecutors() {
		believed[t.ID] = t
	}
	if len(believed) != len(c.machines) {
		k.broken("7", "%d TaskManagers are registered, %d run", len(believed), len(c.machines))
	}
	for _, on := range c.machines {
		t := believed[on.id]
		if on.current == nil || t == nil || !t.Reported {
			k.broken("7", "TaskManager %s is not registered, or has not reported: it runs: %v, the ResourceManager knows %v", on.id, on.current != nil, c.manager.TaskManagers())
			continue
		}
		v := on.current.executor.View()
		here := map[int]ident.AllocationID{}
		for _, s := range v.Slots {
			here[s.Index] = s.Allocation
			held[s.Job]++
			if s.State != slottable.Active {
				k.broken("6", "slot %d of %s is %s for job %s after everything settled", s.Index, on.id, s.State, s.Job)
			}
		}
		for _, s := range t.Slots {
			if s.Allocation != here[s.Index] || (s.State == slotmanager.Allocated) == s.Allocation.IsZero() {
				k.broken("8", "slot %d of %s holds allocation %s; the ResourceManager believes %s, state %d", s.Index, on.id, here[s.Index], s.Allocation, s.State)
			}
		}
		if v.Workers != len(on.workers) {
			k.broken("17", "TaskManager %s knows %d workers, %d are there", on.id, v.Workers, len(on.workers))
		}
	}
	if k.first != nil {
		return // some of the TaskManagers may not be there
	}
	for _, w := range c.master.jobs { // in order, so that the report is the same each time
		id := w.graph.Job
		if held[id] != live[id] || c.manager.Slots().Needed(id) != live[id] {
			k.broken("6", "job %s needs %d slots, holds %d and the ResourceManager believes it needs %d",
				id, live[id], held[id], c.manager.Slots().Needed(id))
		}
		delete(held, id)
	}
	for _, j := range c.jobs {
		if n := c.manager.Slots().Needed(j.id); n > 0 && live[j.id] == 0 {
			k.broken("6", "job %s has ended or is lost, and the ResourceManager believes it needs %d slots", j.id, n)
		}
	}
	for _, on := range c.machines {
		for _, s := range on.current.executor.View().Slots {
			if n, stray := held[s.Job]; stray {
				k.broken("17", "job %s, which the master does not know, holds %d slots", s.Job, n)
			}
		}
	}
}

// probed checks that a job submitted in quiet times runs or has finished.
func (k *checks) probed(j *job) bool {
	if j == nil {
		return true
	}
	if state := k.c.stateOf(j); state != status.JobRunning && state != status.JobFinished {
		k.broken("7", "the job submitted after all faults is %s: %s", state, k.causeOf(j))
	}
	return k.first == nil
}

// empty checks that nothing is left of jobs that have all ended (17).
func (k *checks) empty() bool {
	c := k.c
	if !k.settled() {
		return false
	}
	for _, w := range c.master.jobs {
		if state := w.master.View().State; !state.Terminal() {
			k.broken("7", "job %s is %s after it was canceled", w.graph.Job, state)
		}
	}
	for _, on := range c.machines {
		v := on.current.executor.View()
		if len(v.Slots)+len(v.Jobs)+v.Workers+len(on.workers) > 0 {
			k.broken("17", "TaskManager %s still has %d slots, %d jobs, %d workers known and %d there after all jobs have ended",
				on.id, len(v.Slots), len(v.Jobs), v.Workers, len(on.workers))
		}
	}
	if n := len(k.code.running); n > 0 {
		k.broken("17", "user code of %d attempts still runs, the first is %s", n, k.code.running[0].task.attempt)
	}
	if registered, free := c.manager.Slots().Slots(); registered != free || registered != c.totalSlots() {
		k.broken("17", "%d slots are registered and %d free after all jobs have ended, there are %d", registered, free, c.totalSlots())
	}
	return k.first == nil
}

// count notes how the jobs have ended.
func (k *checks) count() {
	for _, w := range k.c.master.jobs {
		v := w.master.View()
		k.countFolded(&v)
		k.census[v.State.String()]++
	}
}
