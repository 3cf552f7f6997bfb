package stream

import (
	"iter"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// ConnectedStreams are two streams that one operation reads together: its
// functions may share what they know. Records of one stream come in order, in no
// particular order among those of the other.
type ConnectedStreams[A, B any] struct {
	first  DataStream[A]
	second DataStream[B]
}

// Connect puts s and another stream together; both must be of one Env.
func (s DataStream[A]) Connect[B any](other DataStream[B]) ConnectedStreams[A, B] {
	if other.env != s.env {
		s.env.problem(callSite(), "Connect: the streams belong to different environments")
	}
	return ConnectedStreams[A, B]{s, other}
}

// join adds an operation with two inputs to the program.
func join[A, B, R any](first DataStream[A], second DataStream[B], op string, f operator.Factory) DataStream[R] {
	out := operator.NewStream[R]()
	inputs := append([]input(nil), first.inputs...)
	for _, in := range second.inputs {
		in.to = 1
		inputs = append(inputs, in)
	}
	n := first.env.add(&streamgraph.Node{
		Kind: streamgraph.Transform, Name: op, Op: op, Types: typesOf(first.stream, second.stream, out),
		Operator: f, Stream: out,
	}, inputs...)
	return DataStream[R]{env: first.env, inputs: forward(n), stream: out}
}

// Map emits f of every record of the first stream, and g of every one of the
// second.
func (s ConnectedStreams[A, B]) Map[R any](f func(A) R, g func(B) R) DataStream[R] {
	s.first.env.required("Map", f == nil || g == nil)
	return join[A, B, R](s.first, s.second, "Co-Map", operator.CoProcess(func(*operator.Moment) (operator.CoProcessor[A, B, R], error) {
		return operator.CoProcessor[A, B, R]{
			Process1: func(v A, emit func(R)) error { emit(f(v)); return nil },
			Process2: func(v B, emit func(R)) error { emit(g(v)); return nil },
		}, nil
	}))
}

// FlatMap emits everything f yields for every record of the first stream, and g
// for every one of the second.
func (s ConnectedStreams[A, B]) FlatMap[R any](f func(A) iter.Seq[R], g func(B) iter.Seq[R]) DataStream[R] {
	s.first.env.required("FlatMap", f == nil || g == nil)
	return join[A, B, R](s.first, s.second, "Co-Flat Map", operator.CoProcess(func(*operator.Moment) (operator.CoProcessor[A, B, R], error) {
		return operator.CoProcessor[A, B, R]{
			Process1: func(v A, emit func(R)) error { f(v)(yield(emit)); return nil },
			Process2: func(v B, emit func(R)) error { g(v)(yield(emit)); return nil },
		}, nil
	}))
}

func yield[R any](emit func(R)) func(R) bool {
	return func(r R) bool {
		emit(r)
		return true
	}
}

// CoProcessFunction is a ProcessFunction over two streams.
type CoProcessFunction[A, B, R any] interface {
	// Process1 takes a record of the first stream.
	Process1(v A, c *ProcessContext, emit func(R)) error
	// Process2 takes a record of the second stream.
	Process2(v B, c *ProcessContext, emit func(R)) error
}

// Process runs a function over both streams. f is called once in each subtask, and
// must make a new function each time.
func (s ConnectedStreams[A, B]) Process[R any](f func() CoProcessFunction[A, B, R]) DataStream[R] {
	s.first.env.required("Process", f == nil)
	return join[A, B, R](s.first, s.second, "Co-Process", operator.CoProcess(func(m *operator.Moment) (p operator.CoProcessor[A, B, R], err error) {
		function, c := f(), &ProcessContext{m}
		if function == nil {
			return p, errNil("CoProcessFunction")
		}
		p.Process1 = func(v A, emit func(R)) error { return function.Process1(v, c, emit) }
		p.Process2 = func(v B, emit func(R)) error { return function.Process2(v, c, emit) }
		p.Life = lifeOf[R](function)
		return p, open(function, m, nil)
	}))
}

// KeyBy groups both streams by keys of one type, so that records of both with
// equal keys meet; see DataStream.KeyBy.
func (s ConnectedStreams[A, B]) KeyBy[K comparable](first func(A) K, second func(B) K) KeyedConnectedStreams[K, A, B] {
	return s.first.KeyBy(first).Connect(s.second.KeyBy(second))
}

// KeyedConnectedStreams are two keyed streams that one operation reads together.
type KeyedConnectedStreams[K comparable, A, B any] struct {
	first  KeyedStream[K, A]
	second KeyedStream[K, B]
}

// Connect puts two streams with keys of one type together; both must be of one Env.
func (s KeyedStream[K, A]) Connect[B any](other KeyedStream[K, B]) KeyedConnectedStreams[K, A, B] {
	if other.stream.env != s.stream.env {
		s.stream.env.problem(callSite(), "Connect: the streams belong to different environments")
	}
	return KeyedConnectedStreams[K, A, B]{s, other}
}

// KeyedCoProcessFunction is a KeyedProcessFunction over two streams, which share
// state and timers.
type KeyedCoProcessFunction[K comparable, A, B, R any] interface {
	// Process1 takes a record of the first stream.
	Process1(v A, c *KeyedContext[K], emit func(R)) error
	// Process2 takes a record of the second stream.
	Process2(v B, c *KeyedContext[K], emit func(R)) error
}

// Process runs a function over both streams. f is called once in each subtask, and
// must make a new function each time.
func (s KeyedConnectedStreams[K, A, B]) Process[R any](f func() KeyedCoProcessFunction[K, A, B, R]) DataStream[R] {
	s.first.stream.env.required("Process", f == nil)
	return join[A, B, R](s.first.stream, s.second.stream, "Keyed Co-Process", operator.KeyedCoProcess(s.first.key, s.second.key, func(m *operator.KeyedMoment[K]) (p operator.KeyedCoProcessor[K, A, B, R], err error) {
		function := f()
		if function == nil {
			return p, errNil("KeyedCoProcessFunction")
		}
		c := contextOf(m, function, &p.Timer)
		p.Process1 = func(v A, emit func(R)) error { return function.Process1(v, c, emit) }
		p.Process2 = func(v B, emit func(R)) error { return function.Process2(v, c, emit) }
		p.Life = lifeOf[R](function)
		return p, open(function, m.Moment, m.State.Backend)
	}))
}
