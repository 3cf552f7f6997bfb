package sqlgateway

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
	"github.com/weirstream/weir/types"
)

// A rowFormat is how the values of a page are written.
type rowFormat string

const (
	formatJSON  rowFormat = "JSON"
	formatPlain rowFormat = "PLAIN_TEXT"
)

// errNoJSON answers for values that have no form in JSON.
var errNoJSON = &failure{500, []string{"Internal server error. Could not map response to JSON."}}

// A rowWriter writes the rows of one result.
type rowWriter struct {
	format rowFormat
	result *session.Result
}

// rows writes the rows of a page, without the brackets around them. Rows are counted
// from first.
func (w *rowWriter) rows(dst []byte, c *batch.Columns, first int) ([]byte, error) {
	for n := range c.Len() {
		row := n
		if c.Sel != nil {
			row = int(c.Sel[n])
		}
		kind := batch.Insert
		if len(c.Kind) > 0 {
			kind = c.Kind[row]
		}
		dst = wire.AppendComma(dst, first+n)
		dst = append(dst, `{"kind":"`+wire.RowKind(kind)+`","fields":[`...)
		for i, f := range w.result.Schema {
			dst = wire.AppendComma(dst, i)
			var err error
			if dst, err = w.value(dst, f.Type, c.Cols[i], row); err != nil {
				return nil, err
			}
		}
		dst = append(dst, "]}"...)
	}
	return dst, nil
}

func (w *rowWriter) value(dst []byte, t types.Type, c *batch.Column, i int) ([]byte, error) {
	if w.format == formatPlain && !c.IsNull(i) {
		return wire.AppendText(dst, w.result.Show(t, c, i)), nil
	}
	return w.json(dst, t, c, i)
}

// json writes value i of a column.
func (w *rowWriter) json(dst []byte, t types.Type, c *batch.Column, i int) ([]byte, error) {
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
		return appendFloat(dst, float64(c.F32[i]), floattext.AppendFloat(nil, c.F32[i])), nil
	case types.Double:
		return appendFloat(dst, c.F64[i], floattext.AppendDouble(nil, c.F64[i])), nil
	case types.Decimal:
		return appendDecimal(dst, unscaled(c, i), t.Scale), nil
	case types.Char, types.VarChar:
		return wire.AppendText(dst, c.Bytes(i)), nil
	case types.Binary, types.VarBinary:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), c.Bytes(i))
		return append(dst, '"'), nil
	case types.Date:
		return append(civil.AppendDate(append(dst, '"'), int(c.I32[i])), '"'), nil
	case types.Time:
		return append(appendClock(append(dst, '"'), int64(c.I32[i]), 0), '"'), nil
	case types.Timestamp, types.TimestampLTZ:
		dst = appendMoment(append(dst, '"'), c.I64[i], c.Nanos(i))
		if t.Kind == types.TimestampLTZ {
			dst = append(dst, 'Z')
		}
		return append(dst, '"'), nil
	case types.Array:
		return w.list(dst, t, c, i)
	case types.Map:
		return w.object(dst, *t.Key, *t.Elem, c, i)
	case types.Multiset:
		return w.object(dst, *t.Elem, types.Of(types.Int).NotNull(), c, i)
	case types.Row, types.Structured:
		return w.record(dst, t, c, i)
	}
	return nil, errNoJSON
}

func (w *rowWriter) list(dst []byte, t types.Type, c *batch.Column, i int) ([]byte, error) {
	dst = append(dst, '[')
	from, to := c.Span(i)
	for e := from; e < to; e++ {
		dst = wire.AppendComma(dst, e-from)
		var err error
		if dst, err = w.json(dst, *t.Elem, c.Children[0], e); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// object writes a map. A key that is no text is written as results show it.
func (w *rowWriter) object(dst []byte, key, value types.Type, c *batch.Column, i int) ([]byte, error) {
	dst = append(dst, '{')
	from, to := c.Span(i)
	for e := from; e < to; e++ {
		dst = wire.AppendComma(dst, e-from)
		switch {
		case c.Children[0].IsNull(e):
			dst = append(dst, `"null"`...)
		case key.Kind.IsText():
			dst = wire.AppendText(dst, c.Children[0].Bytes(e))
		default:
			dst = wire.AppendText(dst, w.result.Show(key, c.Children[0], e))
		}
		var err error
		if dst, err = w.json(append(dst, ':'), value, c.Children[1], e); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func (w *rowWriter) record(dst []byte, t types.Type, c *batch.Column, i int) ([]byte, error) {
	dst = append(dst, '{')
	for n, f := range t.Fields {
		dst = append(wire.AppendText(wire.AppendComma(dst, n), f.Name), ':')
		var err error
		if dst, err = w.json(dst, f.Type, c.Children[n], i); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendFloat writes a number as Java does, and as text what JSON has no number for.
func appendFloat(dst []byte, f float64, text []byte) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(append(append(dst, '"'), text...), '"')
	}
	return append(dst, text...)
}

func unscaled(c *batch.Column, i int) batch.Int128 {
	if c.Layout == batch.Int64s {
		return decimal.FromInt64(c.I64[i])
	}
	return c.I128[i]
}

// appendDecimal writes a decimal as Java does without the zeros at its end: 1.50 as 1.5,
// 100 as 1E+2 and what is below a millionth with an exponent.
func appendDecimal(dst []byte, v batch.Int128, scale int) []byte {
	digits := string(decimal.Append(nil, v, 0))
	digits, negative := strings.CutPrefix(digits, "-")
	stripped := strings.TrimRight(digits, "0")
	if stripped == "" {
		return append(dst, '0')
	}
	scale -= len(digits) - len(stripped)
	if negative {
		dst = append(dst, '-')
	}
	exponent := len(stripped) - 1 - scale
	switch {
	case scale == 0:
		return append(dst, stripped...)
	case scale < 0 || exponent < -6:
		dst = append(dst, stripped[0])
		if len(stripped) > 1 {
			dst = append(append(dst, '.'), stripped[1:]...)
		}
		dst = append(dst, 'E')
		if exponent > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(exponent), 10)
	case scale >= len(stripped):
		dst = append(append(dst, "0."...), strings.Repeat("0", scale-len(stripped))...)
		return append(dst, stripped...)
	}
	dst = append(append(dst, stripped[:len(stripped)-scale]...), '.')
	return append(dst, stripped[len(stripped)-scale:]...)
}

// appendClock writes a time of day, given in milliseconds and the nanoseconds within, with
// as many digits of a second as it has.
func appendClock(dst []byte, millis int64, nanos int32) []byte {
	dst = append(appendPadded(dst, int(millis/3_600_000), 2), ':')
	dst = append(appendPadded(dst, int(millis/60_000%60), 2), ':')
	dst = appendPadded(dst, int(millis/1000%60), 2)
	fraction := int(millis%1000)*1_000_000 + int(nanos)
	if fraction == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), fraction, 9)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendMoment writes a timestamp as ISO 8601 does.
func appendMoment(dst []byte, millis int64, nanos int32) []byte {
	const day = 86_400_000
	dst = append(civil.AppendDate(dst, int(civil.FloorDiv(millis, day))), 'T')
	return appendClock(dst, civil.FloorMod(millis, day), nanos)
}

func appendPadded(dst []byte, n, digits int) []byte {
	text := strconv.Itoa(n)
	for range digits - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// appendColumns writes the columns of a result.
func appendColumns(dst []byte, schema []types.Field) []byte {
	dst = append(dst, '[')
	for i, f := range schema {
		dst = wire.AppendComma(dst, i)
		dst = wire.AppendText(append(dst, `{"name":`...), f.Name)
		dst = wire.AppendType(append(dst, `,"logicalType":`...), f.Type)
		dst = append(dst, `,"comment":`...)
		if f.Comment == "" {
			dst = append(dst, "null"...)
		} else {
			dst = wire.AppendText(dst, f.Comment)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
