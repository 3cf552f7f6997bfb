package text

import (
	"unicode"
	"unicode/utf8"
)

// Upper appends s in upper case, by the rules of Unicode for no language.
func Upper(dst, s []byte) []byte {
	if changed, ok := asciiCase(dst, s, 'a'); ok {
		return changed
	}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, w := utf8.DecodeRune(s[i:])
		if u := unicode.ToUpper(r); u != r {
			dst = utf8.AppendRune(dst, u)
		} else if special, ok := upperSpecial[r]; ok {
			dst = append(dst, special...)
		} else {
			dst = append(dst, s[i:i+w]...)
		}
		i += w
	}
	return dst
}

// asciiCase appends s, if it is ASCII, with the 26 letters from first on in the other case.
func asciiCase(dst, s []byte, first byte) ([]byte, bool) {
	from := len(dst)
	dst = append(dst, s...)
	for i, c := range dst[from:] {
		if c >= utf8.RuneSelf {
			return dst[:from], false
		}
		if c-first < 26 {
			dst[from+i] = c ^ 0x20
		}
	}
	return dst, true
}

// Lower appends s in lower case, by the rules of Unicode for no language: a sigma at the
// end of a word becomes a final one.
func Lower(dst, s []byte) []byte {
	if changed, ok := asciiCase(dst, s, 'A'); ok {
		return changed
	}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, w := utf8.DecodeRune(s[i:])
		switch l := unicode.ToLower(r); {
		case r == 'Σ' && finalSigma(s, i, w):
			dst = utf8.AppendRune(dst, 'ς')
		case r == 'İ':
			dst = append(dst, "i̇"...)
		case l != r:
			dst = utf8.AppendRune(dst, l)
		default:
			dst = append(dst, s[i:i+w]...)
		}
		i += w
	}
	return dst
}

// finalSigma reports whether the sigma at i ends a word: a letter with case is before
// it and none behind, marks not counted.
func finalSigma(s []byte, i, w int) bool {
	before, after := s[:i], s[i+w:]
	for {
		r, n := utf8.DecodeLastRune(before)
		if n == 0 {
			return false
		}
		if !ignorable(r) {
			if !cased(r) {
				return false
			}
			break
		}
		before = before[:len(before)-n]
	}
	for {
		r, n := utf8.DecodeRune(after)
		if n == 0 {
			return true
		}
		if !ignorable(r) {
			return !cased(r)
		}
		after = after[n:]
	}
}

func cased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

func ignorable(r rune) bool {
	return r == '\'' || r == '.' || r == ':' || r == '’' || r == '·' || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// InitCap appends s with the first letter of each run of ASCII letters and digits in
// upper case and the others in lower. Letters beyond ASCII stay, and end a run.
func InitCap(dst, s []byte) []byte {
	inside := false
	for _, c := range s {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case letter && inside:
			c |= 0x20
		case letter:
			c &^= 0x20
		}
		inside = letter || '0' <= c && c <= '9'
		dst = append(dst, c)
	}
	return dst
}
