package rescale

import (
	"time"

	"github.com/weirstream/weir/internal/execgraph"
)

// wait is what a job knows that waits for slots.
type wait struct {
	since time.Time
	// enough is since when the slots there are suffice; zero: they do not.
	enough time.Time
	// lost is when slots were last lost, mayReturn how many of them may come back.
	lost      time.Time
	mayReturn int
	shown     bool
}

// await waits for slots.
func (r *Rescaler) await() {
	r.wait.since, r.wait.enough, r.wait.shown = r.now, time.Time{}, false
	r.enter(waiting)
}

// waitOn goes on if there are all slots the job wants, or enough of them and no
// use to wait for others, and gives up when it has waited for too long.
func (r *Rescaler) waitOn() {
	w := &r.wait
	layout := r.target()
	switch {
	case layout == nil:
		w.enough = time.Time{}
	case w.enough.IsZero():
		w.enough = r.now
	}
	wanted, needed := r.shape.wanted(r.bounds)
	due := r.waitDue()
	expired := !due.IsZero() && !r.now.Before(due)
	switch {
	case layout != nil && (r.present >= wanted || expired):
		r.prepare(layout)
	case expired:
		r.history.end(execgraph.RescaleFailed, "EXCEPTION_OCCURRED")
		r.enter(over)
		r.emit(Fail{Needed: needed, Present: r.present, Waited: r.now.Sub(w.since)})
	case r.resume != 0 && !w.shown:
		w.shown = true
		r.emit(Await{})
	}
}

// waitDue is until when the job waits.
func (r *Rescaler) waitDue() time.Time {
	w := &r.wait
	var due time.Time
	if r.opts.WaitTimeout >= 0 {
		due = w.since.Add(r.opts.WaitTimeout)
	}
	if w.enough.IsZero() {
		return due
	}
	stable := w.enough.Add(r.opts.Stabilization)
	if r.resume != 0 && w.mayReturn == 0 {
		replaced := w.enough
		if handed := w.lost.Add(r.opts.Handover); !w.lost.IsZero() && handed.After(replaced) {
			replaced = handed
		}
		stable = earlier(stable, replaced)
	}
	return earlier(due, stable)
}

// earlier is the earlier of two moments, of which a zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
