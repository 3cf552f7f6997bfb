// Package civil holds SQL's dates, times of day and timestamps as numbers: days since
// 1970-01-01 in the proleptic Gregorian calendar, milliseconds of the day, milliseconds
// since 1970 of no zone. It writes them as results show them, and reads them as CAST
// from text does.
//
// It promises to allocate nothing. It never reads a clock, and patterns of DATE_FORMAT
// and its like are not its matter.
package civil
