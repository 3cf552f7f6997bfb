package stream

import (
	"iter"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
)

// WindowedConnectedStreams are two keyed streams whose records are in common windows:
// those of one key, of both streams, that come into one window meet.
type WindowedConnectedStreams[K comparable, A, B any] struct {
	streams  KeyedConnectedStreams[K, A, B]
	windows  Windows
	trigger  operator.Trigger[Either[A, B]]
	evict    operator.Evictor[A, B]
	lateness time.Duration
	late1    SideOutput[A]
	late2    SideOutput[B]
}

// Either is a record of one of two streams, for triggers and evictors of windows over
// both.
type Either[A, B any] = operator.Either[A, B]

// Window puts the records of both streams into common windows; see
// KeyedStream.Window. A session is one of the records of both.
func (s KeyedConnectedStreams[K, A, B]) Window(w Windows) WindowedConnectedStreams[K, A, B] {
	env := s.first.stream.env
	if w.kind == countWindows && w.count != w.every {
		env.problem(callSite(), "Window: SlidingCount has no meaning for two streams: use CountWindow, or another kind")
		w = Global()
	}
	return WindowedConnectedStreams[K, A, B]{streams: s, windows: checked(env, w)}
}

// AllowedLateness is that of WindowedStream.
func (s WindowedConnectedStreams[K, A, B]) AllowedLateness(d time.Duration) WindowedConnectedStreams[K, A, B] {
	s.lateness = allowed(s.streams.first.stream.env, d)
	return s
}

// Trigger is that of WindowedStream.
func (s WindowedConnectedStreams[K, A, B]) Trigger(t Trigger[Either[A, B]]) WindowedConnectedStreams[K, A, B] {
	s.streams.first.stream.env.required("Trigger", t == nil)
	s.trigger = triggerOf(t)
	return s
}

// Evict is that of WindowedStream: it is given the records of both streams, in the order
// in which they came. Windows with an evictor keep the event times of their records.
func (s WindowedConnectedStreams[K, A, B]) Evict(evict func(all []Timed[Either[A, B]]) []Timed[Either[A, B]]) WindowedConnectedStreams[K, A, B] {
	s.streams.first.stream.env.required("Evict", evict == nil)
	s.evict = evicting(evict)
	return s
}

// LateTo sends records that are too late for all their windows to side outputs of the
// operation that follows.
func (s WindowedConnectedStreams[K, A, B]) LateTo(first SideOutput[A], second SideOutput[B]) WindowedConnectedStreams[K, A, B] {
	s.late1, s.late2 = first, second
	return s
}

// Join emits f of each pair of a record of the first stream and one of the second that
// are in one window, with the last millisecond of the window as event time. Those that
// meet none are in no result. It is Flink's join and apply.
func (s WindowedConnectedStreams[K, A, B]) Join[R any](f func(first A, second B) R) DataStream[R] {
	s.streams.first.stream.env.required("Join", f == nil)
	return coGroup(s, "Window Join", func(*operator.Moment, *state.Keyed[K]) (p operator.CoGrouper[A, B, R], err error) {
		p.Process = func(_ operator.Window, first []A, second []B, emit func(R)) error {
			for _, a := range first {
				for _, b := range second {
					emit(f(a, b))
				}
			}
			return nil
		}
		return p, nil
	})
}

// CoGroupFunction is a user function over the records that two streams have in a
// window; it may have the methods of Opener, Restorer, Snapshotter, Finisher and
// Closer. States that it opens are the key's, and shared by its windows.
type CoGroupFunction[K comparable, A, B, R any] interface {
	// CoGroup takes the records of both streams, of which one may have none, in the
	// order in which they came. It may call emit any number of times before it
	// returns.
	CoGroup(c *WindowContext[K], first iter.Seq[A], second iter.Seq[B], emit func(R)) error
}

// CoGroup runs a function over the windows. f is called once in each subtask, and must
// make a new function each time.
func (s WindowedConnectedStreams[K, A, B]) CoGroup[R any](f func() CoGroupFunction[K, A, B, R]) DataStream[R] {
	s.streams.first.stream.env.required("CoGroup", f == nil)
	return coGroup(s, "Window CoGroup", func(m *operator.Moment, k *state.Keyed[K]) (p operator.CoGrouper[A, B, R], err error) {
		function, c := f(), &WindowContext[K]{ProcessContext: ProcessContext{m}}
		if function == nil {
			return p, errNil("CoGroupFunction")
		}
		p.Process = func(w operator.Window, first []A, second []B, emit func(R)) error {
			r := windowed(k.Key(), w, struct{}{})
			c.Key, c.Start, c.End = r.Key, r.Start, r.End
			return function.CoGroup(c, slices.Values(first), slices.Values(second), emit)
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m, k.Backend)
	})
}

// coGroup adds the operation.
func coGroup[K comparable, A, B, R any](s WindowedConnectedStreams[K, A, B], op string, open func(*operator.Moment, *state.Keyed[K]) (operator.CoGrouper[A, B, R], error)) DataStream[R] {
	first, second := s.streams.first, s.streams.second
	spec := specOf(s.windows, func(v Either[A, B]) K {
		if v.Second {
			return second.key(v.B)
		}
		return first.key(v.A)
	}, s.trigger)
	spec.Lateness = s.lateness.Milliseconds()
	return join[A, B, R](first.stream, second.stream, op, operator.CoGroupWindows(spec, s.evict, tagOf(s.late1), tagOf(s.late2), open))
}
