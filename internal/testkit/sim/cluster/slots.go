package cluster

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/taskexecutor"
)

// An owner is whom an allocation belongs to: one job, one slot of one
// TaskManager.
type owner struct {
	job   ident.JobID
	tm    ident.ResourceID
	index int
}

// owned checks that an allocation never changes its owner (4).
func (k *checks) owned(a ident.AllocationID, by owner, says string) {
	known, ok := k.owners[a]
	if !ok {
		k.owners[a] = by
		return
	}
	if known != by {
		k.broken("4", "allocation %s belongs to job %s, slot %d of %s; %s says: job %s, slot %d of %s",
			a, known.job, known.index, known.tm, says, by.job, by.index, by.tm)
	}
}

// watchManager checks what the ResourceManager believes to be allocated (4). A
// slot that it has only asked for belongs to nobody yet: the TaskManager may be
// gone, and the request may find the next one at its address.
func (k *checks) watchManager(m *manager) {
	for _, t := range m.Slots().TaskExecutors() {
		for i := range t.Slots {
			if s := &t.Slots[i]; s.State == slotmanager.Allocated {
				k.owned(s.Allocation, owner{s.Job, t.ID, s.Index}, "the ResourceManager")
			}
		}
	}
}

// seen is what was last seen of a TaskManager.
type seen struct {
	term ident.LeaderID // of its ResourceManager
	held map[int]ident.AllocationID
	told []told // slots it has reported as free since
}

type told struct {
	index      int
	allocation string
}

// taskManagerCalls looks at what a TaskManager sends.
func (k *checks) taskManagerCalls(t *taskManager, call rpc.Call) {
	switch call.Method {
	case gateway.NotifySlotAvailable.Name:
		request := call.Request.(*pb.NotifySlotAvailableRequest)
		t.seen.told = append(t.seen.told, told{int(request.SlotIndex), request.AllocationId})
	case gateway.RunTask.Name:
		k.handed(t, call.Request.(*pb.TaskDeployment))
	case gateway.StopTask.Name:
		k.code.stopped(call.Request.(*pb.CancelTaskRequest).Attempt)
	}
}

// watchTaskManager checks allocations (4), the budget (5), that a freed slot is
// reported (8), and whose tasks may run (3).
func (k *checks) watchTaskManager(t *taskManager) {
	v := t.executor.View()
	r, b := t.executor.Reserved(), t.total
	if r.CPU > b.CPU+1e-6 || r.TaskHeap > b.TaskHeap || r.TaskOffHeap > b.TaskOffHeap || r.Managed > b.Managed || r.Network > b.Network {
		k.broken("5", "TaskManager %s has reserved %+v of %+v", t.machine.id, r, b)
	}
	for _, s := range v.Slots {
		k.owned(s.Allocation, owner{s.Job, t.machine.id, s.Index}, "its TaskManager")
	}
	k.watchFreed(t, &v)
	k.watchTerms(t, &v)
	k.watchLeftovers(t, &v)
}

func (k *checks) watchFreed(t *taskManager, v *taskexecutor.View) {
	before := &t.seen
	still := func(index int, a ident.AllocationID) bool {
		for _, s := range v.Slots {
			if s.Index == index {
				return s.Allocation == a
			}
		}
		return false
	}
	if before.held == nil {
		before.held = map[int]ident.AllocationID{}
	}
	for index := range t.machine.slots {
		a, was := before.held[index]
		if !was || still(index, a) {
			continue
		}
		delete(before.held, index)
		k.met["freed slots"]++
		reported := false
		for _, r := range before.told {
			reported = reported || r.index == index && r.allocation == a.String()
		}
		// Without a ResourceManager the report of the registration tells it.
		if !reported && !v.ResourceManager.IsZero() && v.ResourceManager == before.term {
			k.broken("8", "TaskManager %s freed slot %d of allocation %s and told nobody", t.machine.id, index, a)
		}
	}
	before.told, before.term = before.told[:0], v.ResourceManager
	for _, s := range v.Slots {
		before.held[s.Index] = s.Allocation
	}
}

// watchLeftovers checks that no job stays that has nothing here, not even an
// output that others are to read.
func (k *checks) watchLeftovers(_ *taskManager, v *taskexecutor.View) {
	for _, j := range v.Jobs {
		slots := 0
		for _, s := range v.Slots {
			if s.Job == j.ID {
				slots++
			}
		}
		if slots == 0 && j.Tasks == 0 && j.Outputs == 0 {
			k.broken("17", "job %s has neither slot nor task nor output and is not forgotten", j.ID)
		}
	}
}
