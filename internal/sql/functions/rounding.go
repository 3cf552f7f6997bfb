package functions

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/types"
)

// rounding are the functions that round: FLOOR and CEIL also dates and times, to a unit.
func rounding() []*expr.Function {
	whole := func(name, doc string, up bool) *expr.Function {
		return bound(name, "arithmetic", name+"(x) | "+name+"(t TO unit)", doc, inferWhole, func(b *expr.Bound) (expr.Kernel, error) { return wholeKernel(b, up) })
	}
	digits := func(name, doc string, half bool, infer func(*expr.Site) (types.Type, error)) *expr.Function {
		return bound(name, "arithmetic", name+"(x[, digits])", doc, infer, func(b *expr.Bound) (expr.Kernel, error) { return digitsKernel(b, half) })
	}
	return []*expr.Function{
		whole("FLOOR", "The greatest whole number, or beginning of a unit, that is not above.", false),
		named(whole("CEIL", "The least whole number, or beginning of a unit, that is not below.", true), "CEILING"),
		digits("ROUND", "The number rounded, halves away from 0.", true, inferDigits),
		digits("TRUNCATE", "The number with further digits cut off.", false, func(s *expr.Site) (types.Type, error) {
			t, err := inferDigits(s)
			if err == nil && (t.Kind == types.TinyInt || t.Kind == types.SmallInt) {
				return t, s.NoMatch("INT, BIGINT, DECIMAL, FLOAT or DOUBLE")
			}
			return t, err
		}),
	}
}

func inferWhole(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 2 {
		return inferPeriod(s)
	}
	return giving("n", func(s *expr.Site) types.Type {
		t := s.Type(0)
		if t.Kind == types.Decimal {
			t = types.DecimalOf(t.Precision, 0).WithNull(t.Nullable)
		}
		return t
	})(s)
}

// inferDigits gives the type of the number, a DECIMAL with as many digits as a constant
// says.
func inferDigits(s *expr.Site) (types.Type, error) {
	t, err := giving("n?i", like0)(s)
	if err != nil || t.Kind != types.Decimal {
		return t, err
	}
	n := 0
	if len(s.Args) > 1 {
		var ok bool
		if n, ok = s.ConstantInt(1); !ok {
			return t, nil
		}
	}
	if n >= t.Scale {
		return t, nil
	}
	n = max(n, 0)
	return types.DecimalOf(min(1+t.Precision-t.Scale+n, types.MaxPrecision), n).WithNull(t.Nullable), nil
}

func wholeKernel(b *expr.Bound, up bool) (expr.Kernel, error) {
	if len(b.Args) == 2 {
		return periodKernel(b, up)
	}
	round := math.Floor
	if up {
		round = math.Ceil
	}
	t := b.Args[0]
	switch batch.LayoutOf(t) {
	case batch.Float64s:
		return expr.Unary(round), nil
	case batch.Float32s:
		return expr.Unary(func(v float32) float32 { return float32(round(float64(v))) }), nil
	}
	if t.Kind != types.Decimal {
		return copyInts, nil
	}
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		return rows.Each(func(i int) error {
			v := unscaledAt(args[0], i)
			cut := decimal.TruncateTo(v, t.Scale, 0)
			if exact := decimal.CompareScaled(v, t.Scale, cut, 0); exact < 0 && !up {
				cut = less(cut)
			} else if exact > 0 && up {
				cut = decimal.Negate(less(decimal.Negate(cut)))
			}
			setUnscaled(out, i, cut)
			return nil
		})
	}, nil
}

func less(v batch.Int128) batch.Int128 {
	if v.Lo == 0 {
		v.Hi--
	}
	v.Lo--
	return v
}

// copyInts is a kernel that gives whole numbers as they are.
func copyInts(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
	return rows.Each(func(i int) error { setWide(out, i, wide(args[0], i)); return nil })
}

// digitsKernel rounds, or cuts, to a number of digits behind the point, which may be
// negative.
func digitsKernel(b *expr.Bound, half bool) (expr.Kernel, error) {
	t, result := b.Args[0], b.T
	digits := func(r row) int64 {
		if r.has(1) {
			return r.int(1)
		}
		return 0
	}
	rounder := &floatRounder{}
	switch batch.LayoutOf(t) {
	case batch.Float64s:
		return trying(func(r row) (float64, bool, error) {
			v, err := rounder.round(r.args[0].F64[r.i], 64, digits(r), half)
			return v, true, err
		}), nil
	case batch.Float32s:
		return trying(func(r row) (float32, bool, error) {
			v, err := rounder.round(float64(r.args[0].F32[r.i]), 32, digits(r), half)
			return float32(v), true, err
		}), nil
	}
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		return rows.Each(func(i int) error {
			v, ok := roundExact(wide(args[0], i), t.Scale, digits(row{args, i}), half, result)
			setWide(out, i, v)
			if !ok {
				out.SetNull(i)
			}
			return nil
		})
	}, nil
}

// roundExact rounds v·10^-scale, and gives it with the digits of a type.
func roundExact(v batch.Int128, scale int, digits int64, half bool, t types.Type) (batch.Int128, bool) {
	if digits < int64(scale) {
		drop := int64(scale) - digits
		if drop > 38 {
			return batch.Int128{}, true
		}
		v = dropDigits(v, int(drop), half)
		if digits < 0 {
			var fits bool
			if v, fits = decimal.Rescale(v, 0, types.MaxPrecision, int(-digits)); !fits {
				return v, false
			}
			scale = 0
		} else {
			scale = int(digits)
		}
	}
	if t.Kind != types.Decimal {
		return v, true
	}
	return decimal.Rescale(v, scale, types.MaxPrecision, t.Scale)
}

// dropDigits takes the last digits off, rounding halves away from 0 or not.
func dropDigits(v batch.Int128, n int, half bool) batch.Int128 {
	cut := decimal.TruncateTo(v, n, 0)
	if !half {
		return cut
	}
	rounded, _ := decimal.Rescale(v, n, types.MaxPrecision, 0)
	return rounded
}

// round rounds the digits that a number is written with: n of them stay behind the
// point. The digits are those of the shortest text that is read as the number.
func (f *floatRounder) round(v float64, size int, n int64, half bool) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("rounding %v: it has no digits", v)
	}
	if !half && math.Abs(v) >= 1e38 {
		return 0, fmt.Errorf("cutting digits off %v: it has more than %d digits", v, types.MaxPrecision)
	}
	f.text = strconv.AppendFloat(f.text[:0], math.Abs(v), 'e', -1, size)
	mark := bytes.IndexByte(f.text, 'e')
	exponent := int64(0)
	for _, c := range f.text[mark+2:] {
		exponent = exponent*10 + int64(c-'0')
	}
	if f.text[mark+1] == '-' {
		exponent = -exponent
	}
	digits := f.digits[:0]
	for _, c := range f.text[:mark] {
		if c != '.' {
			digits = append(digits, c)
		}
	}
	// digits[0] stands at 10^exponent, so that exponent+1+n of them stay.
	keep := exponent + 1 + n
	switch {
	case keep >= int64(len(digits)):
		return v + 0, nil
	case keep < 0:
		return 0, nil
	}
	up := half && digits[keep] >= '5'
	digits = append(digits[:keep], 'e')
	if keep == 0 {
		digits = append(digits[:0], '0', 'e')
	}
	exponent -= max(keep, 1) - 1
	if keep == 0 {
		exponent++ // the digit before the first
	}
	if up {
		digits = increment(digits)
	}
	f.digits = strconv.AppendInt(digits, exponent, 10)
	r, ok := floattext.Parse(f.digits, size)
	if !ok {
		return 0, fmt.Errorf("rounding %v", v)
	}
	return math.Copysign(r, v) + 0, nil
}

// increment adds one to digits that are followed by an e.
func increment(digits []byte) []byte {
	for i := len(digits) - 2; i >= 0; i-- {
		if digits[i] != '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	return slices.Insert(digits, 0, '1')
}

// floatRounder keeps the memory of rounding.
type floatRounder struct{ text, digits []byte }

// inferPeriod takes a date or time and a unit.
func inferPeriod(s *expr.Site) (types.Type, error) {
	name, _ := s.ConstantText(1)
	unit, ok := datetime.ParseUnit(name)
	if !ok {
		return types.Type{}, expr.Refuse(s.Args[1].Span(), "%q is no unit of %s; allowed are MILLISECOND, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY and MILLENNIUM", name, s.Fn.Name)
	}
	t := s.Type(0)
	if !t.Kind.IsDatetime() {
		return t, s.NoMatch("(date, time or timestamp TO unit)")
	}
	if t.Kind != types.Date {
		switch unit {
		case datetime.DayOfWeek, datetime.ISODayOfWeek, datetime.DayOfYearUnit, datetime.Epoch:
			return t, s.Refuse("%s cannot round %s to %s", s.Fn.Name, t.Text(), unit)
		case datetime.Microseconds, datetime.Nanoseconds:
			if !isNull(s, 0) {
				return t, s.Refuse("%s cannot round %s to %s", s.Fn.Name, t.Text(), unit)
			}
		case datetime.ISOYear:
			if t.Kind == types.TimestampLTZ {
				return t, s.Refuse("%s cannot round %s to %s", s.Fn.Name, t.Text(), unit)
			}
		}
	}
	return t, nil
}

func periodKernel(b *expr.Bound, up bool) (expr.Kernel, error) {
	name, _ := b.ConstantText(1)
	unit, _ := datetime.ParseUnit(name)
	zone := datetime.ZoneOf(b.Session.Zone)
	switch b.T.Kind {
	case types.Date:
		return computing(func(r row) (int32, bool) { return int32(datetime.FloorDate(unit, r.int(0), up)), true }), nil
	case types.Time:
		return computing(func(r row) (int32, bool) { return int32(datetime.FloorTime(unit, r.int(0), up)), true }), nil
	case types.Timestamp:
		zone = datetime.UTC
	}
	return momentKernel(func(r row, ms int64, nanos int32) (int64, int32, bool) {
		offset := zone.Offset(ms)
		return datetime.Floor(unit, ms+offset, nanos, up) - offset, 0, true
	}), nil
}

// momentKernel is a kernel that gives a timestamp from that in its first argument.
func momentKernel(f func(r row, ms int64, nanos int32) (int64, int32, bool)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		return rows.Each(func(i int) error {
			ms, nanos, ok := f(row{args, i}, args[0].I64[i], args[0].Nanos(i))
			setMoment(out, i, ms, nanos)
			if !ok {
				out.SetNull(i)
			}
			return nil
		})
	}
}

// setMoment writes a timestamp.
func setMoment(c *batch.Column, i int, ms int64, nanos int32) {
	c.I64[i] = ms
	if c.I32 != nil {
		c.I32[i] = nanos
	}
}

// formatInt is a whole number as text.
func formatInt(v int64) string { return strconv.FormatInt(v, 10) }
