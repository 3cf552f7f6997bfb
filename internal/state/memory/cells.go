package memory

import (
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// Cells maps keys, as a Keys makes them, to accumulators. The goroutine of one task
// owns it.
//
// Invariant: exactly one of ints and rows is set.
type Cells[V any] struct {
	first int
	ints  *intTable[V]
	rows  *rowTable[V]
}

// NewCells returns empty cells of the key groups first to last of max, with keys
// that are integers or bytes. It fails when the key groups are not a part of
// [0,max).
func NewCells[V any](first, last, max int, integers bool) (*Cells[V], error) {
	if first < 0 || last < first || max <= last || max > keygroup.Limit {
		return nil, fmt.Errorf("creating the state of key groups [%d,%d]: they must be a part of [0,max), where max is %d and at most %d", first, last, max, keygroup.Limit)
	}
	own := groups{first: first, max: max}
	c := &Cells[V]{first: first}
	if integers {
		c.ints = newIntTable[V](own, last-first+1)
	} else {
		c.rows = newRowTable[V](own, last-first+1)
	}
	return c, nil
}

// groups finds the place of a hash among the key groups of a table.
type groups struct {
	first, max int
}

func (g groups) index(hash uint64) int { return keygroup.Group(hash, g.max) - g.first }

// hash returns a hash with this lower half whose index this is.
func (g groups) hash(index int, lower uint32) uint64 {
	return GroupHash(g.first+index, g.max)<<32 | uint64(lower)
}

// GroupHash returns the least upper half of a hash that is of this key group.
func GroupHash(group, max int) uint64 {
	return (uint64(group)<<32 + uint64(max) - 1) / uint64(max)
}

// foreign reports a key that belongs to another subtask.
func (g groups) foreign(index, count int) {
	invariant.Broken("key group %d is not one of [%d,%d], which this table holds", index+g.first, g.first, g.first+count-1)
}

// Integers says whether keys are integers.
func (c *Cells[V]) Integers() bool { return c.ints != nil }

// Get returns the accumulator of k, if there is one. It must not be changed, and
// is valid until the table is changed.
func (c *Cells[V]) Get(k *Key) (*V, bool) {
	if c.ints != nil {
		return c.ints.get(k.Word, k.Hash)
	}
	return c.rows.get(k.Bytes, k.Hash)
}

// Upsert returns the accumulator of k, which is new and zero if created. It may be
// changed until the next operation on the table.
func (c *Cells[V]) Upsert(k *Key) (v *V, created bool) {
	if c.ints != nil {
		return c.ints.upsert(k.Word, k.Hash)
	}
	return c.rows.upsert(k.Bytes, k.Hash)
}

// Touch fetches what is probably needed for the keys of up to BatchSize hashes, so
// that cache misses overlap.
func (c *Cells[V]) Touch(hashes []uint64) {
	if c.ints != nil {
		if c.ints.bytes > touchBytes {
			c.ints.touch(hashes)
		}
		return
	}
	var found [batchSize]row
	c.rows.findProbable(hashes, found[:len(hashes)])
}

// Delete removes k and says whether it was there.
func (c *Cells[V]) Delete(k *Key) bool {
	if c.ints != nil {
		return c.ints.delete(k.Word, k.Hash)
	}
	return c.rows.delete(k.Bytes, k.Hash)
}

// UpsertBatch upserts the keys in order and calls f with start plus their index.
// The pointer is valid only during the call of f, and f must not use the table.
func (c *Cells[V]) UpsertBatch(b Batch, start int, f func(i int, v *V, created bool)) {
	if c.ints != nil {
		c.ints.upsertBatch(b.words, b.hashes, start, f)
	} else {
		c.rows.upsertBatch(b.strings, b.hashes, start, f)
	}
}

// Restore is Upsert of a key of which only the group is known, and the word or the
// bytes. The hash of bytes must be such that its lower half is that of the bytes
// themselves, as the hash of every key is that Keys makes.
func (c *Cells[V]) Restore(group int, k Key) (v *V, created bool) {
	if c.ints != nil {
		return c.ints.upsert(k.Word, keygroup.HashInt(k.Word))
	}
	return c.rows.upsert(k.Bytes, c.rows.own.hash(group-c.first, uint32(keygroup.HashString(k.Bytes))))
}

// Reserve makes room for so many keys of a group, so that adding them moves none.
func (c *Cells[V]) Reserve(group, keys int) {
	size := minEntries
	for growth(size) < keys {
		size *= 2
	}
	if c.ints != nil {
		if g := &c.ints.groups[group-c.first]; len(g.entries) < size {
			c.ints.mark(group - c.first)
			c.ints.resize(g, size)
		}
		return
	}
	if g := &c.rows.groups[group-c.first]; len(g.slots) < size {
		g.resize(size)
	}
}

// RangeGroup calls f with the keys of a group, which must be one of the table's,
// until it returns false, and says whether it did not. Keys that are bytes come in
// the order in which they were created; they alias the table. Their hash is not
// set. f must not change anything.
func (c *Cells[V]) RangeGroup(group int, f func(k Key, v *V) bool) bool {
	return c.rangeGroup(group-c.first, false, f)
}

func (c *Cells[V]) rangeGroup(index int, writable bool, f func(k Key, v *V) bool) bool {
	if c.ints != nil {
		return c.ints.rangeGroup(index, writable, func(key uint64, v *V) bool { return f(Key{Word: key}, v) })
	}
	return c.rows.rangeGroup(index, writable, func(_ int, key string, v *V) bool { return f(Key{Bytes: key}, v) })
}

// Sweep looks at a few keys of the group of a hash, others each time, and removes
// those that have expired.
func (c *Cells[V]) Sweep(hash uint64, n int, expired func(v *V) bool) {
	if c.ints != nil {
		c.ints.sweep(c.ints.own.index(hash), n, expired)
		return
	}
	index := c.rows.own.index(hash)
	c.rows.sweep(index, n, func(ref uint32, v *V) {
		if expired(v) {
			c.rows.deleteRow(index, ref)
		}
	})
}

// Len returns the number of keys.
func (c *Cells[V]) Len() int {
	if c.ints != nil {
		return c.ints.len
	}
	return c.rows.len
}

// Bytes returns the memory that the table holds, used or kept for reuse.
func (c *Cells[V]) Bytes() int {
	if c.ints != nil {
		return int(unsafe.Sizeof(*c)) + c.ints.bytes
	}
	return int(unsafe.Sizeof(*c)) + c.rows.memory()
}

// Clear removes all keys and keeps the memory for reuse, except that of very long
// keys and that which views need.
func (c *Cells[V]) Clear() {
	if c.ints != nil {
		c.ints.clear()
	} else {
		c.rows.clear()
	}
}

// Settle makes what the table holds now the state of number 0, since which changes
// are counted.
func (c *Cells[V]) Settle() {
	if c.ints != nil {
		c.ints.settle()
	} else {
		c.rows.settle()
	}
}

// StartAt tells a table that is empty and new that the newest freeze of those it
// belongs to had this number.
func (c *Cells[V]) StartAt(number uint64) {
	if c.ints != nil {
		c.ints.number = number
	} else {
		c.rows.number = number
	}
}

// Freeze gives a view of the table as it is now, in a time that depends on the
// number of groups and pages only. Numbers must rise from 1. V must not hold
// pointers. A goroutine may read the view while the table is changed, and must
// release it.
func (c *Cells[V]) Freeze(number uint64) *View[V] {
	if layoutOf[V]().apart {
		invariant.Broken("values that hold pointers are not frozen")
	}
	v := &View[V]{first: c.first}
	if c.ints != nil {
		v.ints = c.ints.freeze(number)
	} else {
		v.rows = c.rows.freeze(number)
	}
	return v
}

// A View is what cells held at a freeze. One goroutine at a time may use it.
type View[V any] struct {
	first int
	ints  *intView[V]
	rows  *rowView[V]
}

// Changed returns the number of the newest freeze after which the group changed,
// plus one; 0 if it never did.
func (v *View[V]) Changed(group int) uint64 {
	if v.ints != nil {
		return v.ints.last[group-v.first]
	}
	return v.rows.last[group-v.first]
}

// Read calls f with the keys that a group had, until it returns false, as
// Cells.RangeGroup does. A group can be read once. What f is given is valid until
// b is used again.
func (v *View[V]) Read(group int, b *Buffer, f func(k Key, v *V) bool) bool {
	b.reset()
	return v.read(group-v.first, b, f)
}

func (v *View[V]) read(index int, b *Buffer, f func(k Key, v *V) bool) bool {
	if v.ints != nil {
		return v.ints.read(index, b, func(key uint64, v *V) bool { return f(Key{Word: key}, v) })
	}
	return v.rows.read(index, b, func(key string, v *V) bool { return f(Key{Bytes: key}, v) })
}

// ReleaseGroup gives up a group that will not be read.
func (v *View[V]) ReleaseGroup(group int) {
	if v.ints != nil {
		v.ints.groups[group-v.first].release()
	} else {
		v.rows.groups[group-v.first].release()
	}
}

// Release gives the view up. It may be called twice.
func (v *View[V]) Release() {
	if v.ints != nil {
		v.ints.release()
	} else {
		v.rows.release()
	}
}
