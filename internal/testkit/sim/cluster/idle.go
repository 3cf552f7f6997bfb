package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// idle are the slots of a job that nobody uses, and since when, in the time that
// its master was awake.
type idle map[ident.AllocationID]time.Duration

// sweepSlack is how much later than the time-out an unused slot may be given back:
// what a slow clock adds, and more.
const sweepSlack = 10 * time.Second

// watchIdle checks that a job gives back what nobody has used for as long as
// slot.idle.timeout (6). The time in which its master is frozen does not count.
func (k *checks) watchIdle(m *master, w *watched, job ident.JobID) {
	if w.master.Pool().Counts().Free == 0 {
		w.idle = nil
		return
	}
	now, unused := m.proc.Awake(), idle{}
	for _, s := range w.master.Pool().Unused() {
		since, before := w.idle[s.Allocation]
		if !before {
			since = now
		}
		unused[s.Allocation] = since
		if limit := k.c.settings.slotIdle; now-since > limit+sweepSlack {
			k.broken("6", "job %s has had slot %s for %s without any use, and may keep it so for %s", job, s.Allocation, now-since, limit)
		}
	}
	w.idle = unused
}
