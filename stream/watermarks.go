package stream

import (
	"cmp"
	"time"

	"github.com/weirstream/weir/internal/coordinator/alignment/message"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A WatermarkStrategy says what event time the records of a stream have, and how
// far event time has come: a watermark t promises that no record at or before t
// follows. Event time has a precision of a millisecond.
type WatermarkStrategy[T any] struct {
	timestamp func(T) time.Time
	delay     time.Duration
	generator func() WatermarkGenerator[T]
	idleAfter time.Duration
	ahead     time.Duration
	future    SideOutput[T]
	align     *alignment
}

// Monotonic is the strategy of streams whose event time never falls, within one split
// of its source, or one subtask.
func Monotonic[T any](at func(T) time.Time) WatermarkStrategy[T] {
	return BoundedOutOfOrderness(0, at)
}

// BoundedOutOfOrderness is the strategy of streams whose records may come late, by
// at most delay behind the latest one.
func BoundedOutOfOrderness[T any](delay time.Duration, at func(T) time.Time) WatermarkStrategy[T] {
	return WatermarkStrategy[T]{timestamp: at, delay: delay}
}

// Watermark is the strategy of a generator of the program's own; make is called for
// each split of the source, or in each subtask.
func Watermark[T any](at func(T) time.Time, make func() WatermarkGenerator[T]) WatermarkStrategy[T] {
	return WatermarkStrategy[T]{timestamp: at, generator: make}
}

// A WatermarkGenerator decides on the watermarks of one split, or of one subtask, on
// its goroutine. emit may be called with any time; what does not advance the watermark
// is ignored, and so is a call after the method has returned.
type WatermarkGenerator[T any] interface {
	// Event sees each record with its event time, before it is passed on. A
	// generator that emits here is what is called punctuated.
	Event(v T, at time.Time, emit func(time.Time))
	// Periodic is called once an interval, see WatermarkInterval, and when the split has
	// ended.
	Periodic(emit func(time.Time))
}

// Idleness makes a split, or a subtask, that got no record for d idle: others do not
// wait for its watermarks until it gets one. The default, 0, is to wait.
func (w WatermarkStrategy[T]) Idleness(d time.Duration) WatermarkStrategy[T] {
	w.idleAfter = d
	return w
}

// NotAhead guards against clocks that are wrong: a record whose event time lies
// more than d in the future goes to the side output to, or is dropped if nothing
// reads it, and does not move the watermark. The default is no guard.
func (w WatermarkStrategy[T]) NotAhead(d time.Duration, to SideOutput[T]) WatermarkStrategy[T] {
	w.ahead, w.future = d, to
	return w
}

// Align keeps s and all other streams of the group together in event time: one whose
// watermark is more than maxDrift ahead of the one that is furthest behind is not read
// until that one has caught up, so that what waits for the latter, in windows and
// joins, does not pile up. Each subtask tells the others how far it has come once an
// interval; 0 is 1s. Streams that are idle or have ended hold nobody up, and one that
// has not had a record yet does. In batch mode nothing is aligned. It is Flink's
// withWatermarkAlignment.
//
// It is for Watermarks that follow a source at once. If a subtask reads several splits,
// those that are ahead are paused alone, if the source can do that. If it cannot, the
// job fails when they have to be, unless
// pipeline.watermark-alignment.allow-unaligned-source-splits lets them go ahead.
func (w WatermarkStrategy[T]) Align(group string, maxDrift, interval time.Duration) WatermarkStrategy[T] {
	w.align = &alignment{group, maxDrift, interval}
	return w
}

// alignment is what Align was given.
type alignment struct {
	group           string
	drift, interval time.Duration
}

// Watermarks gives the records of s their event time, and emits watermarks. The
// watermarks that s has are not passed on, but for the end of event time that
// comes behind bounded input. In batch mode that is the only one.
//
// Where it follows a source at once, each split of the source, as a partition of a
// topic, is treated by itself: the watermark is the least of those of its splits, so
// that a split which is read more slowly than others is not late, and after a failure
// the time of each goes on where it was. For that it has the source's parallelism and
// is in the same task. If it is given another parallelism, or the two are kept apart by
// DisableChaining or their slot sharing groups, or there are operations between them,
// it treats what reaches a subtask as one, and so it does with sources that do not tell
// their splits apart because they read one at a time.
func (s DataStream[T]) Watermarks[W onlyStrategies[T]](strategy W) DataStream[T] {
	w := WatermarkStrategy[T](strategy)
	s.env.required("Watermarks", w.timestamp == nil)
	for _, span := range []struct {
		name string
		d    time.Duration
	}{{"the delay of records out of order", w.delay}, {"Idleness", w.idleAfter}, {"NotAhead", w.ahead}} {
		if span.d < 0 || span.d > 0 && span.d < time.Millisecond {
			s.env.problem(callSite(), "Watermarks: %s: got %s, want 0 or at least 1ms", span.name, span.d)
		}
	}
	e := operator.EventTime[T]{
		Timestamp: func(v T) int64 { return w.timestamp(v).UnixMilli() },
		Delay:     w.delay.Milliseconds(), Interval: s.env.watermarkInterval.Milliseconds(),
		IdleAfter: w.idleAfter.Milliseconds(), Ahead: w.ahead.Milliseconds(), Future: w.future.tag,
	}
	if w.generator != nil {
		e.Generator = func(emit func(int64)) operator.Generator[T] {
			return generator[T]{w.generator(), func(t time.Time) { emit(t.UnixMilli()) }}
		}
	}
	if w.align != nil {
		e.Align = w.align.checked(s.env)
	}
	marked := transform[T, T](s, "Timestamps/Watermarks", operator.Watermarks(e))
	n := marked.inputs[0].node
	n.WithSource = len(s.inputs) == 1 && s.inputs[0].implicit && s.inputs[0].side == nil && s.inputs[0].node.Kind == streamgraph.Source
	if w.align != nil {
		if !n.WithSource {
			s.env.problem(n.Site, "Watermarks: Align is for a stream that comes from a source at once: put Watermarks directly behind it")
		}
		n.Together = "it holds back its source to align watermarks"
		n.CoordinatorKind, n.CoordinatorSpec = message.Kind, e.Align.Spec()
	}
	return marked
}

// onlyStrategies is WatermarkStrategy; see onlyWindows.
type onlyStrategies[T any] interface{ WatermarkStrategy[T] }

// checked says what is wrong with an alignment, and gives it to the operator.
func (a *alignment) checked(e *Env) *operator.Alignment {
	interval := cmp.Or(a.interval, time.Second)
	switch {
	case a.group == "":
		e.problem(callSite(), "Watermarks: Align: the group has no name")
	case a.drift < time.Millisecond:
		e.problem(callSite(), "Watermarks: Align: the greatest drift is %s, want at least 1ms", a.drift)
	case interval < time.Millisecond:
		e.problem(callSite(), "Watermarks: Align: the interval is %s, want at least 1ms, or 0 for 1s", a.interval)
	}
	return &operator.Alignment{Group: a.group, Drift: a.drift.Milliseconds(), Interval: interval.Milliseconds(), Apart: e.splitsApart}
}

// generator shows a program's generator to the operator.
type generator[T any] struct {
	WatermarkGenerator[T]
	emit func(time.Time)
}

func (g generator[T]) Event(v T, ts int64) { g.WatermarkGenerator.Event(v, time.UnixMilli(ts), g.emit) }

func (g generator[T]) Periodic() { g.WatermarkGenerator.Periodic(g.emit) }

// WatermarkInterval sets how often, in processing time, watermarks are emitted; 0
// emits one with every record that advances event time. The default is 200ms. It
// is pipeline.auto-watermark-interval.
func WatermarkInterval(d time.Duration) Option {
	return func(e *Env) {
		if d < 0 || d > 0 && d < time.Millisecond {
			e.problem(callSite(), "watermark interval: got %s, want 0 or at least 1ms", d)
			return
		}
		e.watermarkInterval = d
	}
}
