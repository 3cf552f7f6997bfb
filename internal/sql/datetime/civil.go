package datetime

import "github.com/weirstream/weir/internal/sql/civil"

// Lengths of time in milliseconds.
const (
	Second = 1000
	Minute = 60 * Second
	Hour   = 60 * Minute
	Day    = 24 * Hour
	Week   = 7 * Day
)

// epochJulian is the Julian day number of 1970-01-01.
const epochJulian = 2440588

// Days is the day of a civil date. The month may be any number, the day too.
func Days(year, month, day int64) int64 {
	return int64(civil.Days(int(year), int(month), int(day)))
}

// Civil is the civil date of a day.
func Civil(days int64) (year, month, day int64) {
	y, m, d := civil.Date(int(days))
	return int64(y), int64(m), int64(d)
}

// LastDay is how many days a month has.
func LastDay(year, month int64) int64 { return int64(civil.DaysIn(int(year), int(month))) }

// Weekday is the day of the week: 0 is Sunday.
func Weekday(days int64) int64 { return floorMod(days+4, 7) }

// DayOfYear counts from 1.
func DayOfYear(days int64) int64 {
	year, _, _ := Civil(days)
	return days - Days(year, 1, 1) + 1
}

// ISOWeek is the week by ISO 8601, and the year it belongs to.
func ISOWeek(days int64) (year, week int64) {
	thursday := days - (Weekday(days)+6)%7 + 3
	year, _, _ = Civil(thursday)
	return year, (thursday-Days(year, 1, 1))/7 + 1
}

// localWeek is the week that begins on a Sunday, the first of a year having its first day,
// and the year it belongs to.
func localWeek(days int64) (year, week int64) {
	year, _, _ = Civil(days)
	start := func(y int64) int64 { d := Days(y, 1, 1); return d - Weekday(d) }
	if days >= start(year+1) {
		year++
	}
	return year, (days-start(year))/7 + 1
}

func floorDiv(a, b int64) int64 { return civil.FloorDiv(a, b) }

func floorMod(a, b int64) int64 { return civil.FloorMod(a, b) }
