package datetime

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
	year += floorDiv(month-1, 12)
	month = floorMod(month-1, 12) + 1
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(month+9-12*((month+9)/12))+2)/5 + day - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// Civil is the civil date of a day.
func Civil(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	doe := days - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	if month > 12 {
		month -= 12
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// LastDay is how many days a month has.
func LastDay(year, month int64) int64 {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func leap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

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

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
