package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// idle is since when a job has had the slots that nobody uses.
type idle struct {
	looked time.Duration // when the job's master last did something
	since  map[ident.AllocationID]time.Duration
}

// sweepSlack is how much later than the time-out an unused slot may be given back:
// what a master that goes on does not need, and a slow clock adds.
const sweepSlack = 10 * time.Second

// watchIdle checks that a job gives back what nobody has used for as long as
// slot.idle.timeout (6). A master that has done nothing for long could not: its
// slots count from when it goes on.
func (k *checks) watchIdle(m *master, w *watched, job ident.JobID) {
	c, now := k.c, k.c.world.Now()
	stood := now-w.idle.looked > c.settings.interval+sweepSlack || m.proc.FrozenFor() > 0
	w.idle.looked = now
	unused := map[ident.AllocationID]time.Duration{}
	if w.master.Pool().Counts().Free > 0 {
		for _, s := range w.master.Pool().Unused() {
			since, before := w.idle.since[s.Allocation]
			if !before || stood {
				since = now
			}
			unused[s.Allocation] = since
			if now-since > c.settings.slotIdle+sweepSlack {
				k.broken("6", "job %s has had slot %s for %s without any use, and may keep it so for %s", job, s.Allocation, now-since, c.settings.slotIdle)
			}
		}
	}
	w.idle.since = unused
}
