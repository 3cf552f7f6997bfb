package schedule

import (
	"cmp"
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// BalanceTasks lets each TaskManager get about the same number of the job's
// tasks: the shared slots of a region that hold many tasks and those that hold
// few are mixed. It is taskmanager.load-balance.mode TASKS, and is called before
// the first event.
func (s *Scheduler) BalanceTasks() { s.balanced = true }

// balance deals the slots of a plan that is about to be deployed out anew. The
// fullest shared slot is served first, and each gets a slot of the TaskManager
// that has the fewest tasks, if it can be the one it has. Slots in which
// something runs already stay where they are.
//
// Which slot a request got is the pool's business only until it is returned,
// which goes by the slot: so requests of one bulk may exchange theirs.
func (s *Scheduler) balance(p *plan) {
	var moving []*sharedSlot
	moves := map[*sharedSlot]bool{} // looked up, never ranged
	for _, e := range p.attempts {
		if shared := s.sharing.byKey[keyOf(e.Vertex)]; !moves[shared] && !shared.used() {
			moving, moves[shared] = append(moving, shared), true
		}
	}
	tasks := map[ident.ResourceID]int{}      // looked up, never ranged
	for _, shared := range s.sharing.byKey { // order: sums are added up
		if shared.slot != nil && !moves[shared] {
			tasks[shared.slot.TaskManager] += len(shared.tenants)
		}
	}
	free := make([]*execgraph.Slot, len(moving))
	for i, shared := range moving {
		free[i] = shared.slot
	}
	slices.SortStableFunc(moving, func(a, b *sharedSlot) int { return cmp.Compare(len(b.tenants), len(a.tenants)) })
	for _, shared := range moving {
		best := slices.Index(free, shared.slot)
		for i, slot := range free {
			if best < 0 || tasks[slot.TaskManager] < tasks[free[best].TaskManager] {
				best = i
			}
		}
		s.sharing.move(shared, free[best])
		tasks[shared.slot.TaskManager] += len(shared.tenants)
		free = slices.Delete(free, best, best+1)
	}
}

// used reports whether a task has been given the slot.
func (s *sharedSlot) used() bool {
	return slices.ContainsFunc(s.tenants, func(e *execgraph.Execution) bool { return e.Slot != nil })
}
