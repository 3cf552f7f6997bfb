package slotmanager

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// Profile is an amount of resources: CPU cores and bytes. As a requirement the
// zero Profile means "any slot", and is served with one slot's share.
type Profile struct {
	CPU                                     float64
	TaskHeap, TaskOffHeap, Managed, Network int64
}

// Fits reports whether p can be had from a slot of the size given.
func (p Profile) Fits(slot Profile) bool {
	return p.CPU <= slot.CPU && p.TaskHeap <= slot.TaskHeap && p.TaskOffHeap <= slot.TaskOffHeap &&
		p.Managed <= slot.Managed && p.Network <= slot.Network
}

// share is what one of n equal slots gets.
func (p Profile) share(n int) Profile {
	if n <= 0 {
		return Profile{}
	}
	d := int64(n)
	return Profile{CPU: p.CPU / float64(n), TaskHeap: p.TaskHeap / d, TaskOffHeap: p.TaskOffHeap / d,
		Managed: p.Managed / d, Network: p.Network / d}
}

// Requirement is a number of slots that all have the same profile.
type Requirement struct {
	Profile Profile
	Slots   int
}

// SlotStatus is one line of a TaskManager's slot report. A zero allocation
// means that the slot is free.
type SlotStatus struct {
	Index      int
	Allocation ident.AllocationID
	Job        ident.JobID
	Profile    Profile
}

// Event is something that happened.
type Event interface{ event() }

type (
	// Registered: a TaskManager has registered. Its slots are unusable until
	// its first report. An older registration of the same process is gone.
	Registered struct {
		TaskExecutor ident.ResourceID
		Instance     ident.InstanceID
		Slots        int
		Total        Profile
	}
	// Reported: a TaskManager has told the state of all its slots.
	Reported struct {
		Instance ident.InstanceID
		Slots    []SlotStatus
	}
	// Lost: a TaskManager is gone, with its slots.
	Lost struct{ Instance ident.InstanceID }
	// Freed: a TaskManager has freed the slot that the allocation held.
	Freed struct {
		Instance   ident.InstanceID
		Slot       int
		Allocation ident.AllocationID
	}
	// Granted: a TaskManager has reserved the slot as asked.
	Granted struct {
		Instance   ident.InstanceID
		Slot       int
		Allocation ident.AllocationID
	}
	// Refused: a TaskManager has not reserved the slot, or has not answered.
	Refused struct {
		Instance   ident.InstanceID
		Slot       int
		Allocation ident.AllocationID
	}
	// Declared: a job has declared its whole requirement. Of one JobMaster only
	// the newest version counts; a new JobMaster starts to count anew.
	Declared struct {
		Job           ident.JobID
		Master        ident.LeaderID
		MasterAddress string
		Version       int64
		Requirements  []Requirement
	}
	// JobGone: the job needs nothing any more.
	JobGone struct{ Job ident.JobID }
	// StartUpOver: TaskManagers that belong to the cluster have had time to
	// come; from now on a job is told when its requirement cannot be met.
	StartUpOver struct{}
	// Match: the time asked for by a MatchAfter has passed.
	Match struct{}
)

func (Registered) event()  {}
func (Reported) event()    {}
func (Lost) event()        {}
func (Freed) event()       {}
func (Granted) event()     {}
func (Refused) event()     {}
func (Declared) event()    {}
func (JobGone) event()     {}
func (StartUpOver) event() {}
func (Match) event()       {}

// Effect is something to be done.
type Effect interface{ effect() }

type (
	// MatchAfter: apply Match once Wait has passed. At most one is outstanding.
	MatchAfter struct{ Wait time.Duration }
	// RequestSlot: ask the TaskManager to reserve the slot, and apply Granted
	// or Refused with its answer.
	RequestSlot struct {
		TaskExecutor  ident.ResourceID
		Instance      ident.InstanceID
		Slot          int
		Allocation    ident.AllocationID
		Profile       Profile
		Job           ident.JobID
		Master        ident.LeaderID
		MasterAddress string
	}
	// NotEnough: tell the job that it needs more slots than can be had now.
	// Registered and Free count the slots of the whole cluster, Needed the
	// job's whole requirement.
	NotEnough struct {
		Job                      ident.JobID
		Needed, Registered, Free int
	}
)

func (MatchAfter) effect()  {}
func (RequestSlot) effect() {}
func (NotEnough) effect()   {}
