package task

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/streamgraph"
)

// errAborted is why what is in flight is not awaited any more.
var errAborted = errors.New("the checkpoint was given up")

// InFlight is the records that were on their way when a task took its part of an
// unaligned checkpoint: those that its inputs still had before their barriers, and
// those that its outputs had not handed over. Whoever begins with the checkpoint
// processes what was to come to it, before any other input.
type InFlight struct {
	// Inputs and Outputs are in the order in which they are to be processed.
	// They, and Processed, are complete when Wait returns.
	Inputs, Outputs []Channel
	// Processed is how many of the bytes of Inputs the task had already read: the others
	// waited.
	Processed int64
	// Overtook says that the barrier has overtaken somewhere.
	Overtook bool

	done     chan struct{}
	err      error
	promised []func() error // add what outputs hand over too late; whoever waits calls them
}

// A Channel is records in flight, on a channel of an input or a subpartition of an
// output. Gate is the number of that input or output.
type Channel struct {
	Gate, Channel int
	// Shared says, of what a task begins with, that others have it too: it processes what
	// the edge's partitioner sends to it.
	Shared  bool
	Batches [][]byte // as the edge's serializer encodes them
}

func newInFlight() *InFlight { return &InFlight{done: make(chan struct{})} }

// Wait waits until all has been written down, or never will be. One goroutine calls it.
func (f *InFlight) Wait() error {
	<-f.done
	for _, add := range f.promised {
		if err := add(); err != nil && f.err == nil {
			f.err = err
		}
	}
	f.promised = nil
	return f.err
}

func (f *InFlight) end(err error) {
	f.err = err
	close(f.done)
}

// Bytes is how many bytes all records have.
func (f *InFlight) Bytes() (n int64) {
	for _, all := range [][]Channel{f.Inputs, f.Outputs} {
		for _, c := range all {
			for _, b := range c.Batches {
				n += int64(len(b))
			}
		}
	}
	return n
}

// held reports whether barriers stay in line on an edge: those of subtasks that read
// few others, whose records in flight could not be given to others, or of subtasks that
// all read the same, of which each is somewhere else.
func held(e *streamgraph.Edge) bool {
	return e.Partitioner == streamgraph.Forward || e.Partitioner == streamgraph.Rescale || e.Partitioner == streamgraph.Broadcast
}

// overtake sends a barrier before what waits in the outputs, now or when its time has
// come, and notes what that is.
func (t *Task) overtake(b Barrier, f *InFlight, now bool) {
	f.Overtook = f.Overtook || now
	for i, p := range t.partitions {
		e := b.element()
		w, can := p.(shuffle.OvertakingWriter)
		switch {
		case !can || held(t.spec.Chain.Outputs[i]):
			e.Align = element.Held
			operator.Check(p.Control(e))
		case now:
			e.Align = element.Unaligned
			all, err := w.Overtake(e)
			operator.Check(err)
			f.addOutput(i, all)
		default:
			e.Align = element.Timed
			wait, err := w.Promise(e)
			operator.Check(err)
			f.promised = append(f.promised, func() error {
				all, err := wait()
				f.addOutput(i, all)
				return err
			})
		}
	}
}

func (f *InFlight) addOutput(gate int, all [][][]byte) {
	for sub, batches := range all {
		if len(batches) > 0 {
			f.Overtook = true
			f.Outputs = append(f.Outputs, Channel{Gate: gate, Channel: sub, Batches: batches})
		}
	}
}

// spare lets outputs wait later, or with more below zero never.
func (t *Task) spare(more int) {
	for _, p := range t.partitions {
		if w, can := p.(shuffle.OvertakingWriter); can {
			w.Spare(more)
		}
	}
}

// spareLittle is what outputs spare while nothing special happens.
func (t *Task) spareLittle() {
	if t.spec.Overtaken {
		t.spare(spareBatches)
	} else {
		t.spare(0)
	}
}

// spareBatches is how much more than it should an output holds of a task that can be
// overtaken. Such a task looks for room before it takes a batch, not within: there it
// could not take its part of a checkpoint.
const spareBatches = 8

// roomy reports whether the task may take input: its outputs have room.
func (t *Task) roomy() bool {
	if !t.spec.Overtaken {
		return true
	}
	for _, p := range t.partitions {
		if w, can := p.(shuffle.OvertakingWriter); can && !w.Roomy(t.wakeUp) {
			return false
		}
	}
	return true
}

// crowded waits, as a task whose outputs have no room.
func (t *Task) crowded() {
	t.flushIfDue()
	t.metrics.crowdedFrom()
	select {
	case <-t.wake:
	case <-t.canceled:
	}
	t.metrics.crowdedUntil()
}

// replay processes what was in flight to the task in what it begins with, before
// anything that comes now.
func (t *Task) replay() {
	t.spareLittle()
	if t.spec.InFlight == nil {
		return
	}
	channels, err := t.spec.InFlight()
	operator.Check(err)
	for _, c := range channels {
		if c.Gate >= len(t.heads) {
			operator.Abort(fmt.Errorf("restore records in flight to input %d: the task has %d inputs", c.Gate, len(t.heads)))
		}
		t.replayChannel(c)
	}
}

func (t *Task) replayChannel(c Channel) {
	edge := t.spec.Chain.Inputs[c.Gate]
	stream := edge.Stream().(operator.Stream)
	s, mine := stream.Serializer(), func(batch.Batch) {}
	if c.Shared {
		mine = stream.Mine(operator.TailEdge{Partitioner: edge.Partitioner, Route: edge.Route, MaxParallelism: t.spec.MaxParallelism},
			edge.From.Name, t.spec.Attempt.Subtask, t.spec.Parallelism)
	}
	for _, encoded := range c.Batches {
		if !t.serve() {
			operator.Abort(shuffle.ErrCanceled)
		}
		b, err := s.Decode(encoded)
		if err != nil {
			operator.Abort(fmt.Errorf("restore records in flight of channel %d: %w", c.Channel, err))
		}
		mine(b)
		if n := b.Len(); n > 0 {
			t.CountIn(n)
			t.heads[c.Gate].Batch(b)
		}
		b.Release()
		t.flushIfDue()
	}
}
