package checkpoint

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/invariant"
)

// checkCoordinator holds the coordinator to its invariants.
func checkCoordinator(c *Coordinator, now time.Time) {
	if due := c.Deadline(); !due.IsZero() {
		invariant.Check(due.After(now), "the deadline %s has passed at %s", due, now)
	}
	references := map[fs.Location]int{}
	hold := func(all []fs.Location) {
		for _, l := range all {
			references[l]++
		}
	}
	last := int64(0)
	for _, p := range c.pending {
		invariant.Check(p.id > last, "pending %d after %d", p.id, last)
		last = p.id
		hold(p.held)
		invariant.Check(len(p.acked)+len(p.missing) == len(p.plan.acknowledge), "pending %d: %d acknowledged, %d missing, of %d",
			p.id, len(p.acked), len(p.missing), len(p.plan.acknowledge))
		for a := range p.acked {
			invariant.Check(!p.missing[a], "pending %d: %s has acknowledged and is missing", p.id, a)
		}
		invariant.Check(p.stage >= gathering || p == c.triggering, "pending %d is being triggered and is not", p.id)
	}
	for _, p := range c.dying {
		hold(p.held)
	}
	last = 0
	for _, e := range slices.Concat(c.completed, c.uncertain) {
		hold(e.files)
	}
	for _, e := range c.completed {
		invariant.Check(e.id > last, "completed %d after %d", e.id, last)
		last = e.id
	}
	invariant.Check(len(references) == len(c.files.references), "%d files are counted, %d referred to", len(c.files.references), len(references))
	for l, n := range references {
		invariant.Check(c.files.references[l] == n, "%s is counted %d times, referred to %d times", l, c.files.references[l], n)
	}
	invariant.Check(c.due >= 0, "%d answers are due", c.due)
	invariant.Check(!c.ended || len(c.queue) == 0, "the job has ended, and requests wait")
}
