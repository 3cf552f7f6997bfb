package codec

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// A run is n values that lie one stride apart, from base. The root is one run;
// the elements of slices are as many runs as there are slices. Each column of
// a record is read along the same runs, at its own offset.
type run struct {
	base unsafe.Pointer
	n    int
}

// A scratch is the memory that encoding nested columns borrows: a stack of
// lists of runs, the innermost on top.
type scratch struct {
	runs []run
}

// maxScratch is the number of runs above which a scratch is not kept.
const maxScratch = 1 << 16

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// pop drops the runs from start on, and with them what they refer to.
func (s *scratch) pop(start int) {
	clear(s.runs[start:])
	s.runs = s.runs[:start]
}

// append appends n records that start at base.
func (p *program) append(dst []byte, base unsafe.Pointer, n int) ([]byte, error) {
	if n > maxColumn {
		return dst, fmt.Errorf("encode %d values of %s: more than %d in one batch; use smaller batches", n, p.rec.typ, maxColumn)
	}
	runs := [1]run{{base, n}}
	var s *scratch
	if p.rec.nested {
		s = scratches.Get().(*scratch)
		defer s.release()
	}
	out, err := p.rec.append(dst, s, runs[:], n)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// release gives s back to the pool, empty also when an AppendBinary panicked.
func (s *scratch) release() {
	s.pop(0)
	if cap(s.runs) <= maxScratch {
		scratches.Put(s)
	}
}

// append appends the columns of n records.
func (r *record) append(dst []byte, s *scratch, runs []run, n int) ([]byte, error) {
	if n == 0 {
		return dst, nil
	}
	return r.appendAt(dst, s, runs, 0, r.size, n)
}

// appendAt appends the columns of n values that lie at off in records of the
// given stride.
func (r *record) appendAt(dst []byte, s *scratch, runs []run, off, stride uintptr, n int) ([]byte, error) {
	var err error
	for i := range r.cols {
		c := &r.cols[i]
		if dst, err = c.append(dst, s, runs, off+c.off, stride, n); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// append appends the n values of the column, which lie at off.
func (c *column) append(dst []byte, s *scratch, runs []run, off, stride uintptr, n int) ([]byte, error) {
	switch c.kind {
	case kindFixed:
		return c.appendFixed(dst, runs, off, stride, n), nil
	case kindString:
		return c.appendStrings(dst, runs, off, stride, n)
	case kindBytes:
		return c.appendBytes(appendValidity(dst, runs, off, stride, n), runs, off, stride, n)
	case kindSlice:
		return c.appendSlices(appendValidity(dst, runs, off, stride, n), s, runs, off, stride, n)
	case kindMap:
		return c.appendMaps(appendValidity(dst, runs, off, stride, n), s, runs, off, stride, n)
	case kindPointer:
		return c.appendPointers(appendValidity(dst, runs, off, stride, n), s, runs, off, stride)
	case kindArray:
		var err error
		for i := range c.count {
			if dst, err = c.elem.appendAt(dst, s, runs, off+i*c.elem.size, stride, n); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case kindTime:
		return appendTimes(dst, runs, off, stride, n), nil
	case kindInt:
		return c.appendInts(dst, runs, off, stride, n), nil
	case kindBinary:
		return c.appendBinary(dst, runs, off, stride, n)
	}
	dst, out := extend(dst, n) // kindPad
	clear(out)
	return dst, nil
}

// extend lengthens dst by n bytes and returns it and those bytes, which hold
// anything.
func extend(dst []byte, n int) (longer, out []byte) {
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	return dst, dst[start : start+n : start+n]
}

// appendFixed copies scalars. Records that are nothing but the column are
// copied whole.
func (c *column) appendFixed(dst []byte, runs []run, off, stride uintptr, n int) []byte {
	size := c.width * c.count
	dst, out := extend(dst, n*int(size))
	for _, r := range runs {
		switch {
		case stride == size && littleEndian:
			copy(out, unsafe.Slice((*byte)(r.base), r.n*int(size)))
		case c.count == 1:
			c.putScalars(out, r, off, stride)
		case littleEndian:
			at := off
			for i := range r.n {
				copy(out[i*int(size):], unsafe.Slice((*byte)(unsafe.Add(r.base, at)), size))
				at += stride
			}
		default:
			for i := range r.n {
				elems := run{unsafe.Add(r.base, off+uintptr(i)*stride), int(c.count)}
				c.putScalars(out[i*int(size):], elems, 0, c.width)
			}
		}
		out = out[r.n*int(size):]
	}
	return dst
}

// putScalars writes the scalars of a run, one to a record. The address of each
// is computed from the base: a pointer that steps would end beyond the records.
func (c *column) putScalars(out []byte, r run, off, stride uintptr) {
	switch c.width {
	case 8:
		for i := range r.n {
			binary.LittleEndian.PutUint64(out[i*8:], *(*uint64)(unsafe.Add(r.base, off)))
			off += stride
		}
	case 4:
		for i := range r.n {
			binary.LittleEndian.PutUint32(out[i*4:], *(*uint32)(unsafe.Add(r.base, off)))
			off += stride
		}
	case 2:
		for i := range r.n {
			binary.LittleEndian.PutUint16(out[i*2:], *(*uint16)(unsafe.Add(r.base, off)))
			off += stride
		}
	case 1:
		for i := range r.n {
			out[i] = *(*uint8)(unsafe.Add(r.base, off))
			off += stride
		}
	}
}

// appendInts widens int and uint to 64 bits where they are not.
func (c *column) appendInts(dst []byte, runs []run, off, stride uintptr, n int) []byte {
	dst, out := extend(dst, n*8)
	for _, r := range runs {
		for i := range r.n {
			p := unsafe.Add(r.base, off+uintptr(i)*stride)
			v := uint64(*(*uint)(p))
			if c.class == classSigned {
				v = uint64(int64(*(*int)(p)))
			}
			binary.LittleEndian.PutUint64(out[i*8:], v)
		}
		out = out[r.n*8:]
	}
	return dst
}

// appendTimes appends the seconds, then the nanoseconds.
func appendTimes(dst []byte, runs []run, off, stride uintptr, n int) []byte {
	dst, out := extend(dst, n*12)
	secs, nanos := out[:n*8], out[n*8:]
	for _, r := range runs {
		for i := range r.n {
			t := (*time.Time)(unsafe.Add(r.base, off+uintptr(i)*stride))
			binary.LittleEndian.PutUint64(secs[i*8:], uint64(t.Unix()))
			binary.LittleEndian.PutUint32(nanos[i*4:], uint32(t.Nanosecond()))
		}
		secs, nanos = secs[r.n*8:], nanos[r.n*4:]
	}
	return dst
}

// appendStrings appends the end offsets, then the bytes.
func (c *column) appendStrings(dst []byte, runs []run, off, stride uintptr, n int) ([]byte, error) {
	dst, ends := extend(dst, n*4)
	total := uint64(0)
	for _, r := range runs {
		at := off
		for i := range r.n {
			total += uint64(len(*(*string)(unsafe.Add(r.base, at))))
			binary.LittleEndian.PutUint32(ends[i*4:], uint32(total))
			at += stride
		}
		if total > maxColumn {
			return nil, c.tooLarge("bytes")
		}
		ends = ends[r.n*4:]
	}
	dst, out := extend(dst, int(total))
	for _, r := range runs {
		at := off
		for range r.n {
			out = out[copy(out, *(*string)(unsafe.Add(r.base, at))):]
			at += stride
		}
	}
	return dst, nil
}

// appendBytes does the same for byte slices.
func (c *column) appendBytes(dst []byte, runs []run, off, stride uintptr, n int) ([]byte, error) {
	dst, ends := extend(dst, n*4)
	total := uint64(0)
	for _, r := range runs {
		at := off
		for i := range r.n {
			total += uint64(len(*(*[]byte)(unsafe.Add(r.base, at))))
			binary.LittleEndian.PutUint32(ends[i*4:], uint32(total))
			at += stride
		}
		if total > maxColumn {
			return nil, c.tooLarge("bytes")
		}
		ends = ends[r.n*4:]
	}
	dst, out := extend(dst, int(total))
	for _, r := range runs {
		at := off
		for range r.n {
			out = out[copy(out, *(*[]byte)(unsafe.Add(r.base, at))):]
			at += stride
		}
	}
	return dst, nil
}

// appendValidity appends which of n slices, maps or pointers are not nil. The
// first word of each tells.
func appendValidity(dst []byte, runs []run, off, stride uintptr, n int) []byte {
	if !anyNil(runs, off, stride) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	dst, bits := extend(dst, (n+7)/8)
	clear(bits)
	k := 0
	for _, r := range runs {
		for i := range r.n {
			if *(*unsafe.Pointer)(unsafe.Add(r.base, off+uintptr(i)*stride)) != nil {
				bits[k/8] |= 1 << (k % 8)
			}
			k++
		}
	}
	return dst
}

// anyNil says whether one of the slices, maps or pointers at off is nil.
func anyNil(runs []run, off, stride uintptr) bool {
	for _, r := range runs {
		at := off
		for range r.n {
			if *(*unsafe.Pointer)(unsafe.Add(r.base, at)) == nil {
				return true
			}
			at += stride
		}
	}
	return false
}

// appendSlices appends the end offsets, then the elements of all slices.
func (c *column) appendSlices(dst []byte, s *scratch, runs []run, off, stride uintptr, n int) ([]byte, error) {
	dst, ends := extend(dst, n*4)
	start, total := len(s.runs), 0
	for _, r := range runs {
		for i := range r.n {
			h := (*sliceHeader)(unsafe.Add(r.base, off+uintptr(i)*stride))
			if h.len > 0 {
				s.runs = append(s.runs, run{h.data, h.len})
			}
			if h.len > maxColumn-total {
				return nil, c.tooLarge("elements")
			}
			total += h.len
			binary.LittleEndian.PutUint32(ends[i*4:], uint32(total))
		}
		ends = ends[r.n*4:]
	}
	elems := s.runs[start:len(s.runs):len(s.runs)]
	dst, err := c.elem.append(dst, s, elems, total)
	s.pop(start)
	return dst, err
}

// appendPointers appends what the pointers that are not nil point to.
func (c *column) appendPointers(dst []byte, s *scratch, runs []run, off, stride uintptr) ([]byte, error) {
	start := len(s.runs)
	for _, r := range runs {
		for i := range r.n {
			if p := *(*unsafe.Pointer)(unsafe.Add(r.base, off+uintptr(i)*stride)); p != nil {
				s.runs = append(s.runs, run{p, 1})
			}
		}
	}
	elems := s.runs[start:len(s.runs):len(s.runs)]
	dst, err := c.elem.append(dst, s, elems, len(elems))
	s.pop(start)
	return dst, err
}

// appendBinary appends the end offsets, then what the values append of
// themselves.
func (c *column) appendBinary(dst []byte, runs []run, off, stride uintptr, n int) ([]byte, error) {
	at := len(dst)
	dst, _ = extend(dst, n*4)
	start := len(dst)
	for _, r := range runs {
		for i := range r.n {
			v := reflect.NewAt(c.typ, unsafe.Add(r.base, off+uintptr(i)*stride)).Interface()
			out, err := v.(encoding.BinaryAppender).AppendBinary(dst)
			switch {
			case err != nil:
				return nil, fmt.Errorf("encode column %s: append a %s: %w", c.path, c.typ, err)
			case len(out) < len(dst):
				return nil, fmt.Errorf("encode column %s: AppendBinary of %s returned fewer bytes than it was given", c.path, c.typ)
			case len(out)-start > maxColumn:
				return nil, c.tooLarge("bytes")
			}
			dst = out
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-start))
			at += 4
		}
	}
	return dst, nil
}
