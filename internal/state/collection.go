package state

// A List is a list of V for each key. Elements are kept encoded.
type List[V any] struct{}

// NewList opens a state of kind KindList. It fails as NewValue does.
func NewList[V any](b *Backend, name string, o ...Option) (*List[V], error) { panic("state") }

// Descriptor returns what was opened.
func (s *List[V]) Descriptor() Descriptor { panic("state") }

// Get returns the elements of the current key, in order; nil if there are none.
// The caller owns the slice.
func (s *List[V]) Get() []V { panic("state") }

// Each calls f with the elements of the current key, in order, until it returns
// false. f must not change the list.
func (s *List[V]) Each(f func(v V) bool) { panic("state") }

// Add appends v. Its cost does not depend on the length of the list.
func (s *List[V]) Add(v V) { panic("state") }

// AddAll appends all of vals.
func (s *List[V]) AddAll(vals []V) { panic("state") }

// Set replaces the list. With no vals it is Clear.
func (s *List[V]) Set(vals []V) { panic("state") }

// Take removes the list and returns its elements.
func (s *List[V]) Take() []V { panic("state") }

// Clear removes the list.
func (s *List[V]) Clear() { panic("state") }

// A Map is a map from UK to UV for each key.
type Map[UK comparable, UV any] struct{}

// NewMap opens a state of kind KindMap. It fails as NewValue does, and when UK
// cannot be a key.
func NewMap[UK comparable, UV any](b *Backend, name string, o ...Option) (*Map[UK, UV], error) {
	panic("state")
}

// Descriptor returns what was opened.
func (s *Map[UK, UV]) Descriptor() Descriptor { panic("state") }

// Get returns the value of uk, if there is one.
func (s *Map[UK, UV]) Get(uk UK) (UV, bool) { panic("state") }

// Contains says whether uk has a value.
func (s *Map[UK, UV]) Contains(uk UK) bool { panic("state") }

// Put gives uk the value v. A new entry comes last in the order of Each.
func (s *Map[UK, UV]) Put(uk UK, v UV) { panic("state") }

// Delete removes uk and says whether it was there.
func (s *Map[UK, UV]) Delete(uk UK) bool { panic("state") }

// Each calls f with each entry of the current key, in the order in which they
// were first put, until it returns false. f may delete the entry it is called
// with, and put values of others; it must not delete others.
func (s *Map[UK, UV]) Each(f func(uk UK, v UV) bool) { panic("state") }

// Len returns the number of entries of the current key, expired ones included
// that were not cleaned up.
func (s *Map[UK, UV]) Len() int { panic("state") }

// Clear removes all entries of the current key.
func (s *Map[UK, UV]) Clear() { panic("state") }
