package datetime

import "github.com/weirstream/weir/internal/sql/civil"

// fields are what a text said when it was parsed.
type fields struct {
	set   [26 * 2]bool
	value [26 * 2]int64
	pm    int8 // 1 and 2: AM and PM
	bc    bool
	nanos int64 // the fraction
	frac  bool
}

func index(letter byte) int {
	if letter >= 'a' {
		return int(letter-'a') + 26
	}
	return int(letter - 'A')
}

// put notes a field; it reports whether the field was not said to be another.
func (f *fields) put(letter byte, v int64) bool {
	i := index(letter)
	if f.set[i] && f.value[i] != v {
		return false
	}
	f.set[i], f.value[i] = true, v
	return true
}

func (f *fields) get(letter byte) (int64, bool) {
	i := index(letter)
	return f.value[i], f.set[i]
}

// Parse reads a local time: milliseconds since 1970, and nanoseconds within. What the text
// does not say is that of 1970-01-01 00:00. A day beyond its month's end is its last, and
// 24:00 the end of the day.
func (f *Formatter) Parse(s []byte) (ms int64, nanos int32, ok bool) {
	var got fields
	at, ok := parseItems(f.items, s, 0, &got)
	if !ok || at != len(s) {
		return 0, 0, false
	}
	return got.resolve()
}

func parseItems(items []item, s []byte, at int, got *fields) (int, bool) {
	for i := range items {
		var ok bool
		if at, ok = items[i].parse(s, at, got); !ok {
			return at, false
		}
	}
	return at, true
}

func (it *item) parse(s []byte, at int, got *fields) (int, bool) {
	for it.pad > 0 && at < len(s) && s[at] == ' ' {
		at++
	}
	switch it.kind {
	case literalItem:
		if len(s)-at < len(it.literal) || string(s[at:at+len(it.literal)]) != it.literal {
			return at, false
		}
		return at + len(it.literal), true
	case optionalItem:
		before := *got
		if end, ok := parseItems(it.inner, s, at, got); ok {
			return end, true
		}
		*got = before
		return at, true
	case textItem:
		return it.parseText(s, at, got)
	case offsetItem:
		return it.parseOffset(s, at)
	case zoneItem:
		return parseZoneName(s, at)
	}
	return it.parseNumber(s, at, got)
}

func (it *item) parseText(s []byte, at int, got *fields) (int, bool) {
	rest := s[at:]
	switch it.field {
	case 'M', 'L', 'E', 'e', 'c':
		names := monthNames
		if it.field != 'M' && it.field != 'L' {
			names = dayNames
		}
		if it.count == 3 {
			names = shortNames(names)
		}
		for i, n := range names {
			if len(rest) >= len(n) && string(rest[:len(n)]) == n {
				if it.field == 'M' || it.field == 'L' {
					return at + len(n), got.put('M', int64(i+1))
				}
				return at + len(n), true
			}
		}
	case 'a':
		for i, n := range []string{"AM", "PM"} {
			if len(rest) >= 2 && string(rest[:2]) == n {
				got.pm = int8(i + 1)
				return at + 2, true
			}
		}
	case 'G':
		for i, n := range []string{"AD", "BC"} {
			if len(rest) >= 2 && string(rest[:2]) == n {
				got.bc = i == 1
				return at + 2, true
			}
		}
	}
	return at, false
}

// parseNumber reads digits, leaving those of the numbers that follow at once.
func (it *item) parseNumber(s []byte, at int, got *fields) (int, bool) {
	from, negative, positive := at, false, false
	if at < len(s) && (s[at] == '-' || s[at] == '+') && it.kind == numberItem {
		if s[at] == '+' && it.sign != exceedsPad || s[at] == '-' && it.sign == notNegative {
			return at, false
		}
		negative, positive = s[at] == '-', s[at] == '+'
		from++
	}
	least, most := it.min, it.max
	end := digits(s, from, most)
	if it.behind > 0 {
		most = max(least, end-from-it.behind)
		end = digits(s, from, most)
	}
	if it.fixed && it.kind == numberItem && it.min == it.max {
		end = digits(s, from, it.max)
	}
	n := end - from
	if n < max(least, 1) {
		return at, false
	}
	if it.sign == exceedsPad && !negative && (positive && n <= it.min || !positive && n > it.min) {
		return at, false
	}
	v := int64(0)
	for _, c := range s[from:end] {
		if v > (1<<63-10)/10 {
			return at, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	switch it.kind {
	case reducedItem:
		v += 2000
	case fractionItem:
		got.nanos, got.frac = v*pow10(9-n), true
		return end, true
	}
	field := it.field
	if field == 'L' {
		field = 'M'
	}
	return end, got.put(field, v)
}

// digits is where the digits end that begin at from, at most so many.
func digits(s []byte, from, most int) int {
	end := from
	for end < len(s) && end-from < most && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	return end
}

// parseOffset passes over an offset in the form of a letter's count.
func (it *item) parseOffset(s []byte, at int) (int, bool) {
	if it.field == 'X' && at < len(s) && s[at] == 'Z' {
		return at + 1, true
	}
	rest := s[at:]
	if it.field == 'O' {
		if len(rest) < 3 || string(rest[:3]) != "GMT" {
			return at, false
		}
		at += 3
		if at >= len(s) || s[at] != '+' && s[at] != '-' {
			return at, true
		}
	}
	colon := it.count == 3 || it.count == 5 || it.field == 'O'
	if it.field == 'Z' {
		colon = it.count == 5
	}
	if at >= len(s) || s[at] != '+' && s[at] != '-' {
		return at, false
	}
	at++
	end := digits(s, at, 2)
	if end-at != 2 {
		return at, false
	}
	minutes := end
	if colon {
		if minutes >= len(s) || s[minutes] != ':' {
			return end, it.count == 1
		}
		minutes++
	}
	if stop := digits(s, minutes, 2); stop-minutes == 2 {
		return stop, true
	}
	return end, it.count == 1 && it.field != 'Z'
}

// parseZoneName passes over the name of a zone.
func parseZoneName(s []byte, at int) (int, bool) {
	end := at
	for end < len(s) && (letter(s[end]) || '0' <= s[end] && s[end] <= '9' || s[end] == '/' || s[end] == '_' || s[end] == '+' || s[end] == '-' || s[end] == ':') {
		end++
	}
	for ; end > at; end-- {
		if _, err := LoadZone(string(s[at:end])); err == nil {
			return end, true
		}
	}
	return at, false
}

// resolve makes a local time of what was said.
func (f *fields) resolve() (ms int64, nanos int32, ok bool) {
	days, ok := f.date()
	if !ok {
		return 0, 0, false
	}
	time, over, ok := f.time()
	if !ok {
		return 0, 0, false
	}
	return (days+over)*Day + time, int32(f.nanos % 1_000_000), true
}

func (f *fields) date() (int64, bool) {
	year, said := f.get('y')
	if said && f.bc {
		year = 1 - year
	}
	if !said {
		if year, said = f.get('u'); !said {
			year = 1970
		}
	}
	if doy, ok := f.get('D'); ok {
		if _, month := f.get('M'); !month {
			if doy < 1 || doy > 365+one(civil.IsLeap(int(year))) {
				return 0, false
			}
			return Days(year, 1, 1) + doy - 1, true
		}
	}
	month, ok := f.get('M')
	if !ok {
		month = 1
	}
	day, ok := f.get('d')
	if !ok {
		day = 1
	}
	if month < 1 || month > 12 || day < 1 || day > 31 || year < -999999999 || year > 999999999 {
		return 0, false
	}
	return Days(year, month, min(day, LastDay(year, month))), true
}

// time is that of the day, with the fraction, and 1 if it is the end of the day.
func (f *fields) time() (ms, over int64, ok bool) {
	hour, ok := f.hour()
	if !ok {
		return 0, 0, false
	}
	minute, _ := f.get('m')
	second, _ := f.get('s')
	if minute > 59 || second > 59 {
		return 0, 0, false
	}
	if n, ok := f.get('n'); ok {
		f.nanos = n
	}
	if hour == 24 {
		return 0, 1, minute == 0 && second == 0 && f.nanos == 0
	}
	ms = hour*Hour + minute*Minute + second*Second + f.nanos/1_000_000
	if a, ok := f.get('A'); ok {
		ms = a
	}
	if n, ok := f.get('N'); ok {
		ms, f.nanos = n/1_000_000, n%1_000_000_000
	}
	return ms, 0, ms < Day
}

func (f *fields) hour() (int64, bool) {
	if h, ok := f.get('H'); ok {
		return h, h <= 24
	}
	if k, ok := f.get('k'); ok {
		return k % 24, k >= 1 && k <= 24
	}
	half, ok := f.get('K')
	if h, isClock := f.get('h'); isClock {
		if h < 1 || h > 12 {
			return 0, false
		}
		half, ok = h%12, true
	}
	if !ok || f.pm == 0 {
		return 0, half < 12
	}
	return half + 12*int64(f.pm-1), half < 12
}
