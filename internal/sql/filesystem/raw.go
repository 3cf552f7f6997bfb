package filesystem

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/types"
)

// rawFormat is one value to a line, as its bytes are: text in UTF-8, numbers of fixed
// size.
type rawFormat struct{ order binary.ByteOrder }

func newRawFormat() rawFormat { return rawFormat{binary.BigEndian} }

var rawOptions = []string{"raw.charset", "raw.endianness"}

// set takes an option; known is false if it is none of the format's.
func (f *rawFormat) set(key, value string) (known bool, err error) {
	switch key {
	case "raw.charset":
		if value != "UTF-8" && value != "utf-8" {
			err = fmt.Errorf("'%s' is not known; there is UTF-8", value)
		}
	case "raw.endianness":
		switch value {
		case "big-endian":
			f.order = binary.BigEndian
		case "little-endian":
			f.order = binary.LittleEndian
		default:
			err = fmt.Errorf("'%s' is neither big-endian nor little-endian", value)
		}
	default:
		return false, nil
	}
	return true, err
}

// rawSize is how many bytes a value has; 0: as many as there are; ok is false for types
// that have no raw form.
func rawSize(t types.Type) (size int, ok bool) {
	switch t.Kind {
	case types.Char, types.VarChar, types.Binary, types.VarBinary:
		return 0, true
	case types.Boolean, types.TinyInt:
		return 1, true
	case types.SmallInt:
		return 2, true
	case types.Int, types.Float:
		return 4, true
	case types.BigInt, types.Double:
		return 8, true
	}
	return 0, false
}

// rawColumn refuses tables whose rows are not one value.
func rawColumn(columns []types.Field, stored []int) error {
	if len(stored) != 1 {
		return fmt.Errorf("format 'raw' has one column besides those of partitions, and the table has %d", len(stored))
	}
	c := columns[stored[0]]
	if _, ok := rawSize(c.Type); !ok {
		return fmt.Errorf("column %s: format 'raw' has no values of type %s", c.Name, c.Type.Text())
	}
	return nil
}

// rawDecoder makes a record of each line.
type rawDecoder struct {
	rawFormat
	t      types.Type
	wanted bool // the value is the scan's only column that is in the file
	column int
}

// decode finds records.
func (d *rawDecoder) decode(v *values, text []byte, last bool, begin, most int) (consumed int, err error) {
	v.begin(text)
	size, _ := rawSize(d.t)
	at := 0
	for v.rows < most && at < begin {
		end := bytes.IndexByte(text[at:], '\n')
		next := at + end + 1
		if end < 0 {
			if !last {
				break
			}
			next = len(text)
			end = next - at
		}
		line := text[at : at+end]
		if size > 0 && len(line) != size {
			err := v.refuse(&recordError{at, next, 0, line, fmt.Errorf("a value of type %s has %d bytes, and the line %d", d.t.Text(), size, len(line))})
			if err != nil {
				return at, err
			}
			at = next
			continue
		}
		if d.wanted {
			value := span{int32(at), int32(at + end)}
			if size > 0 {
				from := len(v.side)
				v.side = d.number(v.side, line)
				value = v.aside(from)
			}
			v.of[d.column][v.rows] = value
		}
		v.found(at, next)
		at = next
	}
	return at, nil
}

// number writes a value of fixed size as a text.
func (d *rawDecoder) number(dst, v []byte) []byte {
	switch d.t.Kind {
	case types.Boolean:
		dst = strconv.AppendBool(dst, v[0] != 0)
	case types.TinyInt:
		dst = strconv.AppendInt(dst, int64(int8(v[0])), 10)
	case types.SmallInt:
		dst = strconv.AppendInt(dst, int64(int16(d.order.Uint16(v))), 10)
	case types.Int:
		dst = strconv.AppendInt(dst, int64(int32(d.order.Uint32(v))), 10)
	case types.BigInt:
		dst = strconv.AppendInt(dst, int64(d.order.Uint64(v)), 10)
	case types.Float:
		dst = floattext.AppendFloat(dst, math.Float32frombits(d.order.Uint32(v)))
	case types.Double:
		dst = floattext.AppendDouble(dst, math.Float64frombits(d.order.Uint64(v)))
	}
	return dst
}

// append writes a value; NULL has no bytes.
func (f *rawFormat) append(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return dst
	}
	var b [8]byte
	size, _ := rawSize(t)
	switch t.Kind {
	case types.Boolean:
		if c.Bool[i] {
			b[0] = 1
		}
	case types.TinyInt:
		b[0] = byte(c.I8[i])
	case types.SmallInt:
		f.order.PutUint16(b[:], uint16(c.I16[i]))
	case types.Int:
		f.order.PutUint32(b[:], uint32(c.I32[i]))
	case types.BigInt:
		f.order.PutUint64(b[:], uint64(c.I64[i]))
	case types.Float:
		f.order.PutUint32(b[:], math.Float32bits(c.F32[i]))
	case types.Double:
		f.order.PutUint64(b[:], math.Float64bits(c.F64[i]))
	default:
		return append(dst, c.Bytes(i)...)
	}
	return append(dst, b[:size]...)
}
