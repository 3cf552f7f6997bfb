package operator

import (
	"github.com/weirstream/weir/batch"
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
	// Generator makes what decides on watermarks in each subtask; nil: Delay does.
	// emit may be called with any time, by Event and Periodic: what does not advance
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
}

// A Generator decides on the watermarks of one subtask.
type Generator[T any] interface {
	// Event sees each record, before it is passed on.
	Event(v T, ts int64)
	// Periodic is called once an interval.
	Periodic()
}

// Watermarks makes the operator that gives records their event time and emits
// watermarks. Watermarks of its input end here, but for the last.
func Watermarks[T any](e EventTime[T]) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		m := &marker[T]{e: e, c: c, out: Output[T](out), latest: batch.NoTimestamp, emitted: c.Marks(), heard: c.Now()}
		*m.emitted = batch.NoTimestamp
		if e.Generator != nil {
			m.generator = e.Generator(m.emit)
		} else {
			m.generator = (*lag[T])(m)
		}
		if e.Ahead > 0 {
			m.future = c.Side[T](e.Future)
			m.count = c.Emitted()
		}
		if !c.Batch {
			m.clock()
		}
		return &Receiver[T]{Push: m.push(), Watermark: m.last, Idle: func(bool) {}, Finish: m.out.Finish}
	})
}

// marker is the operator in one subtask.
type marker[T any] struct {
	e         EventTime[T]
	c         *Context
	out       *Receiver[T]
	generator Generator[T]
	future    *Receiver[T]
	count     *int64

	latest  int64  // event time of all records
	emitted *int64 // watermark
	heard   int64  // processing time of the last look that found a record
	some    bool   // a record came since then
	idle    bool
}

// push makes the function that takes one record.
func (m *marker[T]) push() func(T, int64) {
	timestamp, next, each := m.e.Timestamp, m.out.Push, m.e.Interval == 0 && !m.c.Batch
	_, lagging := m.generator.(*lag[T])
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
		if m.some = true; m.idle {
			m.active()
		}
		if lagging {
			m.latest = max(m.latest, ts)
		} else {
			m.generator.Event(v, ts)
		}
		next(v, ts)
		if each && lagging {
			m.generator.Periodic()
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

// emit passes a watermark on if it advances event time.
func (m *marker[T]) emit(t int64) {
	if t <= *m.emitted || m.c.Batch {
		return
	}
	if *m.emitted = t; m.idle {
		m.active()
	}
	m.out.Watermark(t)
}

func (m *marker[T]) active() {
	m.idle = false
	m.out.Idle(false)
}

// last passes the end of event time on.
func (m *marker[T]) last(t int64) {
	if t == element.MaxWatermark {
		*m.emitted = t
		m.out.Watermark(t)
	}
}

// clock looks at the generator once an interval, and whether the stream is idle.
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
		if m.e.Interval > 0 {
			m.generator.Periodic()
		}
		if m.some {
			m.some, m.heard = false, now
		} else if m.e.IdleAfter > 0 && !m.idle && *m.emitted != element.MaxWatermark && now-m.heard >= m.e.IdleAfter {
			m.idle = true
			m.out.Idle(true)
		}
		m.c.At(now+step, look)
	}
	m.c.At(m.c.Now()+step, look)
}

// lag is the generator that follows the latest record at a distance.
type lag[T any] marker[T]

// Event does nothing: the marker keeps the latest time itself.
func (l *lag[T]) Event(T, int64) {}

// Periodic emits the latest time less the delay. That of a record at the very
// beginning of time has no watermark behind it.
func (l *lag[T]) Periodic() {
	if l.latest >= batch.NoTimestamp+l.e.Delay+2 {
		(*marker[T])(l).emit(l.latest - l.e.Delay - 1)
	}
}
