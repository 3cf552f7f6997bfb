package text

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Length is the number of code points.
func Length(s []byte) int { return utf8.RuneCount(s) }

// offset is where code point n of s begins, or the length of s if it has no more than n.
func offset(s []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		i += width(s, i)
	}
	return i
}

// width is the length in bytes of the code point at i.
func width(s []byte, i int) int {
	if s[i] < utf8.RuneSelf {
		return 1
	}
	_, w := utf8.DecodeRune(s[i:])
	return w
}

// beyond reports whether a text has code points of two UTF-16 units.
func beyond(s []byte) bool {
	for _, c := range s {
		if c >= 0xF0 {
			return true
		}
	}
	return false
}

// units are the UTF-16 units of a text.
func units(s []byte) []uint16 {
	u := make([]uint16, 0, len(s))
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		u = utf16.AppendRune(u, r)
		s = s[w:]
	}
	return u
}

// appendUnits writes UTF-16 units as UTF-8, a half of a pair alone as a question mark.
func appendUnits(dst []byte, u []uint16) []byte {
	for i := 0; i < len(u); i++ {
		r := rune(u[i])
		switch {
		case !utf16.IsSurrogate(r):
			dst = utf8.AppendRune(dst, r)
		case i+1 < len(u) && utf16.DecodeRune(r, rune(u[i+1])) != utf8.RuneError:
			dst = utf8.AppendRune(dst, utf16.DecodeRune(r, rune(u[i+1])))
			i++
		default:
			dst = append(dst, '?')
		}
	}
	return dst
}

// Reverse appends the code points of s in the opposite order.
func Reverse(dst, s []byte) []byte {
	for len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		dst = append(dst, s[len(s)-w:]...)
		s = s[:len(s)-w]
	}
	return dst
}
