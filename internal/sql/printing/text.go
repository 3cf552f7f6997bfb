package printing

import (
	"strconv"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// kinds are the row kinds as they are printed.
var kinds = [...]string{batch.Insert: "+I", batch.UpdateBefore: "-U", batch.UpdateAfter: "+U", batch.Delete: "-D"}

func appendRow(dst []byte, kind batch.RowKind, fields []types.Field, columns []*batch.Column, row int) []byte {
	dst = append(append(dst, kinds[kind]...), '[')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendValue(dst, f.Type, columns[i], row)
	}
	return append(dst, ']')
}

// appendValue writes a value as the Java object that Flink prints writes itself.
func appendValue(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, c.Bool[i])
	case types.Time:
		return appendClock(dst, int(c.I32[i]), 0)
	case types.Timestamp:
		return appendMoment(dst, c.I64[i], c.Nanos(i))
	case types.TimestampLTZ:
		dst = appendMoment(dst, c.I64[i], c.Nanos(i))
		if civil.FloorMod(c.I64[i], int64(civil.Minute)) == 0 && c.Nanos(i) == 0 {
			dst = append(dst, ":00"...) // an instant has its seconds always
		}
		return append(dst, 'Z')
	case types.IntervalYearMonth:
		return appendPeriod(dst, c.I32[i])
	case types.IntervalDayTime:
		return appendDuration(dst, c.I64[i])
	case types.Binary, types.VarBinary:
		dst = append(dst, '[')
		for k, b := range c.Bytes(i) {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = strconv.AppendInt(dst, int64(int8(b)), 10)
		}
		return append(dst, ']')
	case types.Row, types.Structured:
		return appendRow(dst, batch.Insert, t.Fields, c.Children, i)
	case types.Array, types.Map, types.Multiset:
		return appendCollection(dst, t, c, i)
	}
	return expr.AppendDisplay(dst, time.UTC, t, c, i)
}

func appendCollection(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	open, end, key, value := byte('{'), byte('}'), t.Key, t.Elem
	switch t.Kind {
	case types.Array:
		open, end, key, value = '[', ']', t.Elem, nil
	case types.Multiset:
		count := types.Of(types.Int)
		key, value = t.Elem, &count
	}
	from, to := c.Span(i)
	dst = append(dst, open)
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ", "...)
		}
		dst = appendValue(dst, *key, c.Children[0], j)
		if value != nil {
			dst = appendValue(append(dst, '='), *value, c.Children[1], j)
		}
	}
	return append(dst, end)
}

// appendMoment writes a date and a time of day.
func appendMoment(dst []byte, millis int64, nanos int32) []byte {
	days := civil.FloorDiv(millis, int64(civil.Day))
	dst = append(civil.AppendDate(dst, int(days)), 'T')
	return appendClock(dst, int(millis-days*int64(civil.Day)), int(nanos))
}

// appendClock writes a time of day: seconds if it has some, and of their fraction 3, 6 or
// 9 digits.
func appendClock(dst []byte, millis, nanos int) []byte {
	fraction := millis%civil.Second*1e6 + nanos
	clock := civil.AppendTime(dst, millis, 0)
	if millis%civil.Minute == 0 && fraction == 0 {
		return clock[:len(clock)-len(":00")]
	}
	digits := 0
	switch {
	case fraction == 0:
		return clock
	case fraction%1e6 == 0:
		fraction, digits = fraction/1e6, 3
	case fraction%1e3 == 0:
		fraction, digits = fraction/1e3, 6
	default:
		digits = 9
	}
	clock = append(clock, '.')
	text := strconv.Itoa(fraction)
	for range digits - len(text) {
		clock = append(clock, '0')
	}
	return append(clock, text...)
}

// appendPeriod writes months: P1Y2M.
func appendPeriod(dst []byte, months int32) []byte {
	if months == 0 {
		return append(dst, "P0D"...)
	}
	dst = append(dst, 'P')
	if y := months / 12; y != 0 {
		dst = append(strconv.AppendInt(dst, int64(y), 10), 'Y')
	}
	if m := months % 12; m != 0 {
		dst = append(strconv.AppendInt(dst, int64(m), 10), 'M')
	}
	return dst
}

// appendDuration writes milliseconds: PT26H3M4.5S.
func appendDuration(dst []byte, millis int64) []byte {
	dst = append(dst, "PT"...)
	if millis == 0 {
		return append(dst, "0S"...)
	}
	if h := millis / int64(civil.Hour); h != 0 {
		dst = append(strconv.AppendInt(dst, h, 10), 'H')
	}
	millis %= int64(civil.Hour)
	if m := millis / int64(civil.Minute); m != 0 {
		dst = append(strconv.AppendInt(dst, m, 10), 'M')
	}
	if millis %= int64(civil.Minute); millis == 0 {
		return dst
	}
	return append(strconv.AppendFloat(dst, float64(millis)/1000, 'f', -1, 64), 'S')
}
