package stream

import (
	"errors"

	"github.com/weirstream/weir/internal/state"
)

// An Aggregator says how values of type In make an accumulator Acc, and that a
// result Out. Its functions are called on many goroutines and must not share
// anything that changes.
type Aggregator[In, Acc, Out any] struct {
	// Create makes an accumulator of nothing; nil: the zero Acc is one.
	Create func() Acc
	// Add adds a value to acc.
	Add func(acc *Acc, v In)
	// Merge adds another accumulator to acc; of the slices of a sliding window, other is
	// the later one. It must be associative, since it is not said which of many are
	// merged first: the last bits of a sum of floats depend on that. It may be nil where
	// none are merged: session and sliding windows, and aggregates before an exchange, do.
	Merge func(acc *Acc, other Acc)
	// Result gives the result of acc, which it must not change.
	Result func(acc *Acc) Out
}

// kept gives the aggregator as state has it.
func (a Aggregator[In, Acc, Out]) kept() state.Aggregator[In, Acc, Out] {
	if a.Create == nil {
		a.Create = func() (acc Acc) { return acc }
	}
	return state.Aggregator[In, Acc, Out](a)
}

func (a *Aggregator[In, Acc, Out]) check() error {
	if a.Add == nil || a.Result == nil {
		return errors.New("an Aggregator needs Add and Result")
	}
	return nil
}

// Count counts values.
func Count[In any]() Aggregator[In, int64, int64] {
	return Aggregator[In, int64, int64]{
		Add:    func(n *int64, _ In) { *n++ },
		Merge:  func(n *int64, other int64) { *n += other },
		Result: func(n *int64) int64 { return *n },
	}
}

// Sum adds up f of each value. Integers wrap around as Go's do.
func Sum[In any, N Number](f func(In) N) Aggregator[In, N, N] {
	return Aggregator[In, N, N]{
		Add:    func(sum *N, v In) { *sum += f(v) },
		Merge:  func(sum *N, other N) { *sum += other },
		Result: func(sum *N) N { return *sum },
	}
}

// Extent is the accumulator of Min and Max.
type Extent[N any] struct {
	Some  bool
	Value N
}

// Min gives the least f of all values.
func Min[In any, N Number](f func(In) N) Aggregator[In, Extent[N], N] {
	return extent(f, func(a, b N) N { return min(a, b) })
}

// Max gives the greatest f of all values.
func Max[In any, N Number](f func(In) N) Aggregator[In, Extent[N], N] {
	return extent(f, func(a, b N) N { return max(a, b) })
}

func extent[In any, N Number](f func(In) N, better func(a, b N) N) Aggregator[In, Extent[N], N] {
	fold := func(acc *Extent[N], v N) {
		if acc.Some {
			v = better(acc.Value, v)
		}
		*acc = Extent[N]{true, v}
	}
	return Aggregator[In, Extent[N], N]{
		Add: func(acc *Extent[N], v In) { fold(acc, f(v)) },
		Merge: func(acc *Extent[N], other Extent[N]) {
			if other.Some {
				fold(acc, other.Value)
			}
		},
		Result: func(acc *Extent[N]) N { return acc.Value },
	}
}

// Moments is the accumulator of Mean.
type Moments struct {
	Count int64
	Sum   float64
}

// Mean gives the arithmetic mean of f over all values.
func Mean[In any, N Number](f func(In) N) Aggregator[In, Moments, float64] {
	return Aggregator[In, Moments, float64]{
		Add:    func(m *Moments, v In) { m.Count++; m.Sum += float64(f(v)) },
		Merge:  func(m *Moments, other Moments) { m.Count += other.Count; m.Sum += other.Sum },
		Result: func(m *Moments) float64 { return m.Sum / float64(m.Count) },
	}
}
