package local

import (
	"sync"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

// A Source is one channel of a gate. It calls the gate's Ready when it turns
// from empty to not empty, or fails.
type Source interface {
	// Poll takes the next element. More says that there is another. The
	// gate's owner calls it.
	Poll() (e element.Element, ok, more bool, err error)
	// Close gives up the channel and what is in it. After the end of the
	// partition it has no effect.
	Close()
}

// A Gate reads channels in turn, each time the one that has been ready longest.
//
// Poll, Block, Unblock and Close belong to the consuming task's goroutine;
// Ready may be called from anywhere.
type Gate struct {
	sources []Source
	wake    func()
	cancel  <-chan struct{}

	mu     sync.Mutex
	ready  FIFO[int]
	urgent FIFO[int] // channels on which a barrier has overtaken, or had
	state  []channelState
	armed  bool // the next Ready calls wake
	closed bool
}

type channelState struct {
	queued  bool // in the ready list
	blocked bool
	parked  bool // was ready while blocked
}

var _ shuffle.AligningGate = (*Gate)(nil)

// NewGate makes a gate of so many channels; Use or Connect gives each its
// source before the first Poll. Wake is called with no lock held and must not
// block. A closed cancel ends Poll with shuffle.ErrCanceled once nothing is left.
func NewGate(channels int, wake func(), cancel <-chan struct{}) *Gate {
	return &Gate{sources: make([]Source, channels), state: make([]channelState, channels), wake: wake, cancel: cancel}
}

// Use makes s the source of a channel.
func (g *Gate) Use(channel int, s Source) { g.sources[channel] = s }

// Channels is the number of producers.
func (g *Gate) Channels() int { return len(g.sources) }

// Ready says that a channel has something, or has failed.
func (g *Gate) Ready(channel int) {
	g.mu.Lock()
	if g.closed || !g.enqueue(channel) {
		g.mu.Unlock()
		return
	}
	wake := g.armed
	g.armed = false
	g.mu.Unlock()
	if wake {
		g.wake()
	}
}

// enqueue puts a channel on the ready list unless it is there or blocked. The
// caller holds the mutex.
func (g *Gate) enqueue(channel int) bool {
	switch s := &g.state[channel]; {
	case s.blocked:
		s.parked = true
		return false
	case s.queued:
		return false
	default:
		s.queued = true
		g.ready.Push(channel)
		return true
	}
}

// Poll takes the next element.
func (g *Gate) Poll() (channel int, e element.Element, ok bool, err error) {
	again := -1 // the channel polled before, if it has more
	for {
		g.mu.Lock()
		if again >= 0 {
			g.enqueue(again)
		}
		if g.urgent.Len() > 0 {
			g.mu.Unlock()
			again = -1
			if ch, e, ok := g.PollUrgent(); ok {
				return ch, e, true, nil
			}
			continue
		}
		ch, some := g.ready.Pop()
		if g.armed = !some; !some {
			g.mu.Unlock()
			return 0, e, false, g.canceled()
		}
		g.state[ch].queued = false
		g.mu.Unlock()

		e, ok, more, err := g.sources[ch].Poll()
		if ok || err != nil {
			if more || err != nil {
				g.requeue(ch)
			}
			return ch, e, ok, err
		}
		if again = -1; more {
			again = ch
		}
	}
}

func (g *Gate) requeue(channel int) {
	g.mu.Lock()
	g.enqueue(channel)
	g.mu.Unlock()
}

func (g *Gate) canceled() error {
	select {
	case <-g.cancel:
		return shuffle.ErrCanceled
	default:
		return nil
	}
}

// Block keeps Poll from taking anything more of a channel.
func (g *Gate) Block(channel int) {
	g.mu.Lock()
	g.state[channel].blocked = true
	if g.state[channel].queued {
		// It is taken off the list here, so that Poll need not look.
		for range g.ready.Len() {
			if ch, _ := g.ready.Pop(); ch != channel {
				g.ready.Push(ch)
			}
		}
		g.state[channel].queued, g.state[channel].parked = false, true
	}
	g.mu.Unlock()
}

// Unblock lets Poll take from the channel again. It does not call wake: its
// caller polls next.
func (g *Gate) Unblock(channel int) {
	g.mu.Lock()
	s := &g.state[channel]
	s.blocked = false
	if s.parked {
		s.parked = false
		g.enqueue(channel)
	}
	g.mu.Unlock()
}

// Close gives up all channels. It may be called again.
func (g *Gate) Close() {
	g.mu.Lock()
	closed := g.closed
	g.closed, g.armed, g.ready = true, false, FIFO[int]{}
	g.mu.Unlock()
	if closed {
		return
	}
	for _, s := range g.sources {
		if s != nil {
			s.Close()
		}
	}
}
