package datetime

import "strings"

// Unit is a unit of time, or a field of a date or timestamp.
type Unit uint8

// The units.
const (
	NoUnit Unit = iota
	Nanoseconds
	Microseconds
	Milliseconds
	Seconds
	Minutes
	Hours
	DaysUnit
	Weeks
	Months
	Quarters
	Years
	Decades
	Centuries
	Millennia
	Epoch
	DayOfWeek    // from 1, Sunday
	ISODayOfWeek // from 1, Monday
	DayOfYearUnit
	ISOYear
)

var units = map[string]Unit{
	"NANOSECOND": Nanoseconds, "MICROSECOND": Microseconds, "MILLISECOND": Milliseconds, "SECOND": Seconds, "MINUTE": Minutes, "HOUR": Hours,
	"DAY": DaysUnit, "WEEK": Weeks, "MONTH": Months, "QUARTER": Quarters, "YEAR": Years, "DECADE": Decades, "CENTURY": Centuries,
	"MILLENNIUM": Millennia, "EPOCH": Epoch, "DOW": DayOfWeek, "ISODOW": ISODayOfWeek, "DOY": DayOfYearUnit, "ISOYEAR": ISOYear,
}

// frames are the units' names in the interval types of ODBC.
var frames = map[string]Unit{
	"SQL_TSI_FRAC_SECOND": Nanoseconds, "FRAC_SECOND": Nanoseconds, "SQL_TSI_MICROSECOND": Microseconds, "SQL_TSI_SECOND": Seconds, "SQL_TSI_MINUTE": Minutes,
	"SQL_TSI_HOUR": Hours, "SQL_TSI_DAY": DaysUnit, "SQL_TSI_WEEK": Weeks, "SQL_TSI_MONTH": Months, "SQL_TSI_QUARTER": Quarters, "SQL_TSI_YEAR": Years,
}

// ParseUnit is the unit of a name, in any case.
func ParseUnit(name string) (Unit, bool) {
	u, ok := units[strings.ToUpper(name)]
	return u, ok
}

// ParseFrame is the unit of a name in TIMESTAMPADD and TIMESTAMPDIFF.
func ParseFrame(name string) (Unit, bool) {
	if u, ok := ParseUnit(name); ok {
		return u, true
	}
	u, ok := frames[strings.ToUpper(name)]
	return u, ok
}

// String is the unit's name.
func (u Unit) String() string {
	for name, v := range units {
		if v == u {
			return name
		}
	}
	return "no unit"
}

// length is a unit's in milliseconds; 0 if it has none.
func (u Unit) length() int64 {
	switch u {
	case Milliseconds:
		return 1
	case Seconds:
		return Second
	case Minutes:
		return Minute
	case Hours:
		return Hour
	case DaysUnit:
		return Day
	case Weeks:
		return Week
	}
	return 0
}
