package taskexecutor

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// budget is what a worker may use, counted in slots: all slots are equal.
//
//	slots of the job grow:    granted grows at once, as far as others leave room ──SetBudget──▶ told
//	slots of the job shrink:  ──SetBudget──▶ told, and granted once the worker holds no more
//
// Invariant: the sum of granted over all workers is at most the number of slots.
type budget struct {
	granted int  // that nobody else has meanwhile
	told    int  // that the worker knows of
	asking  bool // SetBudget is under way
	again   actor.Timer
	// patience runs while tasks wait for the worker's budget; hasty says that it
	// ran out, and tasks are started with what there is.
	patience actor.Timer
	hasty    bool
}

// budgetPause is the time between two questions whether a worker has given back
// what it has too much.
const budgetPause = time.Second

// wanted is how many slots a worker's budget should be for.
func (e *Executor) wanted(w *worker) int {
	if w.job.worker != w {
		return 0
	}
	return len(e.table.OfJob(w.job.id))
}

// room is how many slots' worth nobody has.
func (e *Executor) room() int {
	left := e.table.Size()
	for _, w := range e.workers {
		left -= w.granted
	}
	return left
}

// share is the budget of so many slots.
func (e *Executor) share(slots int) memory.Share {
	if e.options.Share == nil {
		return memory.Share{}
	}
	return e.options.Share(slots)
}

// fit brings the budgets of the workers to the slots of their jobs.
func (e *Executor) fit() {
	if e.options.Share == nil || e.stopped != nil {
		return
	}
	for _, w := range e.workers {
		if wanted := e.wanted(w); w.state == workerReady && wanted < w.told {
			e.tell(w, wanted)
		}
	}
	for _, w := range e.workers {
		more := min(e.wanted(w), w.granted+e.room())
		if w.state == workerReady && more > w.told && !w.asking {
			w.granted = max(more, w.granted)
			w.handle.Limit(e.share(more)) // before it uses more
			e.tell(w, more)
		}
	}
}

// tell lets a worker know its budget. What it does not give back at once it is
// asked for again.
func (e *Executor) tell(w *worker, slots int) {
	b := &w.budget
	if b.asking {
		return
	}
	b.asking = true
	stopTimer(&b.again)
	s := e.share(slots)
	request := &pb.WorkerBudget{Held: int32(s.Held), Slots: int32(s.Slots), Memory: int64(s.Soft), Network: int64(s.Network), AllNetwork: int64(s.AllNetwork)}
	gateway.SetBudget.Call(e.system, e.loop, w.address, ident.LeaderID{}, request, e.options.HeartbeatTimeout, func(answer *pb.WorkerBudgetResponse, err error) {
		b.asking = false
		switch {
		case w.state != workerReady:
			return
		case err != nil: // its heartbeats, or the connection, tell what is wrong with it
			e.log.Warn("a worker did not take its budget", "job", w.job.id, "error", err)
			b.again = e.loop.After(budgetPause, e.fit)
			return
		}
		shrinks := slots < b.told
		b.told = slots
		if b.granted = max(slots, e.slotsOf(answer.Network)); b.granted > slots {
			b.again = e.loop.After(budgetPause, func() {
				if w.state == workerReady {
					e.tell(w, min(e.wanted(w), b.granted))
				}
			})
		} else if shrinks {
			w.handle.Limit(s)
		}
		e.log.Info("worker has another budget", "job", w.job.id, "slots", s.Held, "of", s.Slots, "memory", s.Hard, "network", s.Network)
		e.fit()
		e.runWaiting(w)
	})
}

// slotsOf is how many slots have that much network memory.
func (e *Executor) slotsOf(network int64) int {
	of := int64(e.share(1).Network)
	if network <= int64(e.share(0).Network) || of == 0 {
		return 0
	}
	return int((network + of - 1) / of)
}

// affords reports whether a worker has the budget of its job's slots, so that its
// tasks find what they need. When others do not give back in time what they must,
// tasks are started with less.
func (e *Executor) affords(w *worker) bool {
	b := &w.budget
	if e.options.Share == nil || b.hasty || b.told >= e.wanted(w) {
		return true
	}
	if b.patience == nil {
		b.patience = e.loop.After(e.options.WorkerGrace, func() {
			e.log.Warn("tasks are started before all memory of their slots is there", "job", w.job.id, "has", b.told, "slots", e.wanted(w))
			b.hasty = true
			e.runWaiting(w)
		})
	}
	return false
}

// runWaiting runs the tasks that waited for the worker or its budget.
func (e *Executor) runWaiting(w *worker) {
	if b := &w.budget; b.told >= e.wanted(w) {
		b.hasty = false
		stopTimer(&b.patience)
	}
	for _, t := range slices.Clone(w.job.tasks) {
		if t.worker == w {
			e.run(t)
		}
	}
}

// forgetBudget gives what a worker had to others: it is gone.
func (e *Executor) forgetBudget(w *worker) {
	stopTimer(&w.budget.again)
	stopTimer(&w.budget.patience)
	w.budget = budget{}
	e.fit()
}

// describe says whose process a worker is, for messages.
func (w *worker) describe() string { return fmt.Sprintf("the process of job %s", w.program.Name) }
