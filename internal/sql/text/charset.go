package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// charset is a way of writing text as bytes.
type charset uint8

const (
	utf8Set charset = iota
	ascii
	latin1
	utf16Marked
	utf16Big
	utf16Little
)

var charsets = map[string]charset{
	"UTF-8": utf8Set, "UTF8": utf8Set, "US-ASCII": ascii, "ASCII": ascii, "ISO-8859-1": latin1, "ISO8859_1": latin1, "LATIN1": latin1,
	"UTF-16": utf16Marked, "UTF-16BE": utf16Big, "UTF-16LE": utf16Little,
}

func charsetOf(name []byte) (charset, error) {
	c, ok := charsets[strings.ToUpper(string(name))]
	if !ok {
		return 0, fmt.Errorf("character set %q is not supported; allowed are US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE and UTF-16LE", name)
	}
	return c, nil
}

// Encode appends s in a character set; what the set lacks becomes a question mark.
func Encode(dst, s, set []byte) ([]byte, error) {
	c, err := charsetOf(set)
	if err != nil {
		return dst, fmt.Errorf("encoding a text: %w", err)
	}
	switch c {
	case utf8Set:
		return append(dst, s...), nil
	case ascii, latin1:
		limit := rune(0x7F)
		if c == latin1 {
			limit = 0xFF
		}
		for _, r := range string(s) {
			if r > limit {
				r = '?'
			}
			dst = append(dst, byte(r))
		}
		return dst, nil
	}
	u := units(s)
	if c == utf16Marked && len(u) > 0 {
		dst = append(dst, 0xFE, 0xFF)
	}
	for _, v := range u {
		if c == utf16Little {
			dst = binary.LittleEndian.AppendUint16(dst, v)
		} else {
			dst = binary.BigEndian.AppendUint16(dst, v)
		}
	}
	return dst, nil
}

// Decode appends the text that bytes in a character set are; what is none becomes the
// replacement character.
func Decode(dst, b, set []byte) ([]byte, error) {
	c, err := charsetOf(set)
	if err != nil {
		return dst, fmt.Errorf("decoding bytes: %w", err)
	}
	switch c {
	case utf8Set:
		return appendValid(dst, b), nil
	case ascii, latin1:
		for _, v := range b {
			r := rune(v)
			if c == ascii && v > 0x7F {
				r = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, nil
	}
	return decodeUTF16(dst, b, c), nil
}

func decodeUTF16(dst, b []byte, c charset) []byte {
	little := c == utf16Little
	if c == utf16Marked && bytes.HasPrefix(b, []byte{0xFF, 0xFE}) {
		little, b = true, b[2:]
	} else if c == utf16Marked && bytes.HasPrefix(b, []byte{0xFE, 0xFF}) {
		b = b[2:]
	}
	var u []uint16
	for ; len(b) >= 2; b = b[2:] {
		if little {
			u = append(u, binary.LittleEndian.Uint16(b))
		} else {
			u = append(u, binary.BigEndian.Uint16(b))
		}
	}
	dst = appendUnits(dst, u)
	if len(b) == 1 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

// appendValid appends bytes as text: those that are no UTF-8 as replacement characters.
func appendValid(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[w:]
	}
	return dst
}
