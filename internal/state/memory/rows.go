package memory

import (
	"reflect"
	"unsafe"
)

// minSlots is the size of the first slot array of a key group.
const minSlots = 8

// A rowTable maps keys that are bytes to accumulators.
type rowTable[V any] struct {
	own     groups
	groups  []rowGroup[V]
	layout  rowLayout
	len     int
	touched uint32 // the result of touching; it keeps the compiler from dropping it
}

// A rowGroup holds the rows of one key group and the slots that find them.
//
// A slot is zero, or the lower half of the key's hash in its upper half and
// below it one more than the ref of the key's row. The place of a slot comes
// from that half of the hash, so that slots are doubled without their rows.
//
// Invariant: len(slots) is a power of two, at least one slot is zero, and every
// slot is reached from its hash's place without meeting a zero one. A group
// without keys shares an array of one zero slot and has room 0, so that an
// insertion makes its own before it writes.
type rowGroup[V any] struct {
	slots  []uint64
	pages  pages
	room   int        // keys to insert before the slots double
	values *chunks[V] // the accumulators, where V holds pointers; else nil
}

func newRowTable[V any](own groups, count int) *rowTable[V] {
	t := &rowTable[V]{own: own, groups: make([]rowGroup[V], count), layout: layoutOf[V]()}
	empty := make([]uint64, 1)
	for i := range t.groups {
		t.groups[i].slots = empty
		if t.layout.apart {
			t.groups[i].values = new(chunks[V])
		}
	}
	return t
}

func (t *rowTable[V]) group(hash uint64) *rowGroup[V] {
	i := t.own.index(hash)
	if uint(i) >= uint(len(t.groups)) {
		t.own.foreign(i, len(t.groups))
	}
	return &t.groups[i]
}

func (t *rowTable[V]) get(key string, hash uint64) (*V, bool) {
	g := t.group(hash)
	if _, r := g.find(key, hash, t.layout); r != nil {
		return g.value(r, t.layout), true
	}
	return nil, false
}

func (t *rowTable[V]) upsert(key string, hash uint64) (*V, bool) {
	g := t.group(hash)
	i, r := g.find(key, hash, t.layout)
	if r != nil {
		return g.value(r, t.layout), false
	}
	return t.insert(g, i, key, hash), true
}

// find returns the row of the key, or nil and the zero slot where it belongs.
func (g *rowGroup[V]) find(key string, hash uint64, layout rowLayout) (slot uint64, r row) {
	mask := uint64(len(g.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := g.slots[i]
		if s == 0 {
			return i, nil
		}
		if uint32(s>>32) == uint32(hash) {
			if r := g.pages.at(uint32(s) - 1); layout.holds(r, key) {
				return i, r
			}
		}
	}
}

// value returns the accumulator of a row.
func (g *rowGroup[V]) value(r row, layout rowLayout) *V {
	if layout.apart {
		return g.values.at(int(*(*uint32)(r)))
	}
	return (*V)(r)
}

// insert appends a row for the key and points the zero slot i to it, which find
// returned.
func (t *rowTable[V]) insert(g *rowGroup[V], i uint64, key string, hash uint64) *V {
	if g.room == 0 {
		g.grow()
		i = g.vacant(uint32(hash))
	}
	ref, r := g.pages.add(t.layout.words(key))
	t.layout.init(r, key)
	g.slots[i] = uint64(uint32(hash))<<32 | uint64(ref+1)
	g.room--
	t.len++
	if t.layout.apart {
		*(*uint32)(r) = uint32(g.values.len)
		return g.values.add()
	}
	return (*V)(r)
}

// grow doubles the slots of the group, or makes its first.
func (g *rowGroup[V]) grow() {
	old := g.slots
	size := max(minSlots, 2*len(old))
	g.slots = make([]uint64, size)
	g.room = growth(size)
	for _, s := range old {
		if s != 0 {
			g.slots[g.vacant(uint32(s>>32))] = s
			g.room--
		}
	}
}

// vacant returns the zero slot for a new key with this lower half of a hash.
func (g *rowGroup[V]) vacant(hash32 uint32) uint64 {
	mask := uint64(len(g.slots) - 1)
	i := uint64(hash32) & mask
	for g.slots[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

// upsertBatch upserts the keys in order and calls f with start plus their
// index. It first finds the rows that probably hold the keys, in steps of which
// each does one thing for all keys, so that the misses of many keys overlap: the
// row of one key cannot be fetched before its slot. Then it compares. Rows do
// not move, so that what was found stays right while new keys are inserted.
func (t *rowTable[V]) upsertBatch(keys []string, hashes []uint64, start int, f func(i int, v *V, created bool)) {
	var found [batchSize]row
	t.findProbable(hashes, found[:len(hashes)])
	for i, key := range keys {
		hash := hashes[i]
		if r := found[i]; r != nil && t.layout.holds(r, key) {
			if t.layout.apart {
				f(start+i, t.group(hash).value(r, t.layout), false)
			} else {
				f(start+i, (*V)(r), false) // as value, without looking up the group
			}
			continue
		}
		v, created := t.upsert(key, hash)
		f(start+i, v, created)
	}
}

// findProbable sets rows[i] to the row of the first slot that carries the lower
// half of hashes[i], and leaves it nil where there is none.
func (t *rowTable[V]) findProbable(hashes []uint64, rows []row) {
	groups, own := t.groups, t.own
	for i, hash := range hashes {
		index := own.index(hash)
		if uint(index) >= uint(len(groups)) {
			own.foreign(index, len(groups))
		}
		g := &groups[index]
		mask := uint64(len(g.slots) - 1)
		for at := hash & mask; g.slots[at] != 0; at = (at + 1) & mask {
			if s := g.slots[at]; uint32(s>>32) == uint32(hash) {
				rows[i] = g.pages.at(uint32(s) - 1)
				break
			}
		}
	}
	var sum uint32
	for _, r := range rows {
		if r != nil {
			sum += uint32(t.layout.keyLen(r))
		}
	}
	t.touched = sum
}

// rangeGroup calls f with the rows of a group in order. The key aliases its row.
func (t *rowTable[V]) rangeGroup(index int, f func(i int, key string, v *V) bool) bool {
	g, i := &t.groups[index], 0
	for page, base := range g.pages.bases {
		for at := uint32(0); at < g.pages.log.sizes[page].used; i++ {
			r := row(unsafe.Add(base, at*wordBytes))
			key := t.layout.key(r)
			if !f(i, key, g.value(r, t.layout)) {
				return false
			}
			at += uint32(t.layout.words(key))
		}
	}
	return true
}

func (t *rowTable[V]) clear() {
	t.len = 0
	for i := range t.groups {
		g := &t.groups[i]
		if len(g.slots) > 1 {
			clear(g.slots)
			g.room = growth(len(g.slots))
		}
		g.pages.clear()
		if t.layout.apart {
			g.values.clear()
		}
	}
}

func (t *rowTable[V]) memory() int {
	bytes := int(unsafe.Sizeof(*t)) + len(t.groups)*int(unsafe.Sizeof(rowGroup[V]{}))
	for i := range t.groups {
		g := &t.groups[i]
		bytes += len(g.slots)*8 + g.pages.memory()
		if t.layout.apart {
			bytes += g.values.bytes()
		}
	}
	return bytes
}

// holdsPointers says whether the garbage collector looks into values of t.
func holdsPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && holdsPointers(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if holdsPointers(field.Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}
