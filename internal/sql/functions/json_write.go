package functions

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// appendJSON appends value i of a column as JSON.
func appendJSON(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, c.Bool[i])
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.IntervalYearMonth, types.IntervalDayTime:
		return strconv.AppendInt(dst, intAt(c, i), 10)
	case types.Float:
		return appendReal(dst, float64(c.F32[i]))
	case types.Double:
		return appendReal(dst, c.F64[i])
	case types.Decimal:
		var digits [48]byte
		return jsondoc.AppendDecimal(dst, decimal.Append(digits[:0], unscaledAt(c, i), t.Scale))
	case types.Binary, types.VarBinary, types.Bitmap:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, c.Bytes(i))
		return append(dst, '"')
	case types.Variant:
		return append(dst, c.Bytes(i)...)
	case types.Timestamp, types.TimestampLTZ:
		dst = appendISO(append(dst, '"'), c.I64[i], c.Nanos(i))
		if t.Kind == types.TimestampLTZ {
			dst = append(dst, 'Z')
		}
		return append(dst, '"')
	case types.Array:
		return appendJSONArray(dst, *t.Elem, c, i)
	case types.Map:
		return appendJSONMap(dst, t, c, i)
	case types.Row, types.Structured:
		return appendJSONRow(dst, t, c, i)
	}
	return jsondoc.AppendQuoted(dst, c.Bytes(i))
}

// appendReal appends a number, one that JSON lacks as a string. Its power of ten is written
// out down to the millionth and up to its last digit.
func appendReal(dst []byte, v float64) []byte {
	var buffer [32]byte
	written := floattext.AppendDouble(buffer[:0], v)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(append(append(dst, '"'), written...), '"')
	}
	mantissa, power, scientific := bytes.Cut(written, []byte("E"))
	if !scientific {
		return append(dst, written...)
	}
	exponent, _ := strconv.Atoi(string(power))
	if mantissa[0] == '-' {
		dst, mantissa = append(dst, '-'), mantissa[1:]
	}
	behind := len(mantissa) - len("1.") - exponent // digits behind the point
	switch {
	case exponent > 0 && behind < 0:
		return strconv.AppendInt(append(append(dst, mantissa...), "E+"...), int64(exponent), 10)
	case exponent < -6:
		return strconv.AppendInt(append(append(dst, mantissa...), 'E'), int64(exponent), 10)
	case exponent < 0:
		dst = append(dst, "0."...)
		for range -exponent - 1 {
			dst = append(dst, '0')
		}
		return append(append(dst, mantissa[0]), mantissa[2:]...)
	}
	dst = append(append(dst, mantissa[0]), mantissa[2:2+exponent]...)
	if behind > 0 {
		dst = append(append(dst, '.'), mantissa[2+exponent:]...)
	}
	return dst
}

// appendISO appends a timestamp with a T, and as many digits behind the second as it has.
func appendISO(dst []byte, ms int64, nanos int32) []byte {
	dst, _ = isoFormat.Append(dst, ms, nanos)
	fraction := floorMod(ms, datetime.Second)*1_000_000 + int64(nanos)
	if fraction == 0 {
		return dst
	}
	digits := strconv.FormatInt(1_000_000_000+fraction, 10)[1:]
	return append(append(dst, '.'), bytes.TrimRight([]byte(digits), "0")...)
}

// isoFormat writes the seconds of appendISO.
var isoFormat = func() *datetime.Formatter {
	f, err := datetime.NewFormatter("uuuu-MM-dd'T'HH:mm:ss")
	if err != nil {
		panic(err)
	}
	return f
}()

func appendJSONArray(dst []byte, elem types.Type, c *batch.Column, i int) []byte {
	dst = append(dst, '[')
	from, to := c.Span(i)
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, elem, c.Children[0], k)
	}
	return append(dst, ']')
}

// appendJSONMap writes the keys in order.
func appendJSONMap(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	from, to := c.Span(i)
	order := make([]int, 0, to-from)
	for k := from; k < to; k++ {
		order = append(order, k)
	}
	keys := c.Children[0]
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(keys.Bytes(a), keys.Bytes(b)) })
	dst = append(dst, '{')
	for n, k := range order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsondoc.AppendQuoted(dst, keys.Bytes(k)), ':')
		dst = appendJSON(dst, *t.Elem, c.Children[1], k)
	}
	return append(dst, '}')
}

// appendJSONRow writes the fields by their names, in order.
func appendJSONRow(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	order := make([]int, len(t.Fields))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return bytes.Compare([]byte(t.Fields[a].Name), []byte(t.Fields[b].Name))
	})
	dst = append(dst, '{')
	for n, k := range order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsondoc.AppendQuoted(dst, []byte(t.Fields[k].Name)), ':')
		dst = appendJSON(dst, t.Fields[k].Type, c.Children[k], i)
	}
	return append(dst, '}')
}

// writable is why values of a type cannot be JSON.
func writable(t types.Type) (reason string, ok bool) {
	switch t.Kind {
	case types.Date, types.Time, types.IntervalYearMonth, types.IntervalDayTime, types.Multiset, types.Raw:
		return t.Text() + " has no form in JSON", false
	case types.Array:
		return writable(*t.Elem)
	case types.Map:
		if !t.Key.Kind.IsText() {
			return "the keys of a MAP must be texts, not " + t.Key.Text(), false
		}
		return writable(*t.Elem)
	case types.Row, types.Structured:
		for _, f := range t.Fields {
			if reason, ok := writable(f.Type); !ok {
				return reason, false
			}
		}
	}
	return "", true
}
