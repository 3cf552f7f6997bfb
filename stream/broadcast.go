package stream

import (
	"errors"
	"iter"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/streamgraph"
)

// BroadcastStream is a stream with another, of rules for instance, of which every
// subtask of the operation that reads both gets all records.
//
// A function over it keeps what it learns from those in a BroadcastState. It must do
// so in the same way in every subtask, whatever it has seen of the first stream: then
// all have the same state, a checkpoint keeps it, and new subtasks begin with a copy.
// In streaming mode the records of both streams come in no particular order among
// each other. In batch mode the broadcast ones come first, all of them, unless
// execution.batch-shuffle-mode makes exchanges pipelined.
type BroadcastStream[A, B any] struct {
	stream    DataStream[A]
	broadcast DataStream[B]
}

// ConnectBroadcast gives every subtask of the next operation all records of other.
// Both streams must be of one Env.
func (s DataStream[A]) ConnectBroadcast[B any](other DataStream[B]) BroadcastStream[A, B] {
	return BroadcastStream[A, B]{s, broadcastTo(s.env, other)}
}

// broadcastTo gives other as the broadcast input of an operation.
func broadcastTo[B any](e *Env, other DataStream[B]) DataStream[B] {
	if other.env != e {
		e.problem(callSite(), "ConnectBroadcast: the streams belong to different environments")
	}
	other = other.partitioned(streamgraph.Broadcast, nil)
	for i := range other.inputs {
		other.inputs[i].first = true
	}
	return other
}

// BroadcastState is a map that is the same in every subtask of an operation. Any
// function over a BroadcastStream reads it; only that which takes the broadcast
// records can write it.
type BroadcastState[K comparable, V any] struct {
	s *operator.BroadcastState[K, V]
}

// NewBroadcastState opens a map, in Open. K may be what a key may be; see
// DataStream.KeyBy. V must be encodable, and a value must not be changed after it was
// put.
func NewBroadcastState[K comparable, V any](c *OpenContext, name string) *BroadcastState[K, V] {
	s, err := operator.OpenBroadcastState[K, V](c.moment, name)
	c.opened("BroadcastState", name, err)
	return &BroadcastState[K, V]{s}
}

// Get is the value of k; ok is false when it has none.
func (s *BroadcastState[K, V]) Get(k K) (v V, ok bool) { return s.s.Get(k) }

// Contains says whether k has a value.
func (s *BroadcastState[K, V]) Contains(k K) bool {
	_, ok := s.s.Get(k)
	return ok
}

// All ranges over the map, in the order in which its entries were first put.
// Meanwhile entries may be removed.
func (s *BroadcastState[K, V]) All() iter.Seq2[K, V] { return s.s.All() }

// Len is the number of entries.
func (s *BroadcastState[K, V]) Len() int { return s.s.Len() }

// Put gives k a value. c is what ProcessBroadcast was called with.
func (s *BroadcastState[K, V]) Put(c Broadcaster, k K, v V) {
	c.writes()
	operator.Check(s.s.Put(k, v))
}

// Remove takes the value of k away.
func (s *BroadcastState[K, V]) Remove(c Broadcaster, k K) {
	c.writes()
	s.s.Remove(k)
}

// Clear empties the map.
func (s *BroadcastState[K, V]) Clear(c Broadcaster) {
	c.writes()
	s.s.Clear()
}

// Broadcaster is a context in which a BroadcastState may be written: that of
// ProcessBroadcast.
type Broadcaster interface{ writes() }

// BroadcastContext is the ProcessContext of a broadcast record.
type BroadcastContext struct {
	ProcessContext
	called bool // ProcessBroadcast has been called and has not returned
}

func (c *BroadcastContext) writes() {
	if !c.called {
		operator.Abort(errors.New("a BroadcastState is written when no broadcast record is being processed: subtasks would come to differ"))
	}
}

// BroadcastProcessFunction is a ProcessFunction over a BroadcastStream.
type BroadcastProcessFunction[A, B, R any] interface {
	// Process takes a record of the first stream.
	Process(v A, c *ProcessContext, emit func(R)) error
	// ProcessBroadcast takes a broadcast record, in every subtask.
	ProcessBroadcast(v B, c *BroadcastContext, emit func(R)) error
}

// Process runs a function over both streams. f is called once in each subtask, and
// must make a new function each time.
func (s BroadcastStream[A, B]) Process[R any](f func() BroadcastProcessFunction[A, B, R]) DataStream[R] {
	s.stream.env.required("Process", f == nil)
	return join[A, B, R](s.stream, s.broadcast, "Broadcast Process", operator.CoProcess(func(m *operator.Moment) (p operator.CoProcessor[A, B, R], err error) {
		function, c, b := f(), &ProcessContext{m}, &BroadcastContext{ProcessContext: ProcessContext{m}}
		if function == nil {
			return p, errNil("BroadcastProcessFunction")
		}
		p.Process1 = func(v A, emit func(R)) error { return function.Process(v, c, emit) }
		p.Process2 = func(v B, emit func(R)) error {
			b.called = true
			err := function.ProcessBroadcast(v, b, emit)
			b.called = false
			return err
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m, nil)
	}))
}

// KeyedBroadcastStream is a keyed stream with another of which every subtask gets all
// records; see BroadcastStream.
type KeyedBroadcastStream[K comparable, A, B any] struct {
	keyed     KeyedStream[K, A]
	broadcast DataStream[B]
}

// ConnectBroadcast gives every subtask of the next operation all records of other.
// Both streams must be of one Env.
func (s KeyedStream[K, A]) ConnectBroadcast[B any](other DataStream[B]) KeyedBroadcastStream[K, A, B] {
	return KeyedBroadcastStream[K, A, B]{s, broadcastTo(s.stream.env, other)}
}

// KeyedBroadcastProcessFunction is a KeyedProcessFunction over a
// KeyedBroadcastStream. It may have the method of TimerFunction.
type KeyedBroadcastProcessFunction[K comparable, A, B, R any] interface {
	// Process takes a record of the keyed stream.
	Process(v A, c *KeyedContext[K], emit func(R)) error
	// ProcessBroadcast takes a broadcast record, in every subtask. It has no key:
	// keyed state is reached through EachKey.
	ProcessBroadcast(v B, c *KeyedBroadcastContext[K], emit func(R)) error
}

// KeyedBroadcastContext is the BroadcastContext of a function with keyed state.
type KeyedBroadcastContext[K comparable] struct {
	BroadcastContext
	keyed *operator.KeyedMoment[K]
}

// KeyedState is a keyed state that a function has opened.
type KeyedState interface{ view() state.View }

// EachKey calls f with each key of the subtask that has something in s; all keyed
// states are then that key's. It ends with the first error, and gives it. It is
// Flink's applyToKeyedState.
func (c *KeyedBroadcastContext[K]) EachKey(s KeyedState, f func(key K) error) (err error) {
	c.keyed.State.EachKey(s.view(), func(key K) bool {
		err = f(key)
		return err == nil
	})
	return err
}

func (s *ValueState[V]) view() state.View                  { return s.s }
func (s *ListState[V]) view() state.View                   { return s.s }
func (s *MapState[UK, UV]) view() state.View               { return s.s }
func (s *ReducingState[V]) view() state.View               { return s.s }
func (s *AggregatingState[In, Acc, Out]) view() state.View { return s.s }

// Process runs a function over both streams. f is called once in each subtask, and
// must make a new function each time.
func (s KeyedBroadcastStream[K, A, B]) Process[R any](f func() KeyedBroadcastProcessFunction[K, A, B, R]) DataStream[R] {
	in := s.keyed.stream
	in.env.required("Process", f == nil)
	return join[A, B, R](in, s.broadcast, "Keyed Broadcast Process", operator.KeyedBroadcastProcess(s.keyed.key, func(m *operator.KeyedMoment[K]) (p operator.KeyedCoProcessor[K, A, B, R], err error) {
		function := f()
		if function == nil {
			return p, errNil("KeyedBroadcastProcessFunction")
		}
		c := contextOf(m, function, &p.Timer)
		b := &KeyedBroadcastContext[K]{BroadcastContext{ProcessContext: ProcessContext{m.Moment}}, m}
		p.Process1 = func(v A, emit func(R)) error { return function.Process(v, c, emit) }
		p.Process2 = func(v B, emit func(R)) error {
			b.called = true
			err := function.ProcessBroadcast(v, b, emit)
			b.called = false
			return err
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m.Moment, m.State.Backend)
	}))
}
