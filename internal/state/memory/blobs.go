package memory

import "unsafe"

// Blobs maps keys to values that are bytes. The goroutine of one task owns it.
//
// It is cells that say where each value lies in the arena of its key group.
type Blobs struct {
	cells  *Cells[Span]
	arenas []arena
}

// NewBlobs returns an empty table, as NewCells does.
func NewBlobs(first, last, max int, integers bool) (*Blobs, error) {
	cells, err := NewCells[Span](first, last, max, integers)
	if err != nil {
		return nil, err
	}
	return &Blobs{cells: cells, arenas: make([]arena, last-first+1)}, nil
}

func (b *Blobs) index(hash uint64) int {
	if b.cells.ints != nil {
		return b.cells.ints.own.index(hash)
	}
	return b.cells.rows.own.index(hash)
}

// Get returns the value of k, if there is one. It aliases the table and is valid
// until it is changed.
func (b *Blobs) Get(k *Key) ([]byte, bool) {
	s, ok := b.cells.Get(k)
	if !ok {
		return nil, false
	}
	return b.arenas[b.index(k.Hash)].bytes(*s), true
}

// Touch is that of Cells.
func (b *Blobs) Touch(hashes []uint64) { b.cells.Touch(hashes) }

// Put gives k a copy of value.
func (b *Blobs) Put(k *Key, value []byte) {
	s, _ := b.cells.Upsert(k)
	index := b.index(k.Hash)
	*s = b.arenas[index].put(*s, value)
	b.tidy(index)
}

// Extend appends n bytes, which hold anything, to the value of k, which is created
// empty, and returns all of it. These and the first head bytes may be changed until
// the next operation on the table. The cost is that of n and head bytes, amortised.
func (b *Blobs) Extend(k *Key, n, head int) (value []byte, created bool) {
	s, created := b.cells.Upsert(k)
	index := b.index(k.Hash)
	a := &b.arenas[index]
	*s = a.extend(*s, n, head)
	value = a.bytes(*s)
	if a.freed > 0 && a.worthMoving() {
		b.compact(index)
		s, _ = b.cells.Get(k)
		value = b.arenas[index].bytes(*s)
	}
	return value, created
}

// Delete removes k and says whether it was there.
func (b *Blobs) Delete(k *Key) bool {
	s, ok := b.cells.Get(k)
	if !ok {
		return false
	}
	index := b.index(k.Hash)
	b.arenas[index].release(*s)
	b.cells.Delete(k)
	b.tidy(index)
	return true
}

// Sweep looks at a few keys of the group of a hash, others each time, and removes
// those whose values have expired.
func (b *Blobs) Sweep(hash uint64, n int, expired func(value []byte) bool) {
	index := b.index(hash)
	a := &b.arenas[index]
	b.cells.Sweep(hash, n, func(s *Span) bool {
		if !expired(a.bytes(*s)) {
			return false
		}
		a.release(*s)
		return true
	})
	b.tidy(index)
}

// Restore gives a key, of which only the group is known, a copy of value.
func (b *Blobs) Restore(group int, k Key, value []byte) (created bool) {
	s, created := b.cells.Restore(group, k)
	*s = b.arenas[group-b.cells.first].put(*s, value)
	return created
}

// Reserve is that of Cells.
func (b *Blobs) Reserve(group, keys int) { b.cells.Reserve(group, keys) }

// RangeGroup calls f with the keys of a group and their values, as that of Cells.
func (b *Blobs) RangeGroup(group int, f func(k Key, value []byte) bool) bool {
	a := &b.arenas[group-b.cells.first]
	return b.cells.RangeGroup(group, func(k Key, s *Span) bool { return f(k, a.bytes(*s)) })
}

// tidy moves the values of a group together if it is worth it.
func (b *Blobs) tidy(index int) {
	if a := &b.arenas[index]; a.freed > 0 && a.worthMoving() {
		b.compact(index)
	}
}

func (b *Blobs) compact(index int) {
	old := b.arenas[index]
	b.arenas[index] = arena{}
	a := &b.arenas[index]
	b.cells.rangeGroup(index, true, func(_ Key, s *Span) bool {
		*s = a.put(Span{}, old.bytes(*s))
		return true
	})
}

// Len returns the number of keys.
func (b *Blobs) Len() int { return b.cells.Len() }

// Bytes returns the memory that the table holds.
func (b *Blobs) Bytes() int {
	return int(unsafe.Sizeof(*b)) + b.cells.Bytes() + memoryOf(b.arenas)
}

// Clear removes all keys.
func (b *Blobs) Clear() {
	b.cells.Clear()
	clear(b.arenas)
}

// Settle is that of Cells.
func (b *Blobs) Settle() { b.cells.Settle() }

// StartAt is that of Cells.
func (b *Blobs) StartAt(number uint64) { b.cells.StartAt(number) }

// Freeze gives a view of the table, as that of Cells.
func (b *Blobs) Freeze(number uint64) *BlobsView {
	return &BlobsView{cells: b.cells.Freeze(number), arenas: freezeArenas(b.arenas)}
}

func freezeArenas(arenas []arena) []frozen {
	views := make([]frozen, len(arenas))
	for i := range arenas {
		a, f := &arenas[i], &views[i]
		f.extents = a.pages.extents()
		f.older = a.frozen.alive()
		a.frozen = f
	}
	return views
}

// A BlobsView is what a table of blobs held at a freeze.
type BlobsView struct {
	cells  *View[Span]
	arenas []frozen
}

// Changed is that of View.
func (v *BlobsView) Changed(group int) uint64 { return v.cells.Changed(group) }

// Read calls f with the keys that a group had and their values, as that of View.
func (v *BlobsView) Read(group int, b *Buffer, f func(k Key, value []byte) bool) bool {
	b.reset()
	index := group - v.cells.first
	a := arena{pages: takePages(&v.arenas[index], b)}
	return v.cells.read(index, b, func(k Key, s *Span) bool { return f(k, a.bytes(*s)) })
}

func takePages(f *frozen, b *Buffer) pages { return copied(f.take(b), f.extents) }

// ReleaseGroup gives up a group that will not be read.
func (v *BlobsView) ReleaseGroup(group int) {
	v.cells.ReleaseGroup(group)
	v.arenas[group-v.cells.first].release()
}

// Release gives the view up. It may be called twice.
func (v *BlobsView) Release() {
	v.cells.Release()
	for i := range v.arenas {
		v.arenas[i].release()
	}
}
