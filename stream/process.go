package stream

import (
	"errors"
	"log/slog"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
)

// ProcessFunction is a user function with a life of its own: each subtask makes
// one and uses it on one goroutine, so what it keeps needs no lock. It may also
// have the methods of Opener, Finisher and Closer, called in this order: Open,
// Process for each record, Finish, Close.
type ProcessFunction[T, R any] interface {
	// Process takes one record and may call emit any number of times, before it
	// returns: the results come after those of the records before. c is only
	// valid until then. An error fails the job, with the operation's name.
	Process(v T, c *ProcessContext, emit func(R)) error
}

// Opener is called once before the first record. An error fails the job; Close is
// called all the same.
type Opener interface {
	Open(c *OpenContext) error
}

// Finisher is called once after the last record of bounded input, not when the
// job fails or is canceled. R must be that of the ProcessFunction.
type Finisher[R any] interface {
	Finish(emit func(R)) error
}

// Closer is called once when the task has ended, however it ended. An error fails
// the job if nothing else has.
type Closer interface {
	Close() error
}

// OpenContext says where a function's instance runs.
type OpenContext struct {
	Subtask     int // from 0
	Parallelism int
	Attempt     int // from 0
	Logger      *slog.Logger
	// Done is closed when the task is canceled. A function that waits for
	// something else must return then; what it returns no longer matters.
	Done <-chan struct{}
}

// ProcessContext is what a function may know of the record it is given.
type ProcessContext struct{ timestamp int64 }

// Timestamp is the record's event time in Unix milliseconds; ok is false when it
// has none.
func (c *ProcessContext) Timestamp() (ms int64, ok bool) {
	return c.timestamp, c.timestamp != batch.NoTimestamp
}

// Process runs a function over the stream. f is called once in each subtask, and
// must make a new function each time.
func (s DataStream[T]) Process[R any](f func() ProcessFunction[T, R]) DataStream[R] {
	s.env.required("Process", f == nil)
	return transform[T, R](s, "Process", processFactory(f))
}

func processFactory[T, R any](f func() ProcessFunction[T, R]) operator.Factory {
	return operator.Process(func(c *operator.Context) (operator.Processor[T, R], error) {
		function, at := f(), &ProcessContext{}
		if function == nil {
			return operator.Processor[T, R]{}, errors.New("Process: the function given to make a ProcessFunction made nil")
		}
		p := operator.Processor[T, R]{
			Process: func(v T, ts int64, emit func(R)) error {
				at.timestamp = ts
				return function.Process(v, at, emit)
			},
		}
		if finisher, ok := function.(Finisher[R]); ok {
			p.Finish = finisher.Finish
		}
		if closer, ok := function.(Closer); ok {
			p.Close = closer.Close
		}
		if opener, ok := function.(Opener); ok {
			return p, opener.Open(&OpenContext{Subtask: c.Subtask, Parallelism: c.Parallelism, Attempt: c.Attempt, Logger: c.Logger, Done: c.Done()})
		}
		return p, nil
	})
}
