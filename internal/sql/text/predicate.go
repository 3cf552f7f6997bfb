package text

import (
	"strconv"
	"strings"
	"unicode"
)

// IsAlpha reports whether s has letters only, and one at least.
func IsAlpha(s []byte) bool { return all(s, unicode.IsLetter) }

// IsDigit reports whether s has decimal digits of any script only, and one at least.
func IsDigit(s []byte) bool { return all(s, unicode.IsDigit) }

func all(s []byte, is func(rune) bool) bool {
	for _, r := range string(s) {
		if r >= 0x10000 || !is(r) {
			return false
		}
	}
	return len(s) > 0
}

// IsDecimal reports whether s is a number as Java writes one, with white space around.
func IsDecimal(s []byte) bool {
	t := strings.Trim(string(s), "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	if t == "" || strings.ContainsAny(t, "_") {
		return false
	}
	unsigned := strings.TrimLeft(t[:1], "+-") + t[1:]
	if unsigned == "NaN" || unsigned == "Infinity" {
		return true
	}
	if c := unsigned; c == "" || c[0] != '.' && (c[0] < '0' || c[0] > '9') {
		return false
	}
	hex := strings.HasPrefix(strings.ToLower(unsigned), "0x")
	if hex && !strings.ContainsAny(t, "pP") {
		return false
	}
	if last := t[len(t)-1]; len(t) > 1 && strings.IndexByte("fFdD", last) >= 0 {
		t = t[:len(t)-1]
	}
	_, err := strconv.ParseFloat(t, 64)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		return true
	}
	return err == nil
}

// InetAton is the number of an IPv4 address of one to four parts, the last of which fills
// the bytes that are left.
func InetAton(s []byte) (int64, bool) {
	parts := strings.Split(string(s), ".")
	if len(parts) > 4 {
		return 0, false
	}
	var n uint64
	for i, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return 0, false
		}
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return 0, false
		}
		if i == len(parts)-1 {
			n |= v
		} else {
			n |= v << (8 * (3 - i))
		}
	}
	return int64(n), true
}

// InetNtoa appends the IPv4 address of a number, if it is one.
func InetNtoa(dst []byte, n int64) ([]byte, bool) {
	if n < 0 || n > 1<<32-1 {
		return dst, false
	}
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendInt(dst, n>>shift&255, 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst, true
}

// ASCII is the first byte of s as a signed number, 0 of nothing.
func ASCII(s []byte) int32 {
	if len(s) == 0 {
		return 0
	}
	return int32(int8(s[0]))
}

// Chr appends the character of a code, taken modulo 256; nothing for a negative one.
func Chr(dst []byte, n int64) []byte {
	if n < 0 {
		return dst
	}
	return append(dst, string(rune(n%256))...)
}

// Unhex appends the bytes of hexadecimal digits; the first of an odd number of them stands
// for a byte of 0.
func Unhex(dst, s []byte) ([]byte, bool) {
	from := len(dst)
	if len(s)%2 == 1 {
		if unhex(s[0]) < 0 {
			return dst, false
		}
		dst, s = append(dst, 0), s[1:]
	}
	for i := 0; i < len(s); i += 2 {
		h, l := unhex(s[i]), unhex(s[i+1])
		if h < 0 || l < 0 {
			return dst[:from], false
		}
		dst = append(dst, byte(h<<4|l))
	}
	return dst, true
}

// AppendHex appends bytes as upper-case hexadecimal digits.
func AppendHex(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexUpper[c>>4], hexUpper[c&15])
	}
	return dst
}
