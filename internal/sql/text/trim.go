package text

import (
	"bytes"
	"unicode/utf8"
)

// blank is what is trimmed if nothing is named.
var blank = []byte(" ")

// Trim is s without the code points of set at its beginning, its end or both. A nil set
// is the blank; an empty one trims nothing.
func Trim(s, set []byte, leading, trailing bool) []byte {
	if set == nil {
		set = blank
	}
	for leading && len(s) > 0 {
		_, w := utf8.DecodeRune(s)
		if !bytes.Contains(set, s[:w]) {
			break
		}
		s = s[w:]
	}
	for trailing && len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		if !bytes.Contains(set, s[len(s)-w:]) {
			break
		}
		s = s[:len(s)-w]
	}
	return s
}
