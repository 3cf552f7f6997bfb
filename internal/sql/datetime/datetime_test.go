package datetime

import (
	"fmt"
	"testing"
	"time"
)

// at is a local time given by its fields.
func at(y, mo, d, h, mi, s, ms int64) int64 {
	return Days(y, mo, d)*Day + h*Hour + mi*Minute + s*Second + ms
}

func show(ms int64, nanos int32) string {
	f, _ := NewFormatter("uuuu-MM-dd HH:mm:ss.SSSSSSSSS")
	b, _ := f.Append(nil, ms, nanos)
	return string(b)
}

func TestCivilIsTheInverseOfDays(t *testing.T) {
	for d := Days(-9999, 1, 1); d <= Days(9999, 12, 31); d += 97 {
		y, m, day := Civil(d)
		if Days(y, m, day) != d {
			t.Fatalf("day %d is %d-%d-%d", d, y, m, day)
		}
		g := time.Unix(d*86400, 0).UTC()
		if int64(g.Year()) != y || int64(g.Month()) != m || int64(g.Weekday()) != Weekday(d) || int64(g.YearDay()) != DayOfYear(d) {
			t.Fatalf("day %d: %v", d, g)
		}
		wy, w := g.ISOWeek()
		if iy, iw := ISOWeek(d); int64(wy) != iy || int64(w) != iw {
			t.Fatalf("day %d: ISO week %d-%d", d, iy, iw)
		}
	}
}

func TestFields(t *testing.T) {
	ms := at(1969, 12, 31, 23, 59, 59, 1)
	for _, c := range []struct {
		unit         Unit
		field, local int64
	}{
		{Years, 1970, 1969}, {Hours, 0, 23}, {Milliseconds, -999, 1}, {Millennia, 2, 2}, {Centuries, 20, 20}, {Nanoseconds, -999000000, 1000000}, {Weeks, 1, 1}, {Quarters, 1, 4}, {DayOfWeek, 5, 4}, {ISODayOfWeek, 4, 3}, {Epoch, 0, -1},
	} {
		if got := Field(c.unit, ms, 0); got != c.field {
			t.Errorf("field %s: %d, want %d", c.unit, got, c.field)
		}
		if got := LocalField(c.unit, ms, 0, ms); got != c.local {
			t.Errorf("local field %s: %d, want %d", c.unit, got, c.local)
		}
	}
	if TimeField(Seconds, Days(2020, 12, 31)) != 18 || MonthsField(Quarters, 41) != 2 || IntervalField(DaysUnit, Day+2*Hour) != 1 {
		t.Error("fields of times and intervals")
	}
}

func TestRound(t *testing.T) {
	day := at(2021, 8, 17, 13, 45, 56, 789)
	for _, c := range []struct {
		unit        Unit
		floor, ceil string
	}{
		{Millennia, "2001-01-01 00:00:00", "3001-01-01 00:00:00"}, {Centuries, "2001-01-01 00:00:00", "2101-01-01 00:00:00"}, {Decades, "2020-01-01 00:00:00", "2030-01-01 00:00:00"},
		{Years, "2021-01-01 00:00:00", "2022-01-01 00:00:00"}, {Quarters, "2021-07-01 00:00:00", "2021-10-01 00:00:00"}, {Months, "2021-08-01 00:00:00", "2021-09-01 00:00:00"},
		{Weeks, "2021-08-15 00:00:00", "2021-08-22 00:00:00"}, {DaysUnit, "2021-08-17 00:00:00", "2021-08-18 00:00:00"}, {Hours, "2021-08-17 13:00:00", "2021-08-17 14:00:00"}, {Seconds, "2021-08-17 13:45:56", "2021-08-17 13:45:57"},
	} {
		if f, u := show(Floor(c.unit, day, 0, false), 0)[:19], show(Floor(c.unit, day, 0, true), 0)[:19]; f != c.floor || u != c.ceil {
			t.Errorf("%s: %s and %s, want %s and %s", c.unit, f, u, c.floor, c.ceil)
		}
	}
	if got := show(FloorDate(Quarters, Days(99, 12, 31), false)*Day, 0)[:10]; got != "0100-01-01" {
		t.Errorf("before the calendar's reform: %s", got)
	}
}

func TestMonths(t *testing.T) {
	if AddMonths(Days(2020, 1, 31), 1) != Days(2020, 2, 29) || AddMonths(Days(2020, 3, 31), -13) != Days(2019, 2, 28) {
		t.Error("adding months")
	}
	if MonthsBetween(Days(2020, 1, 31), Days(2020, 2, 29)) != 1 || MonthsBetween(Days(2020, 2, 29), Days(2020, 1, 31)) != -1 {
		t.Error("months between days")
	}
	if MonthsBetweenMillis(at(2020, 1, 1, 1, 0, 0, 0), at(2021, 1, 1, 0, 0, 0, 0)) != 11 {
		t.Error("months between times")
	}
}

func TestZones(t *testing.T) {
	la, err := LoadZone("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		local int64
		late  bool
		want  int64
	}{
		{at(2021, 3, 14, 2, 30, 0, 0), false, at(2021, 3, 14, 10, 30, 0, 0)}, // skipped
		{at(2021, 11, 7, 1, 30, 0, 0), false, at(2021, 11, 7, 8, 30, 0, 0)},  // the first of two
		{at(2021, 11, 7, 1, 30, 0, 0), true, at(2021, 11, 7, 9, 30, 0, 0)},
		{at(2021, 7, 1, 0, 0, 0, 0), true, at(2021, 7, 1, 7, 0, 0, 0)},
	} {
		if got := la.Instant(c.local, c.late); got != c.want {
			t.Errorf("%s: %s, want %s", show(c.local, 0), show(got, 0), show(c.want, 0))
		}
	}
	for local := at(2021, 1, 1, 0, 0, 0, 0); local < at(2022, 1, 1, 0, 0, 0, 0); local += 17 * Minute {
		if i := la.Instant(local, false); la.Local(i) != local && la.Local(i) != local+Hour {
			t.Fatalf("%s comes back as %s", show(local, 0), show(la.Local(i), 0))
		}
	}
	for name, offset := range map[string]int64{"GMT-05:30": -5*Hour - 30*Minute, "UTC+01:00": Hour, "GMT+8": 8 * Hour, "+0530": 5*Hour + 30*Minute, "PST": -8 * Hour, "UTC": 0} {
		if z, err := LoadZone(name); err != nil || z.Offset(0) != offset {
			t.Errorf("zone %s: %v", name, err)
		}
	}
	for _, name := range []string{"", "Nope/Nowhere", "GMT+99", "Local"} {
		if _, err := LoadZone(name); err == nil {
			t.Errorf("zone %q is not refused", name)
		}
	}
}

func TestFormatter(t *testing.T) {
	ms, nanos := at(2021, 8, 17, 13, 45, 56, 789), int32(123000)
	for pattern, want := range map[string]string{
		"yyyy-MM-dd HH:mm:ss.SSSSSS": "2021-08-17 13:45:56.789123", "E EEEE e D F w W Y u yy": "Tue Tuesday 3 229 3 34 3 2021 2021 21",
		"M MMM MMMM MMMMM L Q QQQ QQQQ": "8 Aug August A 8 3 Q3 3rd quarter", "h hh K k a G GGGG": "1 01 1 13 PM AD Anno Domini", "S n N A": "7 789123000 49556789123000 49556789",
		"yyyyyy": "002021", "yyyy''MM": "2021'08", "'T'HH": "T13", "[yyyy][z]": "2021", "ppppd": "  17",
	} {
		f, err := NewFormatter(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got, err := f.Append(nil, ms, nanos); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{"'open", "b", "ddd", "p", "SSSSSSSSSS", "]", "{", "aa", "VVV", "cc"} {
		if _, err := NewFormatter(pattern); err == nil {
			t.Errorf("%s is not refused", pattern)
		}
	}
	for _, pattern := range []string{"z", "XXX", "VV", "O"} {
		f, err := NewFormatter(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Append(nil, ms, 0); err == nil {
			t.Errorf("%s is not refused for a local time", pattern)
		}
	}
}

func TestFormatterParse(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{"yyyyMMddHHmmss", "20210817134556", "2021-08-17 13:45:56.000000000"},
		{"yyyyMMddHHmmssSSS", "20210817134556789", "2021-08-17 13:45:56.789000000"},
		{"yyyy-MM-dd HH:mm:ss.SSSSSSSSS", "2021-08-17 13:45:56.789123456", "2021-08-17 13:45:56.789123456"},
		{"yyyy-MM-dd h:mm a", "2021-08-17 1:45 PM", "2021-08-17 13:45:00.000000000"},
		{"MMM dd yyyy", "Aug 17 2021", "2021-08-17 00:00:00.000000000"},
		{"yyyy-DDD", "2021-229", "2021-08-17 00:00:00.000000000"},
		{"yyyy-MM-dd", "2021-02-30", "2021-02-28 00:00:00.000000000"},
		{"yyyy-MM-dd HH:mm:ssXXX", "2021-08-17 13:45:56+09:00", "2021-08-17 13:45:56.000000000"},
		{"yyyy-MM-dd HH:mm:ss", "2021-08-17 24:00:00", "2021-08-18 00:00:00.000000000"},
		{"yyyy-M-d[ HH:mm]", "2021-8-7", "2021-08-07 00:00:00.000000000"},
		{"yy-MM-dd", "21-08-17", "2021-08-17 00:00:00.000000000"},
		{"HH:mm", "13:45", "1970-01-01 13:45:00.000000000"},
		{"yyyy-MM-dd", "2021-2-3", "none"}, {"yyyy", "10000", "none"}, {"yyyy", "", "none"}, {"yyyy-MM-dd", "2021-13-01", "none"},
		{"yyyy-MM-dd", "2021-08-17 ", "none"}, {"yyyy-MM-dd HH:mm", "2021-08-17 24:01", "none"}, {"MMM", "AUG", "none"},
	} {
		f, err := NewFormatter(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if ms, nanos, ok := f.Parse([]byte(c.text)); ok {
			got = show(ms, nanos)
		}
		if got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.pattern, c.text, got, c.want)
		}
	}
}

func TestSimple(t *testing.T) {
	tokyo, _ := LoadZone("Asia/Tokyo")
	instant := at(2021, 8, 17, 4, 45, 56, 789)
	for pattern, want := range map[string]string{
		"yyyy-MM-dd HH:mm:ss.SSS": "2021-08-17 13:45:56.789", "E u D ddd MMMMM": "Tue 2 229 017 August", "Z X XXX": "+0900 +09 +09:00", "[yy]": "[21]", "hh:mm a G": "01:45 PM AD", "'o''c'": "o'c", "z": "JST",
	} {
		f, err := NewSimple(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(f.Append(nil, instant, tokyo)); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for _, pattern := range []string{"e", "'open", "T", "b", "XXXX"} {
		if _, err := NewSimple(pattern); err == nil {
			t.Errorf("%s is not refused", pattern)
		}
	}
	for _, c := range []struct{ pattern, text, want string }{
		{"yyyy-MM-dd HH:mm:ss", "2021-08-17 13:45:56 extra", "2021-08-17 13:45:56"}, {"yyyyMMdd", "20210817", "2021-08-17 00:00:00"},
		{"yyyy-MM-dd", "2021-02-30", "2021-03-02 00:00:00"}, {"yyyy-MM-dd HH:mm:ss.SSSSSS", "2021-08-17 13:45:56.789123", "2021-08-17 13:59:05"},
		{"yyyy-MM-dd HH:mm:ssXXX", "2021-08-17 13:45:56+09:00", "2021-08-17 04:45:56"}, {"yy-MM-dd", "99-08-17", "1999-08-17 00:00:00"},
		{"MMM dd yyyy", "august 17 2021", "2021-08-17 00:00:00"}, {"h:mm a", "1:45 pm", "1970-01-01 13:45:00"}, {"yyyy-DDD", "2021-229", "2021-08-17 00:00:00"},
		{"yyyy", "abc", "none"}, {"yyyy-MM-dd HH", "2021-08-17", "none"}, {" HH", " 13", "1970-01-01 13:00:00"},
		{"yyyyMMdd", "20210217", "2021-02-17 00:00:00"}, {"yyyyMMdd", "202102170", "2021-07-20 00:00:00"}, {"HHmm", "1399", "1970-01-01 14:39:00"}, {"k", "30", "1970-01-02 06:00:00"}, {"k", "24", "1970-01-01 00:00:00"},
		{"yyyy-MM-dd", "1582-10-15", "1582-10-15 00:00:00"}, {"yyyy-MM-dd", "1582-10-04", "1582-10-14 00:00:00"}, {"yyyy-MM-dd", "1582-10-07", "1582-10-17 00:00:00"}, {"yyyy-MM-dd", "1300-02-29", "1300-03-08 00:00:00"},
		{"YYYY-MM-dd", "2021-08-17", "2020-12-27 00:00:00"}, {"YYYY-ww", "2021-03", "2021-01-10 00:00:00"}, {"w", "2", "1970-01-04 00:00:00"},
	} {
		f, err := NewSimple(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if ms, ok := f.Parse([]byte(c.text), UTC); ok {
			got = show(ms, 0)[:19]
		}
		if got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.pattern, c.text, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string]string{" 2021-2-3 ": "2021-02-03 00:00:00.000000000", "2021-02-03 04:05:06.7": "2021-02-03 04:05:06.700000000", "2021-02-03 04:05": "none", "2021-02-03T04:05:06": "none", "21-2-3": "none", "2021-02-03 04:05:06.": "none", "2021-04-31": "2021-04-30 00:00:00.000000000", "2021-04-31 24:00:00": "2021-05-02 00:00:00.000000000"} {
		got := "none"
		if ms, n, ok := ParseLoose([]byte(text), true); ok {
			got = show(ms, n)
		}
		if got != want {
			t.Errorf("timestamp %q: %s, want %s", text, got, want)
		}
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add("yyyy-MM-dd HH:mm:ss", "2021-08-17 13:45:56", int64(0))
	f.Add("[yyyy]'T'SSS a XXX", "2021T123 AM +01:00", int64(-1))
	f.Fuzz(func(t *testing.T, pattern, text string, ms int64) {
		ms %= 1 << 50
		if len(pattern) > 100 {
			return
		}
		if f, err := NewFormatter(pattern); err == nil {
			f.Append(nil, ms, 5)
			f.Parse([]byte(text))
		}
		if f, err := NewSimple(pattern); err == nil {
			f.Append(nil, ms, UTC)
			f.Parse([]byte(text), UTC)
		}
		ParseLoose([]byte(text), len(text)%2 == 0)
	})
}

func ExampleSimple() {
	f, _ := NewSimple("yyyy-MM-dd")
	fmt.Println(string(f.Append(nil, 0, UTC)))
	// Output: 1970-01-01
}
