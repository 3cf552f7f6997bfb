package functions

import (
	"fmt"
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// periods are TIMESTAMPADD and TIMESTAMPDIFF: unit, number or time, time.
func periods() []*expr.Function {
	return []*expr.Function{
		bound("TIMESTAMPADD", "temporal", "TIMESTAMPADD(unit, n, t)", "The time n units later.", inferAdd, addKernel),
		bound("TIMESTAMPDIFF", "temporal", "TIMESTAMPDIFF(unit, a, b)", "How many full units b is after a.", inferDiff, diffKernel),
	}
}

// frame is the unit of a call's first argument.
func frame(s *expr.Site) (datetime.Unit, error) {
	if err := s.Count(3, 3); err != nil {
		return 0, err
	}
	name, _ := s.ConstantText(0)
	unit, ok := datetime.ParseFrame(name)
	if !ok {
		return 0, expr.Refuse(s.Args[0].Span(), "%q is no unit of %s; allowed are MILLISECOND, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER and YEAR", name, s.Fn.Name)
	}
	return unit, nil
}

func inferAdd(s *expr.Site) (types.Type, error) {
	unit, err := frame(s)
	if err != nil {
		return types.Type{}, err
	}
	t := s.Type(2)
	if !s.Kind(1).IsInteger() || !t.Kind.IsDatetime() {
		return t, s.NoMatch("(unit, integer, date or time)")
	}
	refused := s.Refuse("TIMESTAMPADD cannot add %s to %s", unit, t.Text())
	switch unit {
	case datetime.Microseconds, datetime.Nanoseconds:
		return t, refused
	case datetime.DayOfWeek, datetime.ISODayOfWeek, datetime.DayOfYearUnit, datetime.Epoch:
		if t.Kind != types.TimestampLTZ {
			if isNull(s, 2) {
				return t.OrNull(), nil
			}
			return t, refused
		}
		return t.OrNull(), nil
	case datetime.Milliseconds:
		if t.Kind == types.Date || t.Kind == types.Time {
			return t, refused
		}
		t.Precision = max(t.Precision, 3)
	case datetime.Hours, datetime.Minutes, datetime.Seconds:
		if t.Kind == types.Date {
			t = types.TimestampOf(6)
		}
	}
	t.Time = types.NoTime
	return t.WithNull(s.Type(1).Nullable || s.Type(2).Nullable), nil
}

// millis is how long a unit is, months how many months it has.
func millis(u datetime.Unit) int64 {
	switch u {
	case datetime.Milliseconds:
		return 1
	case datetime.Seconds, datetime.Epoch:
		return datetime.Second
	case datetime.Minutes:
		return datetime.Minute
	case datetime.Hours:
		return datetime.Hour
	case datetime.DaysUnit, datetime.DayOfWeek, datetime.ISODayOfWeek, datetime.DayOfYearUnit:
		return datetime.Day
	case datetime.Weeks:
		return datetime.Week
	}
	return 0
}

func months(u datetime.Unit) int64 {
	switch u {
	case datetime.Months:
		return 1
	case datetime.Quarters:
		return 3
	case datetime.Years, datetime.ISOYear:
		return 12
	case datetime.Decades:
		return 120
	case datetime.Centuries:
		return 1200
	case datetime.Millennia:
		return 12000
	}
	return 0
}

func addKernel(b *expr.Bound) (expr.Kernel, error) {
	name, _ := b.ConstantText(0)
	unit, _ := datetime.ParseFrame(name)
	step, monthly := millis(unit), months(unit)
	switch {
	case unit >= datetime.Epoch && monthly == 0:
		return momentOf(func(row) (int64, int32, bool, error) { return 0, 0, false, nil }), nil
	case b.Args[2].Kind == types.Time:
		return computing(func(r row) (int32, bool) {
			return int32(floorMod(r.int(2)+r.int(1)*step, datetime.Day)), true
		}), nil
	case b.T.Kind == types.Date:
		return trying(func(r row) (int32, bool, error) {
			days := r.int(2)
			if monthly > 0 {
				days = datetime.AddMonths(days, r.int(1)*monthly)
			} else {
				days += r.int(1) * (step / datetime.Day)
			}
			if days != int64(int32(days)) {
				return 0, false, fmt.Errorf("TIMESTAMPADD leaves the range of DATE")
			}
			return int32(days), true, nil
		}), nil
	}
	from := momentAt(b.Args[2], 2)
	return momentOf(func(r row) (int64, int32, bool, error) {
		ms, nanos := from(r)
		if monthly > 0 {
			return datetime.AddMonthsMillis(ms, r.int(1)*monthly), nanos, true, nil
		}
		return ms + r.int(1)*step, nanos, true, nil
	}), nil
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// momentAt reads a date, a time or a timestamp as milliseconds since 1970.
func momentAt(t types.Type, arg int) func(r row) (ms int64, nanos int32) {
	switch t.Kind {
	case types.Date:
		return func(r row) (int64, int32) { return r.int(arg) * datetime.Day, 0 }
	case types.Time:
		return func(r row) (int64, int32) { return r.int(arg), 0 }
	}
	return func(r row) (int64, int32) { return r.args[arg].I64[r.i], r.args[arg].Nanos(r.i) }
}

// momentOf is a kernel that gives a timestamp.
func momentOf(f func(r row) (ms int64, nanos int32, ok bool, err error)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		return rows.Each(func(i int) error {
			ms, nanos, ok, err := f(row{args, i})
			if err != nil {
				return expr.AtRow(i, err)
			}
			setMoment(out, i, ms, nanos)
			if !ok {
				out.SetNull(i)
			}
			return nil
		})
	}
}

func inferDiff(s *expr.Site) (types.Type, error) {
	unit, err := frame(s)
	if err != nil {
		return types.Type{}, err
	}
	a, b := s.Kind(1), s.Kind(2)
	if !a.IsDatetime() || !b.IsDatetime() {
		return types.Type{}, s.NoMatch("(unit, date or time, date or time)")
	}
	if (a == types.TimestampLTZ) != (b == types.TimestampLTZ) || (a == types.Time) != (b == types.Time) && months(unit) == 0 {
		return types.Type{}, s.Refuse("TIMESTAMPDIFF cannot compare %s with %s: cast one of them", s.Type(1).Text(), s.Type(2).Text())
	}
	t := integer
	if unit == datetime.Nanoseconds {
		t = long
	}
	return t.WithNull(s.Nullable()), nil
}

func diffKernel(b *expr.Bound) (expr.Kernel, error) {
	name, _ := b.ConstantText(0)
	unit, _ := datetime.ParseFrame(name)
	from, to := momentAt(b.Args[1], 1), momentAt(b.Args[2], 2)
	count := func(a, b int64) int64 { return (b - a) / max(millis(unit), 1) }
	if monthly := months(unit); monthly > 0 {
		if unit == datetime.Decades {
			monthly = 12 // the dialect counts years
		}
		between := datetime.MonthsBetweenMillis
		if days := func(k types.Kind) bool { return k == types.Time || k == types.Date }; days(b.Args[1].Kind) && days(b.Args[2].Kind) {
			between, from, to = datetime.MonthsBetween, daysAt(1), daysAt(2) // the number of a time is taken for one of days
		}
		count = func(a, b int64) int64 { return between(a, b) / monthly }
	}
	// What is shorter than a second is counted in whole seconds.
	switch unit {
	case datetime.Milliseconds:
		count = func(a, b int64) int64 { return (b - a) / datetime.Second * 1000 }
	case datetime.Microseconds:
		count = func(a, b int64) int64 { return (b - a) / datetime.Second * 1_000_000 }
	case datetime.Nanoseconds:
		return computing(func(r row) (int64, bool) {
			a, _ := from(r)
			b, _ := to(r)
			return (b - a) / datetime.Second * 1_000_000_000, true
		}), nil
	}
	return computing(func(r row) (int32, bool) {
		a, _ := from(r)
		b, _ := to(r)
		return int32(count(a, b)), true
	}), nil
}

// daysAt reads a date, or a time as if it were one.
func daysAt(arg int) func(r row) (int64, int32) {
	return func(r row) (int64, int32) { return r.int(arg), 0 }
}

// finite reports whether an instant is one that timestamps can hold.
func finite(ms float64) bool { return !math.IsNaN(ms) && math.Abs(ms) < 1<<62 }
