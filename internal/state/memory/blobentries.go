package memory

import "unsafe"

// BlobEntries are Entries whose values are bytes. The goroutine of one task owns
// it.
type BlobEntries struct {
	entries *Entries[Span]
	arenas  []arena
}

// NewBlobEntries returns empty maps, as NewCells does.
func NewBlobEntries(first, last, max int) (*BlobEntries, error) {
	entries, err := NewEntries[Span](first, last, max)
	if err != nil {
		return nil, err
	}
	return &BlobEntries{entries: entries, arenas: make([]arena, last-first+1)}, nil
}

func (b *BlobEntries) index(hash uint64) int { return b.entries.rows.own.index(hash) }

// Get returns the value of an entry and when it was touched, if it is there. The
// value aliases the table and is valid until it is changed.
func (b *BlobEntries) Get(key *Key) (value []byte, at int64, ok bool) {
	e, ok := b.entries.Get(key)
	if !ok {
		return nil, 0, false
	}
	return b.arenas[b.index(key.Hash)].bytes(e.Value), e.At, true
}

// Put gives an entry a copy of value.
func (b *BlobEntries) Put(owner, key *Key, value []byte, at int64) (created bool) {
	e, created := b.entries.Upsert(owner, key)
	index := b.index(key.Hash)
	e.Value, e.At = b.arenas[index].put(e.Value, value), at
	b.tidy(index)
	return created
}

// Touch notes when an entry that is there was touched.
func (b *BlobEntries) Touch(owner, key *Key, at int64) {
	e, _ := b.entries.Upsert(owner, key)
	e.At = at
}

// Delete removes an entry and says whether it was there.
func (b *BlobEntries) Delete(owner, key *Key) bool {
	e, ok := b.entries.Get(key)
	if !ok {
		return false
	}
	index := b.index(key.Hash)
	b.arenas[index].release(e.Value)
	b.entries.Delete(owner, key)
	b.tidy(index)
	return true
}

// Each is that of Entries. touch, if it is not 0, is when those entries are touched
// that were last after deadline.
func (b *BlobEntries) Each(owner *Key, touch, deadline int64, f func(inner string, value []byte, at int64) bool) {
	index := b.index(owner.Hash)
	b.entries.Each(owner, func(inner string, e *Entry[Span]) bool {
		at := e.At
		if touch != 0 && at > deadline {
			b.entries.Touch(owner, e)
			e.At = touch
		}
		return f(inner, b.arenas[index].bytes(e.Value), at)
	})
}

// Len returns the number of entries of an owner.
func (b *BlobEntries) Len(owner *Key) int { return b.entries.Len(owner) }

// Clear removes all entries of an owner.
func (b *BlobEntries) Clear(owner *Key) {
	index := b.index(owner.Hash)
	b.entries.Clear(owner, func(e *Entry[Span]) { b.arenas[index].release(e.Value) })
	b.tidy(index)
}

// Sweep is that of Entries.
func (b *BlobEntries) Sweep(hash uint64, n int, expired func(at int64) bool) {
	index := b.index(hash)
	b.entries.Sweep(hash, n, func(e *Entry[Span]) bool {
		if !expired(e.At) {
			return false
		}
		b.arenas[index].release(e.Value)
		return true
	})
	b.tidy(index)
}

// Reserve is that of Entries.
func (b *BlobEntries) Reserve(group, entries int) { b.entries.Reserve(group, entries) }

// Restore is Put of an entry of which only the group is known.
func (b *BlobEntries) Restore(group int, owner, key string, value []byte, at int64) (created bool) {
	e, created := b.entries.Restore(group, owner, key)
	e.Value, e.At = b.arenas[group-b.entries.rows.own.first].put(e.Value, value), at
	return created
}

// RangeOwners is that of Entries.
func (b *BlobEntries) RangeOwners(group int, f func(owner string) bool) bool {
	return b.entries.RangeOwners(group, f)
}

// tidy moves the values of a group together if it is worth it.
func (b *BlobEntries) tidy(index int) {
	a := &b.arenas[index]
	if a.freed == 0 || !a.worthMoving() {
		return
	}
	old := *a
	*a = arena{}
	b.entries.rows.rangeGroup(index, true, func(_ int, _ string, e *Entry[Span]) bool {
		e.Value = a.put(Span{}, old.bytes(e.Value))
		return true
	})
}

// Entries returns the number of all entries.
func (b *BlobEntries) Entries() int { return b.entries.Entries() }

// Bytes returns the memory that the maps hold.
func (b *BlobEntries) Bytes() int {
	return int(unsafe.Sizeof(*b)) + b.entries.Bytes() + memoryOf(b.arenas)
}

// Settle is that of Cells.
func (b *BlobEntries) Settle() { b.entries.Settle() }

// Freeze gives a view of the maps, as that of Cells.
func (b *BlobEntries) Freeze(number uint64) *BlobEntriesView {
	return &BlobEntriesView{entries: b.entries.Freeze(number), arenas: freezeArenas(b.arenas)}
}

// A BlobEntriesView is what maps held at a freeze.
type BlobEntriesView struct {
	entries *EntriesView[Span]
	arenas  []frozen
}

// Changed is that of View.
func (v *BlobEntriesView) Changed(group int) uint64 { return v.entries.Changed(group) }

// Read is that of EntriesView.
func (v *BlobEntriesView) Read(group int, b *Buffer, begin func(owner string), each func(inner string, value []byte, at int64)) {
	b.reset()
	index := group - v.entries.first
	a := arena{pages: takePages(&v.arenas[index], b)}
	v.entries.read(index, b, begin, func(inner string, e *Entry[Span]) { each(inner, a.bytes(e.Value), e.At) })
}

// ReleaseGroup gives up a group that will not be read.
func (v *BlobEntriesView) ReleaseGroup(group int) {
	v.entries.ReleaseGroup(group)
	v.arenas[group-v.entries.first].release()
}

// Release gives the view up. It may be called twice.
func (v *BlobEntriesView) Release() {
	v.entries.Release()
	for i := range v.arenas {
		v.arenas[i].release()
	}
}
