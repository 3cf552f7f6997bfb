package operator

import (
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
)

// KeyedMoment is a Moment of a function over keyed records: the key is that of
// State.
type KeyedMoment[K comparable] struct {
	*Moment
	State  *state.Keyed[K]
	Timers *Timers[K, struct{}] // nil until OpenTimers
}

// OpenTimers opens the timers. It is called when the function is readied.
func (m *KeyedMoment[K]) OpenTimers() { m.Timers = newTimers[K, struct{}](m.Context, m.State, nil) }

// KeyedProcessor is a user function over keyed records.
type KeyedProcessor[K comparable, T, R any] struct {
	Processor[T, R]
	// Timer is called when a timer of the current key is due.
	Timer func(d Domain, at int64, emit func(R)) error
}

// KeyedCoProcessor is a user function over two keyed inputs.
type KeyedCoProcessor[K comparable, A, B, R any] struct {
	CoProcessor[A, B, R]
	Timer func(d Domain, at int64, emit func(R)) error
}

// Domain is the time that a timer waits for.
type Domain uint8

// The time domains.
const (
	OfEventTime Domain = iota
	OfProcessingTime
)

// KeyedProcess makes the operator of a function over keyed records.
func KeyedProcess[K comparable, T, R any](key func(T) K, open func(m *KeyedMoment[K]) (KeyedProcessor[K, T, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		m := &KeyedMoment[K]{Moment: &s.Moment, State: newKeyed[K](c)}
		p, err := open(m)
		beginKeyed(s, m, p.Life, p.Timer, err)
		return keyedInput(s, m.State, key, p.Process)
	})}
}

// KeyedCoProcess makes the operator of a function over two keyed inputs.
func KeyedCoProcess[K comparable, A, B, R any](key1 func(A) K, key2 func(B) K, open func(m *KeyedMoment[K]) (KeyedCoProcessor[K, A, B, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		m := &KeyedMoment[K]{Moment: &s.Moment, State: newKeyed[K](c)}
		p, err := open(m)
		beginKeyed(s, m, p.Life, p.Timer, err)
		return Inputs{keyedInput(s, m.State, key1, p.Process1), keyedInput(s, m.State, key2, p.Process2)}
	})}
}

// KeyedBroadcastProcess makes the operator of a function over keyed records and,
// as its second input, records that every subtask gets. Those have no key.
func KeyedBroadcastProcess[K comparable, A, B, R any](key func(A) K, open func(m *KeyedMoment[K]) (KeyedCoProcessor[K, A, B, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		m := &KeyedMoment[K]{Moment: &s.Moment, State: newKeyed[K](c)}
		p, err := open(m)
		beginKeyed(s, m, p.Life, p.Timer, err)
		return Inputs{keyedInput(s, m.State, key, p.Process1), input(s, p.Process2)}
	})}
}

// beginKeyed starts the life of a function over keyed records: it gives the function
// what its timers are due with, and the state that it had.
func beginKeyed[K comparable, R any](s *footing[R], m *KeyedMoment[K], life Life[R], timer func(d Domain, at int64, emit func(R)) error, err error) {
	s.begin(life, err)
	if m.Timers != nil {
		m.Timers.fire = func(_ K, _ struct{}, d Domain, at int64) {
			s.Timestamp = at
			if err := timer(d, at, s.emit); err != nil {
				s.failed(err)
			}
		}
		s.passed, s.restored = m.Timers.advance, m.Timers.next
		s.ended = m.Timers.halt
	}
	s.keep(m.State.Backend)
}

// keyedInput makes the receiver that gives each record to process, with its key
// as the current one.
func keyedInput[K comparable, T, R any](s *footing[R], keyed *state.Keyed[K], key func(T) K, process func(v T, emit func(R)) error) *Receiver[T] {
	r := input(s, process)
	push := r.Push
	r.Push = func(v T, ts int64) {
		k := key(v)
		keyed.SetKey(k, keyed.Hash(k))
		push(v, ts)
	}
	r.PushBatch = pushReady(s.Signal, keyed, key, push)
	return r
}

// pushReady makes what gives the records of a batch to push one by one, each with its
// key as the current one. It looks at the keys of a block of records first, which
// fetches what their state lies in.
func pushReady[K comparable, T any](signal *Signal, keyed *state.Keyed[K], key func(T) K, push func(v T, ts int64)) func(b *batch.Rows[T]) {
	keys := make([]K, 0, maxBlock)
	return func(b *batch.Rows[T]) {
		for next := 0; next < len(b.Vals); {
			block := b.Vals[next:min(next+signal.Block(), len(b.Vals))]
			keys = keys[:0]
			for _, v := range block {
				keys = append(keys, key(v))
			}
			keyed.Ready(keys)
			for i, v := range block {
				keyed.Use(i)
				if len(b.TS) == 0 {
					push(v, batch.NoTimestamp)
				} else {
					push(v, b.TS[next+i])
				}
			}
			next += len(block)
		}
	}
}

// Timers are the timers of an operator, with what makes them fire: its watermark,
// and the task's clock for those of processing time.
type Timers[K, N comparable] struct {
	*state.Timers[K, N]
	c     *Context
	fire  func(k K, n N, d Domain, at int64)
	armed int64 // when the clock calls; math.MaxInt64: it does not
	stop  func()
}

// newTimers opens the timers; fire is to be set before the first record.
func newTimers[K, N comparable](c *Context, k *state.Keyed[K], ns *state.Namespace[N]) *Timers[K, N] {
	timers, err := state.NewTimers(k, "timers", ns)
	Check(err)
	return &Timers[K, N]{Timers: timers, c: c, armed: math.MaxInt64}
}

// RegisterProcessingTime registers a timer for the current key and namespace.
func (t *Timers[K, N]) RegisterProcessingTime(at int64) {
	t.Timers.RegisterProcessingTime(at)
	t.arm(at)
}

// arm makes the clock call at, unless it does before.
func (t *Timers[K, N]) arm(at int64) {
	if at >= t.armed {
		return
	}
	if t.stop != nil {
		t.stop()
	}
	t.armed = at
	t.stop = t.c.At(at, t.clock)
}

// next makes the clock call at the first timer of processing time, if there is one.
func (t *Timers[K, N]) next() {
	if next, some := t.NextProcessingTime(); some {
		t.arm(next)
	}
}

// halt lets no further timer of processing time fire; they stay in the state.
func (t *Timers[K, N]) halt() {
	if t.stop != nil {
		t.stop()
	}
	t.armed, t.stop = math.MinInt64, nil
}

// clock fires the timers of processing time that are due.
func (t *Timers[K, N]) clock() {
	t.armed, t.stop = math.MaxInt64, nil
	Check(t.AdvanceProcessingTime(t.c.Now(), func(k K, n N, at int64) error {
		t.fire(k, n, OfProcessingTime, at)
		return nil
	}))
	t.next()
}

// advance fires the timers of event time that the watermark has passed.
func (t *Timers[K, N]) advance(watermark int64) {
	Check(t.AdvanceEventTime(watermark, func(k K, n N, at int64) error {
		t.fire(k, n, OfEventTime, at)
		return nil
	}))
}
