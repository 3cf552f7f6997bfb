package checkpoint

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// A completed checkpoint is in the store, and can be restored from.
type completed struct {
	id       int64
	metadata *snapshot.Metadata
	dir      fs.Location // empty: in memory
	// owned says that the job deletes it; otherwise a person does.
	owned bool
	files []fs.Location
	// damage is why it cannot be restored from; nil: it can, as far as is known.
	damage error
}

// finalize puts together what all have acknowledged.
func (c *Coordinator) finalize(p *pending) {
	p.stage = writing
	metadata, err := c.metadata(p)
	if err != nil {
		p.stage = gathering // nothing is being written
		c.abort(p, &Error{Reason: DeclinedClosing, Cause: err}, nil)
		return
	}
	p.metadata = metadata
	if p.dir == "" {
		c.store(p)
		return
	}
	c.due++
	c.emit(WriteMetadata{Checkpoint: p.id, Dir: p.dir, Metadata: metadata})
}

// metadata describes all operators of the job. It fails when a list that every
// subtask must have whole lacks the part of a subtask that has finished.
func (c *Coordinator) metadata(p *pending) (*snapshot.Metadata, error) {
	m := &snapshot.Metadata{
		Checkpoint: p.id, Job: c.graph.Job, JobName: c.graph.Name, Kind: p.kind(), Format: p.request.Format,
		Unaligned: p.unaligned, Triggered: p.begun, Version: c.opts.Version,
	}
	states := c.statesByOperator(p)
	for i, v := range c.graph.Vertices {
		finished := p.plan.finished[i]
		some, all := slices.Contains(finished, true), !slices.Contains(finished, false)
		for _, o := range v.Operators {
			state := snapshot.OperatorState{
				ID: o.ID, UID: o.UID, Name: o.Name, Vertex: v.Name, Parallelism: v.Parallelism, MaxParallelism: v.MaxParallelism,
				Finished: all, Coordinator: p.coordinators[o.ID],
			}
			if !all {
				state.Subtasks = states[o.ID]
				if state.Subtasks == nil {
					state.Subtasks = make([]snapshot.SubtaskState, v.Parallelism)
				}
				for s := range state.Subtasks {
					state.Subtasks[s].Finished = state.Subtasks[s].Finished || finished[s]
				}
			}
			if some && !all && union(&state) {
				return nil, &unionError{v}
			}
			m.Operators = append(m.Operators, state)
		}
	}
	return m, nil
}

// A unionError is Flink's refusal of a union list in a vertex that has finished
// in part.
type unionError struct{ vertex *jobgraph.Vertex }

func (e *unionError) Error() string {
	return fmt.Sprintf("The vertex %s (id = %s) has used UnionListState, but part of its tasks are FINISHED.", e.vertex.Name, e.vertex.ID)
}

func union(o *snapshot.OperatorState) bool {
	return slices.ContainsFunc(o.Subtasks, func(s snapshot.SubtaskState) bool {
		return slices.ContainsFunc(s.Lists, func(l snapshot.ListState) bool { return l.Mode == snapshot.Union })
	})
}

// statesByOperator gives what the tasks have acknowledged, by operator and
// subtask.
func (c *Coordinator) statesByOperator(p *pending) map[ident.OperatorID][]snapshot.SubtaskState {
	states := map[ident.OperatorID][]snapshot.SubtaskState{}
	for _, a := range p.plan.acknowledge {
		parallelism := c.graph.Vertices[c.tasks.places[a.Vertex]].Parallelism
		for _, s := range p.acked[a].States {
			if states[s.Operator] == nil {
				states[s.Operator] = make([]snapshot.SubtaskState, parallelism)
			}
			states[s.Operator][a.Subtask] = s.State
		}
	}
	return states
}

func (c *Coordinator) metadataWritten(ev MetadataWritten) {
	c.due--
	if i := slices.IndexFunc(c.dying, func(p *pending) bool { return p.id == ev.Checkpoint }); i >= 0 {
		p := c.dying[i]
		c.dying = slices.Delete(c.dying, i, i+1)
		c.unmake(p)
	} else if p := c.find(ev.Checkpoint); p != nil && p.stage == writing {
		if ev.Err != nil {
			c.drop(p)
			c.unmake(p)
			c.fail(p, &Error{Reason: FinalizeFailure, Cause: ev.Err}, nil)
		} else {
			c.store(p)
		}
	}
	c.clear()
}

// unmake deletes all files of a checkpoint that will not be, the metadata first.
func (c *Coordinator) unmake(p *pending) {
	metadata := fs.Location("")
	if p.dir != "" {
		metadata = p.dir.Join(snapshot.MetadataName)
	}
	c.discard(0, metadata, c.files.release(p.held), p.dir)
}

// store enters a checkpoint into the store. A savepoint that only looks is not
// restored from, and needs no entry.
func (c *Coordinator) store(p *pending) {
	p.stage = storing
	if p.kind() == snapshot.Savepoint {
		c.complete(p)
		return
	}
	c.due++
	c.emit(Store{Pointer: Pointer{Checkpoint: p.id, Location: p.dir}, Metadata: p.metadata})
}

func (c *Coordinator) stored(ev Stored) {
	c.due--
	p := c.find(ev.Checkpoint)
	if p == nil || p.stage != storing {
		return
	}
	if c.job == status.JobSuspended {
		// Whoever leads now finds it in the store, or does not; nothing is deleted.
		c.drop(p)
		c.files.release(p.held)
		c.files.disown(p.held...)
		c.fail(p, &Error{Reason: CoordinatorShutdown, Cause: ev.Err}, nil)
		return
	}
	switch {
	case ev.Err == nil:
		c.complete(p)
	case ev.Uncertain:
		// The pointer may be there: what it points to stays until a newer one is.
		c.uncertain = append(c.uncertain, c.entry(p, true))
		c.report(slog.LevelError, "it is not known whether the checkpoint is in the store; its files are kept", p.id, ev.Err)
		c.drop(p)
		c.discard(0, "", c.files.release(p.held), "")
		c.fail(p, &Error{Reason: FinalizeFailure, Cause: ev.Err}, nil)
	default:
		c.drop(p)
		c.unmake(p)
		c.fail(p, &Error{Reason: FinalizeFailure, Cause: ev.Err}, nil)
	}
	c.clear()
}

// entry is a pending checkpoint as a completed one, which refers to its files.
func (c *Coordinator) entry(p *pending, owned bool) *completed {
	done := &completed{id: p.id, metadata: p.metadata, dir: p.dir, owned: owned, files: locations(p.metadata.Handles())}
	c.own(done)
	return done
}

// own counts the references of a completed checkpoint.
func (c *Coordinator) own(done *completed) {
	c.files.hold(done.files)
	if !done.owned {
		c.files.disown(done.files...)
	}
}

// complete ends a checkpoint that is whole and safe.
func (c *Coordinator) complete(p *pending) {
	c.drop(p)
	c.failures.success(p.id)
	c.history.Complete(p.id, p.dir)
	c.completion = c.now
	c.report(slog.LevelInfo, "checkpoint completed", p.id, nil)
	if p.kind() == snapshot.Savepoint {
		c.files.disown(p.dir) // also when an acknowledgement comes once more
		c.files.release(p.held)
		c.succeed(p)
		return
	}
	done := c.entry(p, p.kind() == snapshot.Checkpoint)
	c.discard(0, "", c.files.release(p.held), "") // what only it had kept of its base
	if c.newest() > p.id {
		c.remove(done) // a newer one was faster
		c.succeed(p)
		return
	}
	c.completed = append(c.completed, done)
	subsumed := c.retain()
	for _, older := range slices.Clone(c.pending) {
		if older.id < p.id && !older.kind().Savepoint() {
			c.abort(older, &Error{Reason: Subsumed}, nil)
		}
	}
	if !c.ended {
		c.emit(NotifyComplete{Checkpoint: p.id, Subsumed: subsumed, Attempts: p.plan.acknowledge, Operators: p.plan.operators})
	}
	c.succeed(p)
}

// succeed answers who asked.
func (c *Coordinator) succeed(p *pending) {
	if p.request.ID != 0 {
		c.emit(Answer{Request: p.request.ID, Checkpoint: p.id, Location: p.dir})
	}
}

// retain lets go of what a newer checkpoint replaces: all that cannot be
// restored from or may not be in the store, and what is over the number to
// retain. It gives the newest id of those; 0: none.
func (c *Coordinator) retain() (subsumed int64) {
	for _, u := range c.uncertain {
		c.remove(u)
	}
	c.uncertain = nil
	newest := len(c.completed) - 1
	var kept []*completed
	readable := 0
	for i, e := range slices.Backward(c.completed) {
		if i == newest || e.damage == nil && readable < c.opts.Retained {
			kept = append(kept, e)
			readable++
			continue
		}
		subsumed = max(subsumed, e.id)
		c.remove(e)
	}
	slices.Reverse(kept)
	c.completed = kept
	return subsumed
}

// remove takes a checkpoint out of the store, and deletes it if it is the job's.
func (c *Coordinator) remove(e *completed) {
	free := c.files.release(e.files)
	if !e.owned {
		c.discard(e.id, "", nil, "")
		return
	}
	c.history.Discard(e.id)
	metadata := fs.Location("")
	if e.dir != "" {
		metadata = e.dir.Join(snapshot.MetadataName)
	}
	c.discard(e.id, metadata, free, e.dir)
}

func (c *Coordinator) discardDone(ev Discarded) {
	c.due--
	c.discards = slices.DeleteFunc(c.discards, func(d discard) bool { return d.id == ev.Discard })
	if ev.Err != nil {
		c.report(slog.LevelWarn, "files of a checkpoint could not be deleted", 0, ev.Err)
	}
}

// end is the end of the job: nothing is taken any more, and what was taken goes
// or stays as the job's end and the settings say.
func (c *Coordinator) end() {
	c.running, c.next, c.restart, c.ended = false, time.Time{}, nil, true
	c.abortAll(&Error{Reason: CoordinatorShutdown})
	c.clear()
}

// keeps reports whether checkpoints outlive the job.
func (c *Coordinator) keeps() bool {
	switch c.job {
	case status.JobFinished:
		return false
	case status.JobCanceled:
		return c.opts.Retention == RetainOnCancel
	}
	return c.opts.Retention != DeleteAlways
}

// clear empties the store when the job has ended, once nothing is on its way
// into it. When the job is suspended nothing is touched: another leader takes it
// over.
func (c *Coordinator) clear() {
	if !c.ended || !c.recovered || c.cleared || c.job == status.JobSuspended || len(c.pending)+len(c.dying)+len(c.recovery.waits) > 0 {
		return
	}
	c.cleared = true
	for _, u := range c.uncertain {
		c.remove(u)
	}
	for _, e := range c.completed {
		if c.keeps() && e.dir != "" {
			c.files.release(e.files)
			c.files.disown(e.files...)
			c.discard(e.id, "", nil, "")
		} else {
			c.remove(e)
		}
	}
	if dir := c.directory(); dir != "" && !c.keeps() {
		c.discard(0, "", nil, dir) // with what lost tasks have left there
	}
	c.completed, c.uncertain = nil, nil
}
