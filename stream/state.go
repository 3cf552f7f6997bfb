package stream

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/weirstream/weir/internal/state"
)

// A StateOption changes a state that is opened.
type StateOption func(*stateOptions)

type stateOptions struct{ ttl state.TTL }

// TTL lets a state live for d of processing time after it was written last. In a
// list each element lives by itself, and so does each entry of a map. What has
// expired is cleaned up little by little and is never seen. The default is to
// keep state for ever.
func TTL(d time.Duration) StateOption { return func(o *stateOptions) { o.ttl.Duration = d } }

// RenewOnRead lets reading keep a state with a TTL alive as well.
func RenewOnRead() StateOption {
	return func(o *stateOptions) { o.ttl.Update = state.OnReadAndWrite }
}

// ReturnExpired lets a state with a TTL be seen until it is cleaned up.
func ReturnExpired() StateOption {
	return func(o *stateOptions) { o.ttl.Visibility = state.ReturnExpiredIfNotCleanedUp }
}

// opened opens a state of a function over a keyed stream. What is wrong with it
// is told when Open has returned: until then the state must not be used.
func opened[S any](c *OpenContext, what, name string, options []StateOption, open func(b *state.Backend, o []state.Option) (S, error)) S {
	var none S
	var o stateOptions
	for _, set := range options {
		set(&o)
	}
	err := error(nil)
	switch {
	case c.keyed == nil:
		err = errors.New("keyed state needs a keyed stream: call KeyBy before Process")
	case name == "":
		err = errors.New("the name is empty")
	case o.ttl.Duration < 0 || o.ttl.Duration > 0 && o.ttl.Duration < time.Millisecond:
		err = fmt.Errorf("TTL: got %s, want at least 1ms, or 0 to keep it for ever", o.ttl.Duration)
	case o.ttl.Duration == 0 && o.ttl != state.TTL{}:
		err = errors.New("RenewOnRead and ReturnExpired need a TTL")
	default:
		var all []state.Option
		if o.ttl.Duration > 0 {
			all = append(all, state.WithTTL(o.ttl))
		}
		var s S
		if s, err = open(c.keyed, all); err == nil {
			return s
		}
	}
	c.problems = append(c.problems, fmt.Errorf("%s %q: %w", what, name, err))
	return none
}

// ValueState is one value for each key. It is opened in Open and used in the
// function's other methods, on its goroutine, as are all states.
type ValueState[V any] struct{ s *state.Value[V] }

// NewValueState opens a value for each key. Names are those of the function's own:
// no two of its states may have the same. V must be encodable: values that hold
// pointers are kept encoded, so a change to one counts only when it is set.
func NewValueState[V any](c *OpenContext, name string, options ...StateOption) *ValueState[V] {
	return &ValueState[V]{opened(c, "ValueState", name, options, func(b *state.Backend, o []state.Option) (*state.Value[V], error) {
		return state.NewValue[V](b, name, o...)
	})}
}

// Value is the key's value; ok is false when it has none.
func (s *ValueState[V]) Value() (v V, ok bool) { return s.s.Get() }

// Update gives the key a value.
func (s *ValueState[V]) Update(v V) { s.s.Set(v) }

// Clear takes the key's value away.
func (s *ValueState[V]) Clear() { s.s.Clear() }

// ListState is a list for each key.
type ListState[V any] struct{ s *state.List[V] }

// NewListState opens a list for each key; see NewValueState.
func NewListState[V any](c *OpenContext, name string, options ...StateOption) *ListState[V] {
	return &ListState[V]{opened(c, "ListState", name, options, func(b *state.Backend, o []state.Option) (*state.List[V], error) {
		return state.NewList[V](b, name, o...)
	})}
}

// Get gives a copy of the key's list, nil if it is empty.
func (s *ListState[V]) Get() []V { return s.s.Get() }

// All ranges over the key's list, which must not be changed meanwhile.
func (s *ListState[V]) All() iter.Seq[V] { return s.s.Each }

// Add appends to the key's list. The cost does not depend on its length.
func (s *ListState[V]) Add(vals ...V) {
	if len(vals) == 1 {
		s.s.Add(vals[0])
		return
	}
	s.s.AddAll(vals)
}

// Update replaces the key's list.
func (s *ListState[V]) Update(vals []V) { s.s.Set(vals) }

// Clear empties the key's list.
func (s *ListState[V]) Clear() { s.s.Clear() }

// MapState is a map for each key.
type MapState[UK comparable, UV any] struct{ s *state.Map[UK, UV] }

// NewMapState opens a map for each key; see NewValueState. UK may be what a key
// may be; see DataStream.KeyBy.
func NewMapState[UK comparable, UV any](c *OpenContext, name string, options ...StateOption) *MapState[UK, UV] {
	return &MapState[UK, UV]{opened(c, "MapState", name, options, func(b *state.Backend, o []state.Option) (*state.Map[UK, UV], error) {
		return state.NewMap[UK, UV](b, name, o...)
	})}
}

// Get is the value of uk; ok is false when it has none.
func (s *MapState[UK, UV]) Get(uk UK) (v UV, ok bool) { return s.s.Get(uk) }

// Contains says whether uk has a value.
func (s *MapState[UK, UV]) Contains(uk UK) bool { return s.s.Contains(uk) }

// Put gives uk a value.
func (s *MapState[UK, UV]) Put(uk UK, v UV) { s.s.Put(uk, v) }

// Remove takes the value of uk away.
func (s *MapState[UK, UV]) Remove(uk UK) { s.s.Delete(uk) }

// All ranges over the key's map, in the order in which its entries were first
// put. Meanwhile the entry at hand may be removed and others may be given values.
func (s *MapState[UK, UV]) All() iter.Seq2[UK, UV] { return s.s.Each }

// Len is the number of entries, with a TTL including those that have expired and
// have not been cleaned up.
func (s *MapState[UK, UV]) Len() int { return s.s.Len() }

// Clear empties the key's map.
func (s *MapState[UK, UV]) Clear() { s.s.Clear() }

// ReducingState is one value for each key, into which others are folded.
type ReducingState[V any] struct{ s *state.Reducing[V] }

// NewReducingState opens a value for each key, which Add folds others into with
// reduce; see NewValueState.
func NewReducingState[V any](c *OpenContext, name string, reduce func(acc, v V) V, options ...StateOption) *ReducingState[V] {
	return &ReducingState[V]{opened(c, "ReducingState", name, options, func(b *state.Backend, o []state.Option) (*state.Reducing[V], error) {
		if reduce == nil {
			return nil, errors.New("the function is nil")
		}
		return state.NewReducing(b, name, reduce, o...)
	})}
}

// Get is the key's value; ok is false when nothing was added.
func (s *ReducingState[V]) Get() (v V, ok bool) { return s.s.Get() }

// Add folds v into the key's value; the first is the value.
func (s *ReducingState[V]) Add(v V) { s.s.Add(v) }

// Clear takes the key's value away.
func (s *ReducingState[V]) Clear() { s.s.Clear() }

// AggregatingState is one accumulator for each key.
type AggregatingState[In, Acc, Out any] struct {
	s *state.Aggregating[In, Acc, Out]
}

// NewAggregatingState opens an accumulator for each key; see NewValueState.
func NewAggregatingState[In, Acc, Out any](c *OpenContext, name string, a Aggregator[In, Acc, Out], options ...StateOption) *AggregatingState[In, Acc, Out] {
	return &AggregatingState[In, Acc, Out]{opened(c, "AggregatingState", name, options, func(b *state.Backend, o []state.Option) (*state.Aggregating[In, Acc, Out], error) {
		if err := a.check(); err != nil {
			return nil, err
		}
		return state.NewAggregating(b, name, a.kept(), o...)
	})}
}

// Get is the result of what was added for the key; ok is false when nothing was.
func (s *AggregatingState[In, Acc, Out]) Get() (v Out, ok bool) { return s.s.Get() }

// Add adds v to the key's accumulator.
func (s *AggregatingState[In, Acc, Out]) Add(v In) { s.s.Add(v) }

// Clear takes the key's accumulator away.
func (s *AggregatingState[In, Acc, Out]) Clear() { s.s.Clear() }
