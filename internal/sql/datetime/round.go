package datetime

// FloorDate is the first day of the period of a unit that a day is in; up asks for that of
// the next one, unless the day is such for a unit of up to a year. Before 1582-10-15 the
// period is that of the Julian calendar. A unit shorter than a day leaves the day.
func FloorDate(u Unit, days int64, up bool) int64 {
	year, month, day := julianCivil(days)
	switch u {
	case Weeks:
		offset := Weekday(days)
		if up && offset > 0 {
			offset -= 7
		}
		return Days(year, month, day) - offset
	case DaysUnit:
		return Days(year, month, day) + one(up)
	case Millennia:
		return Days(1000*(above(year, 1000)+one(up))-999, 1, 1)
	case Centuries:
		return Days(100*(above(year, 100)+one(up))-99, 1, 1)
	case Decades:
		return Days(10*(year/10+one(up)), 1, 1)
	case Years:
		return Days(year+one(up && (month > 1 || day > 1)), 1, 1)
	case Quarters:
		first := (month-1)/3*3 + 1
		return Days(year, first+3*one(up && (month > first || day > 1)), 1)
	case Months:
		return Days(year, month+one(up && day > 1), 1)
	}
	return days
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// julianCivil is the civil date of a day, by the Julian calendar before 1582-10-15.
func julianCivil(days int64) (year, month, day int64) {
	j := days + epochJulian
	if j >= 2299161 {
		return Civil(days)
	}
	c := j + 32082
	d := floorDiv(4*c+3, 1461)
	e := c - floorDiv(1461*d, 4)
	m := (5*e + 2) / 153
	return d - 4800 + m/10, m + 3 - 12*(m/10), e - (153*m+2)/5 + 1
}

// Floor is the beginning of the period of a unit that a timestamp is in, up the end unless
// it is a beginning. For units of a day and longer the day of a time before 1970 is the
// next one.
func Floor(u Unit, ms int64, nanos int32, up bool) int64 {
	switch u {
	case Milliseconds, Seconds, Minutes, Hours, ISOYear:
		n := u.length()
		if u == ISOYear {
			n = 12
		}
		floor := floorDiv(ms, n) * n
		if up && (floor != ms || nanos > 0) {
			floor += n
		}
		return floor
	case DaysUnit:
		floor := floorDiv(ms, Day) * Day
		if up && (floor != ms || nanos > 0) {
			floor += Day
		}
		return floor
	}
	return FloorDate(u, ms/Day, up) * Day
}

// FloorTime rounds a time of day; for units of a day and longer its number is taken for
// that of days.
func FloorTime(u Unit, ms int64, up bool) int64 {
	switch u {
	case Milliseconds, Seconds, Minutes, Hours, ISOYear:
		return Floor(u, ms, 0, up)
	}
	return FloorDate(u, ms, up)
}
