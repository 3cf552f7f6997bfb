package alignment

import (
	"math"

	"github.com/weirstream/weir/internal/coordinator/alignment/message"
)

// noWatermark is that of a subtask that has not had a record.
const noWatermark = math.MinInt64

// source is what is known of one source's subtasks. It is a pure core.
type source struct{ subtasks []subtask }

// subtask is how far one has come, which holds the group unless it is free: idle or
// finished.
type subtask struct {
	watermark int64
	free      bool
}

// newSource knows nothing of its subtasks, so each of them holds the group.
func newSource(parallelism int) *source {
	s := &source{subtasks: make([]subtask, parallelism)}
	for i := range s.subtasks {
		s.subtasks[i].watermark = noWatermark
	}
	return s
}

// report notes what a subtask says of itself.
func (s *source) report(i int, r message.Report) {
	s.subtasks[i] = subtask{watermark: r.Watermark, free: r.Idle}
}

// finish notes that a subtask has ended.
func (s *source) finish(i int) { s.subtasks[i].free = true }

// reset notes that a subtask begins anew, further back than it was. Until it says
// where, it holds everybody: who went on from what it said last would be too far ahead.
func (s *source) reset(i int) { s.subtasks[i] = subtask{watermark: noWatermark} }

// allowed is how far a source may go that may drift so far ahead of the subtask that is
// furthest behind. If none holds the group, it may go as far as it can.
func allowed(group []*source, driftMillis int64) int64 {
	least, held := int64(math.MaxInt64), false
	for _, s := range group {
		for _, t := range s.subtasks {
			if !t.free {
				least, held = min(least, t.watermark), true
			}
		}
	}
	switch {
	case !held || least > math.MaxInt64-driftMillis:
		return math.MaxInt64
	case least == noWatermark:
		return noWatermark
	}
	return least + driftMillis
}
