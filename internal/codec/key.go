package codec

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// CheckKey says whether values of type t can be keys: whether they can be
// encoded and equal values have equal encodings. Slices, maps and pointers are
// refused, wherever they are in t, and types that encode themselves without
// being comparable. The error is a *TypeError.
func CheckKey(t reflect.Type) error {
	prog, err := programOf(t)
	if err != nil {
		return err
	}
	if prog.keyErr != nil {
		return prog.keyErr
	}
	return nil
}

// AppendKey appends the canonical encoding of the one value v, field after
// field: equal values append equal bytes, different values different ones, and
// no encoding is the beginning of another. The two zeros of a float are equal,
// and so are all its NaNs; two times are equal when they are the same instant.
// A type that encodes itself is equal where its bytes are. Fields that are
// left out of the encoding do not count.
//
// The compiler must take v to escape: a caller that encodes the keys of many
// records keeps one variable for them outside its loop.
//
// T must satisfy CheckKey. AppendKey panics if it does not, or if an
// AppendBinary fails, as a key must exist for every record.
func (p *Plan[T]) AppendKey(dst []byte, v *T) []byte {
	if p.prog.keyErr != nil {
		panic(p.prog.keyErr)
	}
	return p.prog.rec.appendKey(dst, unsafe.Pointer(v))
}

// checkKey finds a column that cannot be part of a key of type root.
func (r *record) checkKey(root reflect.Type) *TypeError {
	for i := range r.cols {
		c := &r.cols[i]
		reason := ""
		switch c.kind {
		case kindArray:
			if err := c.elem.checkKey(root); err != nil {
				return err
			}
		case kindBytes:
			reason = "a slice cannot be part of a key: use a string or an array"
		case kindSlice:
			reason = "a slice cannot be part of a key: use an array, or a string made of the elements"
		case kindMap:
			reason = "a map cannot be part of a key: use the entries that identify the record"
		case kindPointer:
			reason = "a pointer cannot be part of a key: use the value it points to"
		case kindBinary:
			if !c.typ.Comparable() {
				reason = "a type that encodes itself can be part of a key only if it is comparable with =="
			}
		}
		if reason != "" {
			return &TypeError{Root: root.String(), Path: c.path, Type: c.typ.String(), Reason: reason}
		}
	}
	return nil
}

// appendKey appends the columns of the one value at p.
func (r *record) appendKey(dst []byte, p unsafe.Pointer) []byte {
	for i := range r.cols {
		c := &r.cols[i]
		dst = c.appendKey(dst, unsafe.Add(p, c.off))
	}
	return dst
}

// appendKey appends the one value at p. Anything of variable length is
// preceded by its length.
func (c *column) appendKey(dst []byte, p unsafe.Pointer) []byte {
	switch c.kind {
	case kindFixed:
		if c.class == classFloat {
			return c.appendFloatKey(dst, p)
		}
		dst, out := extend(dst, int(c.width*c.count))
		c.putScalars(out, run{p, int(c.count)}, 0, c.width)
		return dst
	case kindInt:
		return c.appendInts(dst, []run{{p, 1}}, 0, 0, 1)
	case kindString:
		s := *(*string)(p)
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		return append(dst, s...)
	case kindTime:
		t := (*time.Time)(p)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t.Unix()))
		return binary.LittleEndian.AppendUint32(dst, uint32(t.Nanosecond()))
	case kindArray:
		for i := range c.count {
			dst = c.elem.appendKey(dst, unsafe.Add(p, i*c.elem.size))
		}
	case kindBinary:
		return c.appendBinaryKey(dst, p)
	}
	return dst
}

// appendFloatKey appends floats with one zero and one NaN.
func (c *column) appendFloatKey(dst []byte, p unsafe.Pointer) []byte {
	for i := range c.count {
		at := unsafe.Add(p, i*c.width)
		if c.width == 4 {
			f := *(*float32)(at)
			switch {
			case f == 0:
				f = 0
			case f != f:
				f = float32(math.NaN())
			}
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
			continue
		}
		f := *(*float64)(at)
		switch {
		case f == 0:
			f = 0
		case f != f:
			f = math.NaN()
		}
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// appendBinaryKey appends what the value appends of itself, after its length.
func (c *column) appendBinaryKey(dst []byte, p unsafe.Pointer) []byte {
	start := len(dst)
	dst, _ = extend(dst, 4)
	out, err := reflect.NewAt(c.typ, p).Interface().(encoding.BinaryAppender).AppendBinary(dst)
	if err == nil && (len(out) < start+4 || len(out)-start-4 > maxColumn) {
		err = fmt.Errorf("it turned %d bytes into %d", len(dst), len(out))
	}
	if err != nil {
		panic(fmt.Errorf("encode key %s: append a %s: %w", c.path, c.typ, err))
	}
	binary.LittleEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	return out
}

// DecodeKey decodes one value that AppendKey appended from the front of src to
// *v, and returns the rest of src. Nothing in v refers to src. The two zeros of a
// float come back as the positive one, its NaNs as one, and times in UTC. When the
// input is to blame the error wraps ErrCorrupt.
func (p *Plan[T]) DecodeKey(v *T, src []byte) (rest []byte, err error) {
	if p.prog.keyErr != nil {
		panic(p.prog.keyErr)
	}
	if p.prog.rec.partial {
		var zero T
		*v = zero
	}
	return p.prog.rec.decodeKey(src, unsafe.Pointer(v))
}

// decodeKey decodes the columns of the one value at p.
func (r *record) decodeKey(src []byte, p unsafe.Pointer) (rest []byte, err error) {
	for i := range r.cols {
		c := &r.cols[i]
		if src, err = c.decodeKey(src, unsafe.Add(p, c.off)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decodeKey decodes the one value at p, which appendKey appended.
func (c *column) decodeKey(src []byte, p unsafe.Pointer) (rest []byte, err error) {
	switch c.kind {
	case kindString:
		n, size := binary.Uvarint(src)
		if size <= 0 || n > maxColumn || uint64(len(src)-size) < n {
			return nil, c.corrupt("the length of the string is beyond the %d bytes left", len(src))
		}
		*(*string)(p) = string(src[size : size+int(n)])
		return src[size+int(n):], nil
	case kindArray:
		for i := range c.count {
			if src, err = c.elem.decodeKey(src, unsafe.Add(p, i*c.elem.size)); err != nil {
				return nil, err
			}
		}
		return src, nil
	case kindPad:
		return src, nil
	}
	return c.decode(src, p, 0, c.typ.Size(), 1)
}

// CheckKey says whether values of T can be keys, as the function does.
func (p *Plan[T]) CheckKey() error {
	if p.prog.keyErr != nil {
		return p.prog.keyErr
	}
	return nil
}
