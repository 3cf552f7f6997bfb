package task

import "github.com/weirstream/weir/internal/element"

// inputs keeps what the task knows of its channels: which have ended and how
// far event time has come.
//
// Invariant: the task's watermark is the least of the channels that count, and it
// never falls. A channel counts unless it has ended, is idle, or was idle and has
// not caught up yet: it must not hold back what the others had reached without it.
type inputs struct {
	marks   [][]mark // by gate and channel
	left    []int    // channels of a gate that have not ended
	ended   []bool   // gates
	open    int      // gates that have not ended
	first   []bool   // gates that are read before the others; nil: none
	current int64
	resting bool // no channel that has not ended is active
}

type mark struct {
	time                int64
	idle, behind, ended bool
}

// later says that a gate is not read yet, because others are to be read before it.
func (in *inputs) later(gate int) bool {
	if in.first == nil || in.first[gate] {
		return false
	}
	for i, first := range in.first {
		if first && !in.ended[i] {
			return true
		}
	}
	in.first = nil
	return false
}

// A turn is what follows for the task from an element of one channel.
type turn struct {
	watermark int64
	advanced  bool // the task's watermark has become watermark
	changed   bool // the task has become idle, or active again
	idle      bool // which of both it is now
}

const noWatermark int64 = -1 << 63

func newInputs(gates []Gate) *inputs {
	in := &inputs{ended: make([]bool, len(gates)), open: len(gates), current: noWatermark}
	for i, g := range gates {
		marks := make([]mark, g.Channels())
		for c := range marks {
			marks[c].time = noWatermark
		}
		in.marks, in.left = append(in.marks, marks), append(in.left, len(marks))
		if len(marks) == 0 {
			in.ended[i] = true
			in.open--
		}
	}
	return in
}

// watermark records a channel's watermark.
func (in *inputs) watermark(gate, channel int, at int64) turn {
	m := &in.marks[gate][channel]
	m.time, m.idle = max(m.time, at), false
	m.behind = m.behind && m.time < in.current
	return in.turn()
}

// idle records that a channel is idle, or active again.
func (in *inputs) idle(gate, channel int, idle bool) turn {
	m := &in.marks[gate][channel]
	m.behind = !idle && (m.behind || m.idle) && m.time < in.current
	m.idle = idle
	return in.turn()
}

// end records that a channel has ended.
func (in *inputs) end(gate, channel int) turn {
	m := &in.marks[gate][channel]
	if m.ended {
		return turn{watermark: in.current, idle: in.resting}
	}
	m.ended = true
	if in.left[gate]--; in.left[gate] == 0 {
		in.ended[gate] = true
		in.open--
	}
	return in.turn()
}

// turn finds out what has changed for the task. When the last active channel has
// become idle, what the idle ones had reached together no longer waits for it.
func (in *inputs) turn() turn {
	least, furthest, counting, active := element.MaxWatermark, noWatermark, false, false
	for _, marks := range in.marks {
		for _, m := range marks {
			switch {
			case m.ended:
			case m.idle:
				furthest = max(furthest, m.time)
			default:
				active = true
				if !m.behind {
					least, counting = min(least, m.time), true
				}
			}
		}
	}
	resting := !active && in.open > 0
	next := least
	switch {
	case resting:
		next = furthest
	case active && !counting:
		next = in.current // those that are behind have to catch up first
	}
	t := turn{advanced: next > in.current, changed: resting != in.resting, idle: resting}
	in.current, in.resting = max(in.current, next), resting
	t.watermark = in.current
	return t
}
