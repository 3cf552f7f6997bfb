package operator

import (
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
)

// A Window is the records of a key whose time is at least Start and below End, in
// Unix milliseconds. The global window ends with time itself.
type Window struct{ Start, End int64 }

// GlobalWindow is the window that all records of a key are in.
var GlobalWindow = Window{math.MinInt64, math.MaxInt64}

// Last is the last millisecond of the window.
func (w Window) Last() int64 {
	if w.End == math.MaxInt64 {
		return w.End
	}
	return w.End - 1
}

// Verdict is what is to be done with a window.
type Verdict uint8

// The verdicts are sets.
const (
	Continue Verdict = 0
	Fire     Verdict = 1 << iota
	Purge
)

// A Trigger says when a window's result is emitted, and when its contents are
// dropped. It is the same object for all windows: what it has to remember is the
// TriggerContext's.
type Trigger[T any] interface {
	// Element is called with each record, when it is in the window.
	Element(v T, ts int64, w Window, c *TriggerContext) Verdict
	// Timer is called when a timer of the window is due, whoever registered it.
	Timer(d Domain, at int64, w Window, c *TriggerContext) Verdict
	// Merged is called when w has taken in other windows, whose timers are gone and
	// whose numbers were added up.
	Merged(w Window, c *TriggerContext)
}

// A TriggerContext is what a trigger may know and remember of the window of a key
// that it is called for.
type TriggerContext struct {
	*Moment
	number                   *state.Value[int64]
	registerEvent, register  func(at int64)
	deleteEvent, deleteTimer func(at int64)
}

// Number is what SetNumber set for the window, 0 at first.
func (c *TriggerContext) Number() int64 {
	n, _ := c.number.Get()
	return n
}

// SetNumber sets the number that the trigger has for the window.
func (c *TriggerContext) SetNumber(n int64) {
	if n == 0 {
		c.number.Clear()
		return
	}
	c.number.Set(n)
}

// Register registers a timer of the window.
func (c *TriggerContext) Register(d Domain, at int64) {
	if d == OfEventTime {
		c.registerEvent(at)
	} else {
		c.register(at)
	}
}

// Delete takes a timer of the window back.
func (c *TriggerContext) Delete(d Domain, at int64) {
	if d == OfEventTime {
		c.deleteEvent(at)
	} else {
		c.deleteTimer(at)
	}
}

// Windows says what windows the records of each key are in, and when these are
// done.
type Windows[K comparable, T any] struct {
	Key func(T) K
	// Domain is the time that records are put into windows by.
	Domain Domain
	// Assign appends the windows of a record of time ts to dst.
	Assign func(dst []Window, v T, ts int64) []Window
	// Merging says that windows of a key that touch become one.
	Merging bool
	Trigger Trigger[T]
	// Lateness is for how many milliseconds behind its end, in event time, a window
	// is kept for records that come late.
	Lateness int64
	// Late is the side output of records that are too late for all their windows.
	Late any
}

// A Pane is what an operator keeps of the current window of the current key, and
// makes of it.
type Pane[T any] struct {
	Add func(v T, ts int64)
	// Fire emits the result; a window without contents has none.
	Fire func(w Window)
	// Clear drops the contents.
	Clear func()
	// Take takes the contents out and gives what adds them to those of another
	// window, which is then the current one.
	Take func() (merge func())
}

// windowed is a window operator in one subtask.
type windowed[K comparable, T, R any] struct {
	*footing[R]
	spec    Windows[K, T]
	keyed   *state.Keyed[K]
	space   *state.Namespace[Window]
	timers  *Timers[K, Window]
	open    *state.Value[[]Window] // of merging windows: those of a key
	pane    Pane[T]
	context *TriggerContext
	late    *Receiver[T]
	dropped *int64
	windows []Window // of the record at hand
}

// newWindowed readies the operator but for its pane.
func newWindowed[K comparable, T, R any](c *Context, out any, spec Windows[K, T]) *windowed[K, T, R] {
	s := newFooting[R](c, out)
	w := &windowed[K, T, R]{footing: s, spec: spec, keyed: newKeyed[K](c), late: c.Side[T](spec.Late), dropped: c.Late()}
	var err error
	w.space, err = state.NewNamespace[Window](w.keyed.Backend)
	Check(err)
	w.timers = newTimers(c, w.keyed, w.space)
	w.timers.fire = w.due
	s.passed, s.restored = w.timers.advance, w.timers.next
	s.ended = w.timers.halt
	if spec.Domain == OfEventTime {
		s.lists = append(s.lists, keptWatermark(c, eventTimeList, &s.Watermark, nil))
	}
	number, err := state.NewValue[int64](w.keyed.Backend, "trigger", state.In(w.space))
	Check(err)
	if spec.Merging {
		w.open, err = state.NewValue[[]Window](w.keyed.Backend, "windows")
		Check(err)
	}
	w.context = &TriggerContext{Moment: &s.Moment, number: number,
		registerEvent: w.timers.RegisterEventTime, register: w.timers.RegisterProcessingTime,
		deleteEvent: w.timers.DeleteEventTime, deleteTimer: w.timers.DeleteProcessingTime}
	return w
}

// receiver is the operator's input.
func (w *windowed[K, T, R]) receiver() *Receiver[T] {
	return &Receiver[T]{Push: w.push, PushBatch: pushReady(w.Signal, w.keyed, w.spec.Key, w.take), Watermark: w.watermark, Idle: w.out.Idle, Finish: w.finish}
}

// push puts a record into its windows.
func (w *windowed[K, T, R]) push(v T, ts int64) {
	k := w.spec.Key(v)
	w.keyed.SetKey(k, w.keyed.Hash(k))
	w.take(v, ts)
}

// take puts a record, whose key is the current one, into its windows.
func (w *windowed[K, T, R]) take(v T, ts int64) {
	at := ts
	if w.spec.Domain == OfProcessingTime {
		at = w.Now()
	} else if ts == batch.NoTimestamp {
		w.failed(errNoEventTime)
	}
	w.windows = w.spec.Assign(w.windows[:0], v, at)
	late := true
	for _, window := range w.windows {
		if w.spec.Merging {
			window = w.merge(window)
		}
		if w.over(window) {
			continue
		}
		late = false
		w.space.Set(window)
		w.pane.Add(v, ts)
		w.register(window)
		w.judge(window, w.spec.Trigger.Element(v, ts, window, w.context))
	}
	if late {
		w.tooLate(v, ts)
	}
}

// tooLate takes a record that is too late for all its windows.
func (w *windowed[K, T, R]) tooLate(v T, ts int64) {
	if w.late != nil {
		w.late.Push(v, ts)
		return
	}
	*w.dropped++
}

// judge does what the trigger said of the current window.
func (w *windowed[K, T, R]) judge(window Window, v Verdict) {
	if v&Fire != 0 {
		w.Timestamp = window.Last()
		w.pane.Fire(window)
	}
	if v&Purge != 0 {
		w.pane.Clear()
	}
}

// end is the time at which a window is forgotten.
func (w *windowed[K, T, R]) end(window Window) int64 {
	last := window.Last()
	if w.spec.Domain == OfProcessingTime || last > math.MaxInt64-w.spec.Lateness {
		return last
	}
	return last + w.spec.Lateness
}

// over says that a window has been forgotten, or would be at once.
func (w *windowed[K, T, R]) over(window Window) bool {
	return w.spec.Domain == OfEventTime && w.Watermark != batch.NoTimestamp && w.end(window) <= w.Watermark
}

// register makes the current window be forgotten in time.
func (w *windowed[K, T, R]) register(window Window) {
	if at := w.end(window); at != math.MaxInt64 {
		w.context.Register(w.spec.Domain, at)
	}
}

// due is called with a timer of a window.
func (w *windowed[K, T, R]) due(_ K, window Window, d Domain, at int64) {
	if w.spec.Merging && !w.isOpen(window) {
		return // it has become a part of another
	}
	w.judge(window, w.spec.Trigger.Timer(d, at, window, w.context))
	if d == w.spec.Domain && at == w.end(window) {
		w.pane.Clear()
		w.context.SetNumber(0)
		if w.spec.Merging {
			w.close(window)
		}
	}
}
