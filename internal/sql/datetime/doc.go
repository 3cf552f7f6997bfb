// Package datetime holds what SQL asks of dates and times: fields, rounding, arithmetic by
// months, time zones, and the two languages of patterns that the dialect takes from Java.
// The calendar itself is package civil's.
//
// It promises the dialect's answers, with its oddities where they are said. Dates are days
// since 1970 of the proleptic Gregorian calendar, times milliseconds of a day, timestamps
// milliseconds since 1970 with nanoseconds within. It keeps no clock and no session: the
// zone is always given.
package datetime
