package operator

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
)

// A Moment is where a user function stands: in which subtask, at which record.
type Moment struct {
	*Context
	// Timestamp is the event time of the record or timer that the function is
	// called with, and of what it emits; or batch.NoTimestamp.
	Timestamp int64
	// Watermark is how far event time has come; batch.NoTimestamp at first.
	Watermark int64

	lists []KeptList // of the function
}

// KeepList makes a list part of what the function keeps. It is called while the
// function is readied.
func (m *Moment) KeepList(l KeptList) error {
	for _, other := range m.lists {
		if other.Name == l.Name {
			return errors.New("a state of this name is open already; names are unique within an operator")
		}
	}
	m.lists = append(m.lists, l)
	return nil
}

// Life is what a user function may have besides the processing of records.
type Life[R any] struct {
	// Restored, if not nil, is called once before the first record, when states have
	// what a checkpoint had kept of them.
	Restored func() error
	// Snapshot, if not nil, is called before each checkpoint.
	Snapshot func(checkpoint int64) error
	// Finish, if not nil, is called once after the last record.
	Finish func(emit func(R)) error
	// Close, if not nil, is called when the task has ended, however it ended.
	Close func() error
}

// Processor is a user function over one input. emit may be called any number of
// times.
type Processor[T, R any] struct {
	Life[R]
	Process func(v T, emit func(R)) error
}

// CoProcessor is a user function over two inputs.
type CoProcessor[A, B, R any] struct {
	Life[R]
	Process1 func(v A, emit func(R)) error
	Process2 func(v B, emit func(R)) error
}

// Process makes the operator of a function that open readies in each subtask.
func Process[T, R any](open func(m *Moment) (Processor[T, R], error)) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		p, err := open(&s.Moment)
		s.begin(p.Life, err)
		s.keep(nil)
		return input(s, p.Process)
	})
}

// CoProcess makes the operator of a function over two inputs that open readies in
// each subtask.
func CoProcess[A, B, R any](open func(m *Moment) (CoProcessor[A, B, R], error)) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		p, err := open(&s.Moment)
		s.begin(p.Life, err)
		s.keep(nil)
		return Inputs{input(s, p.Process1), input(s, p.Process2)}
	})
}

// footing is what a user function stands on in one subtask.
type footing[R any] struct {
	Moment
	life Life[R]
	out  *Receiver[R]
	emit func(R)
	// passed, if not nil, runs when event time has come to a watermark, before
	// that is passed on.
	passed func(t int64)
	// restored, if not nil, runs when state is what a checkpoint had kept.
	restored func()
	// ended, if not nil, runs when no record follows: what is called later is not to
	// emit anything.
	ended func()
	// prepare, if not nil, runs before a checkpoint. refuse is why there is none.
	prepare func()
	refuse  error
}

func newFooting[R any](c *Context, out any) *footing[R] {
	s := &footing[R]{Moment: Moment{Context: c, Timestamp: batch.NoTimestamp, Watermark: batch.NoTimestamp}, out: Output[R](out)}
	push, signal, emitted := s.out.Push, c.Signal, c.Emitted()
	s.emit = func(r R) {
		signal.Attend()
		*emitted++
		push(r, s.Timestamp)
	}
	return s
}

// begin starts the function's life, or ends the task with the error of its
// opening; it is closed in both cases.
func (s *footing[R]) begin(life Life[R], err error) {
	s.life = life
	if life.Close != nil {
		s.OnClose(func(bool) {
			if err := life.Close(); err != nil {
				s.failed(fmt.Errorf("close: %w", err))
			}
		})
	}
	if err != nil {
		s.failed(fmt.Errorf("open: %w", err))
	}
}

// keep makes what the function keeps part of checkpoints, with keyed state unless
// it is nil, and gives it what it had.
func (s *footing[R]) keep(keyed *state.Backend) {
	k := Kept{Keyed: keyed, Lists: s.lists, Refuse: s.refuse}
	if snapshot := s.life.Snapshot; snapshot != nil || s.prepare != nil {
		k.Prepare = func(checkpoint int64) {
			if s.prepare != nil {
				s.prepare()
			}
			if snapshot == nil {
				return
			}
			if err := snapshot(checkpoint); err != nil {
				s.failed(fmt.Errorf("snapshot: %w", err))
			}
		}
	}
	if keyed != nil || len(k.Lists) > 0 || k.Prepare != nil || k.Refuse != nil {
		s.Keep(s.OperatorID, k)
	}
	if s.restored != nil {
		s.restored()
	}
	if f := s.life.Restored; f != nil {
		if err := f(); err != nil {
			s.failed(fmt.Errorf("restore: %w", err))
		}
	}
}

// input makes the receiver that gives each record to process.
func input[T, R any](s *footing[R], process func(v T, emit func(R)) error) *Receiver[T] {
	return &Receiver[T]{
		Push: func(v T, ts int64) {
			s.Timestamp = ts
			if err := process(v, s.emit); err != nil {
				s.failed(err)
			}
		},
		Watermark: s.watermark,
		Idle:      s.out.Idle,
		Finish:    s.finish,
	}
}

func (s *footing[R]) watermark(t int64) {
	s.Watermark = max(s.Watermark, t) // it is kept by some
	if s.passed != nil {
		s.passed(t)
	}
	s.out.Watermark(t)
}

func (s *footing[R]) finish() {
	if s.life.Finish != nil {
		s.Timestamp = batch.NoTimestamp
		if err := s.life.Finish(s.emit); err != nil {
			s.failed(err)
		}
	}
	if s.ended != nil {
		s.ended()
	}
	s.out.Finish()
}
