package stream

import (
	"time"

	"github.com/weirstream/weir/internal/operator"
)

// A Trigger says when a window's result is emitted, and when its records are
// dropped. One object serves all windows, on the goroutines of several subtasks:
// what it has to remember of a window is the TriggerContext's.
type Trigger[T any] interface {
	// OnRecord is called with each record, when it is in the window.
	OnRecord(v T, c *TriggerContext) Verdict
	// OnTimer is called when a timer of the window is due: the trigger's, or that
	// at which the window ends.
	OnTimer(t Timer, c *TriggerContext) Verdict
	// OnMerge is called when the window has taken in others: their timers are gone,
	// their numbers were added up.
	OnMerge(c *TriggerContext)
}

// Verdict is what a Trigger wants done.
type Verdict = operator.Verdict

// The verdicts.
const (
	Continue     = operator.Continue
	Fire         = operator.Fire                  // emit the result
	Purge        = operator.Purge                 // drop the records
	FireAndPurge = operator.Fire | operator.Purge // emit, then drop
)

// TriggerContext is what a trigger may know and remember of a window of a key.
type TriggerContext struct {
	ProcessContext
	Start, End time.Time // zero in global and count windows
	c          *operator.TriggerContext
}

// Number is what SetNumber set for the window, 0 at first. It is the memory that a
// trigger has.
func (c *TriggerContext) Number() int64 { return c.c.Number() }

// SetNumber sets the window's number.
func (c *TriggerContext) SetNumber(n int64) { c.c.SetNumber(n) }

// RegisterEventTimer asks for a call of OnTimer when the watermark reaches at.
func (c *TriggerContext) RegisterEventTimer(at time.Time) {
	c.c.Register(operator.OfEventTime, at.UnixMilli())
}

// RegisterProcessingTimer asks for a call of OnTimer when the clock reaches at.
func (c *TriggerContext) RegisterProcessingTimer(at time.Time) {
	c.c.Register(operator.OfProcessingTime, at.UnixMilli())
}

// DeleteEventTimer takes a timer back, if there is one.
func (c *TriggerContext) DeleteEventTimer(at time.Time) {
	c.c.Delete(operator.OfEventTime, at.UnixMilli())
}

// DeleteProcessingTimer takes a timer back, if there is one.
func (c *TriggerContext) DeleteProcessingTimer(at time.Time) {
	c.c.Delete(operator.OfProcessingTime, at.UnixMilli())
}

// AtEnd is the trigger that fires when event time has come to the end of a window,
// and again with each record that comes later.
func AtEnd[T any]() Trigger[T] { return builtin[T]{operator.AtEnd[T]{}} }

// AtClockEnd is the trigger that fires when the clock has come to the end of a
// window.
func AtClockEnd[T any]() Trigger[T] {
	return builtin[T]{operator.AtEnd[T]{Domain: operator.OfProcessingTime}}
}

// AtCount is the trigger that fires with every n records.
func AtCount[T any](n int64) Trigger[T] { return builtin[T]{operator.AtCount[T](max(1, n))} }

// Every is the trigger that fires with every interval of event time, and at the end
// of a window.
func Every[T any](interval time.Duration) Trigger[T] {
	return builtin[T]{operator.Every[T]{Domain: operator.OfEventTime, Interval: max(1, interval.Milliseconds())}}
}

// EveryByClock is the trigger that fires with every interval of processing time.
func EveryByClock[T any](interval time.Duration) Trigger[T] {
	return builtin[T]{operator.Every[T]{Domain: operator.OfProcessingTime, Interval: max(1, interval.Milliseconds())}}
}

// Purging is the trigger that drops the records of a window whenever t fires.
func Purging[T any](t Trigger[T]) Trigger[T] {
	return builtin[T]{operator.Purging[T]{Trigger: triggerOf(t)}}
}

// builtin is a trigger that operators know. Its methods serve triggers of a program
// that are made of it.
type builtin[T any] struct{ t operator.Trigger[T] }

func (b builtin[T]) OnRecord(v T, c *TriggerContext) Verdict {
	at := c.moment.Timestamp
	return b.t.Element(v, at, c.window(), c.c)
}

func (b builtin[T]) OnTimer(t Timer, c *TriggerContext) Verdict {
	d := operator.OfProcessingTime
	if t.EventTime {
		d = operator.OfEventTime
	}
	return b.t.Timer(d, t.At.UnixMilli(), c.window(), c.c)
}

func (b builtin[T]) OnMerge(c *TriggerContext) { b.t.Merged(c.window(), c.c) }

func (c *TriggerContext) window() operator.Window {
	if c.End.IsZero() && c.Start.IsZero() {
		return operator.GlobalWindow
	}
	return operator.Window{Start: c.Start.UnixMilli(), End: c.End.UnixMilli()}
}

// triggerOf gives a trigger as operators have it.
func triggerOf[T any](t Trigger[T]) operator.Trigger[T] {
	if b, ok := t.(builtin[T]); ok {
		return b.t
	}
	return custom[T]{t}
}

// custom shows a trigger of the program to the operator.
type custom[T any] struct{ t Trigger[T] }

func (u custom[T]) Element(v T, _ int64, w operator.Window, c *operator.TriggerContext) operator.Verdict {
	return u.t.OnRecord(v, u.context(w, c))
}

func (u custom[T]) Timer(d operator.Domain, at int64, w operator.Window, c *operator.TriggerContext) operator.Verdict {
	return u.t.OnTimer(Timer{At: time.UnixMilli(at), EventTime: d == operator.OfEventTime}, u.context(w, c))
}

func (u custom[T]) Merged(w operator.Window, c *operator.TriggerContext) {
	u.t.OnMerge(u.context(w, c))
}

func (u custom[T]) context(w operator.Window, c *operator.TriggerContext) *TriggerContext {
	r := windowed(struct{}{}, w, struct{}{})
	return &TriggerContext{ProcessContext: ProcessContext{c.Moment}, Start: r.Start, End: r.End, c: c}
}
