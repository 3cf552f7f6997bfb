package memory

import (
	"iter"
	"unsafe"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// This file takes keys out of a group by the thousand: what is kept moves to new
// memory, so that the old is given back at once, but for what views need of it.

// detach empties a group, and returns what it held.
func (t *intTable[V]) detach(index int) []intEntry[V] {
	t.mark(index)
	g := &t.groups[index]
	old := g.entries
	if len(old) == 1 {
		return nil
	}
	t.bytes -= len(old) * int(unsafe.Sizeof(old[0]))
	t.len -= growth(len(old)) - g.room
	g.entries, g.room, g.frozen = make([]intEntry[V], 1), 0, nil
	if t.cursors != nil {
		t.cursors[index] = 0
	}
	return old
}

// detach empties a group, and returns its pages.
func (t *rowTable[V]) detach(index int) pages {
	if t.layout.apart {
		invariant.Broken("values that hold pointers are not taken out of a group")
	}
	t.mark(index)
	g := &t.groups[index]
	old := g.pages
	if len(g.slots) > 1 {
		t.len -= growth(len(g.slots)) - g.room
	}
	if g.frozen != nil {
		t.frozen--
	}
	*g = rowGroup[V]{slots: make([]uint64, 1)}
	if t.cursors != nil {
		t.cursors[index] = 0
	}
	return old
}

// GroupLen returns the number of keys of a group.
func (c *Cells[V]) GroupLen(group int) int {
	index := group - c.first
	if c.ints != nil {
		return c.ints.groupLen(index)
	}
	return c.rows.groupLen(index)
}

func (t *intTable[V]) groupLen(index int) int {
	n := 0
	if g := &t.groups[index]; len(g.entries) > 1 {
		n = growth(len(g.entries)) - g.room
	}
	if t.hasZero && t.zeroGroup == index {
		n++
	}
	return n
}

func (t *rowTable[V]) groupLen(index int) int {
	if g := &t.groups[index]; len(g.slots) > 1 {
		return growth(len(g.slots)) - g.room
	}
	return 0
}

// Sift removes the keys of a group for which keep returns false. Keys have their
// hash; they and *v alias what the table held. keep must not use the table, nor
// change anything. moved, if it is not nil, is called with each value that is kept,
// to be changed.
func (c *Cells[V]) Sift(group int, keep func(k *Key, v *V) bool, moved func(v *V)) {
	index := group - c.first
	if c.ints != nil {
		c.ints.sift(index, keep, moved)
		return
	}
	old := c.rows.detach(index)
	old.each(c.rows.layout, func(_ uint32, r row, _ int) bool {
		if !c.rows.layout.live(r) {
			return true
		}
		k := Key{Bytes: c.rows.layout.key(r)}
		k.Hash = c.rows.own.hash(index, uint32(keygroup.HashString(k.Bytes)))
		if v := (*V)(r); keep(&k, v) {
			to, _ := c.rows.upsert(k.Bytes, k.Hash)
			if *to = *v; moved != nil {
				moved(to)
			}
		}
		return true
	})
}

func (t *intTable[V]) sift(index int, keep func(k *Key, v *V) bool, moved func(v *V)) {
	if t.hasZero && t.zeroGroup == index {
		k := Key{Hash: keygroup.HashInt(0)}
		if !keep(&k, &t.zero) {
			t.delete(0, k.Hash)
		} else if moved != nil {
			moved(&t.zero)
		}
	}
	old := t.detach(index)
	for i := range old {
		if e := &old[i]; e.key != 0 {
			k := Key{Word: e.key, Hash: keygroup.HashInt(e.key)}
			if keep(&k, &e.v) {
				to, _ := t.upsert(e.key, k.Hash)
				if *to = e.v; moved != nil {
					moved(to)
				}
			}
		}
	}
}

// GroupLen is that of Cells.
func (b *Blobs) GroupLen(group int) int { return b.cells.GroupLen(group) }

// Sift is that of Cells.
func (b *Blobs) Sift(group int, keep func(k *Key, value []byte) bool) {
	a := &b.arenas[group-b.cells.first]
	old := *a
	*a = arena{}
	b.cells.Sift(group,
		func(k *Key, s *Span) bool { return keep(k, old.bytes(*s)) },
		func(s *Span) { *s = a.put(Span{}, old.bytes(*s)) })
}

// Owners returns the number of owners of a group.
func (e *Entries[P]) Owners(group int) int { return e.owners.groupLen(group - e.rows.own.first) }

// Sift removes the owners of a group for which keep returns false, with all their
// entries, which entries gives in their order. Owners have their hash. Keys and
// entries alias what the table held. keep must not use the table, nor change
// anything. moved, if it is not nil, is called with each entry that is kept, to be
// changed.
func (e *Entries[P]) Sift(group int, keep func(owner *Key, entries iter.Seq2[string, *Entry[P]]) bool, moved func(*Entry[P])) {
	index := group - e.rows.own.first
	owners, rows := e.owners.detach(index), e.rows.detach(index)
	upper := e.rows.own.hash(index, 0)
	owners.each(e.owners.layout, func(_ uint32, r row, _ int) bool {
		if !e.owners.layout.live(r) {
			return true
		}
		first := (*list)(r).first
		owner := Key{Bytes: e.owners.layout.key(r)}
		owner.Hash = HashWithin(upper, owner.Bytes)
		all := func(yield func(key string, entry *Entry[P]) bool) {
			for link := first; link != 0; {
				r := rows.at(link - 1)
				entry := (*Entry[P])(r)
				if !yield(e.rows.layout.key(r), entry) {
					return
				}
				link = entry.next
			}
		}
		if !keep(&owner, all) {
			return true
		}
		for key, from := range all {
			to, _ := e.Upsert(&owner, &Key{Bytes: key, Hash: HashWithin(upper, key)})
			if to.At, to.Value = from.At, from.Value; moved != nil {
				moved(to)
			}
		}
		return true
	})
}

// Owners is that of Entries.
func (b *BlobEntries) Owners(group int) int { return b.entries.Owners(group) }

// Sift is that of Entries, with what Each gives of an entry.
func (b *BlobEntries) Sift(group int, keep func(owner *Key, each func(f func(key string, value []byte, at int64))) bool) {
	a := &b.arenas[group-b.entries.rows.own.first]
	old := *a
	*a = arena{}
	b.entries.Sift(group, func(owner *Key, entries iter.Seq2[string, *Entry[Span]]) bool {
		return keep(owner, func(f func(key string, value []byte, at int64)) {
			for key, e := range entries {
				f(key, old.bytes(e.Value), e.At)
			}
		})
	}, func(e *Entry[Span]) { e.Value = a.put(Span{}, old.bytes(e.Value)) })
}
