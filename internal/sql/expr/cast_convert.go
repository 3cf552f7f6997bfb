package expr

import (
	"fmt"
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/types"
)

// converter is the conversion of values of one type to another.
func converter(from, to types.Type, s *Session) (convert, error) {
	switch {
	case to.Kind.IsText():
		return toText(from, to, s), nil
	case from.Kind.IsText():
		return fromText(from, to, s)
	case to.Kind == types.Decimal && from.Kind != types.Boolean:
		return toDecimal(from, to), nil
	case from.Kind == types.Decimal:
		return fromDecimal(from, to), nil
	case from.Kind == types.Boolean && to.Kind.IsNumeric():
		return fromBoolean(to), nil
	case to.Kind == types.Boolean && from.Kind.IsNumeric():
		return toBoolean(from), nil
	case from.Kind.IsNumeric() && to.Kind.IsNumeric():
		return numberTo(from.Kind, to.Kind), nil
	case from.Kind.IsBinary() && to.Kind.IsBinary():
		return binaryTo(to), nil
	case from.Kind.IsDatetime() && to.Kind.IsDatetime():
		return datetimeTo(from, to, s), nil
	case from.Kind.IsInteger() && to.Kind.IsInterval():
		return times(1, from, to), nil
	case from.Kind == to.Kind && from.Kind.IsCollection():
		return collectionTo(from, to, s)
	case from.Kind.IsComposite() && to.Kind.IsComposite():
		return rowTo(from, to, s)
	case from.Kind == to.Kind:
		return assign, nil
	}
	return nil, fmt.Errorf("there is no cast from %s to %s", from.Text(), to.Text())
}

// assign takes the values as they are.
func assign(out, in *batch.Column, rows Rows, _ failure) error {
	var c choices
	c.begin(rows)
	clear(c.of)
	c.columns = append(c.columns, in)
	c.merge(out, rows)
	return nil
}

// each converts fixed-size values by a function that cannot fail.
func each[A, R batch.Fixed](f func(A) R) convert {
	k := Unary(f)
	return func(out, in *batch.Column, rows Rows, _ failure) error { return k(out, []*batch.Column{in}, rows) }
}

func numberTo(from, to types.Kind) convert {
	switch from {
	case types.TinyInt:
		return integerTo[int8](to)
	case types.SmallInt:
		return integerTo[int16](to)
	case types.Int:
		return integerTo[int32](to)
	case types.BigInt:
		return integerTo[int64](to)
	case types.Float:
		return floatTo[float32](to)
	}
	return floatTo[float64](to)
}

func integerTo[A integer](to types.Kind) convert {
	switch to {
	case types.TinyInt:
		return each(func(v A) int8 { return int8(v) })
	case types.SmallInt:
		return each(func(v A) int16 { return int16(v) })
	case types.Int:
		return each(func(v A) int32 { return int32(v) })
	case types.BigInt:
		return each(func(v A) int64 { return int64(v) })
	case types.Float:
		return each(func(v A) float32 { return float32(v) })
	}
	return each(func(v A) float64 { return float64(v) })
}

// floatTo saturates at the limits of INT and BIGINT, and cuts an INT for what is
// smaller; NaN is 0.
func floatTo[A float32 | float64](to types.Kind) convert {
	switch to {
	case types.TinyInt:
		return each(func(v A) int8 { return int8(saturated(float64(v), math.MinInt32, math.MaxInt32)) })
	case types.SmallInt:
		return each(func(v A) int16 { return int16(saturated(float64(v), math.MinInt32, math.MaxInt32)) })
	case types.Int:
		return each(func(v A) int32 { return int32(saturated(float64(v), math.MinInt32, math.MaxInt32)) })
	case types.BigInt:
		return each(func(v A) int64 { return saturated(float64(v), math.MinInt64, math.MaxInt64) })
	case types.Float:
		return each(func(v A) float32 { return float32(v) })
	}
	return each(func(v A) float64 { return float64(v) })
}

// saturated cuts a number to a whole one within limits.
func saturated(v float64, least, most int64) int64 {
	switch {
	case v != v:
		return 0
	case v >= float64(most):
		return most
	case v <= float64(least):
		return least
	}
	return int64(v)
}

func toBoolean(from types.Type) convert {
	switch from.Kind {
	case types.TinyInt:
		return each(func(v int8) bool { return v != 0 })
	case types.SmallInt:
		return each(func(v int16) bool { return v != 0 })
	case types.Int:
		return each(func(v int32) bool { return v != 0 })
	case types.BigInt:
		return each(func(v int64) bool { return v != 0 })
	case types.Float:
		return each(func(v float32) bool { return v != 0 })
	}
	return each(func(v float64) bool { return v != 0 })
}

func fromBoolean(to types.Type) convert {
	if to.Kind == types.Decimal {
		if to.Precision == to.Scale {
			return func(out, in *batch.Column, rows Rows, _ failure) error {
				return rows.Each(func(i int) error {
					setUnscaled(out, i, decimal.Int128{})
					if in.Bool[i] {
						out.SetNull(i)
					}
					return nil
				})
			}
		}
		v, _ := decimal.Rescale(decimal.FromInt64(1), 0, to.Precision, to.Scale)
		return func(out, in *batch.Column, rows Rows, _ failure) error {
			return rows.Each(func(i int) error {
				setUnscaled(out, i, decimal.Int128{})
				if in.Bool[i] {
					setUnscaled(out, i, v)
				}
				return nil
			})
		}
	}
	switch to.Kind {
	case types.TinyInt:
		return each(func(v bool) int8 { return int8(truth(v)) })
	case types.SmallInt:
		return each(func(v bool) int16 { return int16(truth(v)) })
	case types.Int:
		return each(func(v bool) int32 { return int32(truth(v)) })
	case types.BigInt:
		return each(truth)
	case types.Float:
		return each(func(v bool) float32 { return float32(truth(v)) })
	}
	return each(func(v bool) float64 { return float64(truth(v)) })
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// toDecimal converts numbers; what has too many digits is NULL.
func toDecimal(from, to types.Type) convert {
	set := func(out *batch.Column, i int, v decimal.Int128, scale int) {
		if v, ok := decimal.Rescale(v, scale, to.Precision, to.Scale); ok {
			setUnscaled(out, i, v)
		} else {
			out.SetNull(i)
		}
	}
	if from.Kind == types.Decimal {
		return func(out, in *batch.Column, rows Rows, _ failure) error {
			return rows.Each(func(i int) error { set(out, i, unscaled(in, i), from.Scale); return nil })
		}
	}
	if from.Kind.IsInteger() {
		return func(out, in *batch.Column, rows Rows, _ failure) error {
			return rows.Each(func(i int) error { set(out, i, decimal.FromInt64(whole(in, i)), 0); return nil })
		}
	}
	var text []byte
	return func(out, in *batch.Column, rows Rows, fail failure) error {
		return rows.Each(func(i int) error {
			if from.Kind == types.Float {
				text = floattext.AppendDouble(text[:0], float64(in.F32[i]))
			} else {
				text = floattext.AppendDouble(text[:0], in.F64[i])
			}
			v, outcome := decimal.Parse(text, to.Precision, to.Scale)
			switch outcome {
			case decimal.Malformed:
				return fail(i, fmt.Errorf("cannot cast %s to %s", text, to.Text()))
			case decimal.Overflow:
				out.SetNull(i)
				return nil
			}
			setUnscaled(out, i, v)
			return nil
		})
	}
}

// fromDecimal cuts to whole numbers, of which the lower bits count.
func fromDecimal(from, to types.Type) convert {
	read := func(f func(out *batch.Column, i int, v decimal.Int128)) convert {
		return func(out, in *batch.Column, rows Rows, _ failure) error {
			return rows.Each(func(i int) error { f(out, i, unscaled(in, i)); return nil })
		}
	}
	scale := from.Scale
	switch to.Kind {
	case types.Boolean:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.Bool[i] = decimal.Sign(v) != 0 })
	case types.TinyInt:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.I8[i] = int8(decimal.Truncated(v, scale)) })
	case types.SmallInt:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.I16[i] = int16(decimal.Truncated(v, scale)) })
	case types.Int:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.I32[i] = int32(decimal.Truncated(v, scale)) })
	case types.BigInt:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.I64[i] = decimal.Truncated(v, scale) })
	case types.Float:
		return read(func(out *batch.Column, i int, v decimal.Int128) { out.F32[i] = float32(decimal.ToFloat64(v, scale)) })
	}
	return read(func(out *batch.Column, i int, v decimal.Int128) { out.F64[i] = decimal.ToFloat64(v, scale) })
}

// times makes an interval of a count of units.
func times(unit int64, from, to types.Type) convert {
	return func(out, in *batch.Column, rows Rows, _ failure) error {
		return rows.Each(func(i int) error {
			v := whole(in, i) * unit
			if out.Layout == batch.Int32s {
				out.I32[i] = int32(v)
			} else {
				out.I64[i] = v
			}
			return nil
		})
	}
}

// binaryTo cuts bytes to a length, and fills BINARY up with zeros.
func binaryTo(to types.Type) convert {
	return func(out, in *batch.Column, rows Rows, _ failure) error {
		w := NewBytes(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			from := len(w.Data)
			w.Data = fitBytes(append(w.Data, in.Bytes(i)...), from, to)
			return nil
		})
	}
}

// fitBytes cuts or fills what was appended.
func fitBytes(data []byte, from int, to types.Type) []byte {
	if len(data)-from > to.Length {
		return data[:from+to.Length]
	}
	if to.Kind == types.Binary {
		for len(data)-from < to.Length {
			data = append(data, 0)
		}
	}
	return data
}

// datetimeTo converts between dates, times and timestamps.
func datetimeTo(from, to types.Type, s *Session) convert {
	return func(out, in *batch.Column, rows Rows, _ failure) error {
		return rows.Each(func(i int) error {
			local, nanos := int64(0), int32(0)
			switch from.Kind {
			case types.Date:
				local = int64(in.I32[i]) * civil.Day
			case types.Time:
				local = int64(in.I32[i])
			case types.Timestamp:
				local, nanos = in.I64[i], in.Nanos(i)
			case types.TimestampLTZ:
				local, nanos = in.I64[i], in.Nanos(i)
				if to.Kind != types.TimestampLTZ {
					local = civil.ToLocal(s.Zone, local)
				}
			}
			setDatetime(out, i, local, nanos, to, s, from.Kind == types.TimestampLTZ)
			return nil
		})
	}
}

// setDatetime writes a local time, or an instant as one, as a value of a type.
func setDatetime(out *batch.Column, i int, local int64, nanos int32, to types.Type, s *Session, instant bool) {
	switch to.Kind {
	case types.Date:
		out.I32[i] = int32(civil.FloorDiv(local, civil.Day))
		return
	case types.Time:
		local, _ = cut(local, 0, to.Precision)
		out.I32[i] = int32(civil.FloorMod(local, civil.Day))
		return
	case types.TimestampLTZ:
		if !instant {
			local = civil.ToInstant(s.Zone, local)
		}
	}
	local, nanos = cut(local, nanos, to.Precision)
	out.I64[i] = local
	if out.I32 != nil {
		out.I32[i] = nanos
	}
}

// cut leaves as many digits of the second's fraction as a precision says: below a
// millisecond downwards, above towards 1970.
func cut(millis int64, nanos int32, precision int) (int64, int32) {
	switch {
	case precision >= 9:
		return millis, nanos
	case precision > 3:
		unit := int32(decimal.Power64(9 - precision))
		return millis, nanos / unit * unit
	case precision == 3:
		return millis, 0
	}
	unit := decimal.Power64(3 - precision)
	return millis / unit * unit, 0
}
