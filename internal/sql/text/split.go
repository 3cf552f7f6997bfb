package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// SplitIndex is part i, counted from 0, of s between separators. No separator splits at
// white space. There is no answer for a part that is not there; "" has no parts.
func SplitIndex(s, sep []byte, i int64) ([]byte, bool) {
	if i < 0 || len(s) == 0 {
		return nil, false
	}
	for ; ; i-- {
		at, w := cut(s, sep)
		if at < 0 {
			return s, i == 0
		}
		if i == 0 {
			return s[:at], true
		}
		s = s[at+w:]
	}
}

// cut is where the first separator of s is, and how long it is.
func cut(s, sep []byte) (at, w int) {
	if len(sep) > 0 {
		return bytes.Index(s, sep), len(sep)
	}
	at = bytes.IndexFunc(s, unicode.IsSpace)
	if at >= 0 {
		w = width(s, at)
	}
	return at, w
}

// Split calls part for what lies between the separators in s. An empty separator splits
// between UTF-16 units, where a half of a pair is a question mark.
func Split(s, sep []byte, part func([]byte)) {
	if len(sep) > 0 {
		for {
			i := bytes.Index(s, sep)
			if i < 0 {
				part(s)
				return
			}
			part(s[:i])
			s = s[i+len(sep):]
		}
	}
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		if r >= 0x10000 {
			part([]byte("?"))
			part([]byte("?"))
		} else {
			part(s[:w])
		}
		s = s[w:]
	}
}
