package javaregex

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// simple are the escapes of one character.
var simple = map[byte]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'a': '\a', 'e': 0x1B}

// escape rewrites what a backslash begins.
func (t *translator) escape(inside bool) error {
	if t.at+1 >= len(t.in) {
		return t.bad("unexpected internal error: a backslash at the end")
	}
	c := t.in[t.at+1]
	if r, ok := simple[c]; ok {
		t.at += 2
		t.rune(r)
		return nil
	}
	switch {
	case classes[c] != "" && inside:
		t.at += 2
		t.out.WriteString(classes[c])
	case classes[c] != "":
		t.at += 2
		t.out.WriteString("[" + classes[c] + "]")
	case negated[c] != "" && inside:
		t.at += 2
		t.out.WriteString(negated[c])
	case negated[c] != "":
		t.at += 2
		t.out.WriteString("[^" + classes[c+'a'-'A'] + "]")
	case c == 'p' || c == 'P':
		return t.property(inside)
	case c == 'x' || c == 'u' || c == '0' || c == 'c':
		return t.code(c)
	case c == 'Q':
		t.quoted()
	case inside || !('a' <= c|0x20 && c|0x20 <= 'z' || '1' <= c && c <= '9'):
		if inside && ('a' <= c|0x20 && c|0x20 <= 'z') {
			return t.bad(`illegal escape sequence \` + string(c))
		}
		t.at++
		r, w := utf8.DecodeRuneInString(t.rest())
		t.at += w
		t.rune(r)
	default:
		return t.anchor(c)
	}
	return nil
}

// rune writes a character that stands for itself.
func (t *translator) rune(r rune) {
	if r < utf8.RuneSelf {
		fmt.Fprintf(&t.out, `\x%02X`, r)
		return
	}
	t.out.WriteString(regexp.QuoteMeta(string(r)))
}

// anchor rewrites an escape that is no character.
func (t *translator) anchor(c byte) error {
	switch c {
	case 'b', 'B', 'A', 'z':
		t.copy(2)
	case 'Z':
		t.at += 2
		t.out.WriteString(`\z`)
	case 'R':
		t.at += 2
		t.out.WriteString(`(?:\r\n|[\n\x0B\f\r\x{85}\x{2028}\x{2029}])`)
	case 'k':
		return t.unsupported(`a back reference \k`)
	case 'G', 'X', 'N':
		return t.unsupported(`\` + string(c))
	default:
		if '1' <= c && c <= '9' {
			return t.unsupported(`a back reference \` + string(c))
		}
		return t.bad(`illegal escape sequence \` + string(c))
	}
	return nil
}

// code rewrites a character given by its number.
func (t *translator) code(c byte) error {
	rest := t.in[t.at+2:]
	take := func(n, base int) (rune, bool) {
		if len(rest) < n {
			return 0, false
		}
		v, err := strconv.ParseUint(rest[:n], base, 32)
		return rune(v), err == nil
	}
	switch {
	case c == 'c' && rest != "":
		t.at += 3
		t.rune(rune(rest[0] ^ 64))
		return nil
	case c == 'x' && strings.HasPrefix(rest, "{"):
		if end := strings.IndexByte(rest, '}'); end > 0 {
			if v, err := strconv.ParseUint(rest[1:end], 16, 32); err == nil && v <= utf8.MaxRune {
				t.at += 2 + end + 1
				t.rune(rune(v))
				return nil
			}
		}
	case c == 'x':
		if r, ok := take(2, 16); ok {
			t.at += 4
			t.rune(r)
			return nil
		}
	case c == 'u':
		if r, ok := take(4, 16); ok {
			t.at += 6
			if utf16.IsSurrogate(r) && strings.HasPrefix(t.rest(), `\u`) {
				rest = t.in[t.at+2:]
				if low, ok := take(4, 16); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
					t.at += 6
					r = utf16.DecodeRune(r, low)
				}
			}
			t.rune(r)
			return nil
		}
	case c == '0':
		for n := 3; n > 0; n-- {
			if r, ok := take(n, 8); ok && r <= 0o377 {
				t.at += 2 + n
				t.rune(r)
				return nil
			}
		}
	}
	return t.bad(`illegal escape sequence \` + string(c))
}

// quoted writes what is between \Q and \E as it is.
func (t *translator) quoted() {
	body := t.in[t.at+2:]
	end := strings.Index(body, `\E`)
	if end < 0 {
		t.at = len(t.in)
	} else {
		t.at += 2 + end + 2
		body = body[:end]
	}
	for _, r := range body {
		t.rune(r)
	}
}
