package filesystem

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// What becomes of a NULL key of a map.
const (
	nullKeyFails = "FAIL"
	nullKeyDrops = "DROP"
	nullKeyText  = "LITERAL"
)

// jsonEncodable refuses types that have no JSON.
func jsonEncodable(t types.Type) error {
	switch t.Kind {
	case types.Bitmap, types.Variant, types.Raw, types.Null, types.Descriptor, types.Symbol:
		return fmt.Errorf("values of type %s are not written as JSON", t.Text())
	case types.Map, types.Multiset:
		key := t.Key
		if t.Kind == types.Multiset {
			key = t.Elem
		}
		if !key.Kind.IsText() {
			return fmt.Errorf("values of type %s are not written as JSON, which has keys of text only", t.Text())
		}
	}
	for _, inner := range []*types.Type{t.Key, t.Elem} {
		if inner != nil {
			if err := jsonEncodable(*inner); err != nil {
				return err
			}
		}
	}
	for _, f := range t.Fields {
		if err := jsonEncodable(f.Type); err != nil {
			return err
		}
	}
	return nil
}

var errNullKey = errors.New("a map has a NULL key, which JSON does not have: the table options 'json.map-null-key.mode' and 'json.map-null-key.literal' say what becomes of it")

// object appends the members of a row as an object; skip are columns to leave out.
func (f *jsonFormat) object(dst []byte, fields []types.Field, columns []*batch.Column, row int, skip map[int]bool) (_ []byte, err error) {
	dst = append(dst, '{')
	first := true
	for i, field := range fields {
		if skip[i] || f.dropNulls && columns[i].IsNull(row) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsondoc.AppendQuoted(dst, []byte(field.Name)), ':')
		if dst, err = f.value(dst, field.Type, columns[i], row); err != nil {
			return dst, fmt.Errorf("field %s: %w", field.Name, err)
		}
	}
	return append(dst, '}'), nil
}

// value appends a value as Flink's JSON format does.
func (f *jsonFormat) value(dst []byte, t types.Type, c *batch.Column, i int) ([]byte, error) {
	if c.IsNull(i) {
		return append(dst, "null"...), nil
	}
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, c.Bool[i]), nil
	case types.TinyInt:
		return strconv.AppendInt(dst, int64(c.I8[i]), 10), nil
	case types.SmallInt:
		return strconv.AppendInt(dst, int64(c.I16[i]), 10), nil
	case types.Int, types.IntervalYearMonth:
		return strconv.AppendInt(dst, int64(c.I32[i]), 10), nil
	case types.BigInt, types.IntervalDayTime:
		return strconv.AppendInt(dst, c.I64[i], 10), nil
	case types.Float:
		if v := float64(c.F32[i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return append(floattext.AppendFloat(append(dst, '"'), c.F32[i]), '"'), nil
		}
		return floattext.AppendFloat(dst, c.F32[i]), nil
	case types.Double:
		if v := c.F64[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return append(floattext.AppendDouble(append(dst, '"'), v), '"'), nil
		}
		return floattext.AppendDouble(dst, c.F64[i]), nil
	case types.Decimal:
		return f.decimal(dst, t, c, i), nil
	case types.Binary, types.VarBinary:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), c.Bytes(i)), '"'), nil
	case types.Date:
		return append(civil.AppendDate(append(dst, '"'), int(c.I32[i])), '"'), nil
	case types.Time:
		return append(appendClock(append(dst, '"'), int(c.I32[i]), 0), '"'), nil
	case types.Timestamp, types.TimestampLTZ:
		return f.moment(dst, t, c, i), nil
	case types.Row, types.Structured:
		return f.object(dst, t.Fields, c.Children, i, nil)
	case types.Array, types.Map, types.Multiset:
		return f.collection(dst, t, c, i)
	}
	return jsondoc.AppendQuoted(dst, c.Bytes(i)), nil
}

func (f *jsonFormat) collection(dst []byte, t types.Type, c *batch.Column, i int) (_ []byte, err error) {
	from, to := c.Span(i)
	if t.Kind == types.Array {
		dst = append(dst, '[')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			if dst, err = f.value(dst, *t.Elem, c.Children[0], j); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	value := *t.Elem
	if t.Kind == types.Multiset {
		value = types.Of(types.Int)
	}
	dst = append(dst, '{')
	first := true
	for j := from; j < to; j++ {
		key := []byte(f.nullKey)
		switch null := c.Children[0].IsNull(j); {
		case null && f.nullKeys == nullKeyDrops:
			continue
		case null && f.nullKeys != nullKeyText:
			return dst, errNullKey
		case !null:
			key = c.Children[0].Bytes(j)
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsondoc.AppendQuoted(dst, key), ':')
		if dst, err = f.value(dst, value, c.Children[1], j); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// moment appends a timestamp; an instant as of UTC.
func (f *jsonFormat) moment(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	days := civil.FloorDiv(c.I64[i], int64(civil.Day))
	dst = civil.AppendDate(append(dst, '"'), int(days))
	if f.iso {
		dst = append(dst, 'T')
	} else {
		dst = append(dst, ' ')
	}
	dst = appendClock(dst, int(c.I64[i]-days*int64(civil.Day)), int(c.Nanos(i)))
	if t.Kind == types.TimestampLTZ {
		dst = append(dst, 'Z')
	}
	return append(dst, '"')
}

// appendClock appends a time of day, with a fraction that ends in no zero.
func appendClock(dst []byte, millis, nanos int) []byte {
	dst = civil.AppendTime(dst, millis, 0)
	fraction := millis%civil.Second*1e6 + nanos
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := 100_000_000; fraction > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit))
		fraction %= unit
	}
	return dst
}

// decimal appends a number as Java's BigDecimal writes it, or without an exponent.
func (f *jsonFormat) decimal(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	var v batch.Int128
	if c.Layout == batch.Int64s {
		v = decimal.FromInt64(c.I64[i])
	} else {
		v = c.I128[i]
	}
	if f.plain {
		return decimal.Append(dst, v, t.Scale)
	}
	begin := len(dst)
	dst = decimal.Append(dst, v, 0)
	digits := dst[begin:]
	if digits[0] == '-' {
		digits = digits[1:]
	}
	exponent := len(digits) - 1 - t.Scale
	if exponent >= -6 {
		return decimal.Append(dst[:begin], v, t.Scale)
	}
	if len(digits) > 1 {
		at := len(dst) - len(digits) + 1
		dst = append(dst, 0)
		copy(dst[at+1:], dst[at:])
		dst[at] = '.'
	}
	return strconv.AppendInt(append(dst, 'E'), int64(exponent), 10)
}
