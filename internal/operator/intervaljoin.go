package operator

import (
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
)

// An IntervalJoin pairs the records of two keyed inputs whose keys are equal and whose
// event times are near each other: that of the second is at least Lower and at most
// Upper milliseconds behind that of the first.
type IntervalJoin[K comparable, A, B any] struct {
	Key1         func(A) K
	Key2         func(B) K
	Lower, Upper int64
	// Late1 and Late2 are the side outputs of records that come behind the watermark.
	Late1, Late2 any
}

// Joiner is a user function over pairs of records.
type Joiner[A, B, R any] struct {
	Life[R]
	Join func(a Timed[A], b Timed[B], emit func(R)) error
}

// A bucket is the records of one input and one key whose times lie in one piece of
// time, as wide as what a record can be paired with: that lies in two buckets at most,
// whatever else is kept. Records come and go with their bucket.
type bucket struct {
	Second bool
	Number int64
}

// waiting is a record that others may be paired with.
type waiting[T any] struct {
	Value T
	At    int64
	// Until is the watermark with which nothing can be paired with it any more.
	Until int64
}

// joined is the operator in one subtask.
type joined[K comparable, R any] struct {
	*footing[R]
	keyed        *state.Keyed[K]
	space        *state.Namespace[bucket]
	timers       *Timers[K, bucket]
	lower, upper int64
	dropped      *int64
}

// JoinIntervals makes the operator of an interval join. It holds a record until the
// watermark has passed all that it can be paired with, and pairs the rest at once.
func JoinIntervals[K comparable, A, B, R any](spec IntervalJoin[K, A, B], open func(m *Moment, k *state.Keyed[K]) (Joiner[A, B, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		s := newFooting[R](c, out)
		j := &joined[K, R]{footing: s, keyed: newKeyed[K](c), lower: spec.Lower, upper: spec.Upper, dropped: c.Late()}
		var err error
		j.space, err = state.NewNamespace[bucket](j.keyed.Backend)
		Check(err)
		j.timers = newTimers(c, j.keyed, j.space)
		firsts, err := state.NewList[waiting[A]](j.keyed.Backend, "first", state.In(j.space))
		Check(err)
		seconds, err := state.NewList[waiting[B]](j.keyed.Backend, "second", state.In(j.space))
		Check(err)
		j.timers.fire = func(_ K, at bucket, _ Domain, _ int64) {
			if at.Second {
				seconds.Clear()
			} else {
				firsts.Clear()
			}
		}
		s.passed = j.timers.advance
		s.lists = append(s.lists, keptWatermark(c, eventTimeList, &s.Watermark, nil))
		p, err := open(&s.Moment, j.keyed)
		s.begin(p.Life, err)
		s.keep(j.keyed.Backend)
		return Inputs{
			joinInput(j, false, spec.Key1, firsts, seconds, spec.Late1, func(a Timed[A], b Timed[B]) error { return p.Join(a, b, s.emit) }),
			joinInput(j, true, spec.Key2, seconds, firsts, spec.Late2, func(b Timed[B], a Timed[A]) error { return p.Join(a, b, s.emit) }),
		}
	})}
}

// joinInput makes the receiver of one input: it keeps each record, and pairs it with
// those of the other input that are kept.
func joinInput[K comparable, X, Y, R any](j *joined[K, R], second bool, key func(X) K, own *state.List[waiting[X]], other *state.List[waiting[Y]], late any, join func(x Timed[X], y Timed[Y]) error) *Receiver[X] {
	lower, upper := j.lower, j.upper
	if second {
		lower, upper = -upper, -lower
	}
	side := j.Side[X](late)
	var found []Timed[Y]
	return &Receiver[X]{
		Push: func(v X, ts int64) {
			switch {
			case ts == batch.NoTimestamp:
				j.failed(errNoEventTime)
			case j.Watermark != batch.NoTimestamp && ts < j.Watermark && side != nil:
				side.Push(v, ts)
				return
			case j.Watermark != batch.NoTimestamp && ts < j.Watermark:
				*j.dropped++
				return
			}
			k := key(v)
			j.keyed.SetKey(k, j.keyed.Hash(k))
			keepWaiting(j, second, own, v, ts, max(0, upper))
			found = found[:0]
			from, to := plus(ts, lower), plus(ts, upper)
			last := j.number(to)
			for n := j.number(from); ; n++ {
				j.space.Set(bucket{!second, n})
				other.Each(func(w waiting[Y]) bool {
					if from <= w.At && w.At <= to && (j.Watermark == batch.NoTimestamp || j.Watermark < w.Until) {
						found = append(found, Timed[Y]{w.Value, w.At})
					}
					return true
				})
				if n == last {
					break
				}
			}
			for _, y := range found {
				j.Timestamp = max(ts, y.At)
				if err := join(Timed[X]{v, ts}, y); err != nil {
					j.failed(err)
				}
			}
			clear(found)
		},
		Watermark: j.watermark, Idle: j.out.Idle, Finish: j.finish,
	}
}

// keepWaiting keeps a record of the current key for those of the other input that come
// up to reach after it. One for which none can come, because the watermark is there
// already, is kept until the next.
func keepWaiting[K comparable, X, R any](j *joined[K, R], second bool, own *state.List[waiting[X]], v X, ts, reach int64) {
	w := waiting[X]{v, ts, plus(ts, reach)}
	if j.Watermark != batch.NoTimestamp {
		w.Until = max(w.Until, j.Watermark+1)
	}
	j.space.Set(bucket{second, j.number(ts)})
	own.Add(w)
	width := j.width()
	j.timers.RegisterEventTime(plus(plus(plus(ts, -floorMod(ts, width)), width-1), reach))
}

// width is how long a bucket is.
func (j *joined[K, R]) width() int64 { return plus(plus(j.upper, -j.lower), 1) }

// number gives the bucket of a time.
func (j *joined[K, R]) number(ts int64) int64 {
	n := ts / j.width()
	if ts%j.width() < 0 {
		n--
	}
	return n
}

// plus adds times, which end where they can be told no more.
func plus(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
