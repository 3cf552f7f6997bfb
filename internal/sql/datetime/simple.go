package datetime

import (
	"fmt"
	"strings"
)

// Simple is a compiled pattern of java.text.SimpleDateFormat, in English. It may be used
// by many goroutines.
type Simple struct {
	pattern string
	tokens  []token
}

// simpleLetters are those a pattern may have.
const simpleLetters = "GyYMLwWDdFEuaHkKhmsSzZX"

// NewSimple compiles a pattern.
func NewSimple(pattern string) (*Simple, error) {
	tokens, err := tokenize(pattern)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		if t.letter != 0 && strings.IndexByte(simpleLetters, t.letter) < 0 {
			return nil, fmt.Errorf("pattern %q: unknown pattern letter %c", pattern, t.letter)
		}
		if t.letter == 'X' && t.count > 3 {
			return nil, fmt.Errorf("pattern %q: too many letters X", pattern)
		}
	}
	return &Simple{pattern, tokens}, nil
}

// Append appends an instant in milliseconds as a zone shows it.
func (f *Simple) Append(dst []byte, instant int64, zone *Zone) []byte {
	offset := zone.Offset(instant)
	l := localOf(instant+offset, 0)
	l.year, l.month, l.day = hybridDate(l.days)
	for _, t := range f.tokens {
		switch t.letter {
		case 0:
			dst = append(dst, t.literal...)
		case 'y', 'Y':
			y := l.number(t.letter)
			if t.count == 2 {
				dst = appendPadded(dst, y%100, 2)
			} else {
				dst = appendPadded(dst, y, t.count)
			}
		case 'M', 'L':
			if t.count >= 3 {
				dst = append(dst, l.text('M', min(t.count, 4))...)
			} else {
				dst = appendPadded(dst, l.month, t.count)
			}
		case 'E':
			dst = append(dst, l.text('E', 3+int(one(t.count > 3)))...)
		case 'a', 'G':
			dst = append(dst, l.text(t.letter, 3)...)
		case 'u':
			dst = appendPadded(dst, (Weekday(l.days)+6)%7+1, t.count)
		case 'S':
			dst = appendPadded(dst, l.ms%Second, t.count)
		case 'z':
			dst = append(dst, zone.Abbreviation(instant)...)
		case 'Z':
			dst = appendOffset(dst, offset, false)
		case 'X':
			dst = appendISOOffset(dst, offset, t.count)
		default:
			dst = appendPadded(dst, l.number(t.letter), t.count)
		}
	}
	return dst
}

// appendOffset writes ±hhmm, or ±hh:mm.
func appendOffset(dst []byte, offset int64, colon bool) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = appendPadded(append(dst, sign), offset/Hour, 2)
	if colon {
		dst = append(dst, ':')
	}
	return appendPadded(dst, offset%Hour/Minute, 2)
}

func appendISOOffset(dst []byte, offset int64, count int) []byte {
	if offset == 0 {
		return append(dst, 'Z')
	}
	dst = appendOffset(dst, offset, count == 3)
	if count == 1 {
		dst = dst[:len(dst)-2]
	}
	return dst
}

// Parse reads an instant, a local time being that of a zone. What follows the pattern is
// not looked at; numbers beyond their range run over into what is longer; of two local
// times the later is meant.
func (f *Simple) Parse(s []byte, zone *Zone) (instant int64, ok bool) {
	p := simpleParse{s: s, month: 1, day: 1, year: 1970}
	for i, t := range f.tokens {
		if t.letter == 0 {
			if !p.literal(t.literal) {
				return 0, false
			}
			continue
		}
		abutting := i+1 < len(f.tokens) && f.tokens[i+1].letter != 0 && numeric(f.tokens[i+1])
		if !p.field(t, abutting) {
			return 0, false
		}
	}
	return p.instant(zone), true
}

// numeric reports whether a token is read as a number.
func numeric(t token) bool {
	switch t.letter {
	case 'E', 'a', 'G', 'z', 'Z', 'X':
		return false
	case 'M', 'L':
		return t.count < 3
	}
	return true
}

// simpleParse is the state of reading a text.
type simpleParse struct {
	s                  []byte
	year, month, day   int64
	dayOfYear, week    int64
	weekYear           bool // the year is that of weeks
	dated              bool // a month or a day was read
	hour, min, sec, ms int64
	pm                 int8
	bc                 bool
	offset             int64
	hasOffset          bool
	half               bool
}

func (p *simpleParse) literal(text string) bool {
	if len(p.s) < len(text) || string(p.s[:len(text)]) != text {
		return false
	}
	p.s = p.s[len(text):]
	return true
}

// field reads one field; exactly says that it has as many digits as letters, because
// another number follows.
func (p *simpleParse) field(t token, exactly bool) bool {
	for len(p.s) > 0 && (p.s[0] == ' ' || p.s[0] == '\t') {
		p.s = p.s[1:]
	}
	if len(p.s) == 0 {
		return false
	}
	switch t.letter {
	case 'E':
		return p.name(dayNames, func(int) {})
	case 'M', 'L':
		if t.count >= 3 {
			return p.name(monthNames, func(i int) { p.month, p.dated = int64(i+1), true })
		}
	case 'a':
		i, n := matchName(p.s, []string{"AM", "PM"})
		p.pm, p.s = int8(i+1), p.s[n:]
		return i >= 0
	case 'G':
		i, n := matchName(p.s, []string{"AD", "BC"})
		p.bc, p.s = i == 1, p.s[n:]
		return i >= 0
	case 'z', 'Z', 'X':
		return p.zone(t.letter)
	}
	v, n, ok := p.number(t.count, exactly)
	if !ok {
		return false
	}
	p.set(t, v, n)
	return true
}

func (p *simpleParse) name(names []string, found func(int)) bool {
	i, n := matchName(p.s, names)
	if i < 0 {
		i, n = matchName(p.s, shortNames(names))
	}
	if i < 0 {
		return false
	}
	found(i)
	p.s = p.s[n:]
	return true
}

// number reads a number and how many digits it has.
func (p *simpleParse) number(count int, exactly bool) (v int64, n int, ok bool) {
	s := p.s
	negative := s[0] == '-'
	from := int(one(negative))
	most := 18
	if exactly {
		most = count - from
	}
	end := digits(s, from, most)
	if end == from {
		return 0, 0, false
	}
	for _, c := range s[from:end] {
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	p.s = s[end:]
	return v, end - from, true
}

func (p *simpleParse) set(t token, v int64, n int) {
	switch t.letter {
	case 'y', 'Y':
		p.weekYear = t.letter == 'Y'
		if t.count <= 2 && n == 2 && v >= 0 {
			v += 2000 // within 80 years before this one and 20 after
			if v >= pivotYear+20 {
				v -= 100
			}
		}
		p.year = v
	case 'M', 'L':
		p.month, p.dated = v, true
	case 'd':
		p.day, p.dated = v, true
	case 'D':
		p.dayOfYear = v
	case 'w':
		p.week = v
	case 'H':
		p.hour = v
	case 'k':
		if p.hour = v; v == 24 {
			p.hour = 0
		}
	case 'K':
		p.hour, p.half = v, true
	case 'h':
		if p.hour, p.half = v, true; v == 12 {
			p.hour = 0
		}
	case 'm':
		p.min = v
	case 's':
		p.sec = v
	case 'S':
		p.ms = v
	}
}

// pivotYear is the year that years of two digits are near to. It is fixed, so that a query
// gives the same answer in every year.
const pivotYear = 2026

// zone reads an offset or the name of a zone.
func (p *simpleParse) zone(letter byte) bool {
	if p.s[0] == 'Z' && letter == 'X' {
		p.s, p.hasOffset = p.s[1:], true
		return true
	}
	end := 0
	for end < len(p.s) && strings.IndexByte(" \t,", p.s[end]) < 0 {
		end++
	}
	for ; end > 0; end-- {
		name := string(p.s[:end])
		if ms, ok := parseOffset(name); ok {
			p.offset, p.hasOffset = ms, true
		} else if letter == 'X' {
			continue
		} else if z, err := LoadZone(name); err == nil {
			p.offset, p.hasOffset = z.Offset(0), true
		} else {
			continue
		}
		p.s = p.s[end:]
		return true
	}
	return false
}

func (p *simpleParse) instant(zone *Zone) int64 {
	if p.bc {
		p.year = 1 - p.year
	}
	days := hybridDays(p.year, p.month, p.day)
	switch first := hybridDays(p.year, 1, 1); {
	case p.dayOfYear != 0:
		days = first + p.dayOfYear - 1
	case p.weekYear || p.week != 0 && !p.dated:
		// The Sunday of a week, of which the first has the first of January.
		days = first - Weekday(first)
		if p.week != 0 {
			days += 7 * (p.week - 1)
		}
	}
	if p.half && p.pm == 2 {
		p.hour += 12
	}
	ms := days*Day + p.hour*Hour + p.min*Minute + p.sec*Second + p.ms
	if p.hasOffset {
		return ms - p.offset
	}
	return zone.Instant(ms, true)
}
