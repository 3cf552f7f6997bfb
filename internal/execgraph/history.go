package execgraph

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// DefaultHistory is how many failures a job remembers: Flink's
// web.exception-history-size.
const DefaultHistory = 16

// A FailureEntry is one decision about a failure: the one that made it
// necessary, and those that came while it was carried out.
type FailureEntry struct {
	Failure *status.Failure
	Time    time.Time
	// Task is the subtask as people read it, "Map (2/4)"; empty when the whole
	// job failed. The four fields after it are then zero as well, and those of
	// the place also when the task had none yet.
	Task        string
	Attempt     ident.AttemptID
	TaskManager ident.ResourceID
	Host        string
	// Concurrent are the failures of other attempts in the same recovery, and
	// in the same cancellation.
	Concurrent []FailureEntry
}

// history is the failures of a job, oldest first, at most limit of them.
type history struct {
	limit     int
	entries   []FailureEntry
	truncated bool
}

// maxConcurrent bounds the failures kept beside a root entry: one lost
// TaskManager fails each of its tasks, and thousands say no more than some.
const maxConcurrent = 100

// LimitHistory sets how many failures the job remembers; at least 1.
func (g *Graph) LimitHistory(n int) { g.history.limit = max(n, 1) }

// RecordFailure begins a new entry of the failure history. e is the attempt
// that failed, or nil when the whole job did.
func (g *Graph) RecordFailure(e *Execution, cause *status.Failure, now time.Time) {
	h := &g.history
	h.entries = append(h.entries, entry(e, cause, now))
	if len(h.entries) > h.limit {
		h.entries = slices.Delete(h.entries, 0, len(h.entries)-h.limit)
		h.truncated = true
	}
}

// RecordConcurrent adds a failure to the newest entry, or begins one where
// there is none.
func (g *Graph) RecordConcurrent(e *Execution, cause *status.Failure, now time.Time) {
	h := &g.history
	if len(h.entries) == 0 {
		g.RecordFailure(e, cause, now)
		return
	}
	root := &h.entries[len(h.entries)-1]
	if len(root.Concurrent) < maxConcurrent {
		// Clipped, so that a view which shares the older ones never sees it.
		root.Concurrent = append(slices.Clip(root.Concurrent), entry(e, cause, now))
	}
}

// ReplaceRoot makes a failure the root of the newest entry, because the one that
// began it turned out to follow from this one: that, as it was before the
// decision about it, becomes the first of the concurrent ones.
func (g *Graph) ReplaceRoot(e *Execution, cause, follows *status.Failure, now time.Time) {
	h := &g.history
	root := &h.entries[len(h.entries)-1]
	old := *root
	old.Failure, old.Concurrent = follows, nil
	concurrent := append([]FailureEntry{old}, root.Concurrent...)
	*root = entry(e, cause, now)
	root.Concurrent = concurrent[:min(len(concurrent), maxConcurrent)]
}

// FirstCause is the failure at the root of the newest entry; nil: none.
func (g *Graph) FirstCause() *status.Failure {
	if n := len(g.history.entries); n > 0 {
		return g.history.entries[n-1].Failure
	}
	return nil
}

func entry(e *Execution, cause *status.Failure, now time.Time) FailureEntry {
	f := FailureEntry{Failure: cause, Time: now}
	if e != nil {
		f.Task, f.Attempt = e.Vertex.Name(), e.ID
		if e.Slot != nil {
			f.TaskManager, f.Host = e.Slot.TaskManager, e.Slot.Host
		}
	}
	return f
}
