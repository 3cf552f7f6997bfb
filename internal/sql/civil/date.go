package civil

import (
	"math"
	"time"
)

// Units of time in milliseconds.
const (
	Second = 1000
	Minute = 60 * Second
	Hour   = 60 * Minute
	Day    = 24 * Hour
)

// Days is the day of a date. Month and day may lie beyond their limits.
func Days(year, month, day int) int {
	if month < 1 || month > 12 {
		year += FloorDiv(month-1, 12)
		month = FloorMod(month-1, 12) + 1
	}
	if month <= 2 {
		year--
	}
	era := FloorDiv(year, 400)
	ofEra := year - era*400
	ofYear := (153*((month+9)%12)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// Date is the date of a day.
func Date(days int) (year, month, day int) {
	days += 719468
	era := FloorDiv(days, 146097)
	ofEra := days - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*ofYear + 2) / 153
	day = ofYear - (153*m+2)/5 + 1
	month = (m+2)%12 + 1
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// DaysIn is how many days a month has.
func DaysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if IsLeap(year) {
			return 29
		}
		return 28
	}
	return 31
}

// IsLeap reports whether the year has a 29th of February.
func IsLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// AddMonths moves a day by months, to the month's last day if it has none such.
func AddMonths(days int, months int) int {
	year, month, day := Date(days)
	month += months - 1
	year += FloorDiv(month, 12)
	month = FloorMod(month, 12) + 1
	return Days(year, month, min(day, DaysIn(year, month)))
}

// FloorDiv is a / b rounded down.
func FloorDiv[T int | int32 | int64](a, b T) T {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FloorMod is what FloorDiv leaves.
func FloorMod[T int | int32 | int64](a, b T) T { return a - FloorDiv(a, b)*b }

// Offset is a zone's distance from UTC at an instant, in milliseconds.
func Offset(zone *time.Location, instant int64) int64 {
	_, seconds := time.UnixMilli(instant).In(zone).Zone()
	return int64(seconds) * Second
}

// ToLocal is the local time of an instant.
func ToLocal(zone *time.Location, instant int64) int64 {
	if zone == time.UTC {
		return instant
	}
	return instant + Offset(zone, instant)
}

// ToInstant is the instant of a local time: the earlier one of two, and where the
// clock was put forward, as much later as it was.
func ToInstant(zone *time.Location, local int64) int64 {
	if zone == time.UTC {
		return local
	}
	before := Offset(zone, local-Day)
	if first := local - before; Offset(zone, first) == before {
		return first
	}
	after := Offset(zone, local+Day)
	if second := local - after; Offset(zone, second) == after {
		return second
	}
	// The clock may have been put twice within two days, or this time does not exist.
	for _, at := range []int64{local - before, local - after} {
		if o := Offset(zone, at); Offset(zone, local-o) == o {
			return local - o
		}
	}
	return local - before
}

// Finite reports whether milliseconds can be told in days of 32 bits.
func Finite(millis int64) bool {
	d := FloorDiv(millis, Day)
	return math.MinInt32 <= d && d <= math.MaxInt32
}

// MonthsBetween is how many whole months lie between two times in milliseconds,
// negative if the second comes first.
func MonthsBetween(from, to int64) int {
	fromDay, toDay := FloorDiv(from, Day), FloorDiv(to, Day)
	y0, m0, _ := Date(int(fromDay))
	y1, m1, _ := Date(int(toDay))
	months := (y1-y0)*12 + m1 - m0
	reached := int64(AddMonths(int(fromDay), months))*Day + from - fromDay*Day
	switch {
	case to >= from && reached > to:
		months--
	case to < from && reached < to:
		months++
	}
	return months
}
