package task

import (
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
)

// alignment waits for the barrier of one checkpoint on all channels of a task.
//
// When a barrier has overtaken, the task takes its part at once, unless barriers stay
// in line on some of its inputs: these it awaits first. Then it goes on, and writes
// down what it reads of the other channels until their barriers come.
//
// Invariant: a channel is blocked exactly while the barrier of the current checkpoint
// has come on it, has not come on all others, and the task has not taken its part.
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

	held  []bool // by gate: barriers stay in line
	lined int    // of missing, those of such gates
	// flight is what is in flight, once a barrier has overtaken; nil: none has. taken says
	// that the task has taken its part.
	flight      *InFlight
	taken       bool
	places      map[[2]int]int       // by gate and channel: the place in flight.Inputs
	serializers []shuffle.Serializer // by gate; nil before it is needed
}

func newAlignment(t *Task) *alignment {
	a := &alignment{task: t, gates: t.gates, held: make([]bool, len(t.gates)), serializers: make([]shuffle.Serializer, len(t.gates))}
	for i, g := range t.gates {
		a.arrived = append(a.arrived, make([]bool, g.Channels()))
		a.ended = append(a.ended, make([]bool, g.Channels()))
		if t.spec.Chain != nil {
			a.held[i] = held(t.spec.Chain.Inputs[i])
		}
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
			if !a.taken {
				a.task.decline(a.current, ErrSubsumed)
			}
			a.giveUp(ErrSubsumed)
		}
		a.begin(b)
	}
	if b.Align == element.Unaligned {
		a.current = b
		a.overtaken(gate, channel)
	}
	if !a.arrived[gate][channel] {
		a.arrive(gate, channel)
		if !a.taken {
			a.block(gate, channel)
		}
	}
	a.complete()
}

func (a *alignment) arrive(gate, channel int) {
	a.arrived[gate][channel] = true
	a.missing--
	if a.held[gate] {
		a.lined--
	}
}

// begin waits for the barrier of a new checkpoint.
func (a *alignment) begin(b Barrier) {
	a.current, a.waiting, a.begun, a.missing, a.lined = b, true, time.Now(), 0, 0
	a.flight, a.taken = nil, false
	for i := range a.arrived {
		clear(a.arrived[i])
		for _, ended := range a.ended[i] {
			if !ended {
				a.missing++
				if a.held[i] {
					a.lined++
				}
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
		a.arrive(gate, channel)
		a.complete()
	}
}

// complete takes the checkpoint when its barrier has come everywhere, or has overtaken.
func (a *alignment) complete() {
	if !a.waiting {
		return
	}
	if !a.taken && (a.missing == 0 || a.flight != nil && a.lined == 0) {
		a.taken = true
		a.task.checkpointWith(a.current, time.Since(a.begun), a.flight)
		a.release()
	}
	if a.missing == 0 {
		a.waiting = false
		if a.flight != nil {
			a.flight.end(nil)
			a.flight = nil
		}
	}
}

// overtaken notes what a barrier has overtaken on its way.
func (a *alignment) overtaken(gate, channel int) {
	if a.flight == nil {
		a.flight, a.places = newInFlight(), map[[2]int]int{}
		a.flight.Overtook = true
	}
	if g, can := a.gates[gate].(shuffle.OvertakenGate); can && !a.arrived[gate][channel] {
		for _, b := range g.Overtaken(channel) {
			a.note(gate, channel, b)
		}
	}
}

func (a *alignment) note(gate, channel int, encoded []byte) {
	at, known := a.places[[2]int{gate, channel}]
	if !known {
		at = len(a.flight.Inputs)
		a.places[[2]int{gate, channel}] = at
		a.flight.Inputs = append(a.flight.Inputs, Channel{Gate: gate, Channel: channel})
	}
	c := &a.flight.Inputs[at]
	c.Batches = append(c.Batches, encoded)
}

// record writes a batch down that the task is about to process, if it came before the
// barrier of a checkpoint of which the task has taken its part.
func (a *alignment) record(gate, channel int, b batch.Batch) {
	if !a.taken || !a.waiting || a.arrived[gate][channel] {
		return
	}
	if a.serializers[gate] == nil {
		a.serializers[gate] = a.task.spec.Chain.Inputs[gate].Stream().(operator.Stream).Serializer()
	}
	encoded, err := a.serializers[gate].Append(nil, b)
	operator.Check(err)
	a.flight.Processed += int64(len(encoded))
	a.note(gate, channel, encoded)
}

// abort gives a checkpoint up, and what may still come of it.
func (a *alignment) abort(checkpoint int64) {
	a.counted.abort(checkpoint)
	if checkpoint < a.current.Checkpoint {
		return
	}
	if a.waiting {
		a.giveUp(errAborted)
	}
	if checkpoint > a.current.Checkpoint {
		a.current = Barrier{Checkpoint: checkpoint}
	}
}

// giveUp stops waiting.
func (a *alignment) giveUp(why error) {
	a.waiting = false
	if !a.taken {
		a.release()
	}
	if a.flight != nil {
		a.flight.end(why)
		a.flight = nil
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
