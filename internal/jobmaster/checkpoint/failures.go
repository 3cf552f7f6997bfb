package checkpoint

import (
	"math"
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// exceeded is Flink's text when too many checkpoints have failed.
const exceeded = "Exceeded checkpoint tolerable failure threshold."

// failures counts those that failed since the last success, each once.
type failures struct {
	tolerable   int
	count       int
	counted     []int64 // their ids
	lastSuccess int64
}

// add counts a failure, and reports whether there are now too many, which it then
// forgets. An id of 0 is one that had none yet.
func (f *failures) add(id int64, reason Reason) bool {
	if f.tolerable == math.MaxInt32 || !reason.Counted() || id != 0 && (id <= f.lastSuccess || slices.Contains(f.counted, id)) {
		return false
	}
	f.count++
	if id != 0 {
		f.counted = append(f.counted, id)
	}
	if f.count <= f.tolerable {
		return false
	}
	f.clear()
	return true
}

func (f *failures) success(id int64) {
	if id > f.lastSuccess {
		f.lastSuccess = id
		f.clear()
	}
}

func (f *failures) clear() { f.count, f.counted = 0, nil }

// count counts a failed checkpoint against what is tolerated. blame is the task
// that failed it; nil: none did.
//
// Failures of savepoints do not count when no task is to blame: who asked is
// told, and restarting the job would not help. One that stops the job has its
// tasks waiting, so that its failure always is the job's. While the job does not
// run nothing counts: it is failing already.
func (c *Coordinator) count(p *pending, err *Error, blame *ident.AttemptID) {
	if p.kind().Savepoint() && blame == nil || c.job != status.JobRunning || !c.failures.add(p.id, err.Reason) {
		return
	}
	failure := status.FailureOf(err).Wrapped(exceeded)
	if blame != nil {
		c.emit(FailTask{Attempt: *blame, Cause: failure})
	} else {
		c.emit(FailJob{Cause: failure})
	}
}
