package datetime

// natural reads digits with blanks around them.
func natural(s []byte) (int64, bool) {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	if len(s) == 0 || len(s) > 9 || digits(s, 0, len(s)) != len(s) {
		return 0, false
	}
	v := int64(0)
	for _, c := range s {
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// ParseLoose reads what a pattern did not: yyyy-[m]m-[d]d, alone or with hh:mm:ss and a
// fraction behind a blank. Numbers beyond a field's range run over into what is longer;
// but where lastDay says so, the day of a date alone is the last of its month.
func ParseLoose(s []byte, lastDay bool) (ms int64, nanos int32, ok bool) {
	s = trim(s)
	date, time, timed := s, []byte(nil), false
	for i, c := range s {
		if c == ' ' {
			date, time, timed = s[:i], trim(s[i:]), true
			break
		}
	}
	part, rest, ok1 := cutAt(date, '-')
	month, day, ok2 := cutAt(rest, '-')
	y, ok3 := natural(part)
	m, ok4 := natural(month)
	d, ok5 := natural(day)
	if !(ok1 && ok2 && ok3 && ok4 && ok5) || len(part) != 4 || len(month) > 2 || len(day) > 2 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, 0, false
	}
	if !timed {
		if lastDay {
			d = min(d, LastDay(y, m))
		}
		return Days(y, m, d) * Day, 0, true
	}
	ms = Days(y, m, d) * Day
	hour, rest, ok1 := cutAt(time, ':')
	minute, second, ok2 := cutAt(rest, ':')
	whole, fraction, fractional := cutAt(second, '.')
	h, ok3 := natural(hour)
	mi, ok4 := natural(minute)
	sec, ok5 := natural(whole)
	if !(ok1 && ok2 && ok3 && ok4 && ok5) {
		return 0, 0, false
	}
	n := int64(0)
	if fractional {
		if len(fraction) == 0 || len(fraction) > 9 || digits(fraction, 0, 9) != len(fraction) {
			return 0, 0, false
		}
		n, _ = natural(fraction)
		n *= pow10(9 - len(fraction))
	}
	return ms + h*Hour + mi*Minute + sec*Second + n/1_000_000, int32(n % 1_000_000), true
}

func cutAt(s []byte, c byte) (before, after []byte, found bool) {
	for i := range s {
		if s[i] == c {
			return s[:i], s[i+1:], true
		}
	}
	return s, nil, false
}

func trim(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}
