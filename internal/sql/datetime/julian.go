package datetime

// The calendar of patterns of SimpleDateFormat is the Julian one before the 15th of October
// 1582, and the Gregorian one from then on.

// reform is the first day of the Gregorian calendar, and reformYear its year.
const (
	reform     = -141427
	reformYear = 1582
)

// julianEpoch is how many days before 1970 the count of Julian days begins.
const julianEpoch = 2440588

// hybridDays is the day of a date of the two calendars. Months and days beyond their range
// run over; the days that the reform left out are Julian.
func hybridDays(year, month, day int64) int64 {
	year, month = year+floorDiv(month-1, 12), floorMod(month-1, 12)+1
	if year >= reformYear {
		if days := Days(year, month, day); year > reformYear || days >= reform {
			return days
		}
	}
	// Years begin in March, so that the leap day is the last.
	before := (14 - month) / 12
	y, m := year+4800-before, month+12*before-3
	return day + (153*m+2)/5 + 365*y + floorDiv(y, 4) - 32083 - julianEpoch
}

// hybridDate is the date of a day in the two calendars.
func hybridDate(days int64) (year, month, day int64) {
	if days >= reform {
		return Civil(days)
	}
	c := days + julianEpoch + 32082
	y := floorDiv(4*c+3, 1461)
	e := c - floorDiv(1461*y, 4)
	m := (5*e + 2) / 153
	return y - 4800 + m/10, m + 3 - 12*(m/10), e - (153*m+2)/5 + 1
}
