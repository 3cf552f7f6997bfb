package expr

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/internal/sql/roaring"
	"github.com/weirstream/weir/types"
)

// Display writes value i of a column as results show it in UTC.
func Display(t types.Type, c *batch.Column, i int) string {
	return string(AppendDisplay(nil, time.UTC, t, c, i))
}

// AppendDisplay writes value i of a column as results show it: as CAST to STRING does,
// but bytes as x'0a'. NULL is NULL.
func AppendDisplay(dst []byte, zone *time.Location, t types.Type, c *batch.Column, i int) []byte {
	return appendValue(dst, zone, t, c, i, false)
}

// appendValue writes value i as a text, or as results show it.
func appendValue(dst []byte, zone *time.Location, t types.Type, c *batch.Column, i int, asText bool) []byte {
	if c.IsNull(i) {
		return append(dst, "NULL"...)
	}
	switch t.Kind {
	case types.Boolean:
		if c.Bool[i] {
			return append(dst, "TRUE"...)
		}
		return append(dst, "FALSE"...)
	case types.TinyInt:
		return strconv.AppendInt(dst, int64(c.I8[i]), 10)
	case types.SmallInt:
		return strconv.AppendInt(dst, int64(c.I16[i]), 10)
	case types.Int:
		return strconv.AppendInt(dst, int64(c.I32[i]), 10)
	case types.BigInt:
		return strconv.AppendInt(dst, c.I64[i], 10)
	case types.Float:
		return floattext.AppendFloat(dst, c.F32[i])
	case types.Double:
		return floattext.AppendDouble(dst, c.F64[i])
	case types.Decimal:
		return decimal.Append(dst, unscaled(c, i), t.Scale)
	case types.Date:
		return civil.AppendDate(dst, int(c.I32[i]))
	case types.Time:
		return civil.AppendTime(dst, int(c.I32[i]), t.Precision)
	case types.Timestamp:
		return civil.AppendTimestamp(dst, c.I64[i], c.Nanos(i), t.Precision)
	case types.TimestampLTZ:
		return civil.AppendTimestamp(dst, civil.ToLocal(zone, c.I64[i]), c.Nanos(i), t.Precision)
	case types.IntervalYearMonth:
		return civil.AppendMonths(dst, c.I32[i])
	case types.IntervalDayTime:
		return civil.AppendMillis(dst, c.I64[i])
	case types.Binary, types.VarBinary:
		if asText {
			return appendValid(dst, c.Bytes(i))
		}
		return append(hex.AppendEncode(append(dst, "x'"...), c.Bytes(i)), '\'')
	case types.Bitmap:
		return roaring.AppendText(dst, c.Bytes(i))
	case types.Array, types.Map, types.Multiset, types.Row, types.Structured:
		return appendNested(dst, zone, t, c, i, asText)
	}
	return append(dst, c.Bytes(i)...)
}

func appendNested(dst []byte, zone *time.Location, t types.Type, c *batch.Column, i int, asText bool) []byte {
	if t.Kind.IsComposite() {
		dst = append(dst, '(')
		for k, f := range t.Fields {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			if t.Kind == types.Structured {
				dst = append(append(dst, f.Name...), '=')
			}
			dst = appendValue(dst, zone, f.Type, c.Children[k], i, asText)
		}
		return append(dst, ')')
	}
	from, to := c.Span(i)
	open, end := byte('{'), byte('}')
	if t.Kind == types.Array {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ", "...)
		}
		switch t.Kind {
		case types.Array, types.Multiset:
			dst = appendValue(dst, zone, *t.Elem, c.Children[0], j, asText)
		default:
			dst = appendValue(dst, zone, *t.Key, c.Children[0], j, asText)
		}
		switch t.Kind {
		case types.Multiset:
			dst = strconv.AppendInt(append(dst, '='), int64(c.Children[1].I32[j]), 10)
		case types.Map:
			dst = appendValue(append(dst, '='), zone, *t.Elem, c.Children[1], j, asText)
		}
	}
	return append(dst, end)
}

// appendText writes value i, which is not NULL, as CAST to STRING does.
func appendText(dst []byte, zone *time.Location, t types.Type, c *batch.Column, i int) []byte {
	return appendValue(dst, zone, t, c, i, true)
}

// appendValid writes bytes as a text, with U+FFFD for what is no UTF-8.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// characters is the length of a literal's type: how many units of UTF-16 the text has.
func characters(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
