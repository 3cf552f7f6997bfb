package task

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
)

// ErrRefused is why a task gives no part to a savepoint: an operator cannot be part
// of one.
var ErrRefused = errors.New("an operator cannot be part of a savepoint")

// Purpose is what a checkpoint is for.
type Purpose struct {
	// Savepoint: a person has asked for it, and the job goes on without one.
	Savepoint bool
	// Stop: the task does nothing more after its part, and ends when the savepoint is
	// complete.
	Stop bool
	// Drain: as if all input had ended, before the part is taken.
	Drain bool
}

// ending is how far a task is on its way to its end.
//
//	a savepoint stops the job:  part taken ─▶ stands still ─ complete ─▶ over: what its inputs
//	                                             └─ aborted ─▶ goes on      still bring is nothing
//	all input has been read:    awaits a checkpoint, if something is to be committed with it
type ending struct {
	// standstill is the savepoint for whose completion the task waits, doing nothing;
	// 0: it does not.
	standstill int64
	// over says that this savepoint is complete.
	over bool
	// finished says that no record comes any more, and the operators know.
	finished bool
	// late are the timers that came due while the task stood still.
	late []*entry
	// due is a checkpoint that is to begin here, because all that the task reads from
	// has finished, once all of it has been read; nil: none.
	due *Barrier
	// first is the first checkpoint after the end of all input; 0: there was none.
	// committed says that it, or a later one, is complete.
	first     int64
	committed bool
}

// finishAll tells the operators, once, that no record follows.
func (t *Task) finishAll() {
	if !t.ending.finished && !t.ending.over {
		t.ending.finished = true
		t.finish()
	}
}

// stand makes the task do nothing more until it knows what becomes of a savepoint.
func (t *Task) stand(savepoint int64) { t.ending.standstill = savepoint }

func (t *Task) stands() bool { return t.ending.standstill != 0 }

// savepointComplete lets a task end that stands still for the savepoint.
func (t *Task) savepointComplete(checkpoint int64) {
	if e := &t.ending; t.stands() && checkpoint >= e.standstill {
		e.standstill, e.over, e.late = 0, true, nil
	}
}

// savepointAborted lets a task go on that stands still for the savepoint: the job
// fails or does not stop. One that has been drained cannot go on.
func (t *Task) savepointAborted(checkpoint int64) {
	e := &t.ending
	if !t.stands() || checkpoint < e.standstill {
		return
	}
	if e.finished && !t.ended {
		operator.Abort(operator.AsFailure(fmt.Errorf("savepoint %d failed, for which all windows and timers had been drained", checkpoint)))
	}
	e.standstill = 0
	late := e.late
	e.late = nil
	for _, entry := range late {
		if !entry.stopped {
			delete(t.timers, entry)
			entry.run()
		}
	}
}

// pastEnd takes an element of a channel of a task that is over: nothing of it counts
// but that the channel ends.
func (t *Task) pastEnd(in *inputs, i, channel int, e element.Element) {
	switch e.Kind {
	case element.Data:
		e.Batch.Release()
	case element.Barrier:
		if !t.ending.over {
			t.align.barrier(i, channel, barrierOf(e))
		}
	case element.EndOfPartition:
		t.align.end(i, channel)
		in.end(i, channel)
	}
}

// triggered begins a checkpoint in a task that no barrier reaches: a source, or one
// all of whose producers have finished. Such a one may still have to read what they
// have sent.
func (t *Task) triggered(b Barrier) {
	switch e := &t.ending; {
	case e.over:
		t.decline(b, ErrNotRunning)
	case t.ended || len(t.gates) == 0:
		t.checkpoint(b, 0)
	default:
		if e.due != nil {
			t.decline(*e.due, ErrSubsumed)
		}
		e.due = &b
	}
}

// await gives the task's part to a checkpoint that was due, and waits for one more
// if its operators have something to commit with it.
func (t *Task) await() {
	e := &t.ending
	if e.over {
		return
	}
	if e.due != nil {
		t.checkpoint(*e.due, 0)
	}
	for t.stands() || t.commits() && !e.committed && !e.over {
		if !t.serve() {
			operator.Abort(shuffle.ErrCanceled)
		}
		if t.commits() && !e.committed && !e.over {
			t.idle()
		}
	}
}

// commits reports whether an operator has something to commit with the first
// checkpoint after the end of input.
func (t *Task) commits() bool {
	if !t.spec.LastCheckpoint {
		return false
	}
	for i := range t.kept {
		if t.kept[i].Kept.Complete != nil {
			return true
		}
	}
	return false
}

// restoredFinished reports whether the task begins with a checkpoint in which it had
// read all its input, so that it does not run again. It fails when only some of its
// operators had: they ran in other tasks then.
func (t *Task) restoredFinished() (bool, error) {
	if t.spec.Checkpoints == nil {
		return false, nil
	}
	some, others := "", ""
	for _, o := range t.spec.Chain.Vertex.Operators {
		if t.spec.Checkpoints.Finished(o.ID) {
			some = o.Name
		} else {
			others = o.Name
		}
	}
	if some != "" && others != "" {
		return false, fmt.Errorf("the operator %q had read all its input in the checkpoint that is restored, and %q, in the same task now, had not: chain them as they were", some, others)
	}
	return some != "", nil
}

// skip makes the task one of operators that have finished: it only tells that no
// record comes.
func (t *Task) skip() {
	t.operators = operatorsOf(t.spec.Chain)
	t.ending.finished = true
	for _, p := range t.partitions {
		operator.Check(p.Control(element.Element{Kind: element.Watermark, Time: element.MaxWatermark}))
		operator.Check(p.Control(element.Element{Kind: element.EndOfData}))
	}
}
