package slotmanager

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
)

// Options are the values a Manager works with.
type Options struct {
	Balance Balance
	// Collect is how long after a matching further changes are collected
	// before the next. The first change after a quiet time does not wait.
	Collect time.Duration
	// NewAllocation draws the id of a new allocation.
	NewAllocation func() ident.AllocationID
}

// A Balance says which TaskManager is asked for a slot where several have one.
// It is taskmanager.load-balance.mode.
type Balance uint8

// The ways to choose. Of TaskManagers that are alike, the first to register is
// chosen.
const (
	InOrder   Balance = iota // the first to register: NONE
	SpreadOut                // the one with the smallest share of its slots in use: SLOTS and TASKS
	FillUp                   // the one with the largest share of its slots in use: MIN_RESOURCES
)

// DefaultCollect is Flink's slotmanager.requirement-check.delay.
const DefaultCollect = 50 * time.Millisecond

// State is what the Manager believes of a slot.
type State uint8

// The states of a slot; doc.go draws the transitions.
const (
	Free      State = iota
	Pending         // asked for, the TaskManager has not answered
	Allocated       // reserved at the TaskManager
)

// Slot is one slot of a TaskManager. A free slot has no allocation and no job.
type Slot struct {
	Index      int
	State      State
	Allocation ident.AllocationID
	Job        ident.JobID
	Profile    Profile
	// asked is the profile of the requirement the slot was chosen for.
	asked Profile
}

// TaskExecutor is one registered TaskManager.
type TaskExecutor struct {
	ID       ident.ResourceID
	Instance ident.InstanceID
	Total    Profile
	// Slots has one entry an index. It is usable once Reported is set.
	Slots    []Slot
	Reported bool
	// refused: it has not given the slot that it was asked for last. Until it
	// speaks of its slots again, others are asked first.
	refused bool
}

// SlotProfile is the share of one slot.
func (t *TaskExecutor) SlotProfile() Profile { return t.Total.share(len(t.Slots)) }

// FreeSlots counts the slots that can be had.
func (t *TaskExecutor) FreeSlots() int {
	if !t.Reported {
		return 0
	}
	n := 0
	for i := range t.Slots {
		if t.Slots[i].State == Free {
			n++
		}
	}
	return n
}

// job is what one job has declared.
type job struct {
	id            ident.JobID
	master        ident.LeaderID
	masterAddress string
	version       int64
	requirements  []Requirement
}

func (j *job) needed() int {
	n := 0
	for _, r := range j.requirements {
		n += r.Slots
	}
	return n
}

// Manager holds the slots of all TaskManagers and the requirements of all jobs.
//
// Invariant: an allocation stands in at most one slot, and jobs and
// TaskExecutors are kept in the order they came, which is the order they are
// served in.
type Manager struct {
	options     Options
	executors   []*TaskExecutor
	jobs        []*job
	startUpOver bool
	waiting     bool      // a MatchAfter is outstanding
	matched     time.Time // when the last matching that did something ran
}

// New makes a Manager without slots.
func New(o Options) *Manager {
	if o.Collect <= 0 {
		o.Collect = DefaultCollect
	}
	return &Manager{options: o}
}

// TaskExecutors lists the registered TaskManagers in the order they came. The
// caller must not change them.
func (m *Manager) TaskExecutors() []*TaskExecutor { return m.executors }

// Slots counts the slots of the cluster: all usable ones, and those free.
func (m *Manager) Slots() (registered, free int) {
	for _, t := range m.executors {
		if t.Reported {
			registered += len(t.Slots)
			free += t.FreeSlots()
		}
	}
	return registered, free
}

// Apply advances m by one event and returns what must now be done.
func (m *Manager) Apply(e Event, now time.Time) []Effect {
	changed := false
	switch e := e.(type) {
	case Registered:
		changed = m.register(e)
	case Reported:
		changed = m.report(e)
	case Lost:
		changed = m.remove(e.Instance)
	case Freed:
		changed = m.free(e.Instance, e.Slot, e.Allocation)
	case Granted:
		if s := m.holding(e.Instance, e.Slot, e.Allocation); s != nil {
			s.State = Allocated
			m.executor(e.Instance).refused = false
		}
	case Refused:
		if s := m.holding(e.Instance, e.Slot, e.Allocation); s != nil && s.State == Pending {
			*s = Slot{Index: s.Index}
			m.executor(e.Instance).refused = true
			changed = true
		}
	case Declared:
		changed = m.declare(e)
	case JobGone:
		m.jobs = slices.DeleteFunc(m.jobs, func(j *job) bool { return j.id == e.Job })
	case StartUpOver:
		m.startUpOver, changed = true, true
	case Match:
		m.waiting = false
		return m.match(now)
	default:
		invariant.Broken("slot manager: unknown event %T", e)
	}
	if !changed {
		return nil
	}
	return m.matchLater(now)
}

// matchLater asks for a matching: at once when there was none of late, else
// when the time of collecting is over.
func (m *Manager) matchLater(now time.Time) []Effect {
	if m.waiting || !m.unserved() {
		return nil
	}
	m.waiting = true
	wait := time.Duration(0)
	if !m.matched.IsZero() {
		wait = max(0, m.matched.Add(m.options.Collect).Sub(now))
	}
	return []Effect{MatchAfter{Wait: wait}}
}

// register reports whether an older registration, with what it held, is gone.
func (m *Manager) register(e Registered) bool {
	before := len(m.executors)
	m.executors = slices.DeleteFunc(m.executors, func(t *TaskExecutor) bool { return t.ID == e.TaskExecutor })
	t := &TaskExecutor{ID: e.TaskExecutor, Instance: e.Instance, Total: e.Total, Slots: make([]Slot, e.Slots)}
	for i := range t.Slots {
		t.Slots[i].Index = i
	}
	m.executors = append(m.executors, t)
	return len(m.executors) == before
}

func (m *Manager) remove(instance ident.InstanceID) bool {
	before := len(m.executors)
	m.executors = slices.DeleteFunc(m.executors, func(t *TaskExecutor) bool { return t.Instance == instance })
	return len(m.executors) < before
}

// report takes over what a TaskManager says of its slots. A slot that is asked
// for and reported free stays Pending: the answer is still under way.
func (m *Manager) report(e Reported) bool {
	t := m.executor(e.Instance)
	if t == nil {
		return false
	}
	changed := !t.Reported
	t.Reported, t.refused = true, false
	for _, r := range e.Slots {
		if r.Index < 0 || r.Index >= len(t.Slots) {
			continue
		}
		s := &t.Slots[r.Index]
		switch {
		case r.Allocation.IsZero():
			if s.State == Allocated {
				*s = Slot{Index: s.Index}
				changed = true
			}
		case r.Allocation == s.Allocation:
			s.State = Allocated
		default:
			m.forget(r.Allocation)
			*s = Slot{Index: s.Index, State: Allocated, Allocation: r.Allocation, Job: r.Job, Profile: r.Profile, asked: r.Profile}
			changed = true
		}
	}
	return changed
}

// forget frees the slot that was believed to hold the allocation.
func (m *Manager) forget(a ident.AllocationID) {
	for _, t := range m.executors {
		for i := range t.Slots {
			if t.Slots[i].Allocation == a {
				t.Slots[i] = Slot{Index: i}
			}
		}
	}
}

func (m *Manager) free(instance ident.InstanceID, slot int, a ident.AllocationID) bool {
	s := m.holding(instance, slot, a)
	if s == nil {
		return false
	}
	*s = Slot{Index: s.Index}
	return true
}

// declare takes over a requirement, unless a newer one of the same JobMaster
// is known.
func (m *Manager) declare(e Declared) bool {
	i := slices.IndexFunc(m.jobs, func(j *job) bool { return j.id == e.Job })
	if i < 0 {
		m.jobs = append(m.jobs, &job{id: e.Job})
		i = len(m.jobs) - 1
	}
	j := m.jobs[i]
	if j.master == e.Master && e.Version <= j.version {
		return false
	}
	j.master, j.masterAddress, j.version = e.Master, e.MasterAddress, e.Version
	j.requirements = slices.Clone(e.Requirements)
	return true
}

func (m *Manager) executor(instance ident.InstanceID) *TaskExecutor {
	for _, t := range m.executors {
		if t.Instance == instance {
			return t
		}
	}
	return nil
}

// holding finds the slot if it is held by the allocation; late news of an
// allocation that has moved or gone finds none.
func (m *Manager) holding(instance ident.InstanceID, slot int, a ident.AllocationID) *Slot {
	t := m.executor(instance)
	if t == nil || slot < 0 || slot >= len(t.Slots) || a.IsZero() || t.Slots[slot].Allocation != a {
		return nil
	}
	return &t.Slots[slot]
}
