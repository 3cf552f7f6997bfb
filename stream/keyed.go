package stream

import (
	"cmp"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// KeyedStream is a stream grouped by key; see DataStream.KeyBy.
//
// Its aggregates emit, in streaming mode, the new result with every record: those
// of a key in order. In batch mode they emit one result a key when all input has
// ended, in no particular order, and aggregate before the exchange as well as
// after it; a key without records has no result in either mode.
type KeyedStream[K comparable, T any] struct {
	stream DataStream[T]
	key    func(T) K
}

// Pair is a key with a value: the result of Count, Sum, Min and Max, printed as
// {key value}.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

// Number is what can be summed: any integer or floating-point type.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Count emits the number of records of each key.
func (s KeyedStream[K, T]) Count() DataStream[Pair[K, int64]] {
	return aggregate(s, "Count", operator.Aggregate[K, T, int64, Pair[K, int64]]{
		Key:    s.key,
		Add:    func(n *int64, _ bool, _ T) { *n++ },
		Merge:  func(n *int64, _ bool, other int64) { *n += other },
		Result: pair[K, int64],
	})
}

// Sum emits the sum of f over the records of each key. Integers wrap around as
// Go's do; floating-point sums depend on the order of addition, which is fixed
// only for a key whose records come from one subtask.
func (s KeyedStream[K, T]) Sum[N Number](f func(T) N) DataStream[Pair[K, N]] {
	s.stream.env.required("Sum", f == nil)
	return aggregate(s, "Sum", operator.Aggregate[K, T, N, Pair[K, N]]{
		Key:    s.key,
		Add:    func(sum *N, _ bool, v T) { *sum += f(v) },
		Merge:  func(sum *N, _ bool, other N) { *sum += other },
		Result: pair[K, N],
	})
}

// Min emits the least f over the records of each key; it is NaN if any is.
func (s KeyedStream[K, T]) Min[N cmp.Ordered](f func(T) N) DataStream[Pair[K, N]] {
	return s.extreme("Min", f, func(a, b N) N { return min(a, b) })
}

// Max emits the greatest f over the records of each key; it is NaN if any is.
func (s KeyedStream[K, T]) Max[N cmp.Ordered](f func(T) N) DataStream[Pair[K, N]] {
	return s.extreme("Max", f, func(a, b N) N { return max(a, b) })
}

func (s KeyedStream[K, T]) extreme[N cmp.Ordered](op string, f func(T) N, better func(a, b N) N) DataStream[Pair[K, N]] {
	s.stream.env.required(op, f == nil)
	merge := func(acc *N, created bool, v N) {
		if created {
			*acc = v
		} else {
			*acc = better(*acc, v)
		}
	}
	return aggregate(s, op, operator.Aggregate[K, T, N, Pair[K, N]]{
		Key:    s.key,
		Add:    func(acc *N, created bool, v T) { merge(acc, created, f(v)) },
		Merge:  merge,
		Result: pair[K, N],
	})
}

// Reduce combines the records of each key, two at a time, and emits the result: of
// a key with one record that record. f must be associative and give a record of
// the same key; a comes before b only where the records come from one subtask. It
// must not change what a and b point to: both may have been emitted.
func (s KeyedStream[K, T]) Reduce[F ~func(a, b T) T](f F) DataStream[T] {
	s.stream.env.required("Reduce", f == nil)
	merge := func(acc *T, created bool, v T) {
		if created {
			*acc = v
		} else {
			*acc = f(*acc, v)
		}
	}
	return aggregate(s, "Keyed Reduce", operator.Aggregate[K, T, T, T]{
		Key: s.key, Add: merge, Merge: merge,
		Result: func(_ K, acc T) T { return acc },
	})
}

func pair[K comparable, V any](k K, v V) Pair[K, V] { return Pair[K, V]{Key: k, Value: v} }

// aggregate adds a keyed aggregate, with the two operations it becomes in batch
// mode: one before the exchange and one after it.
func aggregate[K comparable, T, A, R any](s KeyedStream[K, T], op string, a operator.Aggregate[K, T, A, R]) DataStream[R] {
	out := transform[T, R](s.stream, op, operator.Keyed(a))
	partial := operator.NewStream[operator.Partial[K, A]]()
	out.inputs[0].node.TwoPhase = &streamgraph.TwoPhase{
		Name:     "Local " + op,
		Types:    typesOf(s.stream.stream, partial),
		Operator: operator.Local(a),
		Stream:   partial,
		Route:    operator.PartialRouter[K, A](),
		Final:    operator.Final(a),
	}
	return out
}
