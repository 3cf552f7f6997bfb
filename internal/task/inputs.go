package task

import "github.com/weirstream/weir/internal/element"

// inputs keeps what the task knows of its channels: which have ended and how
// far event time has come.
//
// Invariant: the task's watermark is the least of the channels that are neither
// idle nor ended, and it never falls.
type inputs struct {
	marks   [][]mark // by gate and channel
	left    []int    // channels of a gate that have not ended
	ended   []bool   // gates
	open    int      // gates that have not ended
	current int64
}

type mark struct {
	time        int64
	idle, ended bool
}

func newInputs(gates []Gate) *inputs {
	in := &inputs{ended: make([]bool, len(gates)), open: len(gates), current: -1 << 63}
	for i, g := range gates {
		marks := make([]mark, g.Channels())
		for c := range marks {
			marks[c].time = -1 << 63
		}
		in.marks, in.left = append(in.marks, marks), append(in.left, len(marks))
		if len(marks) == 0 {
			in.ended[i] = true
			in.open--
		}
	}
	return in
}

// watermark records a channel's watermark. advanced says that the task's rose.
func (in *inputs) watermark(gate, channel int, at int64) (now int64, advanced bool) {
	m := &in.marks[gate][channel]
	m.time, m.idle = max(m.time, at), false
	return in.advance()
}

// idle records that a channel is idle, or active again.
func (in *inputs) idle(gate, channel int, idle bool) (now int64, advanced bool) {
	in.marks[gate][channel].idle = idle
	return in.advance()
}

// end records that a channel has ended.
func (in *inputs) end(gate, channel int) (now int64, advanced bool) {
	m := &in.marks[gate][channel]
	if m.ended {
		return in.current, false
	}
	m.ended = true
	if in.left[gate]--; in.left[gate] == 0 {
		in.ended[gate] = true
		in.open--
	}
	return in.advance()
}

func (in *inputs) advance() (int64, bool) {
	least, any := element.MaxWatermark, false
	for _, marks := range in.marks {
		for _, m := range marks {
			if !m.ended && !m.idle {
				least, any = min(least, m.time), true
			}
		}
	}
	if !any && in.open > 0 || least <= in.current {
		return in.current, false
	}
	in.current = least
	return least, true
}
