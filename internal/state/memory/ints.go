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

// sparse says whether an array of this size has so few keys that a quarter of it
// is enough.
func sparse(size, keys int) bool { return size >= 64 && keys < size/16 }

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
	cursors   []int // of sweep, by group; nil until the first
	changes
}

// An intGroup is the open-addressing array of one key group.
//
// Invariant: len(entries) is a power of two, at least one entry is empty, and
// every entry is reached from its hash's place without meeting an empty one.
// A group without keys shares an array of one empty entry and has room 0, so
// that an insertion makes its own before it writes.
type intGroup[V any] struct {
	entries []intEntry[V]
	room    int     // keys to insert before the array doubles
	frozen  *frozen // not nil: writes must be announced to intTable.writes
}

// The accumulator comes first: a zero-size field at the end would cost a word.
type intEntry[V any] struct {
	v   V
	key uint64
}

func newIntTable[V any](own groups, count int) *intTable[V] {
	t := &intTable[V]{own: own, groups: make([]intGroup[V], count), changes: changes{last: make([]uint64, count)}}
	empty := make([]intEntry[V], 1)
	for i := range t.groups {
		t.groups[i] = intGroup[V]{entries: empty, frozen: unchanged}
	}
	t.bytes = int(unsafe.Sizeof(*t)) + count*int(unsafe.Sizeof(intGroup[V]{})+8) + int(unsafe.Sizeof(empty[0]))
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
		if g.frozen != nil {
			t.writes(g, e, hash)
		}
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

// writes must come before a change of the entry, which may be the shared empty
// one, while the group is frozen. It notes the change, and keeps what a view
// needs.
func (t *intTable[V]) writes(g *intGroup[V], e *intEntry[V], hash uint64) {
	t.mark(t.own.index(hash))
	g.frozen = g.frozen.alive()
	if g.frozen != nil && len(g.entries) > 1 {
		off := uintptr(unsafe.Pointer(e)) - uintptr(unsafe.Pointer(unsafe.SliceData(g.entries)))
		g.frozen.keep(0, off, unsafe.Sizeof(*e))
	}
}

// insert puts the key into e, the empty entry that find returned.
func (t *intTable[V]) insert(g *intGroup[V], e *intEntry[V], key, hash uint64) *V {
	if g.frozen != nil {
		t.writes(g, e, hash)
	}
	if g.room == 0 {
		t.resize(g, max(minEntries, 2*len(g.entries)))
		e = g.find(key, hash)
	}
	g.room--
	t.len++
	e.key = key
	return &e.v
}

// resize gives the group an array of another size. Views keep the old one.
func (t *intTable[V]) resize(g *intGroup[V], size int) {
	old := g.entries
	g.entries = make([]intEntry[V], size)
	g.room = growth(size)
	g.frozen = nil
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
	t.group(hash) // checks that it is one of ours
	t.mark(t.own.index(hash))
	if t.hasZero {
		return &t.zero, false
	}
	t.zeroGroup = t.own.index(hash)
	t.hasZero = true
	t.len++
	return &t.zero, true
}

// delete removes a key and says whether it was there.
func (t *intTable[V]) delete(key, hash uint64) bool {
	g := t.group(hash)
	if key == 0 {
		had := t.hasZero
		if had {
			var zero V
			t.zero, t.hasZero = zero, false
			t.len--
			t.mark(t.zeroGroup)
		}
		return had
	}
	e := g.find(key, hash)
	if e.key != key {
		return false
	}
	off := uintptr(unsafe.Pointer(e)) - uintptr(unsafe.Pointer(unsafe.SliceData(g.entries)))
	t.remove(g, uint64(off/unsafe.Sizeof(*e)), hash)
	if sparse(len(g.entries), growth(len(g.entries))-g.room) {
		t.resize(g, len(g.entries)/4)
	}
	return true
}

// remove empties the entry at hole and moves those behind it up, as far as they
// were there only because their place was taken. hash is of a key of the group.
func (t *intTable[V]) remove(g *intGroup[V], hole, hash uint64) {
	t.mark(t.own.index(hash))
	mask := uint64(len(g.entries) - 1)
	for i := (hole + 1) & mask; g.entries[i].key != 0; i = (i + 1) & mask {
		home := keygroup.HashInt(g.entries[i].key) & mask
		if (i-home)&mask < (i-hole)&mask {
			continue // it lies between its place and the hole
		}
		if g.frozen != nil {
			t.writes(g, &g.entries[hole], hash)
		}
		g.entries[hole] = g.entries[i]
		hole = i
	}
	if g.frozen != nil {
		t.writes(g, &g.entries[hole], hash)
	}
	g.entries[hole] = intEntry[V]{}
	g.room++
	t.len--
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
			if g.frozen != nil {
				t.writes(g, e, hash)
			}
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

// rangeGroup calls f with the entries of a group. If f changes values, writable
// must be set.
func (t *intTable[V]) rangeGroup(index int, writable bool, f func(key uint64, v *V) bool) bool {
	if t.hasZero && t.zeroGroup == index {
		if writable {
			t.mark(index)
		}
		if !f(0, &t.zero) {
			return false
		}
	}
	g := &t.groups[index]
	for i := range g.entries {
		e := &g.entries[i]
		if e.key == 0 {
			continue
		}
		if writable && g.frozen != nil {
			t.writes(g, e, t.own.hash(index, 0))
		}
		if !f(e.key, &e.v) {
			return false
		}
	}
	return true
}

// sweep looks at n entries of a group, going on where it stopped the last time, and
// removes those that have expired.
func (t *intTable[V]) sweep(index, n int, expired func(v *V) bool) {
	if t.cursors == nil {
		t.cursors = make([]int, len(t.groups))
	}
	hash := t.own.hash(index, 0)
	if t.hasZero && t.zeroGroup == index && expired(&t.zero) {
		t.delete(0, hash)
	}
	g := &t.groups[index]
	if sparse(len(g.entries), growth(len(g.entries))-g.room) {
		t.resize(g, len(g.entries)/4)
	}
	cursor := &t.cursors[index]
	for range n {
		if *cursor >= len(g.entries) {
			*cursor = 0
			return
		}
		if e := &g.entries[*cursor]; e.key != 0 && expired(&e.v) {
			t.remove(g, uint64(*cursor), hash) // another entry may have moved up
			continue
		}
		*cursor++
	}
}

// clear removes all keys. The memory of a frozen group is left to its views.
func (t *intTable[V]) clear() {
	for i := range t.groups {
		t.mark(i)
		g := &t.groups[i]
		if len(g.entries) == 1 {
			continue
		}
		if g.frozen = g.frozen.alive(); g.frozen != nil {
			g.entries, g.frozen = make([]intEntry[V], len(g.entries)), nil
		}
		clear(g.entries)
		g.room = growth(len(g.entries))
	}
	var zero V
	t.zero, t.hasZero, t.len = zero, false, 0
}

// An intView is an intTable at a freeze.
type intView[V any] struct {
	groups    []frozen
	last      []uint64
	hasZero   bool
	zeroGroup int
	zero      V
}

func (t *intTable[V]) freeze(number uint64) *intView[V] {
	view := &intView[V]{groups: make([]frozen, len(t.groups)), last: append([]uint64(nil), t.last...), hasZero: t.hasZero, zeroGroup: t.zeroGroup, zero: t.zero}
	extents := make([]extent, len(t.groups))
	for i := range t.groups {
		g, f := &t.groups[i], &view.groups[i]
		if len(g.entries) > 1 {
			extents[i] = extent{unsafe.Pointer(unsafe.SliceData(g.entries)), uintptr(len(g.entries)) * unsafe.Sizeof(g.entries[0])}
			f.extents = extents[i : i+1 : i+1]
		}
		f.older = g.frozen.alive()
		g.frozen = f
	}
	t.number = number
	return view
}

// settle makes the table as it is the state since which changes are counted.
func (t *intTable[V]) settle() {
	clear(t.last)
	for i := range t.groups {
		if t.groups[i].frozen == nil {
			t.groups[i].frozen = unchanged
		}
	}
}

// read calls f with the entries that a group had.
func (v *intView[V]) read(index int, b *Buffer, f func(key uint64, v *V) bool) bool {
	if v.hasZero && v.zeroGroup == index && !f(0, &v.zero) {
		return false
	}
	bases := v.groups[index].take(b)
	if len(bases) == 0 {
		return true
	}
	var e intEntry[V]
	entries := unsafe.Slice((*intEntry[V])(bases[0]), v.groups[index].extents[0].bytes/unsafe.Sizeof(e))
	for i := range entries {
		if entries[i].key != 0 && !f(entries[i].key, &entries[i].v) {
			return false
		}
	}
	return true
}

func (v *intView[V]) release() {
	for i := range v.groups {
		v.groups[i].release()
	}
}
