package memory

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"

	"github.com/weirstream/weir/internal/state/keygroup"
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
	pinned  int    // while positive, rows do not move
	frozen  int    // groups whose frozen is not nil
	cursors []int  // of sweep, by group; nil until the first
	changes

	// moved, if set, is told that the rows of a group have moved. forward gives
	// the new ref of a row, and false for one that was deleted.
	moved func(index int, forward func(ref uint32) (uint32, bool))
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
	frozen *frozen    // not nil: writes must be announced to rowTable.writes
}

func newRowTable[V any](own groups, count int) *rowTable[V] {
	t := &rowTable[V]{own: own, groups: make([]rowGroup[V], count), layout: layoutOf[V](), frozen: count, changes: changes{last: make([]uint64, count)}}
	empty := make([]uint64, 1)
	for i := range t.groups {
		t.groups[i].slots, t.groups[i].frozen = empty, unchanged
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
		if g.frozen != nil {
			t.writes(g, g.ref(i), hash)
		}
		return g.value(r, t.layout), false
	}
	_, v := t.insert(g, i, key, hash)
	return v, true
}

// upsertRef is upsert, and returns the ref of the row too.
func (t *rowTable[V]) upsertRef(key string, hash uint64) (ref uint32, v *V, created bool) {
	g := t.group(hash)
	i, r := g.find(key, hash, t.layout)
	if r == nil {
		ref, v = t.insert(g, i, key, hash)
		return ref, v, true
	}
	ref = g.ref(i)
	if g.frozen != nil {
		t.writes(g, ref, hash)
	}
	return ref, g.value(r, t.layout), false
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

// ref returns the ref of the row of a slot that is not zero.
func (g *rowGroup[V]) ref(slot uint64) uint32 { return uint32(g.slots[slot]) - 1 }

// value returns the accumulator of a row.
func (g *rowGroup[V]) value(r row, layout rowLayout) *V {
	if layout.apart {
		return g.values.at(int(*(*uint32)(r)))
	}
	return (*V)(r)
}

// writes must come before a change of a row, from its beginning to the length of
// its key, while the group is frozen. It notes the change, and keeps what a view
// needs. hash is of a key of the group.
func (t *rowTable[V]) writes(g *rowGroup[V], ref uint32, hash uint64) {
	t.mark(t.own.index(hash))
	if t.thaw(g) {
		g.frozen.keep(int(ref>>offsetBits), uintptr(ref&(maxPageWords-1))*wordBytes, t.layout.head+4)
	}
}

// thaw forgets the views that need nothing of the group any more, and says whether
// one still does.
func (t *rowTable[V]) thaw(g *rowGroup[V]) bool {
	if g.frozen == nil {
		return false
	}
	if g.frozen = g.frozen.alive(); g.frozen == nil {
		t.frozen--
	}
	return g.frozen != nil
}

// insert appends a row for the key and points the zero slot i to it, which find
// returned. Views know how far pages were used, so that nothing is kept.
func (t *rowTable[V]) insert(g *rowGroup[V], i uint64, key string, hash uint64) (uint32, *V) {
	if g.frozen != nil {
		t.mark(t.own.index(hash))
		t.thaw(g)
	}
	if g.room == 0 {
		g.resize(max(minSlots, 2*len(g.slots)))
		i = g.vacant(uint32(hash))
	}
	ref, r := g.pages.add(t.layout.words(len(key)))
	t.layout.init(r, key)
	g.slots[i] = uint64(uint32(hash))<<32 | uint64(ref+1)
	g.room--
	t.len++
	if t.layout.apart {
		*(*uint32)(r) = uint32(g.values.len)
		return ref, g.values.add()
	}
	return ref, (*V)(r)
}

// resize gives the group slots of another size.
func (g *rowGroup[V]) resize(size int) {
	old := g.slots
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

// delete removes a key and says whether it was there.
func (t *rowTable[V]) delete(key string, hash uint64) bool {
	g := t.group(hash)
	slot, r := g.find(key, hash, t.layout)
	if r == nil {
		return false
	}
	t.deleteSlot(g, slot, hash)
	return true
}

// deleteRow removes the row of this ref, which is live, and whose key has a hash
// with the group's upper bits.
func (t *rowTable[V]) deleteRow(index int, ref uint32) {
	g := &t.groups[index]
	hash := t.own.hash(index, uint32(keygroup.HashString(t.layout.key(g.pages.at(ref)))))
	mask := uint64(len(g.slots) - 1)
	slot := hash & mask
	for g.ref(slot) != ref {
		slot = (slot + 1) & mask
	}
	t.deleteSlot(g, slot, hash)
}

func (t *rowTable[V]) deleteSlot(g *rowGroup[V], slot, hash uint64) {
	ref := g.ref(slot)
	r := g.pages.at(ref)
	if g.frozen != nil {
		t.writes(g, ref, hash)
	}
	t.mark(t.own.index(hash))
	if t.layout.apart {
		var zero V
		*g.value(r, t.layout) = zero
	}
	*t.layout.length(r) |= dead
	g.pages.log.dead += t.layout.words(t.layout.keyLen(r))
	g.vacate(slot)
	g.room++
	t.len--
	t.compact(t.own.index(hash))
}

// vacate empties a slot and moves those behind it up, as far as they were there
// only because their place was taken.
func (g *rowGroup[V]) vacate(hole uint64) {
	mask := uint64(len(g.slots) - 1)
	for i := (hole + 1) & mask; g.slots[i] != 0; i = (i + 1) & mask {
		home := g.slots[i] >> 32 & mask
		if (i-home)&mask < (i-hole)&mask {
			continue // it lies between its place and the hole
		}
		g.slots[hole] = g.slots[i]
		hole = i
	}
	g.slots[hole] = 0
}

// leastDead is how many words of deleted rows a group has before it is worth
// moving the others.
const leastDead = 512

// compact moves the rows of a group to new pages, in their order, when half of
// what the pages hold was deleted, and no view needs them and nobody has pinned
// them. The old rows are overwritten with where they went.
func (t *rowTable[V]) compact(index int) {
	g := &t.groups[index]
	if log := g.pages.log; log == nil || log.dead < leastDead || t.pinned > 0 {
		return
	}
	used := 0
	for _, size := range g.pages.log.sizes {
		used += int(size.used)
	}
	if g.pages.log.dead < used/2 || len(g.pages.bases) > dead>>offsetBits {
		return
	}
	if t.thaw(g) {
		return
	}
	old, oldValues := g.pages, g.values
	g.pages = pages{}
	if t.layout.apart {
		g.values = new(chunks[V])
	}
	old.each(t.layout, func(_ uint32, r row, words int) bool {
		if !t.layout.live(r) {
			return true
		}
		ref, to := g.pages.add(words)
		copy(unsafe.Slice((*uint64)(to), words), unsafe.Slice((*uint64)(r), words))
		if t.layout.apart {
			*(*uint32)(to) = uint32(g.values.len)
			*g.values.add() = *oldValues.at(int(*(*uint32)(r)))
		}
		*t.layout.length(r) = ref
		return true
	})
	for i, s := range g.slots {
		if s != 0 {
			ref := *t.layout.length(old.at(uint32(s) - 1))
			g.slots[i] = s>>32<<32 | uint64(ref+1)
		}
	}
	if keys := growth(len(g.slots)) - g.room; sparse(len(g.slots), keys) {
		g.resize(len(g.slots) / 4)
	}
	if t.cursors != nil {
		t.cursors[index] = 0
	}
	if t.moved != nil {
		t.moved(index, func(ref uint32) (uint32, bool) {
			to := *t.layout.length(old.at(ref))
			return to, to&dead == 0
		})
	}
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
			if t.frozen > 0 {
				t.writesKey(key, hash)
			}
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

// writesKey announces a change of the row of a key that is there.
func (t *rowTable[V]) writesKey(key string, hash uint64) {
	if g := t.group(hash); g.frozen != nil {
		slot, _ := g.find(key, hash, t.layout)
		t.writes(g, g.ref(slot), hash)
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

// each calls f with all rows, deleted ones too, in the order in which they were
// added.
func (p *pages) each(layout rowLayout, f func(ref uint32, r row, words int) bool) bool {
	for page, base := range p.bases {
		for at := uint32(0); at < p.log.sizes[page].used; {
			r := row(unsafe.Add(base, at*wordBytes))
			words := layout.words(layout.keyLen(r))
			if !f(uint32(page)<<offsetBits|at, r, words) {
				return false
			}
			at += uint32(words)
		}
	}
	return true
}

// rangeGroup calls f with the rows of a group in order, and their numbers, which
// count deleted ones too until they are gone. The key aliases its row. If f
// changes values, writable must be set.
func (t *rowTable[V]) rangeGroup(index int, writable bool, f func(i int, key string, v *V) bool) bool {
	g, i := &t.groups[index], -1
	hash := t.own.hash(index, 0)
	return g.pages.each(t.layout, func(ref uint32, r row, _ int) bool {
		i++
		if !t.layout.live(r) {
			return true
		}
		if writable && g.frozen != nil {
			t.writes(g, ref, hash)
		}
		return f(i, t.layout.key(r), g.value(r, t.layout))
	})
}

// sweep looks at n rows of a group, going on where it stopped the last time, and
// calls f with those that are live; f may delete the row.
func (t *rowTable[V]) sweep(index, n int, f func(ref uint32, v *V)) {
	if t.cursors == nil {
		t.cursors = make([]int, len(t.groups))
	}
	g := &t.groups[index]
	t.pinned++
	page, at := t.cursors[index]>>offsetBits, uint32(t.cursors[index]&(maxPageWords-1))
	for page < len(g.pages.bases) {
		if at >= g.pages.log.sizes[page].used {
			page, at = page+1, 0
			continue
		}
		if n--; n < 0 {
			break
		}
		r := row(unsafe.Add(g.pages.bases[page], at*wordBytes))
		ref := uint32(page)<<offsetBits | at
		at += uint32(t.layout.words(t.layout.keyLen(r)))
		if t.layout.live(r) {
			f(ref, g.value(r, t.layout))
		}
	}
	t.pinned--
	t.cursors[index] = page<<offsetBits | int(at)
	if page >= len(g.pages.bases) {
		t.cursors[index] = 0
		t.compact(index)
	}
}

// clear removes all keys. The memory of a frozen group is left to its views.
func (t *rowTable[V]) clear() {
	t.len = 0
	for i := range t.groups {
		t.mark(i)
		g := &t.groups[i]
		if len(g.slots) > 1 {
			clear(g.slots)
			g.room = growth(len(g.slots))
		}
		if t.thaw(g) {
			g.pages, g.frozen = pages{}, nil
			t.frozen--
		}
		if t.cursors != nil {
			t.cursors[i] = 0
		}
		g.pages.clear()
		if t.layout.apart {
			g.values.clear()
		}
	}
}

func (t *rowTable[V]) memory() int {
	bytes := int(unsafe.Sizeof(*t)) + len(t.groups)*int(unsafe.Sizeof(rowGroup[V]{})+8)
	for i := range t.groups {
		g := &t.groups[i]
		bytes += len(g.slots)*8 + g.pages.memory()
		if t.layout.apart {
			bytes += g.values.bytes()
		}
	}
	return bytes
}

// A rowView is a rowTable at a freeze.
type rowView[V any] struct {
	groups []frozen
	layout rowLayout
	last   []uint64
}

func (t *rowTable[V]) freeze(number uint64) *rowView[V] {
	view := &rowView[V]{groups: make([]frozen, len(t.groups)), layout: t.layout, last: slices.Clone(t.last)}
	for i := range t.groups {
		g, f := &t.groups[i], &view.groups[i]
		f.extents = g.pages.extents()
		f.older = g.frozen.alive()
		g.frozen = f
	}
	t.number, t.frozen = number, len(t.groups)
	return view
}

// settle makes the table as it is the state since which changes are counted.
func (t *rowTable[V]) settle() {
	clear(t.last)
	for i := range t.groups {
		t.groups[i].frozen = cmp.Or(t.groups[i].frozen, unchanged)
	}
	t.frozen = len(t.groups)
}

// take returns the pages that a group had, copied to b.
func (v *rowView[V]) take(index int, b *Buffer) pages {
	f := &v.groups[index]
	return copied(f.take(b), f.extents)
}

// read calls f with the rows that a group had. The key aliases b.
func (v *rowView[V]) read(index int, b *Buffer, f func(key string, v *V) bool) bool {
	rows := v.take(index, b)
	return rows.each(v.layout, func(_ uint32, r row, _ int) bool {
		return !v.layout.live(r) || f(v.layout.key(r), (*V)(r))
	})
}

func (v *rowView[V]) release() {
	for i := range v.groups {
		v.groups[i].release()
	}
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
