package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/batch"
)

// maxRows bounds how many rows a batch, and elements a column of values without bytes,
// may claim.
const maxRows = 1 << 20

// Decode makes a batch of what Append has written. Its columns must be laid out as
// those of shape, which are otherwise not looked at.
func Decode(src []byte, shape []*batch.Column) (*batch.Columns, error) {
	d := decoder{rest: src}
	b, err := d.batch(shape)
	if err == nil && len(d.rest) > 0 {
		err = fmt.Errorf("%d bytes too many", len(d.rest))
	}
	if err != nil {
		return nil, fmt.Errorf("decode batch of columns: %w", err)
	}
	return b, nil
}

type decoder struct{ rest []byte }

var errShort = errors.New("it is cut short")

// take gives the next n bytes.
func (d *decoder) take(n int) ([]byte, error) {
	if n > len(d.rest) {
		return nil, errShort
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b, nil
}

func (d *decoder) batch(shape []*batch.Column) (*batch.Columns, error) {
	head, err := d.take(5)
	if err != nil {
		return nil, err
	}
	n, flags := int(binary.LittleEndian.Uint32(head)), head[4]
	if n > maxRows || flags&^(flagTimes|flagKinds) != 0 {
		return nil, fmt.Errorf("%d rows with flags %#x: want at most %d rows and flags up to %#x", n, flags, maxRows, flagTimes|flagKinds)
	}
	b := &batch.Columns{N: n, Cols: make([]*batch.Column, len(shape))}
	if flags&flagTimes != 0 {
		if b.TS, err = values[int64](d, n); err != nil {
			return nil, err
		}
	}
	if flags&flagKinds != 0 {
		if b.Kind, err = values[batch.RowKind](d, n); err != nil {
			return nil, err
		}
		for i, k := range b.Kind {
			if k > batch.Delete {
				return nil, fmt.Errorf("row %d is of kind %d: want at most %d", i, k, batch.Delete)
			}
		}
	}
	for i, s := range shape {
		if b.Cols[i], err = d.column(s, n); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return b, nil
}

// column decodes n values.
func (d *decoder) column(shape *batch.Column, n int) (*batch.Column, error) {
	head, err := d.take(2)
	if err != nil {
		return nil, err
	}
	layout, flags := batch.Layout(head[0]), head[1]
	if layout != shape.Layout || flags&^(flagNulls|flagNanos) != 0 || flags&flagNanos != 0 && layout != batch.Moments {
		return nil, fmt.Errorf("layout %d with flags %#x: want layout %d", layout, flags, shape.Layout)
	}
	c := &batch.Column{Layout: layout, Len: n}
	if flags&flagNulls != 0 {
		if c.Valid, err = values[uint64](d, (n+63)/64); err != nil {
			return nil, err
		}
		if n%64 != 0 {
			c.Valid[n/64] &= 1<<(n%64) - 1
		}
	}
	return c, d.values(c, shape, flags, n)
}

// values decodes the values of c.
func (d *decoder) values(c, shape *batch.Column, flags byte, n int) (err error) {
	switch c.Layout {
	case batch.Bools:
		c.Bool, err = d.bools(n)
	case batch.Int8s:
		c.I8, err = values[int8](d, n)
	case batch.Int16s:
		c.I16, err = values[int16](d, n)
	case batch.Int32s:
		c.I32, err = values[int32](d, n)
	case batch.Int64s:
		c.I64, err = values[int64](d, n)
	case batch.Int128s:
		c.I128, err = d.wide(n)
	case batch.Float32s:
		c.F32, err = values[float32](d, n)
	case batch.Float64s:
		c.F64, err = values[float64](d, n)
	case batch.Moments:
		if c.I64, err = values[int64](d, n); err == nil && flags&flagNanos != 0 {
			c.I32, err = values[int32](d, n)
		}
	case batch.ByteSlices:
		var end int
		if end, err = d.offsets(c, n); err != nil {
			return err
		}
		var data []byte
		if data, err = d.take(end); err == nil {
			c.Data = append([]byte(nil), data...)
		}
	case batch.Lists, batch.Maps:
		var end int
		if end, err = d.offsets(c, n); err != nil {
			return err
		}
		// Elements that take no bytes must not be more than could be written.
		if end > len(d.rest)*64 && end > maxRows {
			return fmt.Errorf("%d elements in %d bytes", end, len(d.rest))
		}
		err = d.children(c, shape, end)
	case batch.Structs:
		err = d.children(c, shape, n)
	}
	return err
}

func (d *decoder) children(c, shape *batch.Column, n int) error {
	for _, s := range shape.Children {
		child, err := d.column(s, n)
		if err != nil {
			return err
		}
		c.Children = append(c.Children, child)
	}
	return nil
}

// offsets decodes where n values end, and gives where the last does.
func (d *decoder) offsets(c *batch.Column, n int) (int, error) {
	ends, err := values[int32](d, n)
	if err != nil {
		return 0, err
	}
	c.Offsets = make([]int32, n+1)
	copy(c.Offsets[1:], ends)
	last := int32(0)
	for i, end := range ends {
		if end < last {
			return 0, fmt.Errorf("value %d ends at %d, before it begins at %d", i, end, last)
		}
		last = end
	}
	return int(last), nil
}

// bools decodes bytes that are 0 for false; as they are they would not do, because
// memory knows no other true than 1.
func (d *decoder) bools(n int) ([]bool, error) {
	b, err := d.take(n)
	if err != nil {
		return nil, err
	}
	v := make([]bool, n)
	for i := range b {
		v[i] = b[i] != 0
	}
	return v, nil
}

func (d *decoder) wide(n int) ([]batch.Int128, error) {
	if n > len(d.rest)/16 {
		return nil, errShort
	}
	b, err := d.take(16 * n)
	if err != nil {
		return nil, err
	}
	v := make([]batch.Int128, n)
	for i := range v {
		v[i] = batch.Int128{Lo: binary.LittleEndian.Uint64(b[16*i:]), Hi: int64(binary.LittleEndian.Uint64(b[16*i+8:]))}
	}
	return v, nil
}

// values decodes n values of fixed size, of which every pattern of bits is one.
func values[T ~int8 | ~uint8 | ~int16 | ~int32 | ~int64 | ~uint64 | ~float32 | ~float64](d *decoder, n int) ([]T, error) {
	size := int(unsafe.Sizeof(*new(T)))
	if n > len(d.rest)/size {
		return nil, errShort
	}
	b, err := d.take(n * size)
	if err != nil || n == 0 {
		return []T{}, err
	}
	v := make([]T, n)
	to := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), n*size)
	copy(to, b)
	if !littleEndian {
		reverse(to, size)
	}
	return v, nil
}
