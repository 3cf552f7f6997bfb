package state

// A Sliced is one V for each slice and key, where slices are few, are known by a
// number, as the end of a window, and go away as a whole: each has a table of its
// own, which is dropped in one step. Session windows, which differ from key to
// key, are namespaces instead.
type Sliced[V any] struct{}

// NewSliced opens a state of kind KindSliced. It fails as NewValue does. Of the
// options it takes none.
func NewSliced[V any](b *Backend, name string) (*Sliced[V], error) { panic("state") }

// Descriptor returns what was opened.
func (s *Sliced[V]) Descriptor() Descriptor { panic("state") }

// Slices returns the slices that exist, in ascending order. The slice is valid
// until the next call that makes or drops one.
func (s *Sliced[V]) Slices() []int64 { panic("state") }

// Get returns the value of the current key in the slice, if there is one.
func (s *Sliced[V]) Get(slice int64) (V, bool) { panic("state") }

// Set replaces the value of the current key in the slice.
func (s *Sliced[V]) Set(slice int64, v V) { panic("state") }

// Clear removes the value of the current key from the slice.
func (s *Sliced[V]) Clear(slice int64) { panic("state") }

// InPlace says whether values lie in the table as they are: V holds no pointers.
func (s *Sliced[V]) InPlace() bool { panic("state") }

// Ref returns the value of the current key in the slice, which is new and zero if
// created. It may be changed in place until the next use of the backend. InPlace
// must be true.
func (s *Sliced[V]) Ref(slice int64) (v *V, created bool) { panic("state") }

// Len returns the number of keys in the slice.
func (s *Sliced[V]) Len(slice int64) int { panic("state") }

// Drop removes the slice with all its keys.
func (s *Sliced[V]) Drop(slice int64) { panic("state") }

// UpsertSlice is UpsertBatch for the keys of one slice.
func UpsertSlice[K comparable, V any](k *Keyed[K], s *Sliced[V], slice int64, keys []K, f func(i int, v *V, created bool)) {
	panic("state")
}

// EachInSlice calls f with each key of the slice and its value until it returns
// false: key group by key group, in an order that does not depend on anything but
// what was done to the slice. The current key is not changed. f must not use the
// view.
func EachInSlice[K comparable, V any](k *Keyed[K], s *Sliced[V], slice int64, f func(key K, v V) bool) {
	panic("state")
}
