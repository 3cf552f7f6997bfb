package state

// A Value is one V for each key.
type Value[V any] struct{}

// NewValue opens a state of kind KindValue. It fails when V cannot be encoded,
// when the name is taken, or when the backend already has keys.
func NewValue[V any](b *Backend, name string, o ...Option) (*Value[V], error) { panic("state") }

// Descriptor returns what was opened.
func (s *Value[V]) Descriptor() Descriptor { panic("state") }

// Get returns the value of the current key, if there is one.
func (s *Value[V]) Get() (V, bool) { panic("state") }

// Set replaces the value of the current key.
func (s *Value[V]) Set(v V) { panic("state") }

// Take removes the value of the current key and returns it.
func (s *Value[V]) Take() (V, bool) { panic("state") }

// Clear removes the value of the current key.
func (s *Value[V]) Clear() { panic("state") }

// InPlace says whether values lie in the table as they are: V holds no pointers.
func (s *Value[V]) InPlace() bool { panic("state") }

// Ref returns the value of the current key, which is new and zero if created. It
// may be changed in place until the next use of the backend. InPlace must be true.
func (s *Value[V]) Ref() (v *V, created bool) { panic("state") }

// UpsertBatch calls f, in order, with the place of the value of each key, as Ref
// gives it. It is several times as fast as SetKey and Ref where keys are many,
// since their cache misses overlap. f must not use the backend. InPlace must be
// true, and the state must have no namespaces. The current key is undefined
// afterwards.
func UpsertBatch[K comparable, V any](k *Keyed[K], s *Value[V], keys []K, f func(i int, v *V, created bool)) {
	panic("state")
}

// A Reducing is one V for each key, into which others are folded.
type Reducing[V any] struct{}

// NewReducing opens a state of kind KindReducing, which fold adds to: it returns
// what acc and v make together. It fails as NewValue does.
func NewReducing[V any](b *Backend, name string, fold func(acc, v V) V, o ...Option) (*Reducing[V], error) {
	panic("state")
}

// Descriptor returns what was opened.
func (s *Reducing[V]) Descriptor() Descriptor { panic("state") }

// Add folds v into the value of the current key, or makes it v.
func (s *Reducing[V]) Add(v V) { panic("state") }

// AddGet is Add, and returns the new value.
func (s *Reducing[V]) AddGet(v V) V { panic("state") }

// Get returns the value of the current key, if there is one.
func (s *Reducing[V]) Get() (V, bool) { panic("state") }

// Take removes the value of the current key and returns it. With Add in another
// namespace it merges windows.
func (s *Reducing[V]) Take() (V, bool) { panic("state") }

// Clear removes the value of the current key.
func (s *Reducing[V]) Clear() { panic("state") }

// AddBatch folds vals[i] into the value of keys[i], in order, and calls emit, if
// it is not nil, with each new value. emit must not use the backend. It needs no
// namespaces. The current key is undefined afterwards.
func AddBatch[K comparable, V any](k *Keyed[K], s *Reducing[V], keys []K, vals []V, emit func(i int, v V)) {
	panic("state")
}

// An Aggregator says how elements make an accumulator and that a result. Merge
// may be nil where namespaces are never merged.
type Aggregator[In, Acc, Out any] struct {
	Create func() Acc
	Add    func(acc *Acc, v In)
	Merge  func(acc *Acc, other Acc)
	Result func(acc *Acc) Out
}

// An Aggregating is one accumulator for each key.
type Aggregating[In, Acc, Out any] struct{}

// NewAggregating opens a state of kind KindAggregating. It fails as NewValue does.
func NewAggregating[In, Acc, Out any](b *Backend, name string, a Aggregator[In, Acc, Out], o ...Option) (*Aggregating[In, Acc, Out], error) {
	panic("state")
}

// Descriptor returns what was opened.
func (s *Aggregating[In, Acc, Out]) Descriptor() Descriptor { panic("state") }

// Add adds v to the accumulator of the current key.
func (s *Aggregating[In, Acc, Out]) Add(v In) { panic("state") }

// Get returns the result of the current key, if it has an accumulator.
func (s *Aggregating[In, Acc, Out]) Get() (Out, bool) { panic("state") }

// Take removes the accumulator of the current key and returns it.
func (s *Aggregating[In, Acc, Out]) Take() (Acc, bool) { panic("state") }

// MergeAcc merges acc, which Take gave for another namespace, into the
// accumulator of the current key, or makes it acc.
func (s *Aggregating[In, Acc, Out]) MergeAcc(acc Acc) { panic("state") }

// Clear removes the accumulator of the current key.
func (s *Aggregating[In, Acc, Out]) Clear() { panic("state") }
