package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/element"
)

// EventTime says what event time the records of a stream have and how far it has
// come. Times are in Unix milliseconds, spans in milliseconds.
type EventTime[T any] struct {
	// Timestamp gives a record's event time; nil: the one it has.
	Timestamp func(v T) int64
	// Delay is how much later than the latest record others may still come. The
	// watermark is that much and one millisecond behind. It counts unless Generator
	// is set.
	Delay int64
	// Generator makes what decides on watermarks, for each split of a source that the
	// operator tells apart, otherwise for the subtask; nil: Delay does. emit may be called with any time, by Event and Periodic: what does not advance
	// the watermark is ignored.
	Generator func(emit func(t int64)) Generator[T]
	// Interval is the processing time from one watermark to the next; 0: one with
	// every record that advances it.
	Interval int64
	// IdleAfter is how much processing time without a record makes the stream idle;
	// 0: never.
	IdleAfter int64
	// Ahead bounds how far a record may lie in the future of processing time; 0:
	// no matter how far. One that lies further does not move the watermark and goes
	// to the side output Future instead of the main one, if something reads it.
	Ahead  int64
	Future any
	// Align keeps the stream and others together; nil: it goes ahead as far as it can.
	Align *Alignment
}

// A Generator decides on the watermarks of a split, or of a subtask.
type Generator[T any] interface {
	// Event sees each record, before it is passed on.
	Event(v T, ts int64)
	// Periodic is called once an interval.
	Periodic()
}

// Watermarks makes the operator that gives records their event time and emits
// watermarks. Watermarks of its input end here, but for the last. The splits of a
// source that feeds it within its task have a generator each.
func Watermarks[T any](e EventTime[T]) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		m := &marker[T]{e: e, c: c, out: Output[T](out), emitted: c.Marks(), heard: c.Now()}
		*m.emitted = batch.NoTimestamp
		m.times = newSplitTimes(m.emit, m.out.Idle)
		if e.Ahead > 0 {
			m.future = c.Side[T](e.Future)
			m.count = c.Emitted()
		}
		whole := m.track("", noSplitTime)
		m.join(whole)
		if c.Counts != nil {
			c.Counts.Latest = m.latest
		}
		if !c.Batch {
			m.clock()
			m.align = align(c, e.Align, m)
		}
		return &Receiver[T]{Push: whole.push(), Watermark: m.last, Idle: func(bool) {}, Finish: m.out.Finish, Splits: (*splitMarker[T])(m)}
	})
}

// marker is the operator in one subtask.
type marker[T any] struct {
	e      EventTime[T]
	c      *Context
	out    *Receiver[T]
	future *Receiver[T]
	count  *int64

	times   *splitTimes
	tracks  []*track[T] // in the order they began
	emitted *int64      // watermark
	heard   int64       // processing time of the last look that found a track
	control SplitControl
	align   *aligned // nil: it goes ahead as far as it can
}

// track follows the event time of one split, or of all records that belong to none.
type track[T any] struct {
	m         *marker[T]
	split     string
	time      *splitTime
	generator Generator[T]
	latest    int64 // event time of all records
	heard     int64 // processing time of the last look that found a record
	some      bool  // a record came since then
	paused    bool  // no records are wanted
}

func (m *marker[T]) track(split string, had SplitTime) *track[T] {
	t := &track[T]{m: m, split: split, latest: had.Latest, heard: m.c.Now()}
	if m.e.Generator != nil {
		t.generator = m.e.Generator(t.advance)
	} else {
		t.generator = (*lag[T])(t)
	}
	return t
}

// join makes a track take part.
func (m *marker[T]) join(t *track[T]) {
	t.time = m.times.begin()
	m.tracks = append(m.tracks, t)
}

// leave takes a track out.
func (m *marker[T]) leave(t *track[T]) {
	if i := slices.Index(m.tracks, t); i >= 0 {
		m.tracks = slices.Delete(m.tracks, i, i+1)
		m.heard = m.c.Now()
		m.times.end(t.time)
	}
}

// push makes the function that takes one record.
func (t *track[T]) push() func(T, int64) {
	m := t.m
	timestamp, next, each := m.e.Timestamp, m.out.Push, m.e.Interval == 0 && !m.c.Batch
	_, lagging := t.generator.(*lag[T])
	guarded := m.e.Ahead > 0
	return func(v T, ts int64) {
		if timestamp != nil {
			ts = timestamp(v)
		} else if ts == batch.NoTimestamp {
			m.c.failed(errNoEventTime)
		}
		if guarded && m.tooFar(v, ts) {
			return
		}
		if t.some = true; t.time.idle {
			m.times.active(t.time)
		}
		if lagging {
			t.latest = max(t.latest, ts)
		} else {
			t.latest = max(t.latest, ts)
			t.generator.Event(v, ts)
		}
		next(v, ts)
		if each && lagging {
			t.generator.Periodic()
		}
	}
}

// tooFar takes out a record that lies too far in the future.
func (m *marker[T]) tooFar(v T, ts int64) bool {
	if ts <= m.c.Now()+m.e.Ahead {
		*m.count++
		return false
	}
	if m.future != nil {
		m.future.Push(v, ts)
	}
	return true
}

// advance takes a watermark of the track if it advances event time.
func (t *track[T]) advance(w int64) {
	if t.time != nil && w > t.time.watermark && !t.m.c.Batch {
		t.m.times.advance(t.time, w)
	}
}

// reached is how far the track's event time has come, whether or not it has been told.
func (t *track[T]) reached() int64 {
	if l, lagging := t.generator.(*lag[T]); lagging {
		return max(t.time.watermark, l.due())
	}
	return t.time.watermark
}

// emit passes a watermark on.
func (m *marker[T]) emit(w int64) {
	*m.emitted = w
	m.out.Watermark(w)
}

// last passes the end of event time on.
func (m *marker[T]) last(t int64) {
	if t == element.MaxWatermark {
		m.times.watermark = t
		m.emit(t)
	}
}

// clock looks at the generators once an interval, and whether splits are idle.
func (m *marker[T]) clock() {
	step := m.e.Interval
	if step == 0 || m.e.IdleAfter > 0 && m.e.IdleAfter < step {
		step = m.e.IdleAfter
	}
	if step == 0 {
		return
	}
	var look func()
	look = func() {
		now := m.c.Now()
		m.times.together(func() { m.look(now) })
		if len(m.tracks) > 0 {
			m.heard = now
		} else if m.e.IdleAfter > 0 && *m.emitted != element.MaxWatermark && now-m.heard >= m.e.IdleAfter {
			m.times.abandon()
		}
		m.c.At(now+step, look)
	}
	m.c.At(m.c.Now()+step, look)
}

// look finds out what has become of each split. One that has no records because none
// are wanted is not idle.
func (m *marker[T]) look(now int64) {
	for _, t := range m.tracks {
		if m.e.Interval > 0 {
			t.generator.Periodic()
		}
		if t.some || t.paused || m.align.holds() {
			t.some, t.heard = false, now
		} else if m.e.IdleAfter > 0 && !t.time.idle && *m.emitted != element.MaxWatermark && now-t.heard >= m.e.IdleAfter {
			t.time.idle = true
		}
	}
}

// reached is how far the stream's event time has come, and whether it is idle.
func (m *marker[T]) reached() (t int64, idle bool) {
	least, idle := int64(math.MaxInt64), len(m.tracks) > 0
	for _, t := range m.tracks {
		if !t.time.idle {
			least, idle = min(least, t.reached()), false
		}
	}
	if idle || len(m.tracks) == 0 {
		least = noTime // and what has been emitted counts
	}
	return max(least, *m.emitted), idle && *m.emitted != element.MaxWatermark
}

// latest is the event time of the latest record of the splits that are read.
func (m *marker[T]) latest() int64 {
	latest := int64(noTime)
	for _, t := range m.tracks {
		latest = max(latest, t.latest)
	}
	return latest
}

// pause leaves splits alone that are beyond allowed, while others are not.
func (m *marker[T]) pause(allowed int64) {
	if m.control == nil {
		return
	}
	for _, t := range m.tracks {
		beyond := !t.time.idle && t.reached() > allowed
		if beyond == t.paused || t.split == "" {
			continue
		}
		if m.control.Pause(t.split, beyond) {
			t.paused = beyond
		} else if !m.e.Align.Apart {
			m.c.failed(fmt.Errorf("align watermarks: split %q is ahead of others that the same subtask reads, and the source cannot pause it alone: "+
				"let each subtask read one split, or set %s to let splits go ahead", t.split, config.PipelineWatermarkAlignmentUnaligned.Key))
		}
	}
}

// lag is the generator that follows the latest record at a distance.
type lag[T any] track[T]

// Event does nothing: the track keeps the latest time itself.
func (l *lag[T]) Event(T, int64) {}

// Periodic emits what is due.
func (l *lag[T]) Periodic() {
	if w := l.due(); w != noTime {
		(*track[T])(l).advance(w)
	}
}

// due is the latest time less the delay. That of a record at the very beginning of
// time has no watermark behind it.
func (l *lag[T]) due() int64 {
	if l.latest < batch.NoTimestamp+l.m.e.Delay+2 {
		return noTime
	}
	return l.latest - l.m.e.Delay - 1
}

// splitMarker is the marker of a source's splits.
type splitMarker[T any] marker[T]

// Attach lets the splits be told apart. Records of none are a track of their own from
// the first one on.
func (s *splitMarker[T]) Attach(c SplitControl) func(T, int64) {
	m := (*marker[T])(s)
	m.control = c
	m.leave(m.tracks[0])
	whole := m.track("", noSplitTime)
	push, first := whole.push(), true
	return func(v T, ts int64) {
		if first {
			first = false
			m.join(whole)
		}
		push(v, ts)
	}
}

// Among makes it one of several.
func (s *splitMarker[T]) Among(all []*Receiver[T]) Splitting[T] { return splittingFan[T]{all} }

// Begin follows one more split. Its time goes on where it was.
func (s *splitMarker[T]) Begin(id string, had SplitTime) SplitReceiver[T] {
	m := (*marker[T])(s)
	t := m.track(id, had)
	m.join(t)
	t.time.watermark = had.Watermark
	if had != noSplitTime && !m.c.Batch {
		m.c.At(m.c.Now(), m.times.settle) // not while the task is being set up
	}
	return SplitReceiver[T]{
		Push: t.push(),
		End: func() {
			if !m.c.Batch {
				t.generator.Periodic()
			}
			m.leave(t)
		},
		Time: func() SplitTime { return SplitTime{Watermark: t.time.watermark, Latest: t.latest} },
	}
}
