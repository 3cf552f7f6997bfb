package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/types"
)

// elapsed are the differences of two dates or times, which need a unit.
func elapsed() []*Function {
	difference := func(name, usage, doc string, result types.Type, kernel func(*Bound) (Kernel, error)) *Function {
		return &Function{Name: name, Form: Operator, Category: "temporal", Usage: usage, Doc: doc, Nulls: Strict, Kernel: kernel,
			Infer: func(s *Site) (types.Type, error) {
				if err := s.operands(2); err != nil {
					return types.Type{}, err
				}
				if !s.Kind(0).IsDatetime() || !s.Kind(1).IsDatetime() {
					return types.Type{}, s.NoMatch("two dates, times or timestamps")
				}
				if s.Kind(0) != s.Kind(1) {
					return types.Type{}, s.Refuse("the difference of %s and %s: Parameters must be of the same type; cast one of them", s.Type(0).Text(), s.Type(1).Text())
				}
				t, err := s.Unify(0, 1)
				return Resolved(result).WithNull(t.Nullable), err
			}}
	}
	return []*Function{
		difference(elapsedName, "(a - b) DAY", "The time from b to a.", types.Type{Kind: types.IntervalDayTime}, elapsedKernel),
		difference(elapsedMonthsName, "(a - b) MONTH", "The whole months from b to a.", types.Type{Kind: types.IntervalYearMonth}, elapsedMonthsKernel),
	}
}

// The names of differences with a unit.
const (
	elapsedName       = "ELAPSED"
	elapsedMonthsName = "ELAPSED MONTHS"
)

// temporal reports whether one of two operands is a date, a time or an interval.
func (s *Site) temporal() bool {
	for i := range s.Args {
		if k := s.Kind(i); k.IsDatetime() || k.IsInterval() {
			return true
		}
	}
	return false
}

// temporalSum is interval + interval, and a date or time + interval in either order.
func (s *Site) temporalSum() (types.Type, error) {
	if s.Kind(0).IsInterval() && s.Kind(1).IsDatetime() {
		s.Args[0], s.Args[1] = s.Args[1], s.Args[0]
	}
	return s.temporalDifference()
}

func (s *Site) temporalDifference() (types.Type, error) {
	a, b := s.Type(0), s.Type(1)
	switch {
	case !b.Kind.IsInterval():
	case a.Kind == b.Kind, a.Kind.IsDatetime():
		return Resolved(a).WithNull(s.Nullable()), nil
	}
	return types.Type{}, s.NoMatch("an interval with another of its kind, or with a date or time; for a difference write (a - b) DAY")
}

// temporalProduct is interval * whole number in either order.
func (s *Site) temporalProduct() (types.Type, error) {
	if s.Kind(1).IsInterval() {
		s.Args[0], s.Args[1] = s.Args[1], s.Args[0]
	}
	if !s.Kind(0).IsInterval() || !s.Kind(1).IsInteger() {
		return types.Type{}, s.NoMatch("an interval and a whole number")
	}
	return Resolved(s.Type(0)).WithNull(s.Nullable()), s.Cast(1, types.Of(types.BigInt))
}

func (s *Site) temporalQuotient() (types.Type, error) {
	return types.Type{}, s.NoMatch("two numbers")
}

// temporalSumKernel moves a date or time by an interval, forwards or backwards.
func temporalSumKernel(b *Bound, sign int64) (Kernel, error) {
	months := b.Args[1].Kind == types.IntervalYearMonth
	switch {
	case b.T.Kind == types.Date && months:
		return Binary(func(days, n int32) int32 { return int32(civil.AddMonths(int(days), int(sign)*int(n))) }), nil
	case b.T.Kind == types.Date:
		return Binary(func(days int32, millis int64) int32 { return days + int32(sign*millis/civil.Day) }), nil
	case b.T.Kind == types.Time && months:
		return Binary(func(millis, _ int32) int32 { return millis }), nil
	case b.T.Kind == types.Time:
		return Binary(func(clock int32, millis int64) int32 {
			return int32(civil.FloorMod(int64(clock)+sign*(millis%civil.Day), civil.Day))
		}), nil
	}
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		at, by := args[0], args[1]
		return rows.Each(func(i int) error {
			if months {
				days := civil.FloorDiv(at.I64[i], civil.Day)
				out.I64[i] = int64(civil.AddMonths(int(days), int(sign)*int(by.I32[i])))*civil.Day + at.I64[i] - days*civil.Day
			} else {
				out.I64[i] = at.I64[i] + sign*by.I64[i]
			}
			if out.I32 != nil {
				out.I32[i] = at.Nanos(i)
			}
			return nil
		})
	}, nil
}

func temporalDifferenceKernel(b *Bound) (Kernel, error) {
	switch b.T.Kind {
	case types.IntervalYearMonth:
		return difference[int32], nil
	case types.IntervalDayTime:
		return difference[int64], nil
	}
	return temporalSumKernel(b, -1)
}

func intervalProductKernel(b *Bound) (Kernel, error) {
	if b.T.Kind == types.IntervalYearMonth {
		return Binary(func(months int32, n int64) int32 { return int32(int64(months) * n) }), nil
	}
	return product[int64], nil
}

// millisOf is a date or time in milliseconds since 1970, or of the day.
func millisOf(t types.Type, c *batch.Column, i int) int64 {
	switch t.Kind {
	case types.Date:
		return int64(c.I32[i]) * civil.Day
	case types.Time:
		return int64(c.I32[i])
	}
	return c.I64[i]
}

func elapsedKernel(b *Bound) (Kernel, error) {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		return rows.Each(func(i int) error {
			out.I64[i] = millisOf(b.Args[0], args[0], i) - millisOf(b.Args[1], args[1], i)
			return nil
		})
	}, nil
}

func elapsedMonthsKernel(b *Bound) (Kernel, error) {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		return rows.Each(func(i int) error {
			out.I32[i] = int32(civil.MonthsBetween(millisOf(b.Args[1], args[1], i), millisOf(b.Args[0], args[0], i)))
			return nil
		})
	}, nil
}
