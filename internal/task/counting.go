package task

import (
	"slices"
	"time"
)

// counting waits for the barriers of checkpoints on all channels and blocks none, so
// that several may be waited for at once.
//
// Invariant: pending are in the order of their checkpoints, all above over.
type counting struct {
	pending []*count
	over    int64 // the newest checkpoint that was taken or given up
}

// A count is a checkpoint whose barrier has come on some channels.
type count struct {
	Barrier
	begun   time.Time
	arrived [][]bool // by gate and channel; that have ended too
	missing int
}

// barrier takes a barrier that has come on a channel.
func (c *counting) barrier(a *alignment, gate, channel int, b Barrier) {
	if b.Checkpoint <= c.over {
		return
	}
	at, found := slices.BinarySearchFunc(c.pending, b.Checkpoint, func(n *count, id int64) int { return int(n.Checkpoint - id) })
	if !found {
		n := &count{Barrier: b, begun: time.Now()}
		for _, ended := range a.ended {
			n.arrived = append(n.arrived, slices.Clone(ended))
			for _, e := range ended {
				if !e {
					n.missing++
				}
			}
		}
		c.pending = slices.Insert(c.pending, at, n)
	}
	c.pending[at].arrive(gate, channel)
	c.complete(a)
}

func (n *count) arrive(gate, channel int) {
	if !n.arrived[gate][channel] {
		n.arrived[gate][channel] = true
		n.missing--
	}
}

// end says that a channel has ended: no barrier comes on it any more.
func (c *counting) end(a *alignment, gate, channel int) {
	for _, n := range c.pending {
		n.arrive(gate, channel)
	}
	c.complete(a)
}

// complete takes the newest checkpoint whose barrier has come everywhere. Older ones
// that have not come everywhere by then were given up by who sent them.
func (c *counting) complete(a *alignment) {
	for i := len(c.pending) - 1; i >= 0; i-- {
		if n := c.pending[i]; n.missing == 0 {
			for _, older := range c.pending[:i] {
				if older.missing > 0 {
					a.task.decline(older.Barrier, ErrSubsumed)
				} else {
					a.task.checkpoint(older.Barrier, time.Since(older.begun))
				}
			}
			c.pending, c.over = c.pending[i+1:], n.Checkpoint
			a.task.checkpoint(n.Barrier, time.Since(n.begun))
			return
		}
	}
}

// abort gives a checkpoint up.
func (c *counting) abort(checkpoint int64) {
	c.pending = slices.DeleteFunc(c.pending, func(n *count) bool { return n.Checkpoint == checkpoint })
}
