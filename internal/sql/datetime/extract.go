package datetime

// DateField is a field of a date, of those of a day or longer.
func DateField(u Unit, days int64) int64 {
	year, month, day := Civil(days)
	switch u {
	case Epoch:
		return days * (Day / Second)
	case DaysUnit:
		return day
	case Months:
		return month
	case Quarters:
		return (month + 2) / 3
	case Years:
		return year
	case Decades:
		return year / 10
	case Centuries:
		return above(year, 100)
	case Millennia:
		return above(year, 1000)
	case DayOfWeek:
		return Weekday(days) + 1
	case ISODayOfWeek:
		return (Weekday(days)+6)%7 + 1
	case DayOfYearUnit:
		return DayOfYear(days)
	case Weeks:
		_, week := ISOWeek(days)
		return week
	case ISOYear:
		isoYear, _ := ISOWeek(days)
		return isoYear
	}
	return TimeField(u, days)
}

// above is the number of the period of n years that a year is in, the first being 1.
func above(year, n int64) int64 {
	if year > 0 {
		return (year + n - 1) / n
	}
	return (year - n + 1) / n
}

// TimeField is a field of a time of day in milliseconds. It keeps the sign, and takes any
// number: what is asked of a date so is a field of its number of days.
func TimeField(u Unit, ms int64) int64 {
	switch u {
	case Hours:
		return ms % Day / Hour
	case Minutes:
		return ms % Hour / Minute
	case Seconds:
		return ms % Minute / Second
	case Milliseconds:
		return ms % Minute % Second
	}
	return 0
}

// Field is a field of a timestamp. Before 1970 it counts towards 1970: the last moment of
// 1969 is in 1970, its hour 0 and its millisecond negative.
func Field(u Unit, ms int64, nanos int32) int64 {
	return field(u, ms, ms/Day, ms%Day, nanos)
}

// LocalField is Field as the calendar has it, before 1970 too. The epoch is that of
// instant.
func LocalField(u Unit, ms int64, nanos int32, instant int64) int64 {
	if u == Epoch {
		return floorDiv(instant, Second)
	}
	return field(u, ms, floorDiv(ms, Day), floorMod(ms, Day), nanos)
}

func field(u Unit, ms, days, time int64, nanos int32) int64 {
	switch u {
	case Epoch:
		return ms / Second
	case Microseconds:
		return time%Second*1000 + int64(nanos)/1000
	case Nanoseconds:
		return time%Second*1_000_000 + int64(nanos)
	case Hours, Minutes, Seconds, Milliseconds:
		return TimeField(u, time)
	}
	return DateField(u, days)
}

// MonthsField is a field of an interval of months.
func MonthsField(u Unit, months int64) int64 {
	switch u {
	case Months:
		return months % 12
	case Quarters:
		return months%12/3 + 1
	case Years:
		return months / 12
	case Decades:
		return months / 120
	case Centuries:
		return months / 1200
	case Millennia:
		return months / 12000
	}
	return 0
}

// IntervalField is a field of an interval of milliseconds.
func IntervalField(u Unit, ms int64) int64 {
	if u == DaysUnit {
		return ms / Day
	}
	return TimeField(u, ms)
}
