package memory

import (
	"unsafe"

	"github.com/weirstream/weir/internal/state/keygroup"
)

// minEntries is the size of the first array of a key group.
const minEntries = 8

// growth returns how many keys an open-addressing array of this size takes
// before it doubles: seven tenths of it.
func growth(size int) int { return size * 7 / 10 }

// An intTable maps integer keys to accumulators.
//
// Invariant: key 0 is never in an entry, because there it marks an empty one;
// it is zero, in key group zeroGroup, when hasZero.
type intTable[V any] struct {
	own       groups
	groups    []intGroup[V]
	len       int
	bytes     int
	touched   uint64 // the result of touching; it keeps the compiler from dropping it
	hasZero   bool
	zeroGroup int
	zero      V
}

// An intGroup is the open-addressing array of one key group.
//
// Invariant: len(entries) is a power of two, at least one entry is empty, and
// every entry is reached from its hash's place without meeting an empty one.
// A group without keys shares an array of one empty entry and has room 0, so
// that an insertion makes its own before it writes.
type intGroup[V any] struct {
	entries []intEntry[V]
	room    int // keys to insert before the array doubles
}

// The accumulator comes first: a zero-size field at the end would cost a word.
type intEntry[V any] struct {
	v   V
	key uint64
}

func newIntTable[V any](own groups, count int) *intTable[V] {
	t := &intTable[V]{own: own, groups: make([]intGroup[V], count)}
	empty := make([]intEntry[V], 1)
	for i := range t.groups {
		t.groups[i].entries = empty
	}
	t.bytes = int(unsafe.Sizeof(*t)) + count*int(unsafe.Sizeof(intGroup[V]{})) + int(unsafe.Sizeof(empty[0]))
	return t
}

func (t *intTable[V]) group(hash uint64) *intGroup[V] {
	i := t.own.index(hash)
	if uint(i) >= uint(len(t.groups)) {
		t.own.foreign(i, len(t.groups))
	}
	return &t.groups[i]
}

func (t *intTable[V]) get(key, hash uint64) (*V, bool) {
	if key == 0 {
		if !t.hasZero {
			return nil, false
		}
		return &t.zero, true
	}
	if e := t.group(hash).find(key, hash); e.key == key {
		return &e.v, true
	}
	return nil, false
}

func (t *intTable[V]) upsert(key, hash uint64) (*V, bool) {
	if key == 0 {
		return t.upsertZero(hash)
	}
	g := t.group(hash)
	e := g.find(key, hash)
	if e.key == key {
		return &e.v, false
	}
	return t.insert(g, e, key, hash), true
}

// find returns the entry of the key or else the empty one where it belongs.
func (g *intGroup[V]) find(key, hash uint64) *intEntry[V] {
	mask := uint64(len(g.entries) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if e := &g.entries[i]; e.key == key || e.key == 0 {
			return e
		}
	}
}

// insert puts the key into e, the empty entry that find returned.
func (t *intTable[V]) insert(g *intGroup[V], e *intEntry[V], key, hash uint64) *V {
	if g.room == 0 {
		t.grow(g)
		e = g.find(key, hash)
	}
	g.room--
	t.len++
	e.key = key
	return &e.v
}

// grow doubles the array of the group, or makes its first.
func (t *intTable[V]) grow(g *intGroup[V]) {
	old := g.entries
	size := max(minEntries, 2*len(old))
	g.entries = make([]intEntry[V], size)
	g.room = growth(size)
	entryBytes := int(unsafe.Sizeof(old[0]))
	t.bytes += size * entryBytes
	if len(old) == 1 {
		return // the shared empty array
	}
	t.bytes -= len(old) * entryBytes
	for i := range old {
		if key := old[i].key; key != 0 {
			*g.find(key, keygroup.HashInt(key)) = old[i]
			g.room--
		}
	}
}

func (t *intTable[V]) upsertZero(hash uint64) (*V, bool) {
	if t.hasZero {
		return &t.zero, false
	}
	t.group(hash) // checks that it is one of ours
	t.zeroGroup = t.own.index(hash)
	t.hasZero = true
	t.len++
	return &t.zero, true
}

// upsertBatch upserts the keys in order and calls f with start plus their index.
func (t *intTable[V]) upsertBatch(keys, hashes []uint64, start int, f func(i int, v *V, created bool)) {
	if t.bytes > touchBytes {
		t.touch(hashes)
	}
	for i, hash := range hashes[:len(keys)] {
		key := keys[i]
		if key == 0 {
			v, created := t.upsertZero(hash)
			f(start+i, v, created)
			continue
		}
		g := t.group(hash)
		e := g.find(key, hash)
		if e.key == key {
			f(start+i, &e.v, false)
			continue
		}
		f(start+i, t.insert(g, e, key, hash), true)
	}
}

// touchBytes is the size from which a table is so much larger than the caches
// that fetching the entries of a batch first is worth the work.
const touchBytes = 4 << 20

// touch reads the entries where the keys of these hashes probably are, one after
// another without a decision between them, so that the misses overlap.
func (t *intTable[V]) touch(hashes []uint64) {
	groups, own := t.groups, t.own
	var sum uint64
	for _, hash := range hashes {
		if index := own.index(hash); uint(index) < uint(len(groups)) {
			entries := groups[index].entries
			e := &entries[hash&uint64(len(entries)-1)]
			// An entry may lie across two cache lines: its first byte is in the one
			// and its key in the other.
			sum += e.key + uint64(*(*byte)(unsafe.Pointer(e)))
		}
	}
	t.touched = sum
}

func (t *intTable[V]) rangeGroup(index int, f func(key uint64, v *V) bool) bool {
	if t.hasZero && t.zeroGroup == index && !f(0, &t.zero) {
		return false
	}
	entries := t.groups[index].entries
	for i := range entries {
		if e := &entries[i]; e.key != 0 && !f(e.key, &e.v) {
			return false
		}
	}
	return true
}

func (t *intTable[V]) clear() {
	for i := range t.groups {
		if g := &t.groups[i]; len(g.entries) > 1 {
			clear(g.entries)
			g.room = growth(len(g.entries))
		}
	}
	var zero V
	t.zero, t.hasZero, t.len = zero, false, 0
}
