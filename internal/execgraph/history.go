package execgraph

import (
	"fmt"
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
	// in the same cancellation, that have causes of their own or the same one.
	Concurrent []FailureEntry
	// Folded are the failures that only follow from this one, such as the broken
	// connections of the peers of a process that died.
	Folded []FailureEntry
	// Decision is what was done about it; nil in Concurrent and Folded.
	Decision *Decision

	id EntryID
}

// An EntryID names a root entry of a job's failure history; 0 names none.
type EntryID int64

// A Decision is what was done about a failure.
type Decision struct {
	// Restarted says that tasks run again, Tasks of them, after Delay.
	Restarted bool
	Delay     time.Duration
	Tasks     int
	// Attempt is the number of the restart in the job's life, from 1.
	Attempt int
	// Strategy is the restart strategy that decided, as Flink writes it; empty:
	// it was not asked.
	Strategy string
	// Why is why nothing was restarted.
	Why string
}

func (d *Decision) String() string {
	switch {
	case !d.Restarted:
		return "not restarted because " + d.Why
	case d.Tasks == 1:
		return fmt.Sprintf("restarted 1 task after %s (restart %d, %s)", d.Delay, d.Attempt, d.Strategy)
	default:
		return fmt.Sprintf("restarted %d tasks after %s (restart %d, %s)", d.Tasks, d.Delay, d.Attempt, d.Strategy)
	}
}

// history is the failures of a job, oldest first, at most limit of them.
//
// Views share the entries' slices: what is appended to one is never seen by a
// view that was made before, because every append begins by clipping.
type history struct {
	limit     int
	entries   []FailureEntry
	truncated bool
	last      EntryID // given out
	// view is the entries as they are shown, newest first; nil: to be made. Views
	// share it, so it is never changed.
	view []FailureEntry
}

// shown gives the entries, newest first.
func (h *history) shown() []FailureEntry {
	if h.view == nil {
		h.view = slices.Clone(h.entries)
		slices.Reverse(h.view)
	}
	return h.view
}

// maxConcurrent bounds the failures kept beside a root entry: one lost
// TaskManager fails each of its tasks, and thousands say no more than some.
const maxConcurrent = 100

// LimitHistory sets how many failures the job remembers; at least 1.
func (g *Graph) LimitHistory(n int) { g.history.limit = max(n, 1) }

// find gives a root entry; nil: there is none, or it has been dropped.
func (h *history) find(id EntryID) *FailureEntry {
	i := slices.IndexFunc(h.entries, func(f FailureEntry) bool { return f.id == id })
	if i < 0 {
		return nil
	}
	return &h.entries[i]
}

// change gives a root entry that is about to change; nil: there is none.
func (h *history) change(id EntryID) *FailureEntry {
	h.view = nil
	return h.find(id)
}

// RecordFailure begins a new entry of the failure history. e is the attempt
// that failed, or nil when the whole job did.
func (g *Graph) RecordFailure(e *Execution, cause *status.Failure, now time.Time) EntryID {
	h := &g.history
	h.view = nil
	h.last++
	f := entry(e, cause, now)
	f.id = h.last
	h.entries = append(h.entries, f)
	if len(h.entries) > h.limit {
		h.entries = slices.Delete(h.entries, 0, len(h.entries)-h.limit)
		h.truncated = true
	}
	return f.id
}

// RecordConcurrent adds a failure to an entry.
func (g *Graph) RecordConcurrent(to EntryID, e *Execution, cause *status.Failure, now time.Time) {
	if root := g.history.change(to); root != nil && len(root.Concurrent) < maxConcurrent {
		root.Concurrent = append(slices.Clip(root.Concurrent), entry(e, cause, now))
	}
}

// Fold adds a failure that only follows from that of an entry.
func (g *Graph) Fold(to EntryID, e *Execution, cause *status.Failure, now time.Time) {
	if root := g.history.change(to); root != nil && len(root.Folded) < maxConcurrent {
		root.Folded = append(slices.Clip(root.Folded), entry(e, cause, now))
	}
}

// ReplaceRoot makes a failure the root of an entry, because the one that began
// it turned out to follow from this one: that, as it was before the decision
// about it, is folded under it, and so are the concurrent ones that follow too.
func (g *Graph) ReplaceRoot(of EntryID, e *Execution, cause, before *status.Failure, follows func(*FailureEntry) bool, now time.Time) {
	root := g.history.change(of)
	if root == nil {
		return
	}
	old := *root
	old.Failure, old.Concurrent, old.Folded, old.Decision, old.id = before, nil, nil, nil, 0
	folded := append([]FailureEntry{old}, root.Folded...)
	var concurrent []FailureEntry
	for _, c := range root.Concurrent {
		if follows(&c) {
			folded = append(folded, c)
		} else {
			concurrent = append(concurrent, c)
		}
	}
	decision := root.Decision
	*root = entry(e, cause, now)
	root.id, root.Decision = of, decision
	root.Concurrent, root.Folded = concurrent, folded[:min(len(folded), maxConcurrent)]
}

// Decide notes what was done about the failure of an entry.
func (g *Graph) Decide(about EntryID, d Decision) {
	if root := g.history.change(about); root != nil {
		root.Decision = &d
	}
}

// Root gives the root of an entry, as it is now; false: it has been dropped.
func (g *Graph) Root(id EntryID) (FailureEntry, bool) {
	root := g.history.find(id)
	if root == nil {
		return FailureEntry{}, false
	}
	return *root, true
}

// FindRoot finds the newest entry that is as asked; 0: none is.
func (g *Graph) FindRoot(is func(*FailureEntry) bool) EntryID {
	for i := len(g.history.entries) - 1; i >= 0; i-- {
		if f := &g.history.entries[i]; is(f) {
			return f.id
		}
	}
	return 0
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
