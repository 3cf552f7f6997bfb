package stream

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
)

// ProcessFunction is a user function with a life of its own: each subtask makes
// one and uses it on one goroutine, so what it keeps needs no lock. It may also
// have the methods of Opener, Restorer, Snapshotter, Finisher and Closer, called in
// this order: Open, Restored, Process for each record with Snapshot between, Finish,
// Close. What it keeps in fields of its own is not part of checkpoints: after a
// failure a new one begins. What it wants again it keeps in states that Open declares,
// as NewSplitListState does.
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

// Restorer is called once before the first record, when the states that Open has
// declared have what a checkpoint had kept of them: the first time they are empty.
// Keyed states have no key then. An error fails the job.
type Restorer interface {
	Restored() error
}

// Snapshotter is called before each checkpoint: what the function keeps in fields of
// its own, and wants again after a failure, is put into its states now. An error
// fails the job. Together with Restorer it is Flink's CheckpointedFunction.
type Snapshotter interface {
	Snapshot(checkpoint int64) error
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

	moment   *operator.Moment
	keyed    *state.Backend // nil: the stream is not keyed
	problems []error        // of states that could not be opened
}

// ProcessContext is what a function may know of the moment it is called in.
type ProcessContext struct{ moment *operator.Moment }

// Timestamp is the event time of the record, or of the timer; ok is false when it
// has none.
func (c *ProcessContext) Timestamp() (at time.Time, ok bool) {
	return instant(c.moment.Timestamp)
}

// Watermark is how far event time has come: no record at or before it follows. ok
// is false when nothing is known yet. At the end of bounded input it is beyond
// all times.
func (c *ProcessContext) Watermark() (at time.Time, ok bool) {
	return instant(c.moment.Watermark)
}

// Now is the processing time, in milliseconds: what the clock says.
func (c *ProcessContext) Now() time.Time { return time.UnixMilli(c.moment.Now()) }

// SideOutput emits v to a side output, with the event time that emit would give it.
func (c *ProcessContext) SideOutput[S any](o SideOutput[S], v S) {
	if r := c.moment.Side[S](o.tag); r != nil {
		r.Push(v, c.moment.Timestamp)
	}
}

func instant(ms int64) (time.Time, bool) {
	if ms == batch.NoTimestamp {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}

// Process runs a function over the stream. f is called once in each subtask, and
// must make a new function each time.
func (s DataStream[T]) Process[R any](f func() ProcessFunction[T, R]) DataStream[R] {
	s.env.required("Process", f == nil)
	return transform[T, R](s, "Process", operator.Process(func(m *operator.Moment) (p operator.Processor[T, R], err error) {
		function, c := f(), &ProcessContext{m}
		if function == nil {
			return p, errNil("ProcessFunction")
		}
		p.Process = func(v T, emit func(R)) error { return function.Process(v, c, emit) }
		p.Life = lifeOf[R](function)
		return p, open(function, m, nil)
	}))
}

func errNil(what string) error {
	return fmt.Errorf("the function given to make a %s made nil", what)
}

// lifeOf gives what a function has besides Open.
func lifeOf[R any](function any) (life operator.Life[R]) {
	if finisher, ok := function.(Finisher[R]); ok {
		life.Finish = finisher.Finish
	}
	if restorer, ok := function.(Restorer); ok {
		life.Restored = restorer.Restored
	}
	if snapshotter, ok := function.(Snapshotter); ok {
		life.Snapshot = snapshotter.Snapshot
	}
	if closer, ok := function.(Closer); ok {
		life.Close = closer.Close
	}
	return life
}

// open calls the function's Open, if it has one.
func open(function any, m *operator.Moment, keyed *state.Backend) error {
	opener, ok := function.(Opener)
	if !ok {
		return nil
	}
	c := &OpenContext{Subtask: m.Subtask, Parallelism: m.Parallelism, Attempt: m.Attempt, Logger: m.Logger, Done: m.Done(), moment: m, keyed: keyed}
	return errors.Join(append([]error{opener.Open(c)}, c.problems...)...)
}
