package task

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
)

// The reasons for which a task gives no part to a checkpoint.
var (
	ErrNotRunning = errors.New("the task does not run any more, or is no source")
	ErrSubsumed   = errors.New("the barrier of a newer checkpoint has come")
)

// Barrier is a checkpoint as it travels through a job.
type Barrier struct {
	Checkpoint int64
	Options    []byte
	// Align is how it waits for those of other channels, and Overtake when one that is
	// Timed or Held overtakes, in Unix milliseconds.
	Align    element.Align
	Overtake int64
}

func barrierOf(e element.Element) Barrier {
	return Barrier{Checkpoint: e.Checkpoint, Options: e.Options, Align: e.Align, Overtake: e.Time}
}

func (b Barrier) element() element.Element {
	return element.Element{Kind: element.Barrier, Checkpoint: b.Checkpoint, Options: b.Options, Align: b.Align, Time: b.Overtake}
}

// overtakes says that a task which takes its part now lets the barrier overtake what
// waits in its outputs.
func (b Barrier) overtakes(now time.Time) bool {
	return b.Align == element.Unaligned || b.later() && now.UnixMilli() >= b.Overtake
}

// later says that the barrier overtakes from its time on.
func (b Barrier) later() bool { return b.Align == element.Timed || b.Align == element.Held }

// Part is what one operator of a task adds to a checkpoint.
type Part struct {
	Operator ident.OperatorID
	// Finished says that the operator does not run any more: it had read all its input
	// before the task began.
	Finished bool
	// Keyed must be written or released, on any goroutine; nil: none.
	Keyed *state.Snapshot
	Lists []PartList
}

// PartList is the elements of one of an operator's lists.
type PartList struct {
	operator.KeptList
	Elements [][]byte
}

// Taken is a task's part of a checkpoint.
type Taken struct {
	Barrier
	// Parts are in the order of the chain; operators that keep nothing have none.
	Parts []Part
	// Aligned is how long the barrier was awaited on all channels; Stopped is how
	// long the task did nothing else.
	Aligned, Stopped time.Duration
	// InFlight is what is in flight, if the barrier has overtaken; nil: nothing is.
	InFlight *InFlight
}

// Checkpointer is who takes a task's parts of checkpoints. The methods are called
// on the task's goroutine and must not wait for anything, except Restore.
type Checkpointer interface {
	// Purpose says what a checkpoint is for.
	Purpose(b Barrier) Purpose
	// Finished reports whether an operator had read all its input in the checkpoint
	// that the task begins with.
	Finished(op ident.OperatorID) bool
	// Restore loads what an operator kept into k.
	Restore(op ident.OperatorID, k operator.Kept) error
	// Take is given the task's part of a checkpoint, to be written and acknowledged.
	Take(t Taken)
	// Decline is told that the task gives no part to a checkpoint, and why.
	Decline(b Barrier, why error)
}

// kept is what an operator keeps.
type kept struct {
	operator.Kept
	id ident.OperatorID
}

// Keep makes what an operator keeps part of the task's checkpoints.
func (t *Task) Keep(op ident.OperatorID, k operator.Kept) {
	t.kept = append(t.kept, kept{k, op})
	if t.spec.Checkpoints != nil {
		operator.Check(t.spec.Checkpoints.Restore(op, k))
	}
}

// Trigger begins a checkpoint in a task without inputs, or whose inputs have all
// ended. From any goroutine.
func (t *Task) Trigger(b Barrier) {
	t.Mail(func() { t.triggered(b) })
}

// Complete says that a checkpoint is complete. From any goroutine.
func (t *Task) Complete(checkpoint int64) {
	t.Mail(func() {
		for i := range t.kept {
			if f := t.kept[i].Kept.Complete; f != nil {
				f(checkpoint)
			}
		}
		if e := &t.ending; e.first != 0 && checkpoint >= e.first {
			e.committed = true
		}
		t.savepointComplete(checkpoint)
	})
}

// Abort says that a checkpoint will not be. From any goroutine.
func (t *Task) Abort(checkpoint int64) {
	t.Mail(func() {
		if t.align != nil {
			t.align.abort(checkpoint)
		}
		if e := &t.ending; e.due != nil && e.due.Checkpoint <= checkpoint {
			e.due = nil
		}
		t.savepointAborted(checkpoint)
	})
}

func (t *Task) decline(b Barrier, why error) {
	if t.spec.Checkpoints != nil {
		t.spec.Checkpoints.Decline(b, why)
	}
}

// checkpoint takes the task's part: all that came before the barrier is in what
// the operators keep, or has left before it.
func (t *Task) checkpoint(b Barrier, aligned time.Duration) { t.checkpointWith(b, aligned, nil) }

// checkpointWith takes the task's part. With f the barrier has overtaken records that
// inputs still bring; the outputs' are added.
func (t *Task) checkpointWith(b Barrier, aligned time.Duration, f *InFlight) {
	if t.spec.Checkpoints == nil {
		return
	}
	purpose := t.spec.Checkpoints.Purpose(b)
	if t.refused(b, purpose) {
		return
	}
	began := time.Now()
	if purpose.Drain {
		t.finishAll()
	}
	for i := len(t.kept) - 1; i >= 0; i-- { // the head first: it feeds the others
		if f := t.kept[i].Prepare; f != nil {
			f(b.Checkpoint)
		}
	}
	taken := Taken{Barrier: b, Aligned: aligned, InFlight: f}
	if overtakes := b.overtakes(began); overtakes || b.later() {
		if f == nil {
			f = newInFlight()
			taken.InFlight = f
			defer f.end(nil)
		}
		t.spare(-1)
		t.flush(began)
		t.overtake(b, f, overtakes)
		t.spareLittle()
	} else {
		t.flush(began)
		for _, p := range t.partitions {
			operator.Check(p.Control(b.element()))
		}
	}
	for i := range t.kept {
		taken.Parts = append(taken.Parts, t.kept[i].freeze())
	}
	if t.skipped {
		for _, o := range t.spec.Chain.Vertex.Operators {
			taken.Parts = append(taken.Parts, Part{Operator: o.ID, Finished: true})
		}
	}
	taken.Stopped = time.Since(began)
	t.spec.Checkpoints.Take(taken)
	if t.ended && t.ending.first == 0 {
		t.ending.first = b.Checkpoint
	}
	if purpose.Stop {
		t.stand(b.Checkpoint)
	}
}

// refused reports whether an operator cannot be part of a savepoint, which is declined
// then. A checkpoint fails the job instead.
func (t *Task) refused(b Barrier, purpose Purpose) bool {
	for i := range t.kept {
		err := t.kept[i].Refuse
		switch {
		case err == nil:
		case purpose.Savepoint:
			t.decline(b, fmt.Errorf("%w: %w", ErrRefused, err))
			return true
		default:
			f := operator.AsFailure(fmt.Errorf("a checkpoint cannot be taken: %w", err))
			f.Fatal = true
			operator.Abort(f)
		}
	}
	return false
}

// freeze gives what the operator adds to a checkpoint.
func (k *kept) freeze() Part {
	p := Part{Operator: k.id}
	if k.Keyed != nil {
		p.Keyed = k.Keyed.Freeze()
	}
	for _, l := range k.Lists {
		p.Lists = append(p.Lists, PartList{l, l.Save()})
	}
	return p
}
