package codec

import (
	"encoding/binary"
	"reflect"
	"unsafe"
)

// mapEntries is the memory that encoding a column of maps borrows: the entries
// of all its maps, keys and values each in one slice. Go maps can only be
// walked and filled through reflection, so this costs some tens of nanoseconds
// an entry, but allocates nothing for one.
type mapEntries struct {
	keys, vals reflect.Value // slices of equal length
	iter       reflect.MapIter
}

// maxEntries is the number of entries above which mapEntries are not kept.
const maxEntries = 1 << 16

func newMapEntries(keys, vals *record) *mapEntries {
	return &mapEntries{
		keys: reflect.New(keys.slice).Elem(),
		vals: reflect.New(vals.slice).Elem(),
	}
}

// reset makes room for n entries.
func (e *mapEntries) reset(n int) {
	for _, s := range []reflect.Value{e.keys, e.vals} {
		s.SetLen(0)
		s.Grow(n)
		s.SetLen(n)
	}
}

// release clears e and gives it back, unless it has grown large.
func (c *column) release(e *mapEntries) {
	e.keys.Clear()
	e.vals.Clear()
	e.iter.Reset(reflect.Value{})
	if e.keys.Cap() <= maxEntries {
		c.entries.Put(e)
	}
}

// appendMaps appends the end offsets, then the keys, then the values.
func (c *column) appendMaps(dst []byte, s *scratch, runs []run, off, stride uintptr, n int) ([]byte, error) {
	dst, ends := extend(dst, n*4)
	total := 0
	for _, r := range runs {
		for i := range r.n {
			m := reflect.NewAt(c.typ, unsafe.Add(r.base, off+uintptr(i)*stride)).Elem()
			if m.Len() > maxColumn-total {
				return nil, c.tooLarge("entries")
			}
			total += m.Len()
			binary.LittleEndian.PutUint32(ends[i*4:], uint32(total))
		}
		ends = ends[r.n*4:]
	}
	e := c.entries.Get().(*mapEntries)
	defer c.release(e)
	e.reset(total)
	c.gather(e, runs, off, stride)

	keys := [1]run{{e.keys.UnsafePointer(), total}}
	dst, err := c.elem.append(dst, s, keys[:], total)
	if err != nil {
		return nil, err
	}
	vals := [1]run{{e.vals.UnsafePointer(), total}}
	return c.val.append(dst, s, vals[:], total)
}

// gather copies the entries of all maps to e.
func (c *column) gather(e *mapEntries, runs []run, off, stride uintptr) {
	k := 0
	for _, r := range runs {
		for i := range r.n {
			e.iter.Reset(reflect.NewAt(c.typ, unsafe.Add(r.base, off+uintptr(i)*stride)).Elem())
			for e.iter.Next() {
				e.keys.Index(k).SetIterKey(&e.iter)
				e.vals.Index(k).SetIterValue(&e.iter)
				k++
			}
		}
	}
}

// decodeMaps decodes the keys and values of all maps to two slabs and fills the
// maps from them.
func (c *column) decodeMaps(src, valid []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	ends, total, src, err := c.takeEnds(src, n)
	if err != nil {
		return nil, err
	}
	if err := c.elem.justify(total, src); err != nil {
		return nil, err
	}
	keys := reflect.MakeSlice(c.elem.slice, total, total)
	src, err = c.elem.decode(src, keys.UnsafePointer(), total)
	if err != nil {
		return nil, err
	}
	if err := c.val.justify(total, src); err != nil {
		return nil, err
	}
	vals := reflect.MakeSlice(c.val.slice, total, total)
	src, err = c.val.decode(src, vals.UnsafePointer(), total)
	if err != nil {
		return nil, err
	}
	prev := 0
	for i := range n {
		end := int(binary.LittleEndian.Uint32(ends[i*4:]))
		if end < prev || end > total {
			return nil, c.badEnd(i, end)
		}
		var m unsafe.Pointer
		if valid == nil || valid[i/8]&(1<<(i%8)) != 0 {
			m = c.fill(keys, vals, prev, end)
		} else if prev != end {
			return nil, c.corrupt("nil value %d has %d entries", i, end-prev)
		}
		*(*unsafe.Pointer)(unsafe.Add(base, off)) = m
		prev = end
		off += stride
	}
	return src, nil
}

// fill makes the map of the entries from to end.
func (c *column) fill(keys, vals reflect.Value, from, end int) unsafe.Pointer {
	m := reflect.MakeMapWithSize(c.typ, end-from)
	for i := from; i < end; i++ {
		m.SetMapIndex(keys.Index(i), vals.Index(i))
	}
	return m.UnsafePointer()
}
