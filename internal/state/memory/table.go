package memory

import (
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// batchSize is the number of keys that are hashed, touched and then probed
// together. It is large enough that the misses of many keys overlap and small
// enough that what was touched is still in the first-level cache.
const batchSize = 256

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
// Invariant: exactly one of ints and rows is set. keys is set, one for each key
// group, when keys are encoded and there is no DecodeKey; then keys[g] holds
// the keys of group First+g in the order of their rows.
type Table[K comparable, V any] struct {
	options Options[K]
	hasher  *keygroup.Hasher[K]
	kind    keygroup.Kind
	ints    *intTable[V]
	rows    *rowTable[V]
	keys    []chunks[K]
	batch   *scratch
	encoder *encoder[K] // if keys are encoded
}

// scratch is what the operations on batches need besides the table. It is made
// by the first batch.
type scratch struct {
	hashes [batchSize]uint64
	ints   [batchSize]uint64 // keys widened to 64 bits
}

// encoder is what a table of encoded keys needs to encode them.
type encoder[K comparable] struct {
	key     K                 // the key being encoded
	buf     []byte            // its bytes, or those of a batch
	ends    [batchSize]int    // where each key of a batch ends in buf
	strings [batchSize]string // the keys of a batch; they alias buf
}

// New returns an empty table. It fails when the key groups are not a part of
// [0,Max) or when keys of type K need an encoder and have none.
func New[K comparable, V any](o Options[K]) (*Table[K, V], error) {
	if o.First < 0 || o.Last < o.First || o.Max <= o.Last || o.Max > keygroup.Limit {
		return nil, fmt.Errorf("creating the state of key groups [%d,%d]: they must be a part of [0,max), where max is %d and at most %d", o.First, o.Last, o.Max, keygroup.Limit)
	}
	hasher, err := keygroup.NewHasher(o.EncodeKey)
	if err != nil {
		return nil, fmt.Errorf("creating the state of key groups [%d,%d]: %w", o.First, o.Last, err)
	}
	t := &Table[K, V]{options: o, hasher: hasher, kind: hasher.Kind()}
	own := groups{first: o.First, max: o.Max}
	count := o.Last - o.First + 1
	if t.kind.Integer() {
		t.ints = newIntTable[V](own, count)
		return t, nil
	}
	t.rows = newRowTable[V](own, count)
	if t.kind == keygroup.Encoded {
		t.encoder = new(encoder[K])
		if o.DecodeKey == nil {
			t.keys = make([]chunks[K], count)
		}
	}
	return t, nil
}

// groups finds the place of a hash among the key groups of a table.
type groups struct {
	first, max int
}

func (g groups) index(hash uint64) int { return keygroup.Group(hash, g.max) - g.first }

// foreign reports a key that belongs to another subtask.
func (g groups) foreign(index, count int) {
	invariant.Broken("key group %d is not one of [%d,%d], which this table holds", index+g.first, g.first, g.first+count-1)
}

// Hash returns the hash of k, which is that of keygroup.Hasher.
func (t *Table[K, V]) Hash(k K) uint64 { return t.hasher.Hash(k) }

// HashBatch sets hashes[i] to the hash of keys[i]; hashes must be at least as
// long as keys.
func (t *Table[K, V]) HashBatch(keys []K, hashes []uint64) { t.hasher.HashBatch(keys, hashes) }

// Upsert returns the accumulator of k, which is new and zero if created. The
// pointer is valid until the next Upsert, UpsertBatch or Clear. The hash must
// be t.Hash(k), and its key group one of the table's.
func (t *Table[K, V]) Upsert(k K, hash uint64) (v *V, created bool) {
	switch {
	case t.ints != nil:
		return t.ints.upsert(t.kind.Load(unsafe.Pointer(&k)), hash)
	case t.kind == keygroup.String:
		return t.rows.upsert(*(*string)(unsafe.Pointer(&k)), hash)
	}
	v, created = t.rows.upsert(t.encode(k), hash)
	if created && t.keys != nil {
		*t.keys[t.rows.own.index(hash)].add() = k
	}
	return v, created
}

// Get returns the accumulator of k, if there is one. The pointer is valid until
// the next Upsert, UpsertBatch or Clear. The hash must be t.Hash(k), and its key
// group one of the table's.
func (t *Table[K, V]) Get(k K, hash uint64) (*V, bool) {
	switch {
	case t.ints != nil:
		return t.ints.get(t.kind.Load(unsafe.Pointer(&k)), hash)
	case t.kind == keygroup.String:
		return t.rows.get(*(*string)(unsafe.Pointer(&k)), hash)
	}
	return t.rows.get(t.encode(k), hash)
}

// encode returns the canonical bytes of k, which are valid until the next key
// is encoded.
func (t *Table[K, V]) encode(k K) string {
	e := t.encoder
	e.key = k
	e.buf = t.options.EncodeKey(e.buf[:0], &e.key)
	return alias(e.buf)
}

// UpsertBatch finds or creates the accumulator of each key and calls f with the
// key's index, in order. A key that is twice in the batch is created at most
// once. The pointer is valid only during the call of f, and f must not use the
// table.
func (t *Table[K, V]) UpsertBatch(keys []K, f func(i int, v *V, created bool)) {
	if t.batch == nil {
		t.batch = new(scratch)
	}
	for start := 0; start < len(keys); start += batchSize {
		part := keys[start:min(start+batchSize, len(keys))]
		switch {
		case t.ints != nil:
			words := t.words(part)
			hashes := t.batch.hashes[:len(words)]
			for i, x := range words {
				hashes[i] = keygroup.HashInt(x)
			}
			t.ints.upsertBatch(words, hashes, start, f)
		case t.kind == keygroup.String:
			t.upsertStrings(unsafe.Slice((*string)(unsafe.Pointer(unsafe.SliceData(part))), len(part)), start, f)
		case t.keys == nil:
			t.upsertStrings(t.encodeBatch(part), start, f)
		default:
			t.upsertStrings(t.encodeBatch(part), start, func(i int, v *V, created bool) {
				if created {
					*t.keys[t.rows.own.index(t.batch.hashes[i-start])].add() = keys[i]
				}
				f(i, v, created)
			})
		}
	}
}

// words returns integer keys widened to 64 bits: themselves if they have 64
// already, or the scratch of the batch.
func (t *Table[K, V]) words(keys []K) []uint64 {
	if t.kind == keygroup.Int64 || t.kind == keygroup.Uint64 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
	}
	words := t.batch.ints[:len(keys)]
	for i := range keys {
		words[i] = t.kind.Load(unsafe.Pointer(&keys[i]))
	}
	return words
}

// encodeBatch returns the canonical bytes of the keys, which are valid until
// the next key is encoded.
func (t *Table[K, V]) encodeBatch(keys []K) []string {
	e := t.encoder
	e.buf = e.buf[:0]
	for i := range keys {
		e.buf = t.options.EncodeKey(e.buf, &keys[i])
		e.ends[i] = len(e.buf)
	}
	start := 0
	for i, end := range e.ends[:len(keys)] {
		e.strings[i] = alias(e.buf[start:end])
		start = end
	}
	return e.strings[:len(keys)]
}

func (t *Table[K, V]) upsertStrings(keys []string, start int, f func(i int, v *V, created bool)) {
	hashes := t.batch.hashes[:len(keys)]
	for i, s := range keys {
		hashes[i] = keygroup.HashString(s)
	}
	t.rows.upsertBatch(keys, hashes, start, f)
}

// Len returns the number of keys.
func (t *Table[K, V]) Len() int {
	if t.ints != nil {
		return t.ints.len
	}
	return t.rows.len
}

// Bytes returns the memory that the table holds, used or kept for reuse. What
// accumulators and kept keys point to is not counted.
func (t *Table[K, V]) Bytes() int {
	bytes := int(unsafe.Sizeof(*t))
	if t.batch != nil {
		bytes += int(unsafe.Sizeof(*t.batch))
	}
	if t.encoder != nil {
		bytes += int(unsafe.Sizeof(*t.encoder)) + cap(t.encoder.buf)
	}
	bytes += cap(t.keys) * int(unsafe.Sizeof(chunks[K]{}))
	for i := range t.keys {
		bytes += t.keys[i].bytes()
	}
	if t.ints != nil {
		return bytes + t.ints.bytes
	}
	return bytes + t.rows.memory()
}

// Clear removes all keys and keeps the memory for reuse, except that of very
// long keys.
func (t *Table[K, V]) Clear() {
	if t.encoder != nil {
		*t.encoder = encoder[K]{buf: t.encoder.buf}
	}
	for i := range t.keys {
		t.keys[i].clear()
	}
	if t.ints != nil {
		t.ints.clear()
		return
	}
	t.rows.clear()
}

// alias returns b as a string without copying it.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
