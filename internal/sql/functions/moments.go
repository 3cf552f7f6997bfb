package functions

import (
	"fmt"
	"math"

	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// moments are the functions that read dates and timestamps from texts and numbers.
func moments() []*expr.Function {
	return []*expr.Function{
		bound("TO_DATE", "temporal", "TO_DATE(s[, pattern])", "The date in a text.", giving("t?t", always(types.Of(types.Date))), toDate),
		bound("TO_TIMESTAMP", "temporal", "TO_TIMESTAMP(s[, pattern])", "The local time in a text.", giving("t?t", always(types.TimestampOf(3))), toTimestamp),
		bound("TO_TIMESTAMP_LTZ", "temporal", "TO_TIMESTAMP_LTZ(n[, digits]) | TO_TIMESTAMP_LTZ(s[, pattern[, zone]])", "The instant of a number since 1970, or in a text.", inferInstant, toInstant),
		bound("UNIX_TIMESTAMP", "temporal", "UNIX_TIMESTAMP([s[, pattern]])", "The seconds since 1970, now or of a text.", inferUnix, unixTimestamp),
	}
}

// formatters gives the compiled pattern of a row's argument; a constant is compiled once.
// Without the argument it is that of the pattern given.
func formatters(b *expr.Bound, arg int, otherwise string) (func(r row) (*datetime.Formatter, error), error) {
	return patternOf(b, arg, otherwise, datetime.NewFormatter)
}

func simples(b *expr.Bound, arg int, otherwise string) (func(r row) (*datetime.Simple, error), error) {
	return patternOf(b, arg, otherwise, datetime.NewSimple)
}

func patternOf[T any](b *expr.Bound, arg int, otherwise string, compile func(string) (T, error)) (func(r row) (T, error), error) {
	pattern, constant := otherwise, arg >= len(b.Args)
	if !constant {
		pattern, constant = b.ConstantText(arg)
	}
	if constant {
		t, err := compile(pattern)
		return func(row) (T, error) { return t, err }, nil
	}
	var last T
	var lastErr error
	known := false
	return func(r row) (T, error) {
		if !known || pattern != string(r.bytes(arg)) {
			pattern, known = string(r.bytes(arg)), true
			last, lastErr = compile(pattern)
		}
		return last, lastErr
	}, nil
}

const secondsPattern = "yyyy-MM-dd HH:mm:ss"

func toDate(b *expr.Bound) (expr.Kernel, error) {
	if len(b.Args) == 1 {
		return computing(func(r row) (int32, bool) {
			days, ok := civil.ParseDate(r.bytes(0))
			return int32(days), ok
		}), nil
	}
	patterns, err := simples(b, 1, "")
	if err != nil {
		return nil, err
	}
	return trying(func(r row) (int32, bool, error) {
		p, err := patterns(r)
		if err != nil {
			return 0, false, err
		}
		ms, ok := p.Parse(r.bytes(0), datetime.UTC)
		return int32((ms - floorMod(ms, datetime.Day)) / datetime.Day), ok, nil
	}), nil
}

// toTimestamp reads by the pattern, or as dates and times are commonly written. A pattern
// that is none reads nothing.
func toTimestamp(b *expr.Bound) (expr.Kernel, error) {
	patterns, err := formatters(b, 1, secondsPattern)
	if err != nil {
		return nil, err
	}
	return momentOf(func(r row) (int64, int32, bool, error) {
		p, err := patterns(r)
		if err != nil {
			return 0, 0, false, nil
		}
		ms, _, ok := readMoment(p, r)
		return ms, 0, ok, nil
	}), nil
}

// readMoment reads the text of argument 0. Beside a pattern that was given, what it did not
// read runs over into the next month.
func readMoment(p *datetime.Formatter, r row) (ms int64, nanos int32, ok bool) {
	s := r.bytes(0)
	if ms, nanos, ok = p.Parse(s); ok {
		return ms, nanos, inRange(ms)
	}
	ms, nanos, ok = datetime.ParseLoose(s, !r.has(1))
	return ms, nanos, ok && inRange(ms)
}

// inRange reports whether a timestamp lies in the years 0 to 9999.
func inRange(ms int64) bool { return ms >= -62_167_219_200_000 && ms <= 253_402_300_799_999 }

// inferInstant takes a number and its digits behind a second, or a text, a pattern and a
// zone. A constant number of digits is the precision, and so is the pattern's.
func inferInstant(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 3); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0).IsText() {
		return inferInstantText(s)
	}
	if s.Kind(0) == types.Null && len(s.Args) == 1 {
		s.Args[0] = expr.Null(long.OrNull(), s.Args[0].Span())
	}
	if _, err := giving("n?I", always(ltz3))(s); err != nil {
		return types.Type{}, err
	}
	if len(s.Args) == 2 {
		if digits, ok := s.ConstantInt(1); ok {
			if digits < 0 || digits > 9 {
				return types.Type{}, s.Refuse("the digits of TO_TIMESTAMP_LTZ are %d; allowed are 0 to 9", digits)
			}
			return types.TimestampLTZOf(max(digits, 3)), nil
		}
	}
	return ltz3, nil
}

func inferInstantText(s *expr.Site) (types.Type, error) {
	if _, err := giving("t?tt", always(ltz3))(s); err != nil {
		return types.Type{}, err
	}
	digits := 3
	if len(s.Args) > 1 {
		if pattern, ok := s.ConstantText(1); ok {
			if _, err := datetime.NewFormatter(pattern); err != nil {
				return types.Type{}, s.Refuse("TO_TIMESTAMP_LTZ: %v", err)
			}
			digits = max(3, fractionDigits(pattern))
		}
	}
	if len(s.Args) > 2 {
		if zone, ok := s.ConstantText(2); ok {
			if _, err := datetime.LoadZone(zone); err != nil {
				return types.Type{}, s.Refuse("TO_TIMESTAMP_LTZ: %v", err)
			}
		}
	}
	return types.TimestampLTZOf(min(digits, 9)), nil
}

// fractionDigits is how many letters S a pattern has at the most together.
func fractionDigits(pattern string) int {
	most, n := 0, 0
	for _, c := range pattern {
		if c == 'S' {
			n++
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return most
}

func toInstant(b *expr.Bound) (expr.Kernel, error) {
	if b.Args[0].Kind.IsText() {
		return textInstant(b)
	}
	t := b.Args[0]
	whole := t.Kind.IsInteger()
	return momentOf(func(r row) (int64, int32, bool, error) {
		digits := int64(3)
		if r.has(1) {
			if digits = r.int(1); digits < 0 || digits > 9 {
				return 0, 0, false, fmt.Errorf("the digits of TO_TIMESTAMP_LTZ are %d; allowed are 0 to 9", digits)
			}
		}
		if !whole {
			v := floatAt(t, r.args[0], r.i)
			switch {
			case t.Kind == types.Decimal || digits == 9:
				v = math.Trunc(v)
			case digits > 3:
				v = math.Floor(v)
			}
			if digits > 3 || t.Kind == types.Decimal {
				if !finite(v) {
					return 0, 0, false, nil
				}
				ms, nanos, ok := instantOf(int64(v), int(digits))
				return ms, nanos, ok, nil
			}
			whole := math.Floor(v)
			scale := math.Pow10(int(3 - digits))
			v = whole*scale + math.Floor((v-whole)*scale)
			return int64(v), 0, finite(v) && inRange(int64(v)), nil
		}
		ms, nanos, ok := instantOf(r.int(0), int(digits))
		return ms, nanos, ok, nil
	}), nil
}

// instantOf is the instant of a number of 10^-digits seconds.
func instantOf(v int64, digits int) (ms int64, nanos int32, ok bool) {
	if digits <= 3 {
		for ; digits < 3; digits++ {
			if v > 1<<59 || v < -1<<59 {
				return 0, 0, false
			}
			v *= 10
		}
		return v, 0, inRange(v)
	}
	unit := int64(1)
	for n := digits; n > 3; n-- {
		unit *= 10
	}
	rest := floorMod(v, unit)
	for n := digits; n < 9; n++ {
		rest *= 10
	}
	ms = (v - floorMod(v, unit)) / unit
	return ms, int32(rest), inRange(ms)
}

// textInstant reads a local time in a zone, UTC if none is given. Without a pattern a text
// that is no timestamp is an error.
func textInstant(b *expr.Bound) (expr.Kernel, error) {
	patterns, err := formatters(b, 1, secondsPattern)
	if err != nil {
		return nil, err
	}
	return momentOf(func(r row) (int64, int32, bool, error) {
		p, err := patterns(r)
		if err != nil {
			return 0, 0, false, err
		}
		zone := datetime.UTC
		if r.has(2) {
			if zone, err = datetime.LoadZone(string(r.bytes(2))); err != nil {
				return 0, 0, false, err
			}
		}
		ms, nanos, ok := readMoment(p, r)
		if !ok && !r.has(1) {
			return 0, 0, false, fmt.Errorf("reading %q as a timestamp: expected is yyyy-MM-dd HH:mm:ss", r.bytes(0))
		}
		return zone.Instant(ms, false), nanos, ok, nil
	}), nil
}

func inferUnix(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 0 {
		return long.NotNull(), nil
	}
	return giving("t?t", perhaps(long))(s)
}

func unixTimestamp(b *expr.Bound) (expr.Kernel, error) {
	if len(b.Args) == 0 {
		return computing(func(row) (int64, bool) { return instant(b, true).Unix(), true }), nil
	}
	patterns, err := simples(b, 1, secondsPattern)
	if err != nil {
		return nil, err
	}
	zone := datetime.ZoneOf(b.Session.Zone)
	return trying(func(r row) (int64, bool, error) {
		p, err := patterns(r)
		if err != nil {
			return 0, false, err
		}
		ms, ok := p.Parse(r.bytes(0), zone)
		return ms / datetime.Second, ok, nil
	}), nil
}
