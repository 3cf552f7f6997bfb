package slotpool

import (
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
)

// jobs are the pools of some batches, and the ResourceManager's part that serves them with
// the slots of one TaskManager. What one says the other hears at once.
type jobs struct {
	t       *testing.T
	now     time.Time
	slots   *slotmanager.Manager
	where   map[ident.AllocationID]int
	pools   []*Pool
	version int64
	granted []int // by pool
	used    []map[ident.AllocationID]bool
}

const theInstance = "te"

func newJobs(t *testing.T, pools, slots int) *jobs {
	j := &jobs{t: t, now: time.Unix(1000, 0), where: map[ident.AllocationID]int{}, granted: make([]int, pools)}
	made := byte(0)
	j.slots = slotmanager.New(slotmanager.Options{NewAllocation: func() ident.AllocationID {
		made++
		return ident.AllocationID{ID: ident.ID{made}}
	}})
	for range pools {
		j.pools = append(j.pools, New(Options{RequestTimeout: 5 * time.Minute, IdleTimeout: 50 * time.Second, Bounded: true}))
		j.used = append(j.used, map[ident.AllocationID]bool{})
	}
	j.manage(slotmanager.Registered{TaskExecutor: theInstance, Slots: slots})
	report := slotmanager.Reported{}
	for i := range slots {
		report.Slots = append(report.Slots, slotmanager.SlotStatus{Index: i})
	}
	j.manage(report)
	return j
}

func job(pool int) ident.JobID { return ident.JobID{ID: ident.ID{byte(pool + 1)}} }

// manage lets the ResourceManager hear of something.
func (j *jobs) manage(ev slotmanager.Event) {
	for _, effect := range j.slots.Apply(ev, j.now) {
		switch f := effect.(type) {
		case slotmanager.MatchAfter:
			j.now = j.now.Add(f.Wait)
			j.manage(slotmanager.Match{})
		case slotmanager.RequestSlot:
			j.where[f.Allocation] = f.Slot
			j.manage(slotmanager.Granted{Slot: f.Slot, Allocation: f.Allocation})
			j.apply(int(f.Job.ID[0])-1, Offer{TaskManager: f.TaskExecutor, Slots: []*execgraph.Slot{{Index: f.Slot, TaskManager: f.TaskExecutor, Allocation: f.Allocation}}})
		case slotmanager.NotEnough:
			pool := int(f.Job.ID[0]) - 1
			j.apply(pool, NotEnough{Needed: f.Needed, Registered: f.Registered, Free: f.Free, Working: len(j.used[pool]) > 0})
		}
	}
}

// apply lets a pool hear of something.
func (j *jobs) apply(pool int, ev Event) {
	for _, effect := range j.pools[pool].Apply(ev, j.now) {
		switch f := effect.(type) {
		case Declare:
			j.version++
			j.manage(slotmanager.Declared{Job: job(pool), Version: j.version, Requirements: []slotmanager.Requirement{{Slots: f.Slots}}})
		case Grant:
			j.used[pool][f.Slot.Allocation] = true
		case Refuse:
			j.t.Fatalf("job %d: %v", pool, f.Cause)
		case Free:
			j.manage(slotmanager.Freed{Slot: j.where[f.Slot.Allocation], Allocation: f.Slot.Allocation})
		}
	}
}

// want asks for so many slots at once.
func (j *jobs) want(pool, slots int) {
	w := Want{}
	for i := range slots {
		w.Requests = append(w.Requests, Request{ID: RequestID(j.granted[pool] + i + 1), Group: "default"})
	}
	j.granted[pool] += slots
	j.apply(pool, w)
}

// until lets time pass until a job uses so many slots.
func (j *jobs) until(pool, slots int) {
	j.t.Helper()
	for range 30 {
		if len(j.used[pool]) == slots {
			return
		}
		j.now = j.now.Add(time.Second)
		for i := range j.pools {
			j.apply(i, Tick{Working: len(j.used[i]) > 0})
		}
	}
	j.t.Fatalf("job %d uses %d slots after 30 s, it needs %d", pool, len(j.used[pool]), slots)
}

// finish gives back what a job uses.
func (j *jobs) finish(pool int) {
	used := j.used[pool]
	j.used[pool] = map[ident.AllocationID]bool{}
	for _, s := range j.pools[pool].Slots() {
		if used[s.Allocation] {
			j.apply(pool, Release{Allocation: s.Allocation})
		}
	}
}

// Two batches each of which has half the slots, and needs all of them for its next region,
// do not wait for one another: neither while more TaskManagers are expected, nor later.
func TestJobsDoNotWaitForOneAnother(t *testing.T) {
	for _, expects := range []bool{true, false} {
		j := newJobs(t, 2, 4)
		if !expects {
			j.manage(slotmanager.StartUpOver{})
		}
		j.want(0, 2)
		j.until(0, 2)
		j.want(1, 4)
		if have := j.pools[1].Counts(); have.Free != 2 || have.Granted != 0 {
			t.Fatalf("the second job, which needs four slots, has %+v", have)
		}
		j.finish(0)
		j.want(0, 4)
		if have := j.pools[0].Counts(); have.Free != 2 || have.Granted != 0 {
			t.Fatalf("the first job, which needs four slots now, has %+v", have)
		}
		j.until(0, 4)
		j.finish(0)
		j.apply(0, Close{})
		j.until(1, 4)
	}
}

// A batch that waits for all slots, one of which is in use for long, does not keep the others
// from those who need fewer.
func TestWhoNeedsTooManyHoldsUpNobody(t *testing.T) {
	j := newJobs(t, 3, 4)
	j.manage(slotmanager.StartUpOver{})
	j.want(0, 1)
	j.until(0, 1)
	j.want(1, 4)
	j.want(2, 2)
	j.until(2, 2)
	j.finish(2)
	j.apply(2, Close{})
	j.finish(0)
	j.apply(0, Close{})
	j.until(1, 4)
}
