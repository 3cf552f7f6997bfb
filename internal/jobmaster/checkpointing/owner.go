// Package checkpointing carries out what the coordinator of checkpoints decides:
// it writes, stores, reads and deletes beside the loop, passes orders on to the
// tasks, and answers who asked for a checkpoint.
//
//	Master ──Apply, Ask──▶ Owner ──▶ checkpoint.Coordinator (pure)
//	                         ├──▶ Tasks   orders to tasks and coordinators
//	                         ├──▶ Store   ids and pointers
//	                         └──▶ Disk    metadata, deletions
//
// It promises that effects are carried out in order, that deletions go one after
// the other with the pointer first and the files last, and that whoever asked is
// answered once. It decides nothing.
package checkpointing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// Tasks are what the owner turns to for a job's tasks and coordinators. Its
// methods are called on the loop and do not wait.
type Tasks interface {
	Trigger(checkpoint.TriggerTasks)
	// SnapshotCoordinators asks for the states of coordinators. then is called on
	// the loop, once for each operator.
	SnapshotCoordinators(id int64, operators []ident.OperatorID, then func(ident.OperatorID, snapshot.Handle, error))
	Complete(checkpoint.NotifyComplete)
	Abort(checkpoint.NotifyAborted)
	Restore(checkpoint.Restore)
	FailJob(*status.Failure)
	FailTask(ident.AttemptID, *status.Failure)
}

// A Store gives ids and remembers the pointers of completed checkpoints; it
// outlives the JobMaster where there is high availability. Its methods are called
// on the loop and do not wait; then is called there too, at once or later.
type Store interface {
	// Lasts reports whether it outlives the JobMaster.
	Lasts() bool
	// NextID gives an id above after that was never given before.
	NextID(after int64, then func(int64, error))
	// Add enters a pointer. An error that is fs.ErrUncertain says that nobody
	// knows whether it is there.
	Add(p checkpoint.Pointer, then func(error))
	// Remove takes a pointer out; one that is not there is out already.
	Remove(id int64, then func(error))
	// All gives the pointers, oldest first.
	All(then func([]checkpoint.Pointer, error))
	// Clear forgets everything: the job is over, and its id is not used again.
	Clear(then func(error))
}

// A Disk holds the files of snapshots. Its methods wait for it, and are called
// beside the loop; storage.Disk is the real one.
type Disk interface {
	// Probe fails when nothing can be written into a new directory.
	Probe(dir fs.Location) error
	// Write writes the metadata into a directory.
	Write(dir fs.Location, m *snapshot.Metadata) error
	// Read reads metadata, and fails as well when a file it refers to is not there.
	Read(at fs.Location) (m *snapshot.Metadata, dir fs.Location, err error)
	// Delete deletes metadata, then files, then all below tree; each may be empty.
	Delete(metadata fs.Location, files []fs.Location, tree fs.Location) error
}

// Options are what an Owner needs.
type Options struct {
	Loop  actor.Loop
	Core  *checkpoint.Coordinator
	Job   ident.JobID
	Disk  Disk
	Store Store
	Tasks Tasks
	Log   *slog.Logger
}

// An Owner hosts a coordinator. All its methods are called on its loop.
type Owner struct {
	o Options
	// letters are the events to be applied, oldest first: an effect may make
	// another event, which waits until the effects before it are done.
	letters  []checkpoint.Event
	applying bool
	timer    actor.Timer // the next deadline; nil: none
	due      time.Time   // when timer fires
	asked    checkpoint.RequestID
	waiting  map[checkpoint.RequestID]func(checkpoint.Answer)
	discards []checkpoint.Discard // the first one is under way
	stuck    []checkpoint.Discard // whose checkpoints could not be taken out of the store
	cleared  bool                 // nothing of the job is to be in the store any more
	clearing bool                 // the store has not said that it is so
	settled  []func()             // wait until nothing is under way
}

// New makes the owner of a coordinator. Recover comes first.
func New(o Options) *Owner {
	return &Owner{o: o, waiting: map[checkpoint.RequestID]func(checkpoint.Answer){}}
}

// The pauses before the store is read again that could not be read.
const firstPause, lastPause = time.Second, 30 * time.Second

// Recover begins with what an earlier JobMaster has stored, or with what a person
// named; nil: nothing. As long as the store cannot be read the job waits: to begin
// without what may be in there would be to begin empty.
func (o *Owner) Recover(from *checkpoint.Origin) { o.readStore(from, firstPause) }

func (o *Owner) readStore(from *checkpoint.Origin, pause time.Duration) {
	o.o.Store.All(func(stored []checkpoint.Pointer, err error) {
		if err == nil {
			o.Apply(checkpoint.Recover{Stored: stored, From: from})
			return
		}
		o.o.Log.Error("the store of completed checkpoints cannot be read", "error", err, "again", pause)
		o.o.Loop.After(pause, func() { o.readStore(from, min(2*pause, lastPause)) })
	})
}

// Ask asks for a checkpoint or savepoint; the owner chooses its id. then is
// called once.
func (o *Owner) Ask(r checkpoint.Request, then func(checkpoint.Answer)) {
	o.asked++
	r.ID = o.asked
	o.waiting[r.ID] = then
	o.Apply(r)
}

// Quiet reports that nothing is under way beside the loop.
func (o *Owner) Quiet() bool { return o.o.Core.Quiet() && len(o.letters) == 0 }

// Stopping reports whether the job is to end after a savepoint.
func (o *Owner) Stopping() bool { return o.o.Core.Stopping() }

// View gives what is remembered of the job's checkpoints.
func (o *Owner) View() *record.View { return o.o.Core.View() }

// Apply tells the coordinator of an event and carries out what it decides.
func (o *Owner) Apply(ev checkpoint.Event) {
	o.letters = append(o.letters, ev)
	if o.applying {
		return
	}
	o.applying = true
	for len(o.letters) > 0 {
		next := o.letters[0]
		o.letters = o.letters[1:]
		for _, effect := range o.o.Core.Apply(next, o.o.Loop.Now()) {
			o.perform(effect)
		}
	}
	o.applying = false
	o.arm()
	o.clear()
	o.settle()
}

// Settled calls then once, when nothing is under way beside the loop any more.
func (o *Owner) Settled(then func()) {
	o.settled = append(o.settled, then)
	o.settle()
}

func (o *Owner) settle() {
	if !o.Quiet() || o.applying || o.clearing {
		return
	}
	waited := o.settled
	o.settled = nil
	for _, then := range waited {
		then()
	}
}

// clear empties the store when the job is over and its checkpoints were dealt with.
func (o *Owner) clear() {
	if o.cleared || !o.o.Core.Over() {
		return
	}
	o.cleared, o.clearing = true, true
	o.o.Store.Clear(func(err error) {
		o.clearing = false
		if err != nil {
			o.o.Log.Warn("what a job had in the store of checkpoints could not be deleted", "error", err)
		}
		o.settle()
	})
}

// arm sets the timer for the coordinator's deadline.
func (o *Owner) arm() {
	due := o.o.Core.Deadline()
	if due.Equal(o.due) {
		return
	}
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	if o.due = due; due.IsZero() {
		return
	}
	o.timer = o.o.Loop.After(due.Sub(o.o.Loop.Now()), func() {
		o.timer, o.due = nil, time.Time{}
		o.Apply(checkpoint.Tick{})
	})
}

func (o *Owner) perform(effect checkpoint.Effect) {
	switch e := effect.(type) {
	case checkpoint.DrawID:
		o.drawID(e)
	case checkpoint.Locate:
		o.locate(e)
	case checkpoint.SnapshotCoordinators:
		o.o.Tasks.SnapshotCoordinators(e.Checkpoint, e.Operators, func(operator ident.OperatorID, state snapshot.Handle, err error) {
			o.Apply(checkpoint.CoordinatorSnapshot{Checkpoint: e.Checkpoint, Operator: operator, State: state, Err: err})
		})
	case checkpoint.TriggerTasks:
		o.o.Tasks.Trigger(e)
	case checkpoint.WriteMetadata:
		o.write(e)
	case checkpoint.Store:
		o.store(e)
	case checkpoint.Discard:
		o.discards = append(o.discards, e)
		if len(o.discards) == 1 {
			o.discard()
		}
	case checkpoint.NotifyComplete:
		o.o.Tasks.Complete(e)
	case checkpoint.NotifyAborted:
		o.o.Tasks.Abort(e)
	case checkpoint.Answer:
		then := o.waiting[e.Request]
		delete(o.waiting, e.Request)
		then(e)
	case checkpoint.FailJob:
		o.o.Tasks.FailJob(e.Cause)
	case checkpoint.FailTask:
		o.o.Tasks.FailTask(e.Attempt, e.Cause)
	case checkpoint.ReadMetadata:
		o.read(e)
	case checkpoint.Restore:
		o.o.Tasks.Restore(e)
	case checkpoint.Acknowledged:
		o.o.Log.Debug("checkpoint acknowledged", "checkpoint", e.Checkpoint, "attempt", e.Attempt, "outcome", e.Outcome)
	case checkpoint.Report:
		o.report(e)
	}
}

func (o *Owner) report(e checkpoint.Report) {
	attrs := []any{}
	if e.Checkpoint != 0 {
		attrs = append(attrs, "checkpoint", e.Checkpoint)
	}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err)
	}
	o.o.Log.Log(context.Background(), e.Level, e.Message, attrs...)
}

func (o *Owner) drawID(e checkpoint.DrawID) {
	o.o.Store.NextID(e.After, func(id int64, err error) {
		o.Apply(checkpoint.IDDrawn{Serial: e.Serial, Checkpoint: id, Err: err})
	})
}

// locate finds a new directory for a savepoint, named as Flink names them, and
// makes sure that it can be written to.
func (o *Owner) locate(e checkpoint.Locate) {
	random := ident.New(o.o.Loop.Rand()).String()
	dir := e.Target.Join(fmt.Sprintf("savepoint-%s-%s", o.o.Job.String()[:6], random[:12]))
	answer := checkpoint.Located{Checkpoint: e.Checkpoint, Dir: dir}
	o.o.Loop.Go(func() {
		if err := o.o.Disk.Probe(dir); err != nil {
			answer.Err = fmt.Errorf("failed to create savepoint directory at %s: %w", e.Target, err)
		}
	}, func() { o.Apply(answer) })
}

func (o *Owner) write(e checkpoint.WriteMetadata) {
	answer := checkpoint.MetadataWritten{Checkpoint: e.Checkpoint}
	o.o.Loop.Go(func() { answer.Err = o.o.Disk.Write(e.Dir, e.Metadata) }, func() { o.Apply(answer) })
}

func (o *Owner) store(e checkpoint.Store) {
	o.o.Store.Add(e.Pointer, func(err error) {
		o.Apply(checkpoint.Stored{Checkpoint: e.Checkpoint, Err: err, Uncertain: errors.Is(err, fs.ErrUncertain)})
	})
}

func (o *Owner) read(e checkpoint.ReadMetadata) {
	answer := checkpoint.MetadataRead{Location: e.Location}
	o.o.Loop.Go(func() { answer.Metadata, answer.Dir, answer.Err = o.o.Disk.Read(e.Location) }, func() { o.Apply(answer) })
}

// discard does the first of the discards that wait, after those that could not be
// done before.
func (o *Owner) discard() {
	d, stuck := o.discards[0], o.stuck
	o.stuck = nil
	o.unstick(stuck, func() {
		for _, s := range o.stuck {
			if _, below := s.Tree.Under(d.Tree); below {
				o.discarded(d, fmt.Errorf("delete all below %s: checkpoint %d is still in the store", d.Tree, s.Unstore))
				return
			}
		}
		o.undo(d, func(err error) { o.discarded(d, err) })
	})
}

// unstick tries discards again, one after the other.
func (o *Owner) unstick(stuck []checkpoint.Discard, then func()) {
	if len(stuck) == 0 {
		then()
		return
	}
	o.undo(stuck[0], func(err error) {
		if err != nil {
			o.o.Log.Warn("files of a checkpoint could not be deleted", "error", err)
		}
		o.unstick(stuck[1:], then)
	})
}

// undo takes a checkpoint out of the store, and only once it is out deletes its
// files, so that what is found after a crash is whole or nothing.
func (o *Owner) undo(d checkpoint.Discard, then func(error)) {
	if d.Unstore == 0 {
		o.delete(d, then)
		return
	}
	o.o.Store.Remove(d.Unstore, func(err error) {
		if err != nil {
			o.stuck = append(o.stuck, d)
			then(fmt.Errorf("take checkpoint %d out of the store: %w", d.Unstore, err))
			return
		}
		o.delete(d, then)
	})
}

func (o *Owner) delete(d checkpoint.Discard, then func(error)) {
	var err error
	o.o.Loop.Go(func() { err = o.o.Disk.Delete(d.Metadata, d.Files, d.Tree) }, func() { then(err) })
}

func (o *Owner) discarded(d checkpoint.Discard, err error) {
	o.discards = o.discards[1:]
	if len(o.discards) > 0 {
		o.discard()
	}
	o.Apply(checkpoint.Discarded{Discard: d.ID, Err: err})
}
