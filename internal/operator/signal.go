package operator

import "sync/atomic"

// maxBlock is how many records a task processes at most without looking at its
// signal: enough to make the look cost nothing.
const maxBlock = 64

// Signal asks a task that is busy with a batch for a moment between two records:
// it has been canceled, or time has passed. Anyone may raise it. The task's
// goroutine looks at it wherever records begin their way through the chain or
// multiply on it.
//
// The obvious way, to look between two batches only, would make a canceled task
// run a slow function a thousand times more, and hold back for as long what the
// function has already emitted.
type Signal struct {
	raised atomic.Bool
	attend func()
	block  int // the task's: what Block gave last
}

// NewSignal makes a signal. attend is what the task does about it; it may emit
// buffered records and may abort.
func NewSignal(attend func()) *Signal { return &Signal{attend: attend, block: 1} }

// Raise asks for the moment. From any goroutine.
func (s *Signal) Raise() { s.raised.Store(true) }

// Lower says that it has been given: what is asked for from now on is new.
func (s *Signal) Lower() { s.raised.Store(false) }

// Attend gives the moment if it was asked for. It is called on the task's
// goroutine while no operator behind the caller is in the middle of a record.
func (s *Signal) Attend() {
	if s.raised.Load() {
		s.give()
	}
}

func (s *Signal) give() {
	s.block = 1
	s.attend()
}

// Block is Attend for who feeds many records: it gives how many may follow
// before the next call. As time raises the signal regularly, records that take
// long come in small blocks.
func (s *Signal) Block() int {
	if s.raised.Load() {
		s.give()
	} else if s.block < maxBlock {
		s.block *= 2
	}
	return s.block
}
