package memory

import (
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// Options says which keys a table holds.
type Options[K comparable] struct {
	First, Last int // the key groups of the table, both inclusive
	Max         int // the number of all key groups: the maximum parallelism

	// EncodeKey appends the canonical bytes of *k to dst and returns it: equal
	// keys have equal bytes, different keys different ones. It is needed when K
	// is neither an integer, nor a bool, nor a string, and not used otherwise.
	EncodeKey func(dst []byte, k *K) []byte

	// DecodeKey returns the key whose canonical bytes are src, and keeps no
	// reference to src. Without it a table of encoded keys also keeps each K as
	// it was given, for Range; those hold whatever K points to and are scanned
	// by the garbage collector when K has pointers.
	DecodeKey func(src []byte) K
}

// A Table maps keys to accumulators. The goroutine of one task owns it.
//
// Invariant: kept is set, one for each key group, when keys are encoded and there
// is no DecodeKey; then kept[g] holds the keys of group First+g in the order of
// their rows.
type Table[K comparable, V any] struct {
	options Options[K]
	hasher  *keygroup.Hasher[K]
	kind    keygroup.Kind
	cells   Cells[V]
	keys    *Keys[K]
	kept    []chunks[K]
}

// New returns an empty table. It fails when the key groups are not a part of
// [0,Max) or when keys of type K need an encoder and have none.
func New[K comparable, V any](o Options[K]) (*Table[K, V], error) {
	keys, err := NewKeys(o.EncodeKey)
	if err != nil {
		return nil, fmt.Errorf("creating the state of key groups [%d,%d]: %w", o.First, o.Last, err)
	}
	cells, err := NewCells[V](o.First, o.Last, o.Max, keys.kind.Integer())
	if err != nil {
		return nil, err
	}
	t := &Table[K, V]{options: o, hasher: keys.hasher, kind: keys.kind, keys: keys, cells: *cells}
	if keys.kind == keygroup.Encoded && o.DecodeKey == nil {
		t.kept = make([]chunks[K], o.Last-o.First+1)
	}
	return t, nil
}

// Hash returns the hash of k, which is that of keygroup.Hasher.
func (t *Table[K, V]) Hash(k K) uint64 { return t.hasher.Hash(k) }

// HashBatch sets hashes[i] to the hash of keys[i]; hashes must be at least as
// long as keys.
func (t *Table[K, V]) HashBatch(keys []K, hashes []uint64) { t.hasher.HashBatch(keys, hashes) }

// Upsert returns the accumulator of k, which is new and zero if created. The
// pointer is valid until the next Upsert, UpsertBatch, Delete or Clear. The hash
// must be t.Hash(k), and its key group one of the table's.
func (t *Table[K, V]) Upsert(k K, hash uint64) (v *V, created bool) {
	switch {
	case t.cells.ints != nil:
		return t.cells.ints.upsert(t.kind.Load(unsafe.Pointer(&k)), hash)
	case t.kind == keygroup.String:
		return t.cells.rows.upsert(*(*string)(unsafe.Pointer(&k)), hash)
	}
	v, created = t.cells.rows.upsert(t.keys.encode(k), hash)
	if created && t.kept != nil {
		*t.kept[t.cells.rows.own.index(hash)].add() = k
	}
	return v, created
}

// Get returns the accumulator of k, if there is one. It must not be changed, and is
// valid until the next Upsert, UpsertBatch, Delete or Clear. The hash must be
// t.Hash(k), and its key group one of the table's.
func (t *Table[K, V]) Get(k K, hash uint64) (*V, bool) {
	switch {
	case t.cells.ints != nil:
		return t.cells.ints.get(t.kind.Load(unsafe.Pointer(&k)), hash)
	case t.kind == keygroup.String:
		return t.cells.rows.get(*(*string)(unsafe.Pointer(&k)), hash)
	}
	return t.cells.rows.get(t.keys.encode(k), hash)
}

// Delete removes k and says whether it was there. The hash must be t.Hash(k), and
// its key group one of the table's. Keys that are encoded must have a DecodeKey.
func (t *Table[K, V]) Delete(k K, hash uint64) bool {
	switch {
	case t.cells.ints != nil:
		return t.cells.ints.delete(t.kind.Load(unsafe.Pointer(&k)), hash)
	case t.kind == keygroup.String:
		return t.cells.rows.delete(*(*string)(unsafe.Pointer(&k)), hash)
	case t.kept != nil:
		invariant.Broken("keys that are kept beside the table, for want of a DecodeKey, are not deleted")
	}
	return t.cells.rows.delete(t.keys.encode(k), hash)
}

// UpsertBatch finds or creates the accumulator of each key and calls f with the
// key's index, in order. A key that is twice in the batch is created at most
// once. The pointer is valid only during the call of f, and f must not use the
// table.
func (t *Table[K, V]) UpsertBatch(keys []K, f func(i int, v *V, created bool)) {
	for start := 0; start < len(keys); start += batchSize {
		part := keys[start:min(start+batchSize, len(keys))]
		batch := t.keys.Batch(part)
		if t.kept == nil {
			t.cells.UpsertBatch(batch, start, f)
			continue
		}
		t.cells.UpsertBatch(batch, start, func(i int, v *V, created bool) {
			if created {
				*t.kept[t.cells.rows.own.index(batch.hashes[i-start])].add() = keys[i]
			}
			f(i, v, created)
		})
	}
}

// Len returns the number of keys.
func (t *Table[K, V]) Len() int { return t.cells.Len() }

// Bytes returns the memory that the table holds, used or kept for reuse. What
// accumulators and kept keys point to is not counted.
func (t *Table[K, V]) Bytes() int {
	bytes := int(unsafe.Sizeof(*t)) + t.keys.memory() + t.cells.Bytes()
	bytes += cap(t.kept) * int(unsafe.Sizeof(chunks[K]{}))
	for i := range t.kept {
		bytes += t.kept[i].bytes()
	}
	return bytes
}

// Clear removes all keys and keeps the memory for reuse, except that of very
// long keys.
func (t *Table[K, V]) Clear() {
	t.keys.forget()
	for i := range t.kept {
		t.kept[i].clear()
	}
	t.cells.Clear()
}
