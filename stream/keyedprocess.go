package stream

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/operator"
)

// KeyedProcessFunction is a ProcessFunction over a keyed stream: what it opens
// with NewValueState and the like has a value for each key, and works on that of
// the record it is called with. It may have the methods of TimerFunction besides
// those of Opener, Finisher and Closer. In Finish there is no key.
type KeyedProcessFunction[K comparable, T, R any] interface {
	// Process takes one record, as that of a ProcessFunction does.
	Process(v T, c *KeyedContext[K], emit func(R)) error
}

// TimerFunction is called with the timers that a function has registered. K and R
// must be those of the function.
type TimerFunction[K comparable, R any] interface {
	// OnTimer is called once for each timer, in the order of their times within a
	// domain, when event time or processing time has reached it. The key is the one
	// that it was registered for, and so is all state.
	OnTimer(t Timer, c *KeyedContext[K], emit func(R)) error
}

// Timer says which timer is due.
type Timer struct {
	At time.Time
	// EventTime says that At is an event time, not a processing time.
	EventTime bool
}

// KeyedContext is a ProcessContext with a key and timers. A timer belongs to the
// key; registered twice for one time it fires once. It has a precision of a
// millisecond.
type KeyedContext[K comparable] struct {
	ProcessContext
	keyed *operator.KeyedMoment[K]
}

// Key is the key of the record, or the timer.
func (c *KeyedContext[K]) Key() K { return c.keyed.State.Key() }

// RegisterEventTimer asks for a call of OnTimer when the watermark reaches at. A
// time that it has passed already is reached with the next watermark.
func (c *KeyedContext[K]) RegisterEventTimer(at time.Time) {
	c.timers().RegisterEventTime(at.UnixMilli())
}

// DeleteEventTimer takes such a timer back, if there is one.
func (c *KeyedContext[K]) DeleteEventTimer(at time.Time) {
	c.timers().DeleteEventTime(at.UnixMilli())
}

// RegisterProcessingTimer asks for a call of OnTimer when the clock reaches at.
// Timers that are still to come when bounded input has ended do not fire.
func (c *KeyedContext[K]) RegisterProcessingTimer(at time.Time) {
	c.timers().RegisterProcessingTime(at.UnixMilli())
}

// DeleteProcessingTimer takes such a timer back, if there is one.
func (c *KeyedContext[K]) DeleteProcessingTimer(at time.Time) {
	c.timers().DeleteProcessingTime(at.UnixMilli())
}

func (c *KeyedContext[K]) timers() *operator.Timers[K, struct{}] {
	if c.keyed.Timers == nil {
		operator.Abort(errors.New("a timer is registered, but the function has no method OnTimer(stream.Timer, *stream.KeyedContext, func(R)) error for its types of key and result"))
	}
	return c.keyed.Timers
}

// Process runs a function over the keyed stream. f is called once in each subtask,
// and must make a new function each time. Records with equal keys reach the same
// instance, which also gets those of other keys.
func (s KeyedStream[K, T]) Process[R any](f func() KeyedProcessFunction[K, T, R]) DataStream[R] {
	s.stream.env.required("Process", f == nil)
	return transform[T, R](s.stream, "Keyed Process", operator.KeyedProcess(s.key, func(m *operator.KeyedMoment[K]) (p operator.KeyedProcessor[K, T, R], err error) {
		function := f()
		if function == nil {
			return p, errNil("KeyedProcessFunction")
		}
		c := contextOf(m, function, &p.Timer)
		p.Process = func(v T, emit func(R)) error { return function.Process(v, c, emit) }
		p.Life = lifeOf[R](function)
		return p, open(function, m.Moment, m.State.Backend)
	}))
}

// contextOf makes the context of a keyed function, and gives its timers what they
// call if it has an OnTimer.
func contextOf[K comparable, R any](m *operator.KeyedMoment[K], function any, timer *func(operator.Domain, int64, func(R)) error) *KeyedContext[K] {
	c := &KeyedContext[K]{ProcessContext: ProcessContext{m.Moment}, keyed: m}
	if on, timed := function.(TimerFunction[K, R]); timed {
		m.OpenTimers()
		*timer = func(d operator.Domain, at int64, emit func(R)) error {
			return on.OnTimer(Timer{At: time.UnixMilli(at), EventTime: d == operator.OfEventTime}, c, emit)
		}
	}
	return c
}
