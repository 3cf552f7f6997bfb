package civil

import (
	"testing"
	"time"
)

func TestDaysAndDates(t *testing.T) {
	for days := -800_000; days < 3_000_000; days += 13 {
		want := time.Unix(int64(days)*86400, 0).UTC()
		year, month, day := Date(days)
		if year != want.Year() || month != int(want.Month()) || day != want.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %v", days, year, month, day, want)
		}
		if back := Days(year, month, day); back != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", year, month, day, back, days)
		}
	}
}

func TestDatesFromText(t *testing.T) {
	for text, want := range map[string]string{
		"2020-02-29": "2020-02-29", "2020-2-9": "2020-02-09", "2020-02": "2020-02-01", "2020": "2020-01-01", " 2020-02-29 ": "2020-02-29", "2020-02-29 12:34:56": "2020-02-29",
		"0000-01-01": "0000-01-01", "1-1-1": "0001-01-01", "2020-02-30": "", "2020-02-29T12:34:56": "", "20200229": "", "-0001-01-01": "", "2020-02-29Z": "", "": "", "2020-": "",
	} {
		days, ok := ParseDate([]byte(text))
		if ok != (want != "") || ok && string(AppendDate(nil, days)) != want {
			t.Errorf("%q: %d %v", text, days, ok)
		}
	}
}

func TestTimesFromText(t *testing.T) {
	for text, want := range map[string]string{
		"12:34:56": "12:34:56.0", "1:2:3": "01:02:03.0", "12:34": "12:34:00.0", "12": "12:00:00.0", "12:34:56.7899": "12:34:56.79", "12:34:56.999999999": "12:34:57.0",
		"24:00:00": "", "12:60:00": "", "": "", "-1:00:00": "", "123456": "", "12:34:56Z": "",
	} {
		millis, ok := ParseTime([]byte(text))
		if ok != (want != "") || ok && string(AppendTime(nil, millis, 3)) != want {
			t.Errorf("%q: %d %v", text, millis, ok)
		}
	}
}

func TestTimestampsFromText(t *testing.T) {
	for text, want := range map[string]string{
		"2020-02-29 12:34:56.7899": "2020-02-29 12:34:56.789900000", "2020-02-29": "2020-02-29 00:00:00.000000000", "2020-2-9 1:2:3": "2020-02-09 01:02:03.000000000",
		"2020-02-30 00:00:00": "2020-02-29 00:00:00.000000000", "2020-02-29 24:00:00": "2020-03-01 00:00:00.000000000", "2020-02-29 12:34:56.": "2020-02-29 12:34:56.000000000",
		"1969-12-31 23:59:59.999": "1969-12-31 23:59:59.999000000",
		"2020-02-29 12:34":        "", "2020-02-29T12:34:56": "", " 2020-02-29": "", "2020-02-29 12:34:60": "", "10000-01-01 00:00:00": "", "0000-01-01": "", "": "",
	} {
		millis, nanos, ok := ParseTimestamp([]byte(text))
		if ok != (want != "") || ok && string(AppendTimestamp(nil, millis, nanos, 9)) != want {
			t.Errorf("%q: %d %d %v", text, millis, nanos, ok)
		}
	}
}

func TestIntervals(t *testing.T) {
	for want, millis := range map[string]int64{"+1 00:00:00.000": Day, "-0 00:00:01.500": -1500, "+1 02:03:04.567": Day + 2*Hour + 3*Minute + 4567} {
		if got := string(AppendMillis(nil, millis)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, months := range map[string]int32{"+1-00": 12, "-1-01": -13, "+0-05": 5} {
		if got := string(AppendMonths(nil, months)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestLocalTimes(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	for local, want := range map[string]string{
		"2021-03-14 02:30:00": "2021-03-14 10:30:00", // does not exist
		"2021-03-14 01:59:59": "2021-03-14 09:59:59",
		"2021-03-14 03:00:00": "2021-03-14 10:00:00",
		"2021-11-07 01:30:00": "2021-11-07 08:30:00", // twice
		"2021-11-07 02:00:00": "2021-11-07 10:00:00",
	} {
		millis, _, _ := ParseTimestamp([]byte(local))
		if got := string(AppendTimestamp(nil, ToInstant(zone, millis), 0, 0)); got != want {
			t.Errorf("%s is %s, want %s", local, got, want)
		}
	}
}

func FuzzParseTimestamp(f *testing.F) {
	f.Add("2020-02-29 12:34:56.789")
	f.Fuzz(func(t *testing.T, text string) {
		ParseDate([]byte(text))
		ParseTime([]byte(text))
		if millis, nanos, ok := ParseTimestamp([]byte(text)); ok {
			again, n, ok := ParseTimestamp(AppendTimestamp(nil, millis, nanos, 9))
			if year, _, _ := Date(int(FloorDiv(millis, Day))); year <= 9999 && (!ok || again != millis || n != nanos) {
				t.Errorf("%q is %d %d, and read again %d %d %v", text, millis, nanos, again, n, ok)
			}
		}
	})
}
