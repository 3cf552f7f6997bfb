package task

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
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
func (t *Task) checkpoint(b Barrier, aligned time.Duration) {
	if t.spec.Checkpoints == nil {
		return
	}
	purpose := t.spec.Checkpoints.Purpose(b)
	for i := range t.kept {
		if err := t.kept[i].Refuse; err != nil {
			if purpose.Savepoint {
				t.decline(b, fmt.Errorf("%w: %w", ErrRefused, err))
				return
			}
			f := operator.AsFailure(fmt.Errorf("a checkpoint cannot be taken: %w", err))
			f.Fatal = true
			operator.Abort(f)
		}
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
	t.flush(began)
	for _, p := range t.partitions {
		operator.Check(p.Control(b.element()))
	}
	taken := Taken{Barrier: b, Aligned: aligned}
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

// alignment waits for the barrier of one checkpoint on all channels of a task.
//
// Invariant: a channel is blocked exactly while the barrier of the current
// checkpoint has come on it and not on all others.
type alignment struct {
	task    *Task
	gates   []Gate
	current Barrier // its Checkpoint is the newest that was heard of
	waiting bool    // for the barrier on the remaining channels
	begun   time.Time
	arrived [][]bool // by gate and channel
	ended   [][]bool
	missing int // channels that have not ended and on which it has not arrived
	counted counting
}

func newAlignment(t *Task) *alignment {
	a := &alignment{task: t, gates: t.gates}
	for _, g := range t.gates {
		a.arrived = append(a.arrived, make([]bool, g.Channels()))
		a.ended = append(a.ended, make([]bool, g.Channels()))
	}
	return a
}

// barrier takes a barrier that has come on a channel.
func (a *alignment) barrier(gate, channel int, b Barrier) {
	if b.Align == element.Counted {
		a.counted.barrier(a, gate, channel, b)
		return
	}
	switch {
	case b.Checkpoint < a.current.Checkpoint || b.Checkpoint == a.current.Checkpoint && !a.waiting:
		return // of a checkpoint that is over
	case b.Checkpoint > a.current.Checkpoint:
		if a.waiting {
			a.task.decline(a.current, ErrSubsumed)
			a.release()
		}
		a.begin(b)
	}
	if !a.arrived[gate][channel] {
		a.arrived[gate][channel] = true
		a.missing--
		a.block(gate, channel)
	}
	a.complete()
}

// begin waits for the barrier of a new checkpoint.
func (a *alignment) begin(b Barrier) {
	a.current, a.waiting, a.begun, a.missing = b, true, time.Now(), 0
	for i := range a.arrived {
		clear(a.arrived[i])
		for _, ended := range a.ended[i] {
			if !ended {
				a.missing++
			}
		}
	}
}

// end says that a channel has ended: no barrier comes on it any more.
func (a *alignment) end(gate, channel int) {
	if a.ended[gate][channel] {
		return
	}
	a.ended[gate][channel] = true
	a.counted.end(a, gate, channel)
	if a.waiting && !a.arrived[gate][channel] {
		a.missing--
		a.complete()
	}
}

// complete takes the checkpoint when its barrier has come everywhere.
func (a *alignment) complete() {
	if !a.waiting || a.missing > 0 {
		return
	}
	a.waiting = false
	a.task.checkpoint(a.current, time.Since(a.begun))
	a.release()
}

// abort gives a checkpoint up, and what may still come of it.
func (a *alignment) abort(checkpoint int64) {
	a.counted.abort(checkpoint)
	switch {
	case checkpoint < a.current.Checkpoint:
	case checkpoint == a.current.Checkpoint:
		if a.waiting {
			a.waiting = false
			a.release()
		}
	default:
		if a.waiting {
			a.waiting = false
			a.release()
		}
		a.current = Barrier{Checkpoint: checkpoint}
	}
}

func (a *alignment) block(gate, channel int) {
	if g, ok := a.gates[gate].(shuffle.AligningGate); ok {
		g.Block(channel)
	}
}

// release lets all channels go on.
func (a *alignment) release() {
	for i, g := range a.gates {
		aligning, ok := g.(shuffle.AligningGate)
		if !ok {
			continue
		}
		for channel := range a.arrived[i] {
			if a.arrived[i][channel] {
				aligning.Unblock(channel)
			}
		}
	}
}
