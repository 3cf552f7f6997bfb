package stream

import (
	"iter"
	"slices"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// DataStream is a stream of records of type T: a thin handle on a place in the
// program. Operations on it add to the program and give the handle of their
// result; using a handle twice sends every record both ways.
//
// Records are handed on, not copied: a function must not change what a record
// points to after it has emitted or was given it, if anyone else may hold it.
// Functions are called by each subtask on a goroutine of its own; one that keeps
// something outside itself must be safe for concurrent use, and on a cluster its
// subtasks are in several processes.
//
// Settings, from UID on, are those of the operation that made the stream: set on
// a union or behind a partitioning they are an error that Execute returns.
type DataStream[T any] struct {
	env    *Env
	inputs []input // one, or several after Union
	stream *operator.StreamOf[T]
}

// transform adds an operation with one output to the program.
func transform[T, R any](s DataStream[T], op string, f operator.Factory) DataStream[R] {
	out := operator.NewStream[R]()
	n := s.env.add(&streamgraph.Node{
		Kind: streamgraph.Transform, Name: op, Op: op, Types: typesOf(s.stream, out),
		Operator: f, Stream: out,
	}, s.inputs...)
	return DataStream[R]{env: s.env, inputs: forward(n), stream: out}
}

// Map emits f of every record, in order.
func (s DataStream[T]) Map[R any](f func(T) R) DataStream[R] {
	s.env.required("Map", f == nil)
	return transform[T, R](s, "Map", operator.Map(f))
}

// Filter passes on the records that keep holds for, in order.
func (s DataStream[T]) Filter(keep func(T) bool) DataStream[T] {
	s.env.required("Filter", keep == nil)
	return transform[T, T](s, "Filter", operator.Filter(keep))
}

// FlatMap emits everything f yields for every record, in order: functions of the
// standard library such as strings.FieldsSeq fit as they are.
func (s DataStream[T]) FlatMap[R any](f func(T) iter.Seq[R]) DataStream[R] {
	s.env.required("FlatMap", f == nil)
	return transform[T, R](s, "Flat Map", operator.FlatMap(f))
}

// Union gives the records of s and of the others: of each stream in order, but
// of one among those of another in no particular order. A stream that is named
// twice comes twice. All must be of one Env.
func (s DataStream[T]) Union(others ...DataStream[T]) DataStream[T] {
	inputs := slices.Clone(s.inputs)
	for _, o := range others {
		inputs = s.env.union(inputs, o.env, o.inputs)
	}
	return DataStream[T]{env: s.env, inputs: inputs, stream: s.stream}
}

// union adds the inputs of another stream.
//
//go:noinline
func (e *Env) union(inputs []input, other *Env, more []input) []input {
	if other != e {
		e.problem(callSite(), "Union: the streams belong to different environments")
		return inputs
	}
	return append(inputs, more...)
}

// partitioned gives s with another way to the next operation.
func (s DataStream[T]) partitioned(p streamgraph.Partitioner, route any) DataStream[T] {
	return DataStream[T]{env: s.env, inputs: partitioned(s.inputs, p, route), stream: s.stream}
}

//go:noinline
func partitioned(all []input, p streamgraph.Partitioner, route any) []input {
	inputs := make([]input, len(all))
	for i, in := range all {
		inputs[i] = input{node: in.node, partitioner: p, route: route, side: in.side}
	}
	return inputs
}

// Forward sends records to the same subtask of the next operation, which must
// have the same parallelism.
func (s DataStream[T]) Forward() DataStream[T] { return s.partitioned(streamgraph.Forward, nil) }

// Rebalance sends records to all subtasks of the next operation in turn.
func (s DataStream[T]) Rebalance() DataStream[T] { return s.partitioned(streamgraph.Rebalance, nil) }

// Rescale sends records in turn to a share of the next operation's subtasks that
// is this subtask's own, so that fewer connections are needed than by Rebalance.
func (s DataStream[T]) Rescale() DataStream[T] { return s.partitioned(streamgraph.Rescale, nil) }

// Shuffle sends each record to a subtask chosen at random, uniformly.
func (s DataStream[T]) Shuffle() DataStream[T] { return s.partitioned(streamgraph.Shuffle, nil) }

// Broadcast sends every record to every subtask of the next operation. Subtasks
// in one process share what the record points to, and must not change it.
func (s DataStream[T]) Broadcast() DataStream[T] { return s.partitioned(streamgraph.Broadcast, nil) }

// Global sends every record to the first subtask of the next operation.
func (s DataStream[T]) Global() DataStream[T] { return s.partitioned(streamgraph.Global, nil) }

// PartitionBy sends each record to the subtask of the next operation that pick
// chooses: at least 0 and below n. Another answer fails the job. Records with equal
// choices meet in one subtask. There are n subtasks, except where their number is
// decided while the job runs: then n is the most there may be, and neighbouring
// choices may share a subtask.
func (s DataStream[T]) PartitionBy(pick func(v T, n int) int) DataStream[T] {
	s.env.required("PartitionBy", pick == nil)
	return s.partitioned(streamgraph.Custom, &operator.Router[T]{Pick: pick})
}

// KeyBy groups the stream by key. Records with equal keys are processed by the
// same subtask of the next operation, in the order each subtask before it sent
// them. key must give the same for the same record, each time it is called.
//
// K may be any type whose equal values have equal encodings: numbers, strings,
// bools, time.Time, and structs and arrays of these. Execute refuses one that
// holds a pointer, slice, map, interface, function or channel. All NaNs are one
// key, and so are both zeros.
func (s DataStream[T]) KeyBy[K comparable](key func(T) K) KeyedStream[K, T] {
	checkKey[K](s.env, callSite())
	s.env.required("KeyBy", key == nil)
	if s.env.checkKeys && key != nil {
		key = twice(key, callSite())
	}
	return KeyedStream[K, T]{
		stream: s.partitioned(streamgraph.Hash, operator.KeyRouter(key)),
		key:    key,
	}
}

// Self is the key function of a stream whose records are their own keys.
func Self[T any](v T) T { return v }

// node is the operation that made the stream, for the settings below.
func (s DataStream[T]) node(setting string) *streamgraph.Node {
	return s.env.operation(s.inputs, setting)
}

// operation is the one that made a stream which the next one reads by inputs.
//
//go:noinline
func (e *Env) operation(inputs []input, setting string) *streamgraph.Node {
	if len(inputs) != 1 || !inputs[0].implicit || inputs[0].side != nil {
		e.problem(callSite(), "%s: set it on an operation, not on a union, a partitioning or a side output", setting)
		return &streamgraph.Node{}
	}
	return inputs[0].node
}

// UID gives the operation that made s a stable identity, which its state is
// found by when the program changes. No other operation of the program may have
// it. The default is computed from the operation's place in the program.
func (s DataStream[T]) UID(uid string) DataStream[T] {
	setUID(s.env, s.node("UID"), uid)
	return s
}

// Name gives the operation that made s a name for people, in logs, errors, REST
// and the plan. That of a source gets "Source: " in front. The default says what
// the operation does.
func (s DataStream[T]) Name(name string) DataStream[T] {
	setName(s.node("Name"), name)
	return s
}

// Parallelism sets the number of subtasks of the operation that made s: 1 to
// 32768. An operation without it gets that of DefaultParallelism, or in a batch job
// as many, up to that, as the volume of what it reads asks for.
func (s DataStream[T]) Parallelism(n int) DataStream[T] {
	setParallelism(s.env, s.node("Parallelism"), n)
	return s
}

// MaxParallelism sets the number of key groups of the operation that made s: 1
// to 32768, and at least its parallelism. State is kept by key group, so it is
// also the greatest parallelism that the operation can be given later. The default
// is that of DefaultMaxParallelism.
func (s DataStream[T]) MaxParallelism(n int) DataStream[T] {
	setMaxParallelism(s.env, s.node("MaxParallelism"), n)
	return s
}

// DisableChaining makes the operation that made s a task of its own.
func (s DataStream[T]) DisableChaining() DataStream[T] {
	s.node("DisableChaining").Chaining = streamgraph.Never
	return s
}

// StartNewChain makes the operation that made s the first of its task.
func (s DataStream[T]) StartNewChain() DataStream[T] {
	s.node("StartNewChain").Chaining = streamgraph.Head
	return s
}

// SlotSharingGroup names the group of operations whose subtasks may share a
// slot with those of the operation that made s, subtask by subtask: a group needs
// as many slots as its widest operation has subtasks. The default is that of its
// inputs if they agree, otherwise "default".
func (s DataStream[T]) SlotSharingGroup(group string) DataStream[T] {
	s.node("SlotSharingGroup").SlotSharingGroup = group
	return s
}

// CoLocationGroup names a group of operations whose subtasks of equal number run
// in one slot. They must have the same parallelism and slot sharing group. The
// default is none. It is Flink's setCoLocationGroupKey.
func (s DataStream[T]) CoLocationGroup(group string) DataStream[T] {
	s.node("CoLocationGroup").CoLocation = group
	return s
}
