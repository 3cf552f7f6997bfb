package datetime

import "github.com/weirstream/weir/internal/sql/civil"

// AddMonths is the day some months later, the last of the month if that is shorter.
func AddMonths(days, months int64) int64 { return int64(civil.AddMonths(int(days), int(months))) }

// AddMonthsMillis is AddMonths of a timestamp.
func AddMonthsMillis(ms, months int64) int64 {
	return AddMonths(floorDiv(ms, Day), months)*Day + floorMod(ms, Day)
}

// MonthsBetween is how many full months lie between two days.
func MonthsBetween(from, to int64) int64 {
	if to < from {
		return -MonthsBetween(to, from)
	}
	m := (to - from) / 31
	for AddMonths(from, m+1) <= to {
		m++
	}
	return m
}

// MonthsBetweenMillis is how many full months lie between two timestamps.
func MonthsBetweenMillis(from, to int64) int64 {
	d0, d1 := floorDiv(to, Day), floorDiv(from, Day)
	m := MonthsBetween(d1, d0)
	if AddMonths(d1, m) == d0 && floorMod(to, Day) < floorMod(from, Day) {
		m--
	}
	return m
}
