package state

import (
	"unsafe"

	"github.com/weirstream/weir/internal/state/memory"
)

// What a store has on the disk are values as they lie in memory, since nobody but this
// process reads them.

// bytesOf returns the memory of a value that holds no pointers.
func bytesOf[V any](v *V) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// load returns the value whose memory value is a copy of.
func load[V any](value []byte) (v V) {
	copy(bytesOf(&v), value)
	return v
}

// fetch brings what the disk has of a key back into memory, which is then used.
func (s *store[V]) fetch(k *memory.Key) {
	if s.blobs != nil {
		s.cold.fetchBlob(s.blobs, k)
		return
	}
	g := s.cold.use(k.Hash)
	if g == nil || s.has(k) {
		return
	}
	value, ok := s.cold.take(g, k)
	if !ok {
		return
	}
	if s.cells != nil {
		v, _ := s.cells.Upsert(k)
		*v = load[V](value)
	} else {
		v, _ := s.timed.Upsert(k)
		*v = load[timed[V]](value)
	}
}

// has says whether a key is in memory. blobs must be nil.
func (s *store[V]) has(k *memory.Key) (ok bool) {
	if s.cells != nil {
		_, ok = s.cells.Get(k)
	} else {
		_, ok = s.timed.Get(k)
	}
	return ok
}

// fetchBlob is fetch for a table of bytes.
func (c *cold) fetchBlob(blobs *memory.Blobs, k *memory.Key) {
	g := c.use(k.Hash)
	if g == nil {
		return
	}
	if _, ok := blobs.Get(k); ok {
		return
	}
	if value, ok := c.take(g, k); ok {
		blobs.Put(k, value)
	}
}

// evict puts a group on the disk, but for what was used of late.
func (s *store[V]) evict(group int) {
	switch {
	case s.cells != nil:
		evictCells(s.cold, s.cells, group)
	case s.timed != nil:
		evictCells(s.cold, s.timed, group)
	default:
		evictBlobs(s.cold, s.blobs, group)
	}
}

func evictCells[V any](c *cold, cells *memory.Cells[V], group int) {
	keys := cells.GroupLen(group)
	if keys == 0 {
		return
	}
	stays, end := c.sift(group, keys)
	cells.Sift(group, func(k *memory.Key, v *V) bool {
		if stays(k.Hash) {
			return true
		}
		c.put(group, k, bytesOf(v))
		return false
	}, nil)
	end()
}

func evictBlobs(c *cold, blobs *memory.Blobs, group int) {
	keys := blobs.GroupLen(group)
	if keys == 0 {
		return
	}
	stays, end := c.sift(group, keys)
	blobs.Sift(group, func(k *memory.Key, value []byte) bool {
		if stays(k.Hash) {
			return true
		}
		c.put(group, k, value)
		return false
	})
	end()
}

// valueOf returns the value that the disk holds as value.
func (s *store[V]) valueOf(value []byte) V {
	switch {
	case s.cells != nil:
		return load[V](value)
	case s.timed != nil:
		return load[timed[V]](value).v
	}
	return s.decode(value)
}
