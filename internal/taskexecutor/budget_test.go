package taskexecutor

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// withBudgets gives the workers of the world a budget: two slots have 8 MB of
// network memory, a worker without a slot has 2 MB.
func (w *world) withBudgets() {
	all := memory.TaskManagerMemory{Process: 1000 * memory.MB, FrameworkHeap: 100 * memory.MB, FrameworkOffHeap: 100 * memory.MB, Network: 8 * memory.MB}
	w.e.options.Share = func(held int) memory.Share { return all.Share(held, 2) }
	w.start()
}

const mb = 1 << 20

func (w *world) freeSlot(a byte) {
	w.t.Helper()
	w.must(call(w, gateway.FreeSlot, &pb.FreeSlotRequest{AllocationId: allocation(a), Cause: "no longer needed"}))
}

// The budget of a worker is that of the slots its job holds, and follows them.
func TestBudgetFollowsTheSlots(t *testing.T) {
	inWorld(t, func(w *world) {
		w.withBudgets()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		fw := w.workers[0]
		if s := fw.share; s.Held != 1 || s.Slots != 2 || s.Hard != 400*memory.MB || s.Soft != 360*memory.MB || s.Network != 4*memory.MB {
			t.Errorf("launched with %+v", s)
		}
		w.must2(fw.register(submitted))
		w.want("jm: register te-1", "jm: offered 1", "launch job", "worker: run t1")
		w.must(w.requestSlot(1, 2))
		w.must(w.submit(2, 2))
		w.want("worker: budget of 2 of 2 slots, 8388608 network", "jm: offered 1", "worker: run t2")
		fw.state(attempt(2), "FINISHED", nil)
		w.freeSlot(2)
		w.want("jm: t2 FINISHED", "rm: slot 1 free", "worker: budget of 1 of 2 slots, 4194304 network")
		if want := []int{2, 1}; !slices.Equal(fw.limits, want) {
			t.Errorf("the process was limited to %d slots, want %d", fw.limits, want)
		}
		w.on(func() {
			if v := w.e.View(); v.Budgets != 1 {
				t.Errorf("%d slots' worth of memory are given away, want 1", v.Budgets)
			}
		})
	})
}

// What a worker does not give back at once nobody else gets, and the other's
// tasks wait for it, but not for ever.
func TestBudgetsTogetherAreNeverMoreThanThereIs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.withBudgets()
		w.must(w.requestSlot(0, 1))
		w.must(w.requestSlot(1, 2))
		w.must(w.submit(1, 1))
		first := w.workers[0]
		w.must2(first.register(submitted))
		w.want("jm: register te-1", "jm: offered 1", "jm: offered 1", "launch job", "worker: run t1")
		w.on(func() { first.keeps = 6 * mb })
		w.freeSlot(2)
		w.want("rm: slot 1 free", "worker: budget of 1 of 2 slots, 4194304 network")

		other := ident.JobID{ID: ident.ID{2}}
		w.jm.Serve(gateway.JobMaster(other), w.loop, w.jmMux)
		w.must(w.requestSlotFor(other, 1, 3))
		w.must(w.submitFor(other, 2, 3))
		second := w.workers[1]
		if s := second.share; s.Held != 0 || s.Network != 2*memory.MB || s.Hard != 400*memory.MB {
			t.Errorf("launched with %+v", s)
		}
		w.must2(second.register(submitted))
		w.want("jm: register te-1", "jm: offered 1", "launch job")
		time.Sleep(budgetPause) // of virtual time
		w.want("worker: budget of 1 of 2 slots, 4194304 network")
		w.on(func() { first.keeps = 3 * mb })
		time.Sleep(budgetPause)
		w.want("worker: budget of 1 of 2 slots, 4194304 network", "worker: budget of 1 of 2 slots, 4194304 network", "worker: run t2")
		if !slices.Equal(first.limits, []int{}) && !slices.Equal(first.limits, []int{1}) {
			t.Errorf("the first process was limited to %d slots", first.limits)
		}
		w.on(func() {
			if v := w.e.View(); v.Budgets != 2 {
				t.Errorf("%d slots' worth of memory are given away, want 2", v.Budgets)
			}
		})
		w.freeSlot(3)
		w.want("worker: stop t2", "jm: t2 FAILED: Error, the slot was released: no longer needed", "rm: slot 1 free", "worker: shut down")
	})
}

// Tasks are started with too little memory rather than never.
func TestTasksDoNotWaitForEverForTheirBudget(t *testing.T) {
	inWorld(t, func(w *world) {
		w.withBudgets()
		w.must(w.requestSlot(0, 1))
		w.must(w.requestSlot(1, 2))
		w.must(w.submit(1, 1))
		first := w.workers[0]
		w.must2(first.register(submitted))
		w.on(func() { first.keeps = 8 * mb })
		w.freeSlot(2)
		other := ident.JobID{ID: ident.ID{2}}
		w.jm.Serve(gateway.JobMaster(other), w.loop, w.jmMux)
		w.must(w.requestSlotFor(other, 1, 3))
		w.must(w.submitFor(other, 2, 3))
		w.must2(w.workers[1].register(submitted))
		w.on(func() { w.heard = nil })
		time.Sleep(w.e.options.WorkerGrace)
		synctest.Wait()
		w.on(func() {
			if n := len(w.heard); n == 0 || w.heard[n-1] != "worker: run t2" && !slices.Contains(w.heard, "worker: run t2") {
				t.Errorf("heard %q, want the task to be run", w.heard)
			}
			if v := w.e.View(); v.Budgets != 2 {
				t.Errorf("%d slots' worth of memory are given away, want 2", v.Budgets)
			}
			w.heard = nil
		})
		// The worker that gave nothing back dies, and its memory is the other's.
		first.exit(nil)
		synctest.Wait()
		w.on(func() {
			if !slices.Contains(w.heard, "worker: budget of 1 of 2 slots, 4194304 network") {
				t.Errorf("heard %q, want the other worker to get its budget", w.heard)
			}
		})
	})
}

// must2 fails the test if a worker was rejected.
func (w *world) must2(rejected string) {
	w.t.Helper()
	if rejected != "" {
		w.t.Fatal(rejected)
	}
}
