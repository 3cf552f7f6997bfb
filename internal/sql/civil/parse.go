package civil

import (
	"bytes"
)

// ParseDate reads a date as CAST from text does: year[-month[-day]], blanks around each,
// and nothing behind it but what follows a blank. Years are 0 to 9999.
func ParseDate(text []byte) (days int, ok bool) {
	if blank := bytes.IndexByte(text, ' '); blank > 0 {
		text = text[:blank]
	}
	date := [3]int{0, 1, 1}
	for i := range date {
		part, rest, more := bytes.Cut(text, []byte{'-'})
		if i == 2 {
			part, more = text, false
		}
		if date[i], ok = integer(bytes.TrimSpace(part)); !ok {
			return 0, false
		}
		if !more {
			break
		}
		text = rest
	}
	if !Valid(date[0], date[1], date[2]) {
		return 0, false
	}
	return Days(date[0], date[1], date[2]), true
}

// Valid reports whether there is such a date in the years 0 to 9999.
func Valid(year, month, day int) bool {
	return 0 <= year && year <= 9999 && 1 <= month && month <= 12 && 1 <= day && day <= DaysIn(year, month)
}

// integer reads digits.
func integer(text []byte) (int, bool) {
	if len(text) == 0 || len(text) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// ParseTime reads a time of day as CAST from text does: hours[:minutes[:seconds[.fraction]]],
// blanks around. A fraction is rounded to milliseconds by its fourth digit.
func ParseTime(text []byte) (millis int, ok bool) {
	text = bytes.TrimSpace(text)
	var fraction []byte
	limits := [3]int{24, 60, 60}
	units := [3]int{Hour, Minute, Second}
	for i := range limits {
		part, rest, more := bytes.Cut(text, []byte{':'})
		if i == 2 {
			part, fraction, _ = bytes.Cut(text, []byte{'.'})
			more = false
		}
		v, ok := integer(part)
		if !ok || v >= limits[i] || len(part) > 2 {
			return 0, false
		}
		millis += v * units[i]
		if !more {
			break
		}
		text = rest
	}
	unit := 100
	for i, c := range fraction {
		switch {
		case c < '0' || c > '9':
			return 0, false
		case i < 3:
			millis += int(c-'0') * unit
			unit /= 10
		case i == 3 && c >= '5':
			millis++
		}
	}
	return millis, true
}

// scanner reads a timestamp.
type scanner struct {
	text []byte
	at   int
}

// digits reads from least to most digits.
func (s *scanner) digits(least, most int) (n int, ok bool) {
	from := s.at
	for s.at < len(s.text) && s.at-from < most && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		n = n*10 + int(s.text[s.at]-'0')
		s.at++
	}
	return n, s.at-from >= least
}

func (s *scanner) byte(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// ParseTimestamp reads a timestamp as CAST from text does: yyyy-M-d[ H:m:s[.fraction]],
// with nothing around it. A day that its month has not becomes the month's last;
// 24:00:00 is the next day's beginning.
func ParseTimestamp(text []byte) (millis int64, nanos int32, ok bool) {
	s := scanner{text: text}
	year, ok0 := s.digits(4, 4)
	ok1 := s.byte('-')
	month, ok2 := s.digits(1, 2)
	ok3 := s.byte('-')
	day, ok4 := s.digits(1, 2)
	if !(ok0 && ok1 && ok2 && ok3 && ok4) || year < 1 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, 0, false
	}
	days := Days(year, month, min(day, DaysIn(year, month)))
	if s.at == len(text) {
		return int64(days) * Day, 0, true
	}
	clock, nanos, ok := s.clock()
	if !ok || s.at != len(text) {
		return 0, 0, false
	}
	return int64(days)*Day + int64(clock), nanos, true
}

// clock reads the time of day behind a date.
func (s *scanner) clock() (millis int, nanos int32, ok bool) {
	ok0 := s.byte(' ')
	hour, ok1 := s.digits(1, 2)
	ok2 := s.byte(':')
	minute, ok3 := s.digits(1, 2)
	ok4 := s.byte(':')
	second, ok5 := s.digits(1, 2)
	if !(ok0 && ok1 && ok2 && ok3 && ok4 && ok5) || hour > 24 || minute > 59 || second > 59 {
		return 0, 0, false
	}
	fraction := 0
	if s.byte('.') {
		from := s.at
		fraction, _ = s.digits(0, 9)
		for range 9 - (s.at - from) {
			fraction *= 10
		}
	}
	if hour == 24 && minute+second+fraction > 0 {
		return 0, 0, false
	}
	return hour*Hour + minute*Minute + second*Second + fraction/1e6, int32(fraction % 1e6), true
}
