package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const durationForms = "a whole number with a unit ns, us, ms, s, min, h or d (no unit = ms), such as 10 s or 500ms; or 1m30s; or PT1M30S"

const day = 24 * time.Hour

// durationUnits lists the units from long to short. The first name is the one
// that is printed. Names are lower case.
var durationUnits = []struct {
	length time.Duration
	names  []string
}{
	{day, []string{"d", "day", "days"}},
	{time.Hour, []string{"h", "hour", "hours"}},
	{time.Minute, []string{"min", "m", "minute", "minutes"}},
	{time.Second, []string{"s", "sec", "secs", "second", "seconds"}},
	{time.Millisecond, []string{"ms", "milli", "millis", "millisecond", "milliseconds"}},
	{time.Microsecond, []string{"µs", "us", "micro", "micros", "microsecond", "microseconds"}},
	{time.Nanosecond, []string{"ns", "nano", "nanos", "nanosecond", "nanoseconds"}},
}

// ParseDuration reads a duration that is written outside a configuration as values of
// options are.
func ParseDuration(s string) (time.Duration, error) { return parseDuration(s) }

// parseDuration reads Flink's form, a whole number and a unit; failing that
// ISO 8601 ("PT10S") and Go's ("1m30s", "1.5s"). Negative durations are
// refused.
func parseDuration(s string) (time.Duration, error) {
	lower := strings.ToLower(strings.TrimSpace(s))
	digits := len(lower) - len(strings.TrimLeft(lower, "0123456789"))
	unit, known := durationUnit(strings.TrimSpace(lower[digits:]))
	switch {
	case digits > 0 && known:
		n, err := strconv.ParseInt(lower[:digits], 10, 64)
		if err != nil || n > int64(math.MaxInt64/unit) {
			return 0, errors.New("longer than 292 years")
		}
		return time.Duration(n) * unit, nil
	case strings.HasPrefix(lower, "p"):
		return parseISODuration(lower)
	}
	d, err := time.ParseDuration(lower)
	if err != nil {
		return 0, errForm
	}
	if d < 0 {
		return 0, errors.New("must not be negative")
	}
	return d, nil
}

func durationUnit(name string) (time.Duration, bool) {
	if name == "" {
		return time.Millisecond, true
	}
	for _, u := range durationUnits {
		for _, known := range u.names {
			if known == name {
				return u.length, true
			}
		}
	}
	return 0, false
}

// parseISODuration reads "pNdtNhNmNs", where the seconds may have a fraction.
func parseISODuration(lower string) (time.Duration, error) {
	days, clock, hasClock := strings.Cut(lower[1:], "t")
	if days == "" && clock == "" {
		return 0, errForm
	}
	var total time.Duration
	if days != "" {
		n, err := strconv.ParseInt(strings.TrimSuffix(days, "d"), 10, 64)
		if err != nil || !strings.HasSuffix(days, "d") || n < 0 || n > int64(math.MaxInt64/day) {
			return 0, errForm
		}
		total = time.Duration(n) * day
	}
	if hasClock {
		d, err := time.ParseDuration(clock)
		if err != nil || d < 0 || d > math.MaxInt64-total {
			return 0, errForm
		}
		total += d
	}
	return total, nil
}

// formatDuration is the shortest exact form, such as "10 s" or "1500 ms".
func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0 ms"
	}
	for _, u := range durationUnits {
		if d%u.length == 0 {
			return fmt.Sprintf("%d %s", d/u.length, u.names[0])
		}
	}
	return d.String()
}
