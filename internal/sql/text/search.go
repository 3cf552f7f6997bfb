package text

import (
	"bytes"
)

// Position is where seek is found first in s from position from on, in code points
// counted from 1; 0 if nowhere. Nothing is found at 1, wherever one looks from.
func Position(seek, s []byte, from int64) int64 {
	if len(seek) == 0 {
		return 1
	}
	at := 0
	if from > 1 {
		at = offset(s, int(min(from-1, int64(len(s)))))
	}
	i := bytes.Index(s[at:], seek)
	if i < 0 {
		return 0
	}
	return int64(Length(s[:at+i])) + 1
}

// Instr is where seek is found in s for the nth time from position from on, backwards
// from the end if from is negative. n must be positive.
func Instr(s, seek []byte, from, n int64) int64 {
	switch {
	case from == 0:
		return 0
	case from < 0:
		back := Instr(Reverse(nil, s), Reverse(nil, seek), -from, n)
		if back == 0 {
			return 0
		}
		return int64(Length(s)) + 2 - back - int64(Length(seek))
	}
	at := int64(0)
	for ; n > 0; n-- {
		if at = Position(seek, s, from); at == 0 {
			return 0
		}
		from = at + 1
	}
	return at
}

// Replace appends s with every occurrence of old, that do not overlap, replaced. Nothing
// is found before every code point, but not at the end.
func Replace(dst, s, old, with []byte) []byte {
	if len(old) == 0 {
		for i := 0; i < len(s); {
			w := width(s, i)
			dst = append(append(dst, with...), s[i:i+w]...)
			i += w
		}
		return append(dst, with...)
	}
	for {
		i := bytes.Index(s, old)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:i]...), with...)
		s = s[i+len(old):]
	}
}

// Translate appends s with each code point of from replaced by that at the same place in
// to, or dropped if to is shorter. The first of equal ones in from counts.
func Translate(dst, s, from, to []byte) []byte {
	for i := 0; i < len(s); {
		w := width(s, i)
		dst = translate(dst, s[i:i+w], from, to)
		i += w
	}
	return dst
}

func translate(dst, r, from, to []byte) []byte {
	for i, j := 0, 0; i < len(from); {
		w := width(from, i)
		n := 0
		if j < len(to) {
			n = width(to, j)
		}
		if bytes.Equal(from[i:i+w], r) {
			return append(dst, to[j:j+n]...)
		}
		i, j = i+w, j+n
	}
	return append(dst, r...)
}
