package cluster

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// idle are the slots of a job that nobody uses, and since when, in the time that
// its master was awake.
type idle map[ident.AllocationID]time.Duration

// sweepSlack is how much later than the time-out an unused slot may be given back:
// what a slow clock adds, and more.
const sweepSlack = 10 * time.Second

// watchIdle checks that a job gives back what nobody has used for as long as
// slot.idle.timeout (6). The time in which its master is frozen does not count, nor that
// in which something may be unread where the slot is.
func (k *checks) watchIdle(m *master, w *watched, v *execgraph.View) {
	if w.master.Pool().Counts().Free == 0 {
		w.idle = nil
		return
	}
	now, unused := m.proc.Awake(), idle{}
	for _, s := range w.master.Pool().Unused() {
		since, before := w.idle[s.Allocation]
		if limit := k.c.settings.slotIdle; !before || now-since > limit && unread(v, s.TaskManager) {
			since = now
		}
		unused[s.Allocation] = since
		if limit := k.c.settings.slotIdle; now-since > limit+sweepSlack {
			k.broken("6", "job %s has had slot %s for %s without any use, and may keep it so for %s", v.Job, s.Allocation, now-since, limit)
		}
	}
	w.idle = unused
}

// unread reports whether a task has finished on a TaskManager while one of another vertex,
// which may read from it, has not.
func unread(v *execgraph.View, tm ident.ResourceID) bool {
	for i, vertex := range v.Vertices {
		finished := slices.ContainsFunc(vertex.Subtasks, func(s execgraph.SubtaskView) bool { return s.State == status.Finished && s.TaskManager == tm })
		for j, other := range v.Vertices {
			if finished && i != j && slices.ContainsFunc(other.Subtasks, func(s execgraph.SubtaskView) bool { return !s.State.Terminal() }) {
				return true
			}
		}
	}
	return false
}
