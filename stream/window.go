package stream

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/operator"
)

// Windows says how the records of each key are put into windows. A window is a
// span of time that has a beginning and, not in it, an end. Its times are event
// times unless InProcessingTime says otherwise, and have a precision of a
// millisecond.
type Windows struct {
	kind         windowKind
	size, slide  time.Duration
	offset       time.Duration
	count, every int64
	processing   bool
}

type windowKind uint8

const (
	noWindows windowKind = iota
	slidingWindows
	sessionWindows
	globalWindows
	countWindows
)

// Tumbling are windows of one size that follow each other without a gap. They
// begin at the multiples of size since 1970 UTC, before as well as after.
func Tumbling(size time.Duration) Windows { return Sliding(size, size) }

// Sliding are windows of one size that begin at every multiple of slide, so that a
// record is in several of them, or in none if slide is more than size.
func Sliding(size, slide time.Duration) Windows {
	return Windows{kind: slidingWindows, size: size, slide: slide}
}

// Session are windows that end when a key has no record for gap: each reaches from
// its first record to gap after its last.
func Session(gap time.Duration) Windows { return Windows{kind: sessionWindows, size: gap} }

// Global is one window for all records of a key. It has no end, so it needs a
// Trigger: without one nothing is emitted, not even when bounded input ends.
func Global() Windows { return Windows{kind: globalWindows} }

// CountWindow are windows of n records of a key, one after the other. What is left
// when bounded input ends is not emitted.
func CountWindow(n int64) Windows { return Windows{kind: countWindows, count: n, every: n} }

// SlidingCount are windows of the last n records of a key, one with every so many.
func SlidingCount(n, every int64) Windows {
	return Windows{kind: countWindows, count: n, every: every}
}

// Offset moves the beginnings of tumbling and sliding windows by d, for days that
// begin in another time zone: less than a slide, forwards or back.
func (w Windows) Offset(d time.Duration) Windows {
	w.offset = d
	return w
}

// InProcessingTime puts records into windows by the clock, when they come.
func (w Windows) InProcessingTime() Windows {
	w.processing = true
	return w
}

// check says what is wrong with w.
func (w Windows) check() error {
	for _, span := range []struct {
		name string
		d    time.Duration
		want bool
	}{
		{"size", w.size, w.kind == slidingWindows}, {"slide", w.slide, w.kind == slidingWindows}, {"gap", w.size, w.kind == sessionWindows},
	} {
		if span.want && (span.d < time.Millisecond || span.d%time.Millisecond != 0) {
			return fmt.Errorf("the windows' %s: got %s, want whole milliseconds, at least 1ms", span.name, span.d)
		}
	}
	switch {
	case w.kind == noWindows:
		return fmt.Errorf("no windows given: use Tumbling, Sliding, Session, Global, CountWindow or SlidingCount")
	case w.offset != 0 && w.kind != slidingWindows:
		return fmt.Errorf("Offset is for tumbling and sliding windows")
	case w.kind == slidingWindows && (w.offset.Abs() >= w.slide || w.offset%time.Millisecond != 0):
		return fmt.Errorf("the windows' offset: got %s, want whole milliseconds, less than a slide of %s, forwards or back", w.offset, w.slide)
	case w.kind == countWindows && (w.count < 1 || w.every < 1):
		return fmt.Errorf("the windows' numbers of records: got %d and %d, want at least 1", w.count, w.every)
	}
	return nil
}

// sliding gives tumbling and sliding windows as operators have them.
func (w Windows) sliding() operator.Sliding {
	return operator.Sliding{Size: w.size.Milliseconds(), Slide: w.slide.Milliseconds(), Offset: w.offset.Milliseconds()}
}

// WindowedStream is a keyed stream whose records are in windows.
type WindowedStream[K comparable, T any] struct {
	keyed    KeyedStream[K, T]
	windows  Windows
	trigger  operator.Trigger[T]
	evict    func(w operator.Window, all []operator.Timed[T]) []operator.Timed[T]
	lateness time.Duration
	late     SideOutput[T]
}

// Window puts the records of each key into windows.
//
// A window's result is emitted when event time has come to its end, or when its
// Trigger says so, with the last millisecond of the window as its event time. What
// comes after that is late; see AllowedLateness and LateTo. Late records that go
// nowhere are dropped and counted, as numLateRecordsDropped.
func (s KeyedStream[K, T]) Window[W onlyWindows](w W) WindowedStream[K, T] {
	return WindowedStream[K, T]{keyed: s, windows: checked(s.stream.env, Windows(w))}
}

// onlyWindows is Windows. A method that has it as its type parameter is compiled where
// it is used; one without type parameters is compiled for every key and record type of
// a program, and the operators of windows, for all their results, with it.
type onlyWindows interface{ Windows }

// checked gives w, or other windows and a problem of the program.
func checked(e *Env, w Windows) Windows {
	if err := w.check(); err != nil {
		e.problem(callSite(), "Window: %w", err)
		return Tumbling(time.Second)
	}
	return w
}

// allowed gives how long windows are kept, or a problem of the program.
func allowed(e *Env, d time.Duration) time.Duration {
	if d < 0 {
		e.problem(callSite(), "AllowedLateness: got %s, want 0 or more", d)
	}
	return max(0, d)
}

// AllowedLateness keeps windows for d of event time after their end: a record that
// comes meanwhile makes the window emit a new result. The default is 0.
func (s WindowedStream[K, T]) AllowedLateness(d time.Duration) WindowedStream[K, T] {
	s.lateness = allowed(s.keyed.stream.env, d)
	return s
}

// LateTo sends records that are too late for all their windows to a side output of
// the operation that follows.
func (s WindowedStream[K, T]) LateTo(o SideOutput[T]) WindowedStream[K, T] {
	s.late = o
	return s
}

// Trigger sets when a window's result is emitted. The default is AtEnd, for count
// windows their count, and for global windows never.
func (s WindowedStream[K, T]) Trigger(t Trigger[T]) WindowedStream[K, T] {
	s.keyed.stream.env.required("Trigger", t == nil)
	s.trigger = triggerOf(t)
	return s
}

// Evict lets only the records that evict gives be in a window's result, and be kept
// with it: a part of those that it is given, in the order in which they came.
func (s WindowedStream[K, T]) Evict(evict func(all []Timed[T]) []Timed[T]) WindowedStream[K, T] {
	s.keyed.stream.env.required("Evict", evict == nil)
	s.evict = evicting(evict)
	return s
}

// evicting shows a program's evictor to the operator.
func evicting[T any](evict func(all []Timed[T]) []Timed[T]) func(operator.Window, []operator.Timed[T]) []operator.Timed[T] {
	return func(_ operator.Window, all []operator.Timed[T]) []operator.Timed[T] {
		given := make([]Timed[T], len(all))
		for i, t := range all {
			given[i].Value = t.Value
			given[i].At, _ = instant(t.At)
		}
		left := evict(given)
		all = all[:0]
		for _, t := range left {
			all = append(all, operator.Timed[T]{Value: t.Value, At: t.At.UnixMilli()})
		}
		return all
	}
}

// Timed is a record with its event time, zero if it has none.
type Timed[T any] struct {
	Value T
	At    time.Time
}

// Windowed is the result for a key in a window.
type Windowed[K comparable, V any] struct {
	Key        K
	Start, End time.Time // zero in global and count windows
	Value      V
}

// windowed makes a result.
func windowed[K comparable, V any](k K, w operator.Window, v V) Windowed[K, V] {
	r := Windowed[K, V]{Key: k, Value: v}
	if w != operator.GlobalWindow {
		r.Start, r.End = time.UnixMilli(w.Start).UTC(), time.UnixMilli(w.End).UTC()
	}
	return r
}

// spec gives the windows as operators have them.
func (s WindowedStream[K, T]) spec() operator.Windows[K, T] {
	w := specOf(s.windows, s.keyed.key, s.trigger)
	w.Lateness, w.Late = s.lateness.Milliseconds(), s.late.tag
	return w
}

// specOf gives windows of records with these keys as operators have them; a trigger
// that is nil is the one by default.
func specOf[K comparable, T any](s Windows, key func(T) K, trigger operator.Trigger[T]) operator.Windows[K, T] {
	w := operator.Windows[K, T]{Key: key, Trigger: trigger}
	if s.processing {
		w.Domain = operator.OfProcessingTime
	}
	switch s.kind {
	case slidingWindows:
		sliding := s.sliding()
		w.Assign = func(dst []operator.Window, _ T, ts int64) []operator.Window { return sliding.Assign(dst, ts) }
	case sessionWindows:
		gap := s.size.Milliseconds()
		w.Merging = true
		w.Assign = func(dst []operator.Window, _ T, ts int64) []operator.Window {
			return append(dst, operator.Window{Start: ts, End: ts + gap})
		}
	default:
		w.Domain = operator.OfProcessingTime // records need no time of their own
		w.Assign = func(dst []operator.Window, _ T, _ int64) []operator.Window {
			return append(dst, operator.GlobalWindow)
		}
	}
	if w.Trigger == nil {
		w.Trigger = defaultTrigger[T](s)
	}
	return w
}

func defaultTrigger[T any](s Windows) operator.Trigger[T] {
	switch {
	case s.kind == countWindows && s.count == s.every:
		return operator.Purging[T]{Trigger: operator.AtCount[T](s.every)}
	case s.kind == countWindows:
		return operator.AtCount[T](s.every)
	case s.kind == globalWindows:
		return operator.Never[T]{}
	case s.processing:
		return operator.AtEnd[T]{Domain: operator.OfProcessingTime}
	}
	return operator.AtEnd[T]{}
}

// evictor gives what drops records before a result is made; nil: nothing.
func (s WindowedStream[K, T]) evictor() func(operator.Window, []operator.Timed[T]) []operator.Timed[T] {
	if s.evict == nil && s.windows.kind == countWindows && s.windows.count != s.windows.every {
		n := int(s.windows.count)
		return func(_ operator.Window, all []operator.Timed[T]) []operator.Timed[T] {
			return all[max(0, len(all)-n):]
		}
	}
	return s.evict
}
