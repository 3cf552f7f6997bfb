package codec

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"time"
	"unsafe"
)

// decode decodes the columns of n records to base and returns the rest of src.
// The caller has justified n.
func (r *record) decode(src []byte, base unsafe.Pointer, n int) ([]byte, error) {
	if n == 0 {
		return src, nil
	}
	return r.decodeAt(src, base, 0, r.size, n)
}

// decodeAt decodes the columns of n values that lie at off in records of the
// given stride.
func (r *record) decodeAt(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	var err error
	for i := range r.cols {
		c := &r.cols[i]
		if src, err = c.decode(src, base, off+c.off, stride, n); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decode decodes the n values of the column, which lie at off. All of them are
// written, also those that are zero.
func (c *column) decode(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	switch c.kind {
	case kindFixed:
		return c.decodeFixed(src, base, off, stride, n)
	case kindString:
		return c.decodeStrings(src, base, off, stride, n)
	case kindArray:
		var err error
		for i := range c.count {
			if src, err = c.elem.decodeAt(src, base, off+i*c.elem.size, stride, n); err != nil {
				return nil, err
			}
		}
		return src, nil
	case kindTime:
		return c.decodeTimes(src, base, off, stride, n)
	case kindInt:
		return c.decodeInts(src, base, off, stride, n)
	case kindBinary:
		return c.decodeBinary(src, base, off, stride, n)
	case kindPad:
		_, src, err := c.take(src, n)
		return src, err
	}
	valid, src, err := c.takeValidity(src, n)
	if err != nil {
		return nil, err
	}
	switch c.kind {
	case kindBytes:
		return c.decodeBytes(src, valid, base, off, stride, n)
	case kindSlice:
		return c.decodeSlices(src, valid, base, off, stride, n)
	case kindMap:
		return c.decodeMaps(src, valid, base, off, stride, n)
	}
	return c.decodePointers(src, valid, base, off, stride, n)
}

// take cuts n bytes off src.
func (c *column) take(src []byte, n int) (head, rest []byte, err error) {
	if len(src) < n {
		return nil, nil, c.short(n, len(src))
	}
	return src[:n:n], src[n:], nil
}

// takeEnds cuts the end offsets of n values off src and checks the last one,
// the total; the one who walks them checks that they do not descend.
func (c *column) takeEnds(src []byte, n int) (ends []byte, total int, rest []byte, err error) {
	ends, rest, err = c.take(src, n*4)
	if err != nil {
		return nil, 0, nil, err
	}
	last := binary.LittleEndian.Uint32(ends[n*4-4:])
	if last > maxColumn {
		return nil, 0, nil, c.corrupt("end offset %d", last)
	}
	return ends, int(last), rest, nil
}

// badEnd reports an end offset that is before its predecessor or beyond the
// total.
func (c *column) badEnd(i, end int) error {
	return c.corrupt("end offset %d of value %d is out of order", uint32(end), i)
}

// decodeFixed copies scalars. Records that are nothing but the column are
// copied whole.
func (c *column) decodeFixed(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	size := c.width * c.count
	in, rest, err := c.take(src, n*int(size))
	if err != nil {
		return nil, err
	}
	if c.class == classBool {
		for i, b := range in {
			if b > 1 {
				return nil, c.corrupt("bool %d is %d", i, b)
			}
		}
	}
	switch {
	case stride == size && littleEndian:
		copy(unsafe.Slice((*byte)(base), len(in)), in)
	case c.count == 1:
		c.getScalars(in, base, off, stride, n)
	case littleEndian:
		for i := range n {
			copy(unsafe.Slice((*byte)(unsafe.Add(base, off)), size), in[i*int(size):])
			off += stride
		}
	default:
		for i := range n {
			c.getScalars(in[i*int(size):], unsafe.Add(base, off), 0, c.width, int(c.count))
			off += stride
		}
	}
	return rest, nil
}

// getScalars reads n scalars, one to a record.
func (c *column) getScalars(in []byte, base unsafe.Pointer, off, stride uintptr, n int) {
	switch c.width {
	case 8:
		for i := range n {
			*(*uint64)(unsafe.Add(base, off)) = binary.LittleEndian.Uint64(in[i*8:])
			off += stride
		}
	case 4:
		for i := range n {
			*(*uint32)(unsafe.Add(base, off)) = binary.LittleEndian.Uint32(in[i*4:])
			off += stride
		}
	case 2:
		for i := range n {
			*(*uint16)(unsafe.Add(base, off)) = binary.LittleEndian.Uint16(in[i*2:])
			off += stride
		}
	case 1:
		for i := range n {
			*(*uint8)(unsafe.Add(base, off)) = in[i]
			off += stride
		}
	}
}

// decodeInts narrows 64 bits to int and uint where they are narrower.
func (c *column) decodeInts(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	in, rest, err := c.take(src, n*8)
	if err != nil {
		return nil, err
	}
	for i := range n {
		v := binary.LittleEndian.Uint64(in[i*8:])
		if c.class == classSigned && int64(int(v)) != int64(v) || c.class != classSigned && uint64(uint(v)) != v {
			return nil, c.corrupt("value %d does not fit the %d-bit %s of this machine", i, bits.UintSize, c.typ)
		}
		*(*uint)(unsafe.Add(base, off+uintptr(i)*stride)) = uint(v)
	}
	return rest, nil
}

// decodeTimes decodes the seconds and nanoseconds to instants in UTC.
func (c *column) decodeTimes(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	in, rest, err := c.take(src, n*12)
	if err != nil {
		return nil, err
	}
	secs, nanos := in[:n*8], in[n*8:]
	for i := range n {
		sec, nano := int64(binary.LittleEndian.Uint64(secs[i*8:])), binary.LittleEndian.Uint32(nanos[i*4:])
		if nano >= 1e9 {
			return nil, c.corrupt("time %d has %d nanoseconds", i, nano)
		}
		*(*time.Time)(unsafe.Add(base, off+uintptr(i)*stride)) = time.Unix(sec, int64(nano)).UTC()
	}
	return rest, nil
}

// decodeStrings copies the bytes of all strings once and cuts them from that.
func (c *column) decodeStrings(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	ends, total, src, err := c.takeEnds(src, n)
	if err != nil {
		return nil, err
	}
	in, rest, err := c.take(src, total)
	if err != nil {
		return nil, err
	}
	slab, prev := string(in), 0
	for i := range n {
		end := int(binary.LittleEndian.Uint32(ends[i*4:]))
		if end < prev || end > len(slab) {
			return nil, c.badEnd(i, end)
		}
		*(*string)(unsafe.Add(base, off)) = slab[prev:end]
		prev = end
		off += stride
	}
	return rest, nil
}

// decodeBytes does the same for byte slices. Each is cut to its length, so
// that appending to one does not write to the next.
func (c *column) decodeBytes(src, valid []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	ends, total, src, err := c.takeEnds(src, n)
	if err != nil {
		return nil, err
	}
	in, rest, err := c.take(src, total)
	if err != nil {
		return nil, err
	}
	slab, prev := append(make([]byte, 0, total), in...), 0
	for i := range n {
		end := int(binary.LittleEndian.Uint32(ends[i*4:]))
		if end < prev || end > len(slab) {
			return nil, c.badEnd(i, end)
		}
		v := slab[prev:end:end]
		if valid != nil && valid[i/8]&(1<<(i%8)) == 0 {
			if prev != end {
				return nil, c.corrupt("nil value %d has %d bytes", i, end-prev)
			}
			v = nil
		}
		*(*[]byte)(unsafe.Add(base, off)) = v
		prev = end
		off += stride
	}
	return rest, nil
}

// takeValidity cuts the validity of n values off src. The bitmap is nil when
// all of them are valid.
func (c *column) takeValidity(src []byte, n int) (valid, rest []byte, err error) {
	flag, src, err := c.take(src, 1)
	if err != nil || flag[0] == 0 {
		return nil, src, err
	}
	if flag[0] != 1 {
		return nil, nil, c.corrupt("validity flag is %d", flag[0])
	}
	valid, rest, err = c.take(src, (n+7)/8)
	if err != nil {
		return nil, nil, err
	}
	if n%8 != 0 && valid[n/8]>>(n%8) != 0 {
		return nil, nil, c.corrupt("the validity has bits set beyond its %d values", n)
	}
	return valid, rest, nil
}

// decodeSlices decodes the elements of all slices to one slab and cuts the
// slices from that.
func (c *column) decodeSlices(src, valid []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	ends, total, src, err := c.takeEnds(src, n)
	if err != nil {
		return nil, err
	}
	if err := c.elem.justify(total, src); err != nil {
		return nil, err
	}
	slab, prev := c.elem.alloc(total), 0
	for i := range n {
		end := int(binary.LittleEndian.Uint32(ends[i*4:]))
		if end < prev || end > total {
			return nil, c.badEnd(i, end)
		}
		h := sliceHeader{data: unsafe.Pointer(&zero), len: end - prev, cap: end - prev}
		if h.len > 0 {
			h.data = unsafe.Add(slab, uintptr(prev)*c.elem.size)
		}
		if valid != nil && valid[i/8]&(1<<(i%8)) == 0 {
			if h.len > 0 {
				return nil, c.corrupt("nil value %d has %d elements", i, h.len)
			}
			h.data = nil
		}
		*(*sliceHeader)(unsafe.Add(base, off)) = h
		prev = end
		off += stride
	}
	return c.elem.decode(src, slab, total)
}

// decodePointers decodes all pointees to one slab and points to them.
func (c *column) decodePointers(src, valid []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	total := n
	if valid != nil {
		total = 0
		for _, b := range valid {
			total += bits.OnesCount8(b)
		}
	}
	if err := c.elem.justify(total, src); err != nil {
		return nil, err
	}
	slab, k := c.elem.alloc(total), 0
	for i := range n {
		var p unsafe.Pointer
		if valid == nil || valid[i/8]&(1<<(i%8)) != 0 {
			p = unsafe.Add(slab, uintptr(k)*c.elem.size)
			k++
		}
		*(*unsafe.Pointer)(unsafe.Add(base, off)) = p
		off += stride
	}
	return c.elem.decode(src, slab, total)
}

// decodeBinary lets each value decode itself.
func (c *column) decodeBinary(src []byte, base unsafe.Pointer, off, stride uintptr, n int) ([]byte, error) {
	ends, total, src, err := c.takeEnds(src, n)
	if err != nil {
		return nil, err
	}
	in, rest, err := c.take(src, total)
	if err != nil {
		return nil, err
	}
	prev := 0
	for i := range n {
		end := int(binary.LittleEndian.Uint32(ends[i*4:]))
		if end < prev || end > len(in) {
			return nil, c.badEnd(i, end)
		}
		v := reflect.NewAt(c.typ, unsafe.Add(base, off+uintptr(i)*stride)).Interface()
		if err := v.(encoding.BinaryUnmarshaler).UnmarshalBinary(in[prev:end:end]); err != nil {
			return nil, fmt.Errorf("decode column %s: value %d of %s: %w: %w", c.path, i, c.typ, ErrCorrupt, err)
		}
		prev = end
	}
	return rest, nil
}
