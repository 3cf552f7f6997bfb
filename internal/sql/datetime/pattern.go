package datetime

import (
	"fmt"
	"strconv"
	"strings"
)

// names of months and days, of which the first three letters are the short ones.
var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// token is a piece of a pattern: a letter so many times, or a literal text.
type token struct {
	letter  byte
	count   int
	literal string
}

// tokenize cuts a pattern. Texts in apostrophes are literal, two are one. What is no
// letter and no apostrophe is a literal of one character, so that a pattern can give it
// a meaning.
func tokenize(pattern string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case letter(c):
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			tokens = append(tokens, token{letter: c, count: n})
			i += n
		case c == '\'':
			text, n, ok := quoted(pattern[i:])
			if !ok {
				return nil, fmt.Errorf("pattern %q: a literal is not ended by an apostrophe", pattern)
			}
			tokens = append(tokens, token{literal: text})
			i += n
		default:
			n := 1
			for i+n < len(pattern) && pattern[i+n]&0xC0 == 0x80 {
				n++
			}
			tokens = append(tokens, token{literal: pattern[i : i+n], count: 1})
			i += n
		}
	}
	return tokens, nil
}

// quoted reads a literal in apostrophes: its text, and how long it is with them.
func quoted(s string) (text string, n int, ok bool) {
	if strings.HasPrefix(s, "''") {
		return "'", 2, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// appendPadded appends v with at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	switch {
	case width == 2 && v < 100:
		return append(dst, '0'+byte(v/10), '0'+byte(v%10))
	case width == 4 && v < 10000:
		return append(dst, '0'+byte(v/1000), '0'+byte(v/100%10), '0'+byte(v/10%10), '0'+byte(v%10))
	}
	var digits [20]byte
	b := strconv.AppendInt(digits[:0], v, 10)
	for n := len(b); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, b...)
}

// local is a local date and time with what patterns ask of it.
type local struct {
	days             int64
	year, month, day int64
	ms               int64 // of the day
	nanos            int32 // within the millisecond
}

func localOf(ms int64, nanos int32) local {
	l := local{days: floorDiv(ms, Day), ms: floorMod(ms, Day), nanos: nanos}
	l.year, l.month, l.day = Civil(l.days)
	return l
}

// matchName is which of some names s begins with, the longest one, whatever its case.
func matchName(s []byte, names []string) (index, n int) {
	index = -1
	for i, name := range names {
		if len(name) > n && len(s) >= len(name) && strings.EqualFold(string(s[:len(name)]), name) {
			index, n = i, len(name)
		}
	}
	return index, n
}

func shortNames(names []string) []string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = n[:3]
	}
	return s
}
