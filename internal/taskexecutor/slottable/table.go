// Package slottable holds the slots of one TaskManager and what is in them.
//
// It is the pure core of the TaskExecutor:
//
//	free ──Reserve──▶ ALLOCATED ──Activate──▶ ACTIVE
//	 ▲                 │      ▲                  │
//	 │   timeout, Free │      └───Deactivate─────┤
//	 │                 ▼                         ▼ Free
//	 └───── no task ───┴──────────────────── RELEASING (its tasks end)
//
// It promises that a slot has one owner at a time, that what is reserved never
// exceeds the TaskManager's budget, that a slot is free only once no task is in
// it, and that each time a slot becomes free there is exactly one Freed effect.
// It never talks to anyone and reads no clock.
package slottable

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// Profile is an amount of resources: CPU cores and bytes.
type Profile struct {
	CPU                                     float64
	TaskHeap, TaskOffHeap, Managed, Network int64
}

func (p Profile) plus(q Profile) Profile {
	return Profile{CPU: p.CPU + q.CPU, TaskHeap: p.TaskHeap + q.TaskHeap, TaskOffHeap: p.TaskOffHeap + q.TaskOffHeap,
		Managed: p.Managed + q.Managed, Network: p.Network + q.Network}
}

// fits reports whether p is not more than budget in any part. Cores are
// fractions that were divided before, so they get a millionth of leeway.
func (p Profile) fits(budget Profile) bool {
	return p.CPU <= budget.CPU+1e-6 && p.TaskHeap <= budget.TaskHeap && p.TaskOffHeap <= budget.TaskOffHeap &&
		p.Managed <= budget.Managed && p.Network <= budget.Network
}

// State is the state of a slot that is not free.
type State uint8

// The states; the package comment draws the transitions.
const (
	Allocated State = iota // reserved for a job whose JobMaster has not taken it
	Active                 // a JobMaster has taken it
	Releasing              // no longer anybody's, waits until its tasks are gone
)

var stateNames = [...]string{"ALLOCATED", "ACTIVE", "RELEASING"}

func (s State) String() string { return stateNames[s] }

// Slot is one slot that is not free.
type Slot struct {
	Index      int
	Allocation ident.AllocationID
	Job        ident.JobID
	Profile    Profile
	State      State
	// deadline is when an Allocated slot goes back; zero in the other states.
	deadline time.Time
	tasks    []ident.AttemptID // in the order they came
	cause    string            // why it is Releasing
}

// Tasks lists the attempts in the slot. The caller must not change it.
func (s *Slot) Tasks() []ident.AttemptID { return s.tasks }

// Effect is something to be done.
type Effect interface{ effect() }

type (
	// Freed: the slot is free; the ResourceManager must hear of it.
	Freed struct {
		Index      int
		Allocation ident.AllocationID
		Job        ident.JobID
		Cause      string
	}
	// FailTasks: the tasks must end, for the slot is being released.
	FailTasks struct {
		Tasks []ident.AttemptID
		Cause string
	}
)

func (Freed) effect()     {}
func (FailTasks) effect() {}

// OccupiedError is why a reservation is refused: the slot has another owner.
type OccupiedError struct {
	Index      int
	Allocation ident.AllocationID
	Job        ident.JobID
}

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("slot %d is occupied by allocation %s of job %s", e.Index, e.Allocation, e.Job)
}

// Table holds the slots of a TaskManager.
//
// Invariant: slots has an entry an index, nil where the slot is free; the sum
// of the profiles is within budget; an allocation stands in one slot at most.
type Table struct {
	slots   []*Slot
	budget  Profile
	timeout time.Duration
}

// New makes a table of n free slots that share budget. A slot that no
// JobMaster takes within timeout becomes free again.
func New(n int, budget Profile, timeout time.Duration) *Table {
	return &Table{slots: make([]*Slot, n), budget: budget, timeout: timeout}
}

// Size is the number of slots, free ones included.
func (t *Table) Size() int { return len(t.slots) }

// Slots lists the slots that are not free, by index.
func (t *Table) Slots() []*Slot {
	return slices.DeleteFunc(slices.Clone(t.slots), func(s *Slot) bool { return s == nil })
}

// OfJob lists the slots of a job, by index.
func (t *Table) OfJob(job ident.JobID) []*Slot {
	return slices.DeleteFunc(t.Slots(), func(s *Slot) bool { return s.Job != job })
}

// Find gives the slot an allocation holds, or nil.
func (t *Table) Find(a ident.AllocationID) *Slot {
	for _, s := range t.slots {
		if s != nil && s.Allocation == a {
			return s
		}
	}
	return nil
}

// Reserve gives a slot to a job. Asking again for what the same job and
// allocation hold already is no error; an index below zero takes any free slot.
// The error is an *OccupiedError or says what there is no room for.
func (t *Table) Reserve(index int, job ident.JobID, a ident.AllocationID, p Profile, now time.Time) error {
	if s := t.Find(a); s != nil {
		if s.Job == job && (index < 0 || index == s.Index) && s.State != Releasing {
			return nil
		}
		return &OccupiedError{Index: s.Index, Allocation: s.Allocation, Job: s.Job}
	}
	if index >= len(t.slots) {
		return fmt.Errorf("there is no slot %d: this TaskManager has the slots 0 to %d", index, len(t.slots)-1)
	}
	if index < 0 {
		if index = slices.Index(t.slots, nil); index < 0 {
			return fmt.Errorf("none of the %d slots is free", len(t.slots))
		}
	}
	if s := t.slots[index]; s != nil {
		return &OccupiedError{Index: s.Index, Allocation: s.Allocation, Job: s.Job}
	}
	if reserved := t.Reserved(); !reserved.plus(p).fits(t.budget) {
		return fmt.Errorf("no room for slot %d: asked %+v, reserved %+v, budget %+v", index, p, reserved, t.budget)
	}
	t.slots[index] = &Slot{Index: index, Allocation: a, Job: job, Profile: p, deadline: now.Add(t.timeout)}
	return nil
}

// Reserved is what all slots that are not free hold together.
func (t *Table) Reserved() (sum Profile) {
	for _, s := range t.slots {
		if s != nil {
			sum = sum.plus(s.Profile)
		}
	}
	return sum
}

// Activate marks a slot as taken by its JobMaster, and reports whether the job
// holds the allocation and it is not being released.
func (t *Table) Activate(job ident.JobID, a ident.AllocationID) bool {
	s := t.Find(a)
	if s == nil || s.Job != job || s.State == Releasing {
		return false
	}
	s.State, s.deadline = Active, time.Time{}
	return true
}

// Deactivate takes the active slots of a job back from a JobMaster that is
// gone: they wait for another one until their timer runs out.
func (t *Table) Deactivate(job ident.JobID, now time.Time) {
	for _, s := range t.OfJob(job) {
		if s.State == Active {
			s.State, s.deadline = Allocated, now.Add(t.timeout)
		}
	}
}

// Free takes a slot from its owner. With tasks in it, they must end first.
// An unknown allocation is free already.
func (t *Table) Free(a ident.AllocationID, cause string) []Effect {
	s := t.Find(a)
	if s == nil || s.State == Releasing {
		return nil
	}
	s.State, s.deadline, s.cause = Releasing, time.Time{}, cause
	if len(s.tasks) == 0 {
		return t.drop(s)
	}
	return []Effect{FailTasks{Tasks: slices.Clone(s.tasks), Cause: cause}}
}

// drop is the one way in which a slot becomes free.
func (t *Table) drop(s *Slot) []Effect {
	t.slots[s.Index] = nil
	return []Effect{Freed{Index: s.Index, Allocation: s.Allocation, Job: s.Job, Cause: s.cause}}
}

// AddTask puts a task into an active slot, and reports whether it is one of
// that job.
func (t *Table) AddTask(job ident.JobID, a ident.AllocationID, task ident.AttemptID) bool {
	s := t.Find(a)
	if s == nil || s.Job != job || s.State != Active {
		return false
	}
	s.tasks = append(s.tasks, task)
	return true
}

// RemoveTask takes a task that has ended out of its slot. The last one out of
// a slot that is being released frees it.
func (t *Table) RemoveTask(task ident.AttemptID) []Effect {
	for _, s := range t.slots {
		if s == nil {
			continue
		}
		i := slices.Index(s.tasks, task)
		if i < 0 {
			continue
		}
		s.tasks = slices.Delete(s.tasks, i, i+1)
		if s.State == Releasing && len(s.tasks) == 0 {
			return t.drop(s)
		}
		return nil
	}
	return nil
}

// Deadline is when Expire has something to do next; ok is false if never.
func (t *Table) Deadline() (at time.Time, ok bool) {
	for _, s := range t.slots {
		if s != nil && !s.deadline.IsZero() && (!ok || s.deadline.Before(at)) {
			at, ok = s.deadline, true
		}
	}
	return at, ok
}

// Expire frees the slots that no JobMaster has taken in time, the one that has
// waited longest first.
func (t *Table) Expire(now time.Time) (effects []Effect) {
	due := slices.DeleteFunc(t.Slots(), func(s *Slot) bool { return s.deadline.IsZero() || s.deadline.After(now) })
	slices.SortStableFunc(due, func(a, b *Slot) int { return cmp.Compare(a.deadline.UnixNano(), b.deadline.UnixNano()) })
	for _, s := range due {
		effects = append(effects, t.Free(s.Allocation, fmt.Sprintf("no JobMaster took the slot within %s", t.timeout))...)
	}
	return effects
}
