package checkpoint

import (
	"slices"

	"github.com/weirstream/weir/internal/snapshot"
)

// maxQueued is how many requests may wait.
const maxQueued = 1000

// A waiting request. ID 0: it is a periodic one.
type waiting struct {
	Request
	// forced requests pass although MaxConcurrent are pending.
	forced bool
}

func (w *waiting) periodic() bool { return w.ID == 0 }

// compare orders requests: savepoints first, then forced ones, then those of
// people before periodic ones. Of equal ones the older goes first.
func compare(a, b *waiting) int {
	rank := func(w *waiting) (r int) {
		for _, later := range []bool{!w.Kind.Savepoint(), !w.forced, w.periodic()} {
			r <<= 1
			if later {
				r++
			}
		}
		return r
	}
	return rank(a) - rank(b)
}

// queue holds the requests that wait, in the order they will be run.
type queue []*waiting

func (q queue) holdsPeriodic() bool { return slices.ContainsFunc(q, (*waiting).periodic) }

func (q *queue) add(w *waiting) {
	*q = append(*q, w)
	slices.SortStableFunc(*q, compare)
}

func (q *queue) take() *waiting {
	first := (*q)[0]
	*q = (*q)[1:]
	return first
}

// request takes a person's wish.
func (c *Coordinator) request(ev Request) {
	stops := ev.Stop == Suspend || ev.Stop == Drain
	switch {
	case stops != (ev.Kind == snapshot.SyncSavepoint), ev.Stop == Cancel && ev.Kind != snapshot.Savepoint:
		c.answer(ev.ID, &Error{Reason: TriggerFailure, Detail: "A " + ev.Kind.String() + " cannot stop a job this way."})
	case ev.Kind.Savepoint() && ev.Target == "":
		c.answer(ev.ID, &Error{Reason: IOProblem, Detail: "No directory is given for the savepoint."})
	case c.ended:
		c.answer(ev.ID, &Error{Reason: CoordinatorShutdown})
	case ev.Stop != KeepRunning && c.stopping != 0:
		c.answer(ev.ID, &Error{Reason: CoordinatorSuspend, Detail: "The job is being stopped with a savepoint already."})
	default:
		if ev.Stop != KeepRunning {
			c.stopping = ev.ID
			c.schedule(0)
			c.queue = slices.DeleteFunc(c.queue, (*waiting).periodic)
		}
		c.enqueue(ev)
	}
}

// answer refuses a person's wish.
func (c *Coordinator) answer(id RequestID, err *Error) {
	if id != 0 {
		c.emit(Answer{Request: id, Err: err})
	}
}

// enqueue lets a request wait. When there are too many, the newest periodic one
// has to go, or else the new one.
func (c *Coordinator) enqueue(r Request) {
	w := &waiting{Request: r, forced: r.Kind.Savepoint() && !c.opts.Unaligned}
	if len(c.queue) >= maxQueued && !c.queue[len(c.queue)-1].periodic() {
		c.refuse(w, &Error{Reason: TooManyRequests})
		return
	}
	c.queue.add(w)
	if len(c.queue) > maxQueued {
		last := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		c.refuse(last, &Error{Reason: TooManyRequests})
	}
}

// refuse ends a request that was not triggered.
func (c *Coordinator) refuse(w *waiting, err *Error) {
	c.answer(w.ID, err)
	c.resume(w.ID)
}

// resume lets periodic checkpoints be taken again when the savepoint that would
// have stopped the job has failed.
func (c *Coordinator) resume(id RequestID) {
	if id != 0 && c.stopping == id {
		c.stopping, c.standstill = 0, false
		c.schedule(c.opts.Interval)
	}
}

// choose runs the requests that may run now.
func (c *Coordinator) choose() {
	for c.triggering == nil && !c.standstill && len(c.queue) > 0 && len(c.discards) <= c.opts.MaxConcurrent {
		first := c.queue[0]
		if len(c.pending) >= c.opts.MaxConcurrent && !first.forced {
			return
		}
		if first.periodic() && !c.completion.IsZero() {
			if pause := c.completion.Add(c.opts.MinPause).Sub(c.now); pause > 0 {
				c.queue.take()
				c.schedule(pause)
				return
			}
		}
		c.trigger(c.queue.take())
	}
}
