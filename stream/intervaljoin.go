package stream

import (
	"time"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
)

// IntervalJoined are two keyed streams whose records are paired when their keys are
// equal and their event times near each other.
//
// Both streams need event time. A pair is emitted as soon as both records are there,
// with the later one's event time. A record is forgotten when the watermark has passed
// all that it could be paired with. One that comes behind the watermark is late: it is
// paired with nothing, and dropped and counted, as numLateRecordsDropped, unless
// LateTo gives it a place.
type IntervalJoined[K comparable, A, B any] struct {
	first        KeyedStream[K, A]
	second       KeyedStream[K, B]
	lower, upper time.Duration
	late1        SideOutput[A]
	late2        SideOutput[B]
}

// IntervalJoin pairs the records of s with those of other whose event time is at least
// lower and at most upper behind their own. Either may be negative. Both streams must
// be of one Env. It is Flink's intervalJoin and between.
func (s KeyedStream[K, A]) IntervalJoin[B any](other KeyedStream[K, B], lower, upper time.Duration) IntervalJoined[K, A, B] {
	if lower%time.Millisecond != 0 || upper%time.Millisecond != 0 {
		s.stream.env.problem(callSite(), "IntervalJoin: got bounds of %s and %s, want whole milliseconds", lower, upper)
	}
	return IntervalJoined[K, A, B]{first: s, second: other, lower: lower, upper: upper}
}

// LowerBoundExclusive leaves out the pairs whose times are exactly the lower bound
// apart.
func (s IntervalJoined[K, A, B]) LowerBoundExclusive() IntervalJoined[K, A, B] {
	s.lower += time.Millisecond
	return s
}

// UpperBoundExclusive leaves out the pairs whose times are exactly the upper bound
// apart.
func (s IntervalJoined[K, A, B]) UpperBoundExclusive() IntervalJoined[K, A, B] {
	s.upper -= time.Millisecond
	return s
}

// LateTo sends late records to side outputs of the join.
func (s IntervalJoined[K, A, B]) LateTo(first SideOutput[A], second SideOutput[B]) IntervalJoined[K, A, B] {
	s.late1, s.late2 = first, second
	return s
}

// JoinFunction is a user function over pairs of records; it may have the methods of
// Opener, Restorer, Snapshotter, Finisher and Closer. States that it opens are the
// key's.
type JoinFunction[A, B, R any] interface {
	// Process takes a pair and may call emit any number of times before it returns.
	Process(first A, second B, c *JoinContext, emit func(R)) error
}

// JoinContext is the ProcessContext of a pair, with the event times of both records.
type JoinContext struct {
	ProcessContext
	First, Second time.Time
}

// Join emits f of each pair.
func (s IntervalJoined[K, A, B]) Join[R any](f func(first A, second B) R) DataStream[R] {
	s.first.stream.env.required("Join", f == nil)
	return joinIntervals(s, func(*operator.Moment, *state.Keyed[K]) (p operator.Joiner[A, B, R], err error) {
		p.Join = func(a operator.Timed[A], b operator.Timed[B], emit func(R)) error {
			emit(f(a.Value, b.Value))
			return nil
		}
		return p, nil
	})
}

// Process runs a function over the pairs. f is called once in each subtask, and must
// make a new function each time.
func (s IntervalJoined[K, A, B]) Process[R any](f func() JoinFunction[A, B, R]) DataStream[R] {
	s.first.stream.env.required("Process", f == nil)
	return joinIntervals(s, func(m *operator.Moment, k *state.Keyed[K]) (p operator.Joiner[A, B, R], err error) {
		function, c := f(), &JoinContext{ProcessContext: ProcessContext{m}}
		if function == nil {
			return p, errNil("JoinFunction")
		}
		p.Join = func(a operator.Timed[A], b operator.Timed[B], emit func(R)) error {
			c.First, c.Second = time.UnixMilli(a.At), time.UnixMilli(b.At)
			return function.Process(a.Value, b.Value, c, emit)
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m, k.Backend)
	})
}

// joinIntervals adds the operation.
func joinIntervals[K comparable, A, B, R any](s IntervalJoined[K, A, B], open func(*operator.Moment, *state.Keyed[K]) (operator.Joiner[A, B, R], error)) DataStream[R] {
	env := s.first.stream.env
	if s.second.stream.env != env {
		env.problem(callSite(), "IntervalJoin: the streams belong to different environments")
	}
	if s.lower > s.upper {
		env.problem(callSite(), "IntervalJoin: the lower bound, %s, is above the upper one, %s: nothing could be joined", s.lower, s.upper)
	}
	return join[A, B, R](s.first.stream, s.second.stream, "Interval Join", operator.JoinIntervals(operator.IntervalJoin[K, A, B]{
		Key1: s.first.key, Key2: s.second.key, Lower: s.lower.Milliseconds(), Upper: s.upper.Milliseconds(),
		Late1: tagOf(s.late1), Late2: tagOf(s.late2),
	}, open))
}

// tagOf gives what operators know a side output by; nil: it is none.
func tagOf[T any](o SideOutput[T]) any {
	if o.tag == nil {
		return nil
	}
	return o.tag
}
