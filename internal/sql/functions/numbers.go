package functions

import (
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/elementary"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// numbers are the functions of mathematics. Those that give DOUBLE take any number.
func numbers() []*expr.Function {
	one := func(name, doc string, f func(float64) float64) *expr.Function {
		return bound(name, "arithmetic", name+"(x)", doc, giving("n", as(double)), func(b *expr.Bound) (expr.Kernel, error) {
			t := b.Args[0]
			if t.Kind == types.Double {
				return expr.Unary(f), nil
			}
			return computing(func(r row) (float64, bool) { return f(floatAt(t, r.args[0], r.i)), true }), nil
		})
	}
	two := func(name, usage, doc string, infer func(*expr.Site) (types.Type, error), f func(a, b float64) float64) *expr.Function {
		return bound(name, "arithmetic", usage, doc, infer, func(b *expr.Bound) (expr.Kernel, error) {
			return computing(func(r row) (float64, bool) {
				return f(floatAt(b.Args[0], r.args[0], r.i), floatAt(b.Args[1], r.args[1], r.i)), true
			}), nil
		})
	}
	constant := func(name, doc string, v float64) *expr.Function {
		f := function(name, "arithmetic", name+"()", doc, giving("", always(double.NotNull())), computing(func(row) (float64, bool) { return v, true }))
		f.Form = expr.Niladic
		return f
	}
	return []*expr.Function{
		one("SQRT", "The square root.", math.Sqrt), one("EXP", "e to the power of x.", elementary.Exp),
		one("LN", "The natural logarithm.", elementary.Log), one("LOG10", "The logarithm to base 10.", elementary.Log10), one("LOG2", "The logarithm to base 2.", log2),
		one("SIN", "The sine.", elementary.Sin), one("COS", "The cosine.", elementary.Cos), one("TAN", "The tangent.", elementary.Tan), one("COT", "The cotangent.", func(x float64) float64 { return 1 / elementary.Tan(x) }),
		one("SINH", "The hyperbolic sine.", elementary.Sinh), one("COSH", "The hyperbolic cosine.", elementary.Cosh), one("TANH", "The hyperbolic tangent.", elementary.Tanh),
		one("ASIN", "The arc sine.", elementary.Asin), one("ACOS", "The arc cosine.", elementary.Acos), one("ATAN", "The arc tangent.", elementary.Atan),
		one("DEGREES", "Radians in degrees.", func(x float64) float64 { return x * (180 / math.Pi) }), one("RADIANS", "Degrees in radians.", func(x float64) float64 { return x * (math.Pi / 180) }),
		two("POWER", "POWER(x, y)", "x to the power of y.", giving("nn", as(double)), elementary.Pow),
		two("ATAN2", "ATAN2(y, x)", "The angle of a point.", inferAtan2, elementary.Atan2),
		bound("LOG", "arithmetic", "LOG(x) | LOG(base, x)", "The natural logarithm, or that to a base.", giving("n?n", as(double)), logarithm),
		constant("PI", "The ratio of a circle's circumference to its diameter.", math.Pi), constant("E", "The base of natural logarithms.", math.E),
		bound("ABS", "arithmetic", "ABS(x)", "The number without its sign.", giving("n", like0), absolute),
		bound("SIGN", "arithmetic", "SIGN(x)", "-1, 0 or 1.", inferSign, signOf),
	}
}

// log2 is the quotient of two natural logarithms, with their rounding.
func log2(x float64) float64 { return elementary.Log(x) / elementary.Log(2) }

// inferAtan2 takes no DECIMAL beside another number.
func inferAtan2(s *expr.Site) (types.Type, error) {
	t, err := giving("nn", as(double))(s)
	if err == nil && (s.Kind(0) == types.Decimal) != (s.Kind(1) == types.Decimal) {
		return t, s.NoMatch("two numbers that are both DECIMAL, or both not")
	}
	return t, err
}

func logarithm(b *expr.Bound) (expr.Kernel, error) {
	if len(b.Args) == 1 {
		return computing(func(r row) (float64, bool) { return elementary.Log(floatAt(b.Args[0], r.args[0], r.i)), true }), nil
	}
	return computing(func(r row) (float64, bool) {
		base, x := floatAt(b.Args[0], r.args[0], r.i), floatAt(b.Args[1], r.args[1], r.i)
		return elementary.Log(x) / elementary.Log(base), true
	}), nil
}

func absolute(b *expr.Bound) (expr.Kernel, error) {
	switch batch.LayoutOf(b.T) {
	case batch.Float64s:
		return expr.Unary(math.Abs), nil
	case batch.Float32s:
		return expr.Unary(func(v float32) float32 { return float32(math.Abs(float64(v))) }), nil
	case batch.Int128s:
		return expr.Unary(func(v batch.Int128) batch.Int128 {
			if v.Hi < 0 {
				return decimal.Negate(v)
			}
			return v
		}), nil
	case batch.Int8s:
		return expr.Unary(positive[int8]), nil
	case batch.Int16s:
		return expr.Unary(positive[int16]), nil
	case batch.Int32s:
		return expr.Unary(positive[int32]), nil
	}
	return expr.Unary(positive[int64]), nil
}

func positive[T int8 | int16 | int32 | int64](v T) T {
	if v < 0 {
		return -v
	}
	return v
}

// inferSign takes no TINYINT and no SMALLINT.
func inferSign(s *expr.Site) (types.Type, error) {
	t, err := giving("n", like0)(s)
	if err == nil && (t.Kind == types.TinyInt || t.Kind == types.SmallInt) {
		return t, s.NoMatch("INT, BIGINT, DECIMAL, FLOAT or DOUBLE")
	}
	return t, err
}

func signOf(b *expr.Bound) (expr.Kernel, error) {
	switch batch.LayoutOf(b.T) {
	case batch.Float64s:
		return expr.Unary(signum), nil
	case batch.Float32s:
		return expr.Unary(func(v float32) float32 { return float32(signum(float64(v))) }), nil
	}
	unit, fits := decimal.FromInt64(1), true
	if b.T.Kind == types.Decimal {
		unit, fits = decimal.Rescale(unit, 0, b.T.Precision, b.T.Scale)
	}
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		return rows.Each(func(i int) error {
			switch decimal.Sign(wide(args[0], i)) {
			case -1:
				setWide(out, i, decimal.Negate(unit))
			case 0:
				setWide(out, i, batch.Int128{})
			default:
				setWide(out, i, unit)
			}
			if !fits && decimal.Sign(wide(args[0], i)) != 0 {
				out.SetNull(i) // 1 has more digits than the type
			}
			return nil
		})
	}, nil
}

// wide is a whole number of any size, or a DECIMAL's digits.
func wide(c *batch.Column, i int) batch.Int128 {
	if c.Layout == batch.Int128s {
		return c.I128[i]
	}
	return decimal.FromInt64(intAt(c, i))
}

func setWide(c *batch.Column, i int, v batch.Int128) {
	if c.Layout == batch.Int128s {
		c.I128[i] = v
	} else {
		setInt(c, i, decimal.Low(v))
	}
}

// signum keeps NaN and the sign of 0.
func signum(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v
}
