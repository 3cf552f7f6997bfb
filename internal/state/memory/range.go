package memory

import (
	"strings"
	"unsafe"

	"github.com/weirstream/weir/internal/state/keygroup"
)

// Range calls f for each key until f returns false, key group by key group. The
// order within a group is the same for the same calls of Upsert, UpsertBatch,
// Delete and Clear since New; that of keys which are not integers is the order in
// which they were created. The key is a copy that f may keep. f may change
// *v and must not otherwise use the table.
func (t *Table[K, V]) Range(f func(k K, v *V) bool) {
	for group := t.options.First; group <= t.options.Last; group++ {
		if !t.RangeGroup(group, f) {
			return
		}
	}
}

// RangeGroup is Range over one key group, which must be one of the table's. It
// returns false when f did.
func (t *Table[K, V]) RangeGroup(group int, f func(k K, v *V) bool) bool {
	index := group - t.options.First
	kind, cells := t.kind, &t.cells
	switch {
	case cells.ints != nil:
		return cells.ints.rangeGroup(index, true, func(x uint64, v *V) bool {
			var k K
			kind.Store(unsafe.Pointer(&k), x)
			return f(k, v)
		})
	case kind == keygroup.String:
		var copies slab
		return cells.rows.rangeGroup(index, true, func(_ int, key string, v *V) bool {
			key = copies.clone(key)
			return f(*(*K)(unsafe.Pointer(&key)), v)
		})
	case t.kept != nil:
		return cells.rows.rangeGroup(index, true, func(i int, _ string, v *V) bool {
			return f(*t.kept[index].at(i), v)
		})
	}
	return cells.rows.rangeGroup(index, true, func(_ int, key string, v *V) bool {
		return f(t.options.DecodeKey([]byte(key)), v)
	})
}

// A slab copies strings into memory that many of them share, so that copying
// does not allocate for each. A string that is kept keeps its slab.
type slab struct{ buf []byte }

const slabSize = 4 << 10

func (s *slab) clone(key string) string {
	if len(key) > slabSize/4 {
		return strings.Clone(key)
	}
	if cap(s.buf)-len(s.buf) < len(key) {
		s.buf = make([]byte, 0, slabSize)
	}
	start := len(s.buf)
	s.buf = append(s.buf, key...)
	return alias(s.buf[start:])
}
