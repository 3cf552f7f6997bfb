package datetime

import "testing"

// TestHybridDates goes over days on both sides of the reform: each has a date of its own,
// which leads back to it.
func TestHybridDates(t *testing.T) {
	lastYear, lastMonth, lastDay := int64(0), int64(0), int64(0)
	for days := int64(reform - 800_000); days < reform+800_000; days++ {
		year, month, day := hybridDate(days)
		if back := hybridDays(year, month, day); back != days {
			t.Fatalf("day %d is %d-%d-%d, which is day %d", days, year, month, day, back)
		}
		if (year-lastYear)*400+(month-lastMonth)*32+day-lastDay <= 0 && lastMonth != 0 {
			t.Fatalf("day %d is %d-%d-%d, which is not after %d-%d-%d", days, year, month, day, lastYear, lastMonth, lastDay)
		}
		lastYear, lastMonth, lastDay = year, month, day
	}
	for _, c := range []struct{ days, year, month, day int64 }{
		{reform, 1582, 10, 15}, {reform - 1, 1582, 10, 4}, {-719164, 1, 1, 1}, {-719165, 0, 12, 31}, {0, 1970, 1, 1},
	} {
		if year, month, day := hybridDate(c.days); year != c.year || month != c.month || day != c.day {
			t.Errorf("day %d is %d-%d-%d, want %d-%d-%d", c.days, year, month, day, c.year, c.month, c.day)
		}
	}
}
