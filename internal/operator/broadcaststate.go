package operator

import (
	"fmt"
	"iter"

	"github.com/weirstream/weir/internal/codec"
)

// BroadcastState is a map that is the same in every subtask of an operator, because
// all are given the same records to make it from.
//
// Invariant: index has the place of each entry that is not removed, by its key's
// bytes. An entry is kept encoded as well, so that a checkpoint encodes nothing.
type BroadcastState[K comparable, V any] struct {
	keys    *codec.Plan[K]
	plan    *codec.Plan[BroadcastEntry[K, V]]
	from    *codec.Reader[BroadcastEntry[K, V]] // of what is restored
	index   map[string]int
	entries []broadcast[K, V] // in the order in which they were first put
	key     []byte            // scratch
}

// BroadcastEntry is an entry as checkpoints have it.
type BroadcastEntry[K comparable, V any] struct {
	Key   K
	Value V
}

type broadcast[K comparable, V any] struct {
	BroadcastEntry[K, V]
	encoded []byte // nil: the entry was removed
}

// OpenBroadcastState makes a map that is part of what the function of m keeps.
func OpenBroadcastState[K comparable, V any](m *Moment, name string) (*BroadcastState[K, V], error) {
	keys, err := codec.For[K]()
	if err == nil {
		err = keys.CheckKey()
	}
	if err != nil {
		return nil, err
	}
	plan, err := codec.For[BroadcastEntry[K, V]]()
	if err != nil {
		return nil, err
	}
	s := &BroadcastState[K, V]{keys: keys, plan: plan, index: map[string]int{}}
	return s, m.KeepList(KeptList{Name: name, Mode: Same, Schema: string(plan.Schema()), From: s.readFrom, Save: s.save, Load: s.load})
}

// place gives the place of k's entry.
func (s *BroadcastState[K, V]) place(k K) (i int, some bool) {
	s.key = s.keys.AppendKey(s.key[:0], &k)
	i, some = s.index[string(s.key)]
	return i, some
}

// Get is the value of k; ok is false when it has none.
func (s *BroadcastState[K, V]) Get(k K) (v V, ok bool) {
	if i, some := s.place(k); some {
		return s.entries[i].Value, true
	}
	return v, false
}

// Put gives k a value.
func (s *BroadcastState[K, V]) Put(k K, v V) error {
	e := broadcast[K, V]{BroadcastEntry: BroadcastEntry[K, V]{k, v}}
	var err error
	if e.encoded, err = s.plan.Append([]byte{}, []BroadcastEntry[K, V]{e.BroadcastEntry}); err != nil {
		return err
	}
	if i, some := s.place(k); some {
		s.entries[i] = e
		return nil
	}
	if len(s.entries) >= 16 && len(s.index) < len(s.entries)/2 {
		s.compact()
		s.place(k)
	}
	s.index[string(s.key)] = len(s.entries)
	s.entries = append(s.entries, e)
	return nil
}

// Remove takes the value of k away.
func (s *BroadcastState[K, V]) Remove(k K) {
	if i, some := s.place(k); some {
		delete(s.index, string(s.key))
		s.entries[i] = broadcast[K, V]{}
	}
}

// Clear removes all entries.
func (s *BroadcastState[K, V]) Clear() {
	clear(s.index)
	clear(s.entries)
	s.entries = s.entries[:0]
}

// Len is the number of entries.
func (s *BroadcastState[K, V]) Len() int { return len(s.index) }

// All ranges over the entries, in the order in which they were first put. Meanwhile
// entries may be removed.
func (s *BroadcastState[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := 0; i < len(s.entries); i++ {
			if e := s.entries[i]; e.encoded != nil && !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// compact forgets the places of entries that were removed.
func (s *BroadcastState[K, V]) compact() {
	kept := make([]broadcast[K, V], 0, len(s.index)+1)
	for _, e := range s.entries {
		if e.encoded != nil {
			s.place(e.Key)
			s.index[string(s.key)] = len(kept)
			kept = append(kept, e)
		}
	}
	s.entries = kept
}

func (s *BroadcastState[K, V]) readFrom(schema string) error {
	from, err := codec.NewReader(codec.Schema(schema), s.plan)
	if err == nil {
		s.from = from
	}
	return err
}

func (s *BroadcastState[K, V]) save() [][]byte {
	all := make([][]byte, 0, len(s.index))
	for _, e := range s.entries {
		if e.encoded != nil {
			all = append(all, e.encoded)
		}
	}
	return all
}

func (s *BroadcastState[K, V]) load(elements [][]byte) error {
	for i, e := range elements {
		read, rest, err := s.from.Decode(nil, 1, e)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes too many", len(rest))
		}
		if err == nil {
			err = s.Put(read[0].Key, read[0].Value)
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}
