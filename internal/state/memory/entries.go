package memory

import (
	"unsafe"

	"github.com/weirstream/weir/internal/state/keygroup"
)

// Entries are the maps of many keys: from an owner, which is a key, and an inner
// key to a P, which holds no pointers. The entries of an owner are a list in the
// order in which they were created, linked through the rows of its key group, so
// that all operations but those on all entries of an owner take a constant time.
//
// An entry's key is the bytes of its owner and then those of the inner key. All
// keys have the hash that HashWithin gives.
type Entries[P any] struct {
	owners *rowTable[list]
	rows   *rowTable[Entry[P]]
}

// A list is the first and the last entry of an owner, by their refs plus one, and
// their number.
type list struct{ first, last, count uint32 }

// An Entry is one entry of a map.
type Entry[P any] struct {
	next, prev uint32 // in the list of its owner: refs plus one; 0: there is none
	owner      uint32 // the length of the owner's bytes
	At         int64  // when it was last touched; for the caller
	Value      P
}

// HashWithin returns the hash of a key that consists of several, whose key group is
// that of the hash of the first.
func HashWithin(first uint64, bytes string) uint64 {
	return first>>32<<32 | keygroup.HashString(bytes)&(1<<32-1)
}

// NewEntries returns empty maps, as NewCells does.
func NewEntries[P any](first, last, max int) (*Entries[P], error) {
	owners, err := NewCells[list](first, last, max, false)
	if err != nil {
		return nil, err
	}
	rows, err := NewCells[Entry[P]](first, last, max, false)
	if err != nil {
		return nil, err
	}
	e := &Entries[P]{owners: owners.rows, rows: rows.rows}
	e.rows.moved = e.relink
	return e, nil
}

// relink follows rows that have moved.
func (e *Entries[P]) relink(index int, forward func(ref uint32) (uint32, bool)) {
	move := func(ref *uint32) {
		if *ref != 0 {
			to, _ := forward(*ref - 1)
			*ref = to + 1
		}
	}
	e.owners.rangeGroup(index, true, func(_ int, _ string, l *list) bool {
		move(&l.first)
		move(&l.last)
		return true
	})
	e.rows.rangeGroup(index, true, func(_ int, _ string, entry *Entry[P]) bool {
		move(&entry.next)
		move(&entry.prev)
		return true
	})
}

// at returns an entry by its ref plus one.
func (e *Entries[P]) at(index int, link uint32) *Entry[P] {
	return (*Entry[P])(e.rows.groups[index].pages.at(link - 1))
}

// change returns an entry by its ref plus one, to be changed. hash is of a key of
// its group.
func (e *Entries[P]) change(g *rowGroup[Entry[P]], link uint32, hash uint64) *Entry[P] {
	if g.frozen != nil {
		e.rows.writes(g, link-1, hash)
	}
	return (*Entry[P])(g.pages.at(link - 1))
}

// Get returns an entry, if it is there. It must not be changed.
func (e *Entries[P]) Get(key *Key) (*Entry[P], bool) { return e.rows.get(key.Bytes, key.Hash) }

// Upsert returns an entry, which is new, last in its list and zero if created. It
// may be changed until the next operation.
func (e *Entries[P]) Upsert(owner, key *Key) (entry *Entry[P], created bool) {
	ref, entry, created := e.rows.upsertRef(key.Bytes, key.Hash)
	if !created {
		return entry, false
	}
	l, _ := e.owners.upsert(owner.Bytes, owner.Hash)
	g := e.rows.group(key.Hash)
	if l.last != 0 {
		e.change(g, l.last, key.Hash).next = ref + 1
	} else {
		l.first = ref + 1
	}
	entry.prev, entry.owner = l.last, uint32(len(owner.Bytes))
	l.last = ref + 1
	l.count++
	return entry, true
}

// Delete removes an entry and says whether it was there.
func (e *Entries[P]) Delete(owner, key *Key) bool {
	g := e.rows.group(key.Hash)
	slot, r := g.find(key.Bytes, key.Hash, e.rows.layout)
	if r == nil {
		return false
	}
	e.unlink(g, (*Entry[P])(r), owner.Bytes, owner.Hash)
	e.rows.deleteSlot(g, slot, key.Hash)
	return true
}

// unlink takes an entry out of the list of its owner, and removes the owner when it
// was the only one.
func (e *Entries[P]) unlink(g *rowGroup[Entry[P]], entry *Entry[P], owner string, hash uint64) {
	next, prev := entry.next, entry.prev
	if next == 0 && prev == 0 {
		e.owners.delete(owner, hash)
		return
	}
	l, _ := e.owners.upsert(owner, hash)
	l.count--
	if prev != 0 {
		e.change(g, prev, hash).next = next
	} else {
		l.first = next
	}
	if next != 0 {
		e.change(g, next, hash).prev = prev
	} else {
		l.last = prev
	}
}

// Each calls f with the inner keys and entries of an owner, in the order in which
// they were created, until it returns false. f may delete the entry that it is
// called with, or upsert; it must not delete others.
func (e *Entries[P]) Each(owner *Key, f func(inner string, entry *Entry[P]) bool) {
	l, ok := e.owners.get(owner.Bytes, owner.Hash)
	if !ok {
		return
	}
	e.rows.pinned++
	defer func() { e.rows.pinned-- }()
	index := e.rows.own.index(owner.Hash)
	for link := l.first; link != 0; {
		entry := e.at(index, link)
		next := entry.next
		key := e.rows.layout.key(row(unsafe.Pointer(entry)))
		if !f(key[entry.owner:], entry) {
			return
		}
		if next == 0 && e.rows.layout.live(row(unsafe.Pointer(entry))) {
			next = entry.next // which f may have created
		}
		link = next
	}
}

// Touch must come before a change of an entry that Each has given.
func (e *Entries[P]) Touch(owner *Key, entry *Entry[P]) {
	if e.rows.frozen > 0 {
		key := e.rows.layout.key(row(unsafe.Pointer(entry)))
		e.rows.writesKey(key, HashWithin(owner.Hash, key))
	}
}

// Len returns the number of entries of an owner.
func (e *Entries[P]) Len(owner *Key) int {
	if l, ok := e.owners.get(owner.Bytes, owner.Hash); ok {
		return int(l.count)
	}
	return 0
}

// Clear removes all entries of an owner. It calls f, if it is not nil, with each
// before.
func (e *Entries[P]) Clear(owner *Key, f func(entry *Entry[P])) {
	l, ok := e.owners.get(owner.Bytes, owner.Hash)
	if !ok {
		return
	}
	index := e.rows.own.index(owner.Hash)
	e.rows.pinned++
	for link := l.first; link != 0; {
		entry := e.at(index, link)
		next := entry.next
		if f != nil {
			f(entry)
		}
		e.rows.deleteRow(index, link-1)
		link = next
	}
	e.rows.pinned--
	e.owners.delete(owner.Bytes, owner.Hash)
	e.rows.compact(index)
}

// Sweep looks at a few entries of the group of a hash, others each time, and
// removes those that have expired. expired must free what they refer to.
func (e *Entries[P]) Sweep(hash uint64, n int, expired func(entry *Entry[P]) bool) {
	index := e.rows.own.index(hash)
	g := &e.rows.groups[index]
	e.rows.sweep(index, n, func(ref uint32, entry *Entry[P]) {
		if !expired(entry) {
			return
		}
		owner := e.rows.layout.key(row(unsafe.Pointer(entry)))[:entry.owner]
		e.unlink(g, entry, owner, HashWithin(hash, owner))
		e.rows.deleteRow(index, ref)
	})
}

// RangeOwners calls f with the bytes of each owner of a group.
func (e *Entries[P]) RangeOwners(group int, f func(owner string) bool) bool {
	return e.owners.rangeGroup(group-e.owners.own.first, false, func(_ int, key string, _ *list) bool { return f(key) })
}

// Reserve makes room for so many entries of a group.
func (e *Entries[P]) Reserve(group, entries int) {
	rows := Cells[Entry[P]]{first: e.rows.own.first, rows: e.rows}
	rows.Reserve(group, entries)
}

// Restore is Upsert of an entry of which only the group is known.
func (e *Entries[P]) Restore(group int, owner, key string) (entry *Entry[P], created bool) {
	hash := e.rows.own.hash(group-e.rows.own.first, 0)
	o := Key{Bytes: owner, Hash: HashWithin(hash, owner)}
	return e.Upsert(&o, &Key{Bytes: key, Hash: HashWithin(hash, key)})
}

// Entries returns the number of all entries.
func (e *Entries[P]) Entries() int { return e.rows.len }

// Bytes returns the memory that the maps hold.
func (e *Entries[P]) Bytes() int {
	return int(unsafe.Sizeof(*e)) + e.owners.memory() + e.rows.memory()
}

// Settle is that of Cells.
func (e *Entries[P]) Settle() {
	e.owners.settle()
	e.rows.settle()
}

// Freeze gives a view of the maps, as that of Cells.
func (e *Entries[P]) Freeze(number uint64) *EntriesView[P] {
	return &EntriesView[P]{first: e.rows.own.first, owners: e.owners.freeze(number), rows: e.rows.freeze(number)}
}

// An EntriesView is what maps held at a freeze.
type EntriesView[P any] struct {
	first  int
	owners *rowView[list]
	rows   *rowView[Entry[P]]
}

// Changed is that of View.
func (v *EntriesView[P]) Changed(group int) uint64 { return v.rows.last[group-v.first] }

// Read calls begin with the bytes of each owner that a group had and then each with
// its entries, in their order.
func (v *EntriesView[P]) Read(group int, b *Buffer, begin func(owner string), each func(inner string, entry *Entry[P])) {
	b.reset()
	v.read(group-v.first, b, begin, each)
}

func (v *EntriesView[P]) read(index int, b *Buffer, begin func(owner string), each func(inner string, entry *Entry[P])) {
	rows := v.rows.take(index, b)
	v.owners.read(index, b, func(owner string, l *list) bool {
		begin(owner)
		for link := l.first; link != 0; {
			r := rows.at(link - 1)
			entry := (*Entry[P])(r)
			each(v.rows.layout.key(r)[len(owner):], entry)
			link = entry.next
		}
		return true
	})
}

// ReleaseGroup gives up a group that will not be read.
func (v *EntriesView[P]) ReleaseGroup(group int) {
	v.owners.groups[group-v.first].release()
	v.rows.groups[group-v.first].release()
}

// Release gives the view up. It may be called twice.
func (v *EntriesView[P]) Release() {
	v.owners.release()
	v.rows.release()
}
