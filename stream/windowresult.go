package stream

import (
	"iter"
	"time"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
)

// Aggregate emits the result of a for the records of each window. Only the
// accumulator is kept, unless records are evicted. Windows that slide or merge need
// an Aggregator with a Merge.
func (s WindowedStream[K, T]) Aggregate[Acc, Out any](a Aggregator[T, Acc, Out]) DataStream[Windowed[K, Out]] {
	return aggregateWindows(s, a, windowed[K, Out])
}

// aggregateWindows adds the operation whose results are made by result.
func aggregateWindows[K comparable, T, Acc, Out, R any](s WindowedStream[K, T], a Aggregator[T, Acc, Out], result func(K, operator.Window, Out) R) DataStream[R] {
	in, env := s.keyed.stream, s.keyed.stream.env
	if err := a.check(); err != nil {
		env.problem(callSite(), "Aggregate: %w", err)
	}
	if a.Merge == nil && (s.windows.kind == sessionWindows || s.windows.kind == slidingWindows && s.windows.size != s.windows.slide && s.slices()) {
		env.problem(callSite(), "Aggregate: windows that slide or merge need an Aggregator with a Merge")
	}
	aggregator := a.kept()
	switch {
	case s.evictor() != nil:
		return transform[T, R](in, s.name(), operator.ProcessWindows(s.spec(), func(_ *operator.Moment, k *state.Keyed[K]) (operator.WindowProcessor[T, R], error) {
			return operator.WindowProcessor[T, R]{Evict: s.evictor(), Process: func(w operator.Window, all []operator.Timed[T], emit func(R)) error {
				acc := aggregator.Create()
				for _, t := range all {
					a.Add(&acc, t.Value)
				}
				emit(result(k.Key(), w, a.Result(&acc)))
				return nil
			}}, nil
		}))
	case s.slices():
		return transform[T, R](in, s.name(), operator.AggregateSlices(s.windows.sliding(), s.keyed.key, aggregator, s.late.tag, result))
	}
	return transform[T, R](in, s.name(), operator.AggregateWindows(s.spec(), aggregator, result))
}

// slices says that windows are made of slices that they share: they slide or tumble
// in event time, and each is emitted once, at its end.
func (s WindowedStream[K, T]) slices() bool {
	return s.windows.kind == slidingWindows && !s.windows.processing && s.trigger == nil && s.lateness == 0
}

// name is the operation's, for people.
func (s WindowedStream[K, T]) name() string {
	switch s.windows.kind {
	case slidingWindows:
		if s.windows.size == s.windows.slide {
			return "Tumbling Window"
		}
		return "Sliding Window"
	case sessionWindows:
		return "Session Window"
	case countWindows:
		return "Count Window"
	}
	return "Global Window"
}

// Count emits the number of records of each window.
func (s WindowedStream[K, T]) Count() DataStream[Windowed[K, int64]] {
	return s.Aggregate(Count[T]())
}

// Reduce emits what f makes of the records of each window, two at a time; see
// KeyedStream.Reduce.
func (s WindowedStream[K, T]) Reduce(f func(a, b T) T) DataStream[T] {
	s.keyed.stream.env.required("Reduce", f == nil)
	fold := func(acc *Reduced[T], v T) {
		if acc.Some {
			v = f(acc.Value, v)
		}
		*acc = Reduced[T]{true, v}
	}
	return aggregateWindows(s, Aggregator[T, Reduced[T], T]{
		Add: fold,
		Merge: func(acc *Reduced[T], other Reduced[T]) {
			if other.Some {
				fold(acc, other.Value)
			}
		},
		Result: func(acc *Reduced[T]) T { return acc.Value },
	}, func(_ K, _ operator.Window, v T) T { return v })
}

// Reduced is the accumulator of a window's Reduce.
type Reduced[T any] struct {
	Some  bool
	Value T
}

// WindowFunction is a user function over all records of a window; it may have the
// methods of Opener, Finisher and Closer. States that it opens are the key's, and
// shared by its windows.
type WindowFunction[K comparable, T, R any] interface {
	// Process takes the records of a window, in the order in which they came, and
	// may call emit any number of times before it returns.
	Process(c *WindowContext[K], records iter.Seq[T], emit func(R)) error
}

// WindowContext is a ProcessContext with a key and a window.
type WindowContext[K comparable] struct {
	ProcessContext
	Key        K
	Start, End time.Time // zero in global and count windows
}

// Process runs a function over the records of each window, which are kept until
// then. f is called once in each subtask, and must make a new function each time.
func (s WindowedStream[K, T]) Process[R any](f func() WindowFunction[K, T, R]) DataStream[R] {
	s.keyed.stream.env.required("Process", f == nil)
	return transform[T, R](s.keyed.stream, s.name(), operator.ProcessWindows(s.spec(), func(m *operator.Moment, k *state.Keyed[K]) (p operator.WindowProcessor[T, R], err error) {
		function, c := f(), &WindowContext[K]{ProcessContext: ProcessContext{m}}
		if function == nil {
			return p, errNil("WindowFunction")
		}
		p.Evict = s.evictor()
		p.Process = func(w operator.Window, all []operator.Timed[T], emit func(R)) error {
			r := windowed(k.Key(), w, struct{}{})
			c.Key, c.Start, c.End = r.Key, r.Start, r.End
			return function.Process(c, valuesOf(all), emit)
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m, k.Backend)
	}))
}

func valuesOf[T any](all []operator.Timed[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, t := range all {
			if !yield(t.Value) {
				return
			}
		}
	}
}
