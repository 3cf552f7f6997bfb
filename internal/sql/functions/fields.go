package functions

import (
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// fields are the functions that take a field out of a date, a time or an interval.
func fields() []*expr.Function {
	fs := []*expr.Function{
		bound("EXTRACT", "temporal", "EXTRACT(unit FROM t)", "A field of a date, time, timestamp or interval.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(2, 2); err != nil {
				return types.Type{}, err
			}
			name, _ := s.ConstantText(0)
			unit, ok := datetime.ParseUnit(name)
			if !ok {
				return types.Type{}, expr.Refuse(s.Args[0].Span(), "%q is no field; allowed are MILLENNIUM, CENTURY, DECADE, YEAR, ISOYEAR, QUARTER, MONTH, WEEK, DAY, DOW, ISODOW, DOY, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, NANOSECOND and EPOCH", name)
			}
			return inferField(s, unit, 1)
		}, func(b *expr.Bound) (expr.Kernel, error) {
			name, _ := b.ConstantText(0)
			unit, _ := datetime.ParseUnit(name)
			return fieldKernel(b, unit, 1), nil
		}),
	}
	for name, unit := range map[string]datetime.Unit{
		"YEAR": datetime.Years, "QUARTER": datetime.Quarters, "MONTH": datetime.Months, "WEEK": datetime.Weeks, "DAYOFYEAR": datetime.DayOfYearUnit,
		"DAYOFMONTH": datetime.DaysUnit, "DAYOFWEEK": datetime.DayOfWeek, "HOUR": datetime.Hours, "MINUTE": datetime.Minutes, "SECOND": datetime.Seconds,
	} {
		fs = append(fs, bound(name, "temporal", name+"(t)", "The "+unit.String()+" of a date, time or timestamp.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(1, 1); err != nil {
				return types.Type{}, err
			}
			return inferField(s, unit, 0)
		}, func(b *expr.Bound) (expr.Kernel, error) { return fieldKernel(b, unit, 0), nil }))
	}
	return fs
}

// inferField refuses fields that the argument does not have.
func inferField(s *expr.Site, unit datetime.Unit, arg int) (types.Type, error) {
	if err := s.Count(arg+1, arg+1); err != nil {
		return types.Type{}, err
	}
	t := s.Type(arg)
	if !hasField(t.Kind, unit) {
		return types.Type{}, s.Refuse("%s has no field %s", t.Text(), unit)
	}
	return long.WithNull(t.Nullable), nil
}

func hasField(k types.Kind, unit datetime.Unit) bool {
	clock := unit == datetime.Hours || unit == datetime.Minutes || unit == datetime.Seconds || unit == datetime.Milliseconds
	switch k {
	case types.Timestamp, types.TimestampLTZ:
		return true
	case types.Date:
		return unit != datetime.Microseconds && unit != datetime.Nanoseconds
	case types.Time:
		return clock
	case types.IntervalDayTime:
		return clock || unit == datetime.DaysUnit
	case types.IntervalYearMonth:
		switch unit {
		case datetime.Years, datetime.Quarters, datetime.Months, datetime.Centuries, datetime.Millennia:
			return true
		}
	}
	return false
}

func fieldKernel(b *expr.Bound, unit datetime.Unit, arg int) expr.Kernel {
	zone := datetime.ZoneOf(b.Session.Zone)
	var f func(r row) int64
	switch b.Args[arg].Kind {
	case types.Date:
		f = func(r row) int64 { return datetime.DateField(unit, r.int(arg)) }
	case types.Time:
		f = func(r row) int64 { return datetime.TimeField(unit, r.int(arg)) }
	case types.IntervalDayTime:
		f = func(r row) int64 { return datetime.IntervalField(unit, r.int(arg)) }
	case types.IntervalYearMonth:
		f = func(r row) int64 { return datetime.MonthsField(unit, r.int(arg)) }
	case types.TimestampLTZ:
		f = func(r row) int64 {
			instant := r.args[arg].I64[r.i]
			return datetime.LocalField(unit, zone.Local(instant), r.args[arg].Nanos(r.i), instant)
		}
	default:
		f = func(r row) int64 {
			return datetime.Field(unit, r.args[arg].I64[r.i], r.args[arg].Nanos(r.i))
		}
	}
	return computing(func(r row) (int64, bool) { return f(r), true })
}
