package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
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
	if o := m.outdated; o != nil {
		if needs := m.Slots().Needed(o.job); needs != o.needed {
			k.broken("3", "a JobMaster of job %s that has been succeeded made its requirement %d, it was %d", o.job, needs, o.needed)
		}
		m.outdated = nil
	}
	k.watchUnserved(m)
}

// outdated is a job's requirement when a JobMaster of it speaks that has been
// succeeded.
type outdated struct {
	job    ident.JobID
	needed int
}

// heardJobMaster notes who speaks for a job.
func (m *manager) heardJobMaster(call rpc.Call) {
	if !call.Fence.IsZero() && call.Fence != m.ID() {
		return // it is for another term and will not be taken
	}
	id, term := "", ""
	switch r := call.Request.(type) {
	case *pb.RegisterJobMasterRequest:
		m.terms[r.JobId] = r.JobMasterId
		return
	case *pb.DeclareRequiredResourcesRequest:
		id, term = r.JobId, r.JobMasterId
	case *pb.DisconnectJobMasterRequest:
		id, term = r.JobId, r.JobMasterId
	}
	var job ident.JobID
	if now := m.terms[id]; now != "" && now != term && job.UnmarshalText([]byte(id)) == nil {
		m.outdated = &outdated{job, m.Slots().Needed(job)}
	}
}

// watchRequest checks that the ResourceManager asks for no more slots than a job
// has declared (6).
func (k *checks) watchRequest(request *pb.RequestSlotRequest) {
	m := k.c.manager
	if m == nil || m.ID().String() != request.ResourceManagerId {
		return
	}
	for _, j := range k.c.jobs {
		if j.id.String() != request.JobId {
			continue
		}
		if held := m.held()[j.id]; held > m.Slots().Needed(j.id) {
			k.broken("6", "the ResourceManager asks for slot %d so that job %s has %d, and it needs %d", request.SlotIndex, j.id, held, m.Slots().Needed(j.id))
		}
	}
}

// held counts the slots that jobs have or are about to get.
func (m *manager) held() map[ident.JobID]int {
	held := map[ident.JobID]int{}
	for _, t := range m.Slots().TaskExecutors() {
		for i := range t.Slots {
			if t.Slots[i].State != slotmanager.Free {
				held[t.Slots[i].Job]++
			}
		}
	}
	return held
}

const (
	longUnserved = 30 * time.Second // much longer than a matching may wait
	longUnseen   = 11 * time.Second // more than an interval of heartbeats: it did nothing
)

// watchUnserved checks that the ResourceManager does not keep a slot free for
// long while a job has fewer than it needs (7). The time in which it is frozen
// does not count.
func (k *checks) watchUnserved(m *manager) {
	now := k.c.world.Now()
	was := m.looked
	m.looked = now
	if _, free := m.Slots().Slots(); free == 0 || now-was > longUnseen || m.proc.FrozenFor() > 0 {
		m.unserved = 0
		return
	}
	held := m.held()
	for _, j := range k.c.jobs {
		if m.Slots().Needed(j.id) <= held[j.id] {
			continue
		}
		if m.unserved == 0 {
			m.unserved = now
		}
		if now-m.unserved > longUnserved {
			k.broken("7", "job %s needs %d slots and has %d, and the ResourceManager has kept others free for %s",
				j.id, m.Slots().Needed(j.id), held[j.id], now-m.unserved)
		}
		return
	}
	m.unserved = 0
}

// seen is what was last seen of a TaskManager.
type seen struct {
	term ident.LeaderID // of its ResourceManager
	held map[int]ident.AllocationID
	told []told // slots it has reported as free since
	// releasing are the allocations that were last seen on their way out.
	releasing map[ident.AllocationID]bool
	// asked is the slot that its ResourceManager has just asked it for.
	asked *asked
	// foreign are the allocations that another ResourceManager than its own has
	// asked it for.
	foreign map[string]bool
}

type asked struct{ allocation, job, term string }

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
	if v.Budgets > t.machine.slots {
		k.broken("5", "the workers of TaskManager %s have the memory of %d slots, there are %d", t.machine.id, v.Budgets, t.machine.slots)
	}
	for _, s := range v.Slots {
		k.owned(s.Allocation, owner{s.Job, t.machine.id, s.Index}, "its TaskManager")
	}
	k.watchReleasing(t, &v)
	k.watchAsked(t, &v)
	k.watchActive(t, &v)
	k.watchFreed(t, &v)
	k.watchTerms(t, &v)
	k.watchLeftovers(t, &v)
}

// watchReleasing checks that a slot that was on its way out goes there (8).
func (k *checks) watchReleasing(t *taskManager, v *taskexecutor.View) {
	now := map[ident.AllocationID]bool{}
	for _, s := range v.Slots {
		switch {
		case s.State == slottable.Releasing:
			now[s.Allocation] = true
		case t.seen.releasing[s.Allocation]:
			k.broken("8", "slot %d of TaskManager %s was being released and is %s", s.Index, t.machine.id, s.State)
		}
	}
	t.seen.releasing = now
}

// watchAsked checks that a slot is only reserved for the TaskManager's own
// ResourceManager, and that the job follows the JobMaster it was asked for (3).
func (k *checks) watchAsked(t *taskManager, v *taskexecutor.View) {
	for _, s := range v.Slots {
		if t.seen.foreign[s.Allocation.String()] {
			k.broken("3", "TaskManager %s has reserved slot %d for a ResourceManager that is not its own", t.machine.id, s.Index)
		}
		if a := t.seen.asked; a != nil && s.Allocation.String() == a.allocation {
			for _, j := range v.Jobs {
				if j.ID.String() == a.job && j.Term.String() != a.term {
					k.broken("3", "TaskManager %s reserved slot %d for JobMaster %s of job %s and follows %s", t.machine.id, s.Index, a.term, a.job, j.Term)
				}
			}
		}
	}
	t.seen.asked = nil
}

// watchActive checks that an active slot was taken by the JobMaster that its job
// follows here, as far as that is known: not by an older one (16).
func (k *checks) watchActive(t *taskManager, v *taskexecutor.View) {
	for _, s := range v.Slots {
		if s.State != slottable.Active {
			continue
		}
		for _, j := range v.Jobs {
			if w := k.c.jobMasterOf(j.Term); j.ID == s.Job && w != nil && !w.taken[s.Allocation] {
				k.broken("16", "slot %d of TaskManager %s is ACTIVE for JobMaster %s, which never took it", s.Index, t.machine.id, j.Term)
			}
		}
	}
}

// jobMasterOf finds the JobMaster of a term, if it lives.
func (c *Cluster) jobMasterOf(term ident.LeaderID) *watched {
	if c.master == nil {
		return nil
	}
	for _, w := range c.master.jobs {
		if w.master != nil && w.master.Term() == term {
			return w
		}
	}
	return nil
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
