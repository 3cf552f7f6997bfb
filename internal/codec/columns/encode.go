package columns

import (
	"encoding/binary"
	"unsafe"

	"github.com/weirstream/weir/batch"
)

const (
	flagTimes = 1 << iota
	flagKinds
)

const (
	flagNulls = 1 << iota
	flagNanos
)

// Append encodes b after dst.
func Append(dst []byte, b *batch.Columns) []byte {
	if b.Sel != nil {
		b = b.Compact()
	}
	var flags byte
	if len(b.TS) > 0 {
		flags |= flagTimes
	}
	if len(b.Kind) > 0 {
		flags |= flagKinds
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.N))
	dst = append(dst, flags)
	if len(b.TS) > 0 {
		dst = fixed(dst, b.TS[:b.N])
	}
	if len(b.Kind) > 0 {
		dst = fixed(dst, b.Kind[:b.N])
	}
	for _, c := range b.Cols {
		dst = appendColumn(dst, c, b.N)
	}
	return dst
}

// appendColumn encodes the first n values of c.
func appendColumn(dst []byte, c *batch.Column, n int) []byte {
	var flags byte
	if c.Valid != nil {
		flags |= flagNulls
	}
	if c.Layout == batch.Moments && c.I32 != nil {
		flags |= flagNanos
	}
	dst = append(dst, byte(c.Layout), flags)
	if c.Valid != nil {
		dst = fixed(dst, c.Valid[:(n+63)/64])
	}
	switch c.Layout {
	case batch.Bools:
		dst = fixed(dst, c.Bool[:n])
	case batch.Int8s:
		dst = fixed(dst, c.I8[:n])
	case batch.Int16s:
		dst = fixed(dst, c.I16[:n])
	case batch.Int32s:
		dst = fixed(dst, c.I32[:n])
	case batch.Int64s:
		dst = fixed(dst, c.I64[:n])
	case batch.Int128s:
		for _, v := range c.I128[:n] {
			dst = binary.LittleEndian.AppendUint64(dst, v.Lo)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Hi))
		}
	case batch.Float32s:
		dst = fixed(dst, c.F32[:n])
	case batch.Float64s:
		dst = fixed(dst, c.F64[:n])
	case batch.Moments:
		dst = fixed(dst, c.I64[:n])
		if c.I32 != nil {
			dst = fixed(dst, c.I32[:n])
		}
	case batch.ByteSlices:
		dst = appendOffsets(dst, c, n)
		dst = append(dst, c.Data[c.Offsets[0]:c.Offsets[n]]...)
	case batch.Lists, batch.Maps:
		dst = appendOffsets(dst, c, n)
		from, to := c.Offsets[0], c.Offsets[n]
		for _, child := range c.Children {
			if from != 0 {
				child = child.Rows(between(from, to))
			}
			dst = appendColumn(dst, child, int(to-from))
		}
	case batch.Structs:
		for _, child := range c.Children {
			dst = appendColumn(dst, child, n)
		}
	}
	return dst
}

func between(from, to int32) []int32 {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

// appendOffsets encodes where n values end, counted from where the first begins.
func appendOffsets(dst []byte, c *batch.Column, n int) []byte {
	base := c.Offsets[0]
	if base == 0 {
		return fixed(dst, c.Offsets[1:n+1])
	}
	for _, end := range c.Offsets[1 : n+1] {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(end-base))
	}
	return dst
}

// number is a value that memory holds as the format does, but for the order of bytes.
type number interface {
	~bool | ~int8 | ~uint8 | ~int16 | ~int32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// fixed encodes values of fixed size.
func fixed[T number](dst []byte, v []T) []byte {
	if len(v) == 0 {
		return dst
	}
	size := int(unsafe.Sizeof(v[0]))
	at := len(dst)
	dst = append(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*size)...)
	if !littleEndian {
		reverse(dst[at:], size)
	}
	return dst
}

// littleEndian says whether memory already has the byte order of the format.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// reverse turns the bytes of each value of size bytes around.
func reverse(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
