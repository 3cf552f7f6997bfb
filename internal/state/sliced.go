package state

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A Sliced is one V for each slice and key, where slices are few, are known by a
// number, as the end of a window, and go away as a whole: each has a table of its
// own, which is dropped in one step. Session windows, which differ from key to
// key, are namespaces instead.
type Sliced[V any] struct {
	b       *Backend
	desc    Descriptor
	plan    *codec.Plan[V]
	stores  map[int64]*store[V]
	order   []int64 // the slices, ascending
	last    *store[V]
	lastAt  int64            // the slice of last
	spare   *store[V]        // empty; its memory is used again
	born    map[int64]uint64 // by slice: 1 + the number of the newest snapshot before it; 0: was restored
	marks   *changes         // nil: nobody wants to know
	dropped uint64           // 1 + the number of the newest snapshot before a slice was dropped; 0: none was
}

// NewSliced opens a state of kind KindSliced. It fails as NewValue does. Of the
// options it takes none.
func NewSliced[V any](b *Backend, name string) (*Sliced[V], error) {
	plan, err := codec.For[V]()
	if err != nil {
		return nil, fmt.Errorf("open state %q of operator %s: %w", name, b.options.Operator, err)
	}
	d, _ := describe(name, KindSliced, plan.Schema(), nil)
	if err := b.open(d, nil); err != nil {
		return nil, err
	}
	s := &Sliced[V]{b: b, desc: d, plan: plan, stores: map[int64]*store[V]{}, born: map[int64]uint64{}}
	b.states = append(b.states, s)
	return s, nil
}

// Descriptor returns what was opened.
func (s *Sliced[V]) Descriptor() Descriptor { return s.desc }

func (s *Sliced[V]) tables() []table { return []table{s} }

// Slices returns the slices that exist, in ascending order. The slice is valid
// until the next call that makes or drops one.
func (s *Sliced[V]) Slices() []int64 { return s.order }

// find returns the store of a slice, or nil.
func (s *Sliced[V]) find(slice int64) *store[V] {
	if s.last == nil || s.lastAt != slice {
		store := s.stores[slice]
		if store == nil {
			return nil
		}
		s.last, s.lastAt = store, slice
	}
	return s.last
}

// make returns the store of a slice, which is new if there is none.
func (s *Sliced[V]) make(slice int64) *store[V] {
	if store := s.find(slice); store != nil {
		return store
	}
	store := s.spare
	s.spare = nil
	if store == nil {
		var err error
		if store, err = newStore[V](s.b, s.desc, s.plan, false); err != nil {
			panic(&Error{State: s.desc.Name, Err: err}) // the key groups were right before
		}
	}
	store.clear(s.b.number)
	store.changed, store.salt = s.marks, salt(slice)
	s.stores[slice], s.born[slice] = store, s.b.number+1
	at, _ := slices.BinarySearch(s.order, slice)
	s.order = slices.Insert(s.order, at, slice)
	s.last, s.lastAt = store, slice
	return store
}

// Get returns the value of the current key in the slice, if there is one.
func (s *Sliced[V]) Get(slice int64) (v V, ok bool) {
	if store := s.find(slice); store != nil {
		return store.get(&s.b.key)
	}
	return v, false
}

// Set replaces the value of the current key in the slice.
func (s *Sliced[V]) Set(slice int64, v V) { s.make(slice).put(&s.b.key, v) }

// Clear removes the value of the current key from the slice.
func (s *Sliced[V]) Clear(slice int64) {
	if store := s.find(slice); store != nil {
		store.delete(&s.b.key)
	}
}

// InPlace says whether values lie in the table as they are: V holds no pointers.
func (s *Sliced[V]) InPlace() bool { return s.plan.PointerFree() }

// Ref returns the value of the current key in the slice, which is new and zero if
// created. It may be changed in place until the next use of the backend. InPlace
// must be true.
func (s *Sliced[V]) Ref(slice int64) (v *V, created bool) { return s.make(slice).ref(&s.b.key) }

// Len returns the number of keys in the slice.
func (s *Sliced[V]) Len(slice int64) int {
	if store := s.find(slice); store != nil {
		return store.len()
	}
	return 0
}

// Drop removes the slice with all its keys.
func (s *Sliced[V]) Drop(slice int64) {
	store := s.find(slice)
	if store == nil {
		return
	}
	delete(s.stores, slice)
	delete(s.born, slice)
	at, _ := slices.BinarySearch(s.order, slice)
	s.order = slices.Delete(s.order, at, at+1)
	s.dropped = s.b.number + 1
	store.clear(s.b.number)
	s.spare, s.last = store, nil
}

// UpsertSlice is UpsertBatch for the keys of one slice.
func UpsertSlice[K comparable, V any](k *Keyed[K], s *Sliced[V], slice int64, keys []K, f func(i int, v *V, created bool)) {
	upsertBatch(k, s.make(slice), keys, f)
}

// EachInSlice calls f with each key of the slice and its value until it returns
// false: key group by key group, in an order that is the same for the same history
// of the backend. The current key is not changed. f must not use the view.
func EachInSlice[K comparable, V any](k *Keyed[K], s *Sliced[V], slice int64, f func(key K, v V) bool) {
	s.Range(slice, func(_ int, m memory.Key, v V) bool {
		key, _ := k.decode(m, false)
		return f(key, v)
	})
}

// Range is EachInSlice with keys as tables keep them, whose hash is not set, and the
// key group. They are valid during the call of f only; Keyed.Of gives the key.
func (s *Sliced[V]) Range(slice int64, f func(group int, m memory.Key, v V) bool) {
	store := s.find(slice)
	if store == nil {
		return
	}
	for group := s.b.options.First; group <= s.b.options.Last; group++ {
		if !store.rangeGroup(group, func(m memory.Key, v V) bool { return f(group, m, v) }) {
			return
		}
	}
}

func (s *Sliced[V]) bytes() int {
	bytes := 0
	for _, slice := range s.order {
		bytes += s.stores[slice].bytes()
	}
	if s.spare != nil {
		bytes += s.spare.bytes()
	}
	return bytes
}

func (s *Sliced[V]) keys() int {
	n := 0
	for _, slice := range s.order {
		n += s.stores[slice].len()
	}
	return n
}

func (s *Sliced[V]) track() {
	s.marks = newChanges(s.b.options, s.keys)
	for _, slice := range s.order {
		s.stores[slice].changed = s.marks
	}
}

func (s *Sliced[V]) evict(group int) {
	for _, slice := range s.order {
		s.stores[slice].evict(group)
	}
}

func (s *Sliced[V]) settle() {
	s.dropped = 0
	s.marks.settle()
	for _, slice := range s.order {
		s.stores[slice].settle()
		s.born[slice] = 0
	}
}

func (s *Sliced[V]) owners(group int, f func(k memory.Key, composed bool) bool) bool {
	for _, slice := range s.order {
		if !s.stores[slice].keys(group, func(k memory.Key) bool { return f(k, false) }) {
			return false
		}
	}
	return true
}

func (s *Sliced[V]) freeze(number uint64) frozenTable {
	words := s.b.kind.Integer()
	f := &frozenSliced[V]{dropped: s.dropped, order: slices.Clone(s.order), recent: recent{s.marks.freeze(number), s.keys()}}
	f.desc = written{Descriptor: s.desc, words: words, batch: s.InPlace()}
	for _, slice := range s.order {
		f.stores = append(f.stores, s.stores[slice].freeze(number, words))
		f.born = append(f.born, s.born[slice])
	}
	return f
}

type frozenSliced[V any] struct {
	desc    written
	dropped uint64
	order   []int64
	born    []uint64 // by slice: as in Sliced
	stores  []*frozenStore[V]
	recent
}

// appendKept appends the slices of which older sections hold something, back to the
// snapshot of a number.
func (f *frozenSliced[V]) appendKept(dst []byte, base uint64) []byte {
	var kept []uint64
	for i, slice := range f.order {
		if f.born[i] <= base {
			kept = append(kept, uint64(slice))
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(kept)))
	for _, slice := range kept {
		dst = binary.AppendUvarint(dst, slice)
	}
	return dst
}

func (f *frozenSliced[V]) written() written { return f.desc }

func (f *frozenSliced[V]) changed(group int) uint64 {
	changed := f.dropped
	for _, store := range f.stores {
		changed = max(changed, store.changed(group))
	}
	return changed
}

func (f *frozenSliced[V]) write(group int, state uint16, w *blockWriter) {
	for i, store := range f.stores {
		store.prefix = binary.LittleEndian.AppendUint64(store.prefix[:0], uint64(f.order[i]))
		store.salt = salt(f.order[i])
		store.write(group, state, w)
	}
}

func (f *frozenSliced[V]) releaseGroup(group int) {
	for _, store := range f.stores {
		store.releaseGroup(group)
	}
}

func (f *frozenSliced[V]) release() {
	for _, store := range f.stores {
		store.release()
	}
}

func (s *Sliced[V]) restorer(from written) (restorer, error) {
	if _, err := codec.NewReader(from.Value, s.plan); err != nil {
		return nil, err
	}
	readers := map[int64]*storeReader[V]{}
	return func(group int, p payload) error {
		p.total = 0 // it is that of all slices
		number, err := p.numbers(1)
		if err != nil {
			return err
		}
		slice := int64(number(0))
		if p.newer.coversSlice(slice) {
			return nil
		}
		p.salt = salt(slice)
		if readers[slice] == nil {
			if readers[slice], err = s.make(slice).reader(from); err != nil {
				return err
			}
		}
		return readers[slice].restore(group, p)
	}, nil
}
