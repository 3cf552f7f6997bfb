package slotmanager

import (
	"slices"
	"time"
)

// unserved reports whether some job has fewer slots than it declared.
func (m *Manager) unserved() bool {
	for _, j := range m.jobs {
		if len(m.missing(j)) > 0 {
			return true
		}
	}
	return false
}

// missing is what a job has declared less the slots it has or will get. A slot
// counts for the requirement it was chosen for; one learned of from a report
// counts for the first that it satisfies.
func (m *Manager) missing(j *job) []Requirement {
	if j.needed() == 0 {
		return nil
	}
	left := slices.Clone(j.requirements)
	take := func(fits func(Profile) bool) bool {
		for i := range left {
			if left[i].Slots > 0 && fits(left[i].Profile) {
				left[i].Slots--
				return true
			}
		}
		return false
	}
	for _, t := range m.executors {
		for i := range t.Slots {
			s := &t.Slots[i]
			if s.State == Free || s.Job != j.id {
				continue
			}
			_ = take(func(p Profile) bool { return p == s.asked }) ||
				take(func(p Profile) bool { return p == Profile{} }) ||
				take(func(p Profile) bool { return p.Fits(s.Profile) })
		}
	}
	return slices.DeleteFunc(left, func(r Requirement) bool { return r.Slots <= 0 })
}

// match serves what is missing, job after job, and says who cannot be served.
func (m *Manager) match(now time.Time) []Effect {
	var effects []Effect
	free, leaving := m.countFree(), unknown
	for _, j := range m.jobs {
		short := 0
		for _, r := range m.missing(j) {
			for n := range r.Slots {
				request, ok := m.allocate(j, r.Profile, free)
				if !ok {
					short += r.Slots - n
					break
				}
				effects = append(effects, request)
			}
		}
		if short == 0 || !m.startUpOver {
			continue
		}
		if leaving == unknown {
			leaving = m.countLeaving()
		}
		if short <= leaving {
			leaving -= short
			continue
		}
		registered, free := m.Slots()
		effects = append(effects, NotEnough{Job: j.id, Needed: j.needed(), Registered: registered, Free: free})
	}
	if len(effects) > 0 {
		m.matched = now // one that did nothing delays nobody
	}
	return effects
}

// unknown says that the slots that are leaving have not been counted.
const unknown = -1

// countLeaving counts the slots of jobs that are gone. Their TaskManagers are about to
// free them, which is waited for: a job that is submitted when another has just ended
// must not be told that there are too few.
func (m *Manager) countLeaving() int {
	n := 0
	for _, t := range m.executors {
		for i := range t.Slots {
			s := &t.Slots[i]
			if t.Reported && s.State != Free && !slices.ContainsFunc(m.jobs, func(j *job) bool { return j.id == s.Job }) {
				n++
			}
		}
	}
	return n
}

// A freeCount is how many slots each TaskManager has free, in their order. It is
// made for one matching, in which slots only come into use.
type freeCount struct {
	slots []int
	first int // those before have none
}

func (m *Manager) countFree() *freeCount {
	free := &freeCount{slots: make([]int, len(m.executors))}
	for i, t := range m.executors {
		free.slots[i] = t.FreeSlots()
	}
	return free
}

// allocate books one slot for a requirement.
func (m *Manager) allocate(j *job, asked Profile, free *freeCount) (RequestSlot, bool) {
	chosen := m.choose(asked, free)
	if chosen < 0 {
		return RequestSlot{}, false
	}
	t := m.executors[chosen]
	free.slots[chosen]--
	i := 0
	for t.Slots[i].State != Free {
		i++
	}
	profile := asked
	if profile == (Profile{}) {
		profile = t.SlotProfile()
	}
	a := m.options.NewAllocation()
	t.Slots[i] = Slot{Index: i, State: Pending, Allocation: a, Job: j.id, Profile: profile, asked: asked}
	return RequestSlot{TaskExecutor: t.ID, Instance: t.Instance, Slot: i, Allocation: a, Profile: profile,
		Job: j.id, Master: j.master, MasterAddress: j.masterAddress}, true
}

// choose finds the TaskManager that is to serve the profile, of those with a free
// slot of that size. One that has just refused comes after all others, so that a
// dead one does not keep a job from the slots of the living. It gives its place;
// -1: there is none.
func (m *Manager) choose(asked Profile, free *freeCount) int {
	for free.first < len(free.slots) && free.slots[free.first] == 0 {
		free.first++
	}
	best := -1
	for i := free.first; i < len(free.slots); i++ {
		t := m.executors[i]
		if free.slots[i] == 0 || !asked.Fits(t.SlotProfile()) {
			continue
		}
		if m.options.Balance == InOrder && !t.refused {
			return i
		}
		if best < 0 || m.better(i, best, free) {
			best = i
		}
	}
	return best
}

// better reports whether the TaskManager at place i, which comes after another
// with a free slot, is to be asked before it.
func (m *Manager) better(i, other int, free *freeCount) bool {
	t, o := m.executors[i], m.executors[other]
	if t.refused != o.refused {
		return o.refused
	}
	share, than := free.slots[i]*len(o.Slots), free.slots[other]*len(t.Slots)
	return m.options.Balance == SpreadOut && share > than || m.options.Balance == FillUp && share < than
}
