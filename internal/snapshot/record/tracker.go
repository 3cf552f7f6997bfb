package record

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
)

// A Tracker is told of every step of a job's checkpoints. One goroutine owns it.
type Tracker struct {
	limit    int
	settings Settings
	counts   Counts
	// all are the newest, oldest first. One that is no longer in progress is never
	// written again, but replaced.
	all                          []*Checkpoint
	completed, savepoint, failed *Checkpoint
	restored                     *Restored

	checkpointed, state, millis, processed, persisted summary
}

// NewTracker makes a tracker that remembers as many checkpoints as limit says.
func NewTracker(limit int, settings Settings) *Tracker {
	return &Tracker{limit: limit, settings: settings}
}

// A Part is a vertex and those of its subtasks that take part, in order.
type Part struct {
	Vertex   ident.VertexID
	Subtasks []int
}

// Begin tells of a checkpoint that has an id.
func (t *Tracker) Begin(id int64, kind snapshot.Kind, format snapshot.Format, parts []Part, now time.Time) {
	c := &Checkpoint{ID: id, Kind: kind, Format: format, Triggered: now}
	for _, p := range parts {
		task := Task{Vertex: p.Vertex, Sums: Sums{Count: len(p.Subtasks)}}
		for _, index := range p.Subtasks {
			task.Subtasks = append(task.Subtasks, Subtask{Index: index})
		}
		c.Tasks = append(c.Tasks, task)
		c.Count += len(p.Subtasks)
	}
	t.counts.Total++
	t.counts.InProgress++
	t.all = append(t.all, c)
	t.trim()
}

// trim forgets the oldest that is not in progress, or else the oldest.
func (t *Tracker) trim() {
	for len(t.all) > t.limit {
		i := max(slices.IndexFunc(t.all, func(c *Checkpoint) bool { return c.Status != InProgress }), 0)
		t.all = slices.Delete(slices.Clone(t.all), i, i+1)
	}
}

func (t *Tracker) find(id int64) (int, *Checkpoint) {
	i := slices.IndexFunc(t.all, func(c *Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return i, nil
	}
	return i, t.all[i]
}

// Ack tells of a subtask's acknowledgement.
func (t *Tracker) Ack(id int64, vertex ident.VertexID, subtask int, f Figures, now time.Time) {
	_, c := t.find(id)
	if c == nil || c.Status != InProgress {
		return
	}
	for i := range c.Tasks {
		task := &c.Tasks[i]
		if task.Vertex != vertex {
			continue
		}
		j, found := slices.BinarySearchFunc(task.Subtasks, subtask, func(s Subtask, index int) int { return s.Index - index })
		if !found {
			return
		}
		task.Subtasks[j] = Subtask{Index: subtask, Acked: now, Figures: f}
		task.add(f, now)
		c.add(f, now)
	}
}

func (s *Sums) add(f Figures, now time.Time) {
	s.Acknowledged++
	s.LatestAck = now
	s.Checkpointed += f.Checkpointed
	s.State += f.State
	s.Processed += f.Processed
	s.Persisted += f.Persisted
	s.Unaligned = s.Unaligned || f.Unaligned
}

// Complete tells that a checkpoint is complete and where it is.
func (t *Tracker) Complete(id int64, at fs.Location) {
	t.counts.InProgress--
	t.counts.Completed++
	i, c := t.find(id)
	if c == nil {
		return
	}
	done := *c
	done.Status, done.Location = Completed, at
	t.all[i] = &done
	if done.Kind.Savepoint() {
		t.savepoint = &done
	} else if t.completed == nil || t.completed.ID < id {
		t.completed = &done
	}
	t.checkpointed.add(done.Checkpointed)
	t.state.add(done.State)
	t.millis.add(done.Duration().Milliseconds())
	t.processed.add(done.Processed)
	t.persisted.add(done.Persisted)
}

// Fail tells that a checkpoint has failed.
func (t *Tracker) Fail(id int64, why string, now time.Time) {
	t.counts.InProgress--
	t.counts.Failed++
	i, c := t.find(id)
	if c == nil {
		return
	}
	done := *c
	done.Status, done.Ended, done.Failure = Failed, now, why
	t.all[i] = &done
	if t.failed == nil || t.failed.ID < id {
		t.failed = &done
	}
}

// FailEarly tells that one failed before it had an id.
func (t *Tracker) FailEarly() {
	t.counts.Total++
	t.counts.Failed++
}

// Discard tells that a completed checkpoint was deleted.
func (t *Tracker) Discard(id int64) {
	gone := func(c *Checkpoint) *Checkpoint {
		if c == nil || c.ID != id || c.Status != Completed {
			return c
		}
		other := *c
		other.Discarded = true
		return &other
	}
	if i, c := t.find(id); c != nil {
		t.all[i] = gone(c)
	}
	t.completed, t.savepoint = gone(t.completed), gone(t.savepoint)
}

// Restore tells what tasks begin with.
func (t *Tracker) Restore(r Restored) {
	t.counts.Restored++
	t.restored = &r
}

// View gives what is remembered.
func (t *Tracker) View() *View {
	v := &View{
		Settings: t.settings, Counts: t.counts, Completed: t.completed, Savepoint: t.savepoint, Failed: t.failed, Restored: t.restored,
		Summary: Summary{
			Checkpointed: t.checkpointed.spread(), State: t.state.spread(), Millis: t.millis.spread(),
			Processed: t.processed.spread(), Persisted: t.persisted.spread(),
		},
	}
	for _, c := range slices.Backward(t.all) {
		if c.Status == InProgress {
			c = c.clone()
		}
		v.History = append(v.History, c)
	}
	return v
}

func (c *Checkpoint) clone() *Checkpoint {
	other := *c
	other.Tasks = slices.Clone(c.Tasks)
	for i := range other.Tasks {
		other.Tasks[i].Subtasks = slices.Clone(other.Tasks[i].Subtasks)
	}
	return &other
}
