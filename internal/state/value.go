package state

import (
	"fmt"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A single is a state of one V for each key: what values, reductions and aggregates
// have in common.
type single[V any] struct {
	*store[V]
	desc Descriptor
	in   *namespace // nil: none
}

// openSingle opens a state of one V for each key.
func openSingle[V any](b *Backend, name string, kind Kind, options []Option) (*single[V], error) {
	plan, err := codec.For[V]()
	if err != nil {
		return nil, fmt.Errorf("open state %q of operator %s: %w", name, b.options.Operator, err)
	}
	d, spec := describe(name, kind, plan.Schema(), options)
	if err := b.open(d, spec.in); err != nil {
		return nil, err
	}
	store, err := newStore[V](b, d, plan, spec.in != nil)
	if err != nil {
		return nil, err
	}
	s := &single[V]{store: store, desc: d, in: spec.in}
	b.states = append(b.states, s)
	if !s.composed {
		b.touched = append(b.touched, s.store)
	}
	return s, nil
}

// key returns the key of the store that is current.
func (s *single[V]) key() *memory.Key {
	if s.in == nil {
		return &s.b.key
	}
	return s.in.composed()
}

// Descriptor returns what was opened.
func (s *single[V]) Descriptor() Descriptor { return s.desc }

func (s *single[V]) tables() []table { return []table{s} }

func (s *single[V]) owners(group int, f func(k memory.Key, composed bool) bool) bool {
	return s.store.keys(group, func(k memory.Key) bool { return f(k, s.in != nil) })
}

func (s *single[V]) track() { s.changed = newChanges(s.b.options, s.store.len) }

func (s *single[V]) settle() {
	s.changed.settle()
	s.store.settle()
}

func (s *single[V]) freeze(number uint64) frozenTable {
	f := s.store.freeze(number, s.b.kind.Integer() && s.in == nil)
	return frozenSingle[V]{f, s.desc, recent{s.changed.freeze(number), s.store.len()}}
}

func (s *single[V]) restorer(from written) (restorer, error) {
	r, err := s.store.reader(from)
	if err != nil {
		return nil, err
	}
	return r.restore, nil
}

type frozenSingle[V any] struct {
	*frozenStore[V]
	desc Descriptor
	recent
}

func (f frozenSingle[V]) written() written {
	return written{Descriptor: f.desc, words: f.words, batch: f.batch()}
}

// A Value is one V for each key.
type Value[V any] struct{ *single[V] }

// NewValue opens a state of kind KindValue. It fails when V cannot be encoded,
// when the name is taken, or when the backend already has keys.
func NewValue[V any](b *Backend, name string, o ...Option) (*Value[V], error) {
	s, err := openSingle[V](b, name, KindValue, o)
	return &Value[V]{s}, err
}

// Get returns the value of the current key, if there is one.
func (s *Value[V]) Get() (V, bool) { return s.get(s.key()) }

// Set replaces the value of the current key.
func (s *Value[V]) Set(v V) { s.put(s.key(), v) }

// Take removes the value of the current key and returns it.
func (s *Value[V]) Take() (V, bool) { return s.take(s.key()) }

// Clear removes the value of the current key.
func (s *Value[V]) Clear() { s.delete(s.key()) }

// InPlace says whether values lie in the table as they are: V holds no pointers.
func (s *Value[V]) InPlace() bool { return s.blobs == nil }

// Ref returns the value of the current key, which is new and zero if created. It
// may be changed in place until the next use of the backend. InPlace must be true.
func (s *Value[V]) Ref() (v *V, created bool) { return s.ref(s.key()) }

// UpsertBatch calls f, in order, with the place of the value of each key, as Ref
// gives it. It is several times as fast as SetKey and Ref where keys are many,
// since their cache misses overlap. f must not use the backend. InPlace must be
// true, and the state must have no namespaces. The current key is undefined
// afterwards.
func UpsertBatch[K comparable, V any](k *Keyed[K], s *Value[V], keys []K, f func(i int, v *V, created bool)) {
	upsertBatch(k, s.store, keys, f)
}

func upsertBatch[K comparable, V any](k *Keyed[K], s *store[V], keys []K, f func(i int, v *V, created bool)) {
	k.started = true
	for start := 0; start < len(keys); start += memory.BatchSize {
		part := keys[start:min(start+memory.BatchSize, len(keys))]
		if k.seq += uint64(len(part)); k.seq >= k.due {
			k.fit()
		}
		s.batch(k.keys.Batch(part), start, f)
	}
}

// A Reducing is one V for each key, into which others are folded.
type Reducing[V any] struct {
	*single[V]
	f func(acc, v V) V
}

// NewReducing opens a state of kind KindReducing, which fold adds to: it returns
// what acc and v make together, and must not use the backend. It fails as NewValue
// does.
func NewReducing[V any](b *Backend, name string, fold func(acc, v V) V, o ...Option) (*Reducing[V], error) {
	s, err := openSingle[V](b, name, KindReducing, o)
	return &Reducing[V]{s, fold}, err
}

// Add folds v into the value of the current key, or makes it v.
func (s *Reducing[V]) Add(v V) { s.fold(s.key(), v, s.f) }

// AddGet is Add, and returns the new value.
func (s *Reducing[V]) AddGet(v V) V { return s.fold(s.key(), v, s.f) }

// Get returns the value of the current key, if there is one.
func (s *Reducing[V]) Get() (V, bool) { return s.get(s.key()) }

// Take removes the value of the current key and returns it. With Add in another
// namespace it merges windows.
func (s *Reducing[V]) Take() (V, bool) { return s.take(s.key()) }

// Clear removes the value of the current key.
func (s *Reducing[V]) Clear() { s.delete(s.key()) }

// AddBatch folds vals[i] into the value of keys[i], in order, and calls emit, if
// it is not nil, with each new value. emit must not use the backend. The state must
// have no namespaces. The current key is undefined afterwards.
func AddBatch[K comparable, V any](k *Keyed[K], s *Reducing[V], keys []K, vals []V, emit func(i int, v V)) {
	if s.blobs != nil {
		for i, key := range keys {
			k.SetKey(key, k.Hash(key))
			if v := s.AddGet(vals[i]); emit != nil {
				emit(i, v)
			}
		}
		return
	}
	fold := s.f
	upsertBatch(k, s.store, keys, func(i int, v *V, created bool) {
		if created {
			*v = vals[i]
		} else {
			*v = fold(*v, vals[i])
		}
		if emit != nil {
			emit(i, *v)
		}
	})
}

// An Aggregator says how elements make an accumulator and that a result. Merge
// may be nil where namespaces are never merged. None of them may use the backend.
type Aggregator[In, Acc, Out any] struct {
	Create func() Acc
	Add    func(acc *Acc, v In)
	Merge  func(acc *Acc, other Acc)
	Result func(acc *Acc) Out
}

// An Aggregating is one accumulator for each key.
type Aggregating[In, Acc, Out any] struct {
	*single[Acc]
	a   Aggregator[In, Acc, Out]
	acc Acc // scratch of accumulators that are kept encoded
}

// NewAggregating opens a state of kind KindAggregating. It fails as NewValue does.
func NewAggregating[In, Acc, Out any](b *Backend, name string, a Aggregator[In, Acc, Out], o ...Option) (*Aggregating[In, Acc, Out], error) {
	s, err := openSingle[Acc](b, name, KindAggregating, o)
	return &Aggregating[In, Acc, Out]{single: s, a: a}, err
}

// Add adds v to the accumulator of the current key.
func (s *Aggregating[In, Acc, Out]) Add(v In) {
	k := s.key()
	if s.blobs == nil {
		acc, created := s.ref(k)
		if created {
			*acc = s.a.Create()
		}
		s.a.Add(acc, v)
		return
	}
	var ok bool
	if s.acc, ok = s.get(k); !ok {
		s.acc = s.a.Create()
	}
	s.a.Add(&s.acc, v)
	s.store.put(k, s.acc)
	s.acc = *new(Acc)
}

// Get returns the result of the current key, if it has an accumulator.
func (s *Aggregating[In, Acc, Out]) Get() (result Out, ok bool) {
	acc, ok := s.get(s.key())
	if ok {
		s.acc = acc
		result = s.a.Result(&s.acc)
		s.acc = *new(Acc)
	}
	return result, ok
}

// Take removes the accumulator of the current key and returns it.
func (s *Aggregating[In, Acc, Out]) Take() (Acc, bool) { return s.take(s.key()) }

// MergeAcc merges acc, which Take gave for another namespace, into the
// accumulator of the current key, or makes it acc.
func (s *Aggregating[In, Acc, Out]) MergeAcc(acc Acc) {
	k := s.key()
	var ok bool
	if s.acc, ok = s.get(k); ok {
		s.a.Merge(&s.acc, acc)
		acc = s.acc
	}
	s.store.put(k, acc)
	s.acc = *new(Acc)
}

// Clear removes the accumulator of the current key.
func (s *Aggregating[In, Acc, Out]) Clear() { s.delete(s.key()) }
