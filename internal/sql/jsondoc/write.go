package jsondoc

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendQuoted appends a text as a JSON string, escaping what must be.
func AppendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		dst = appendEscape(dst, c)
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendQuotedASCII is AppendQuoted that escapes a slash and all that is not ASCII. Of a
// character beyond U+FFFF it writes, as the dialect does, the number and the second half
// of its pair.
func AppendQuotedASCII(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		switch {
		case r == '/':
			dst = append(dst, '\\', '/')
		case r < 0x20 || r == '"' || r == '\\':
			dst = appendEscape(dst, byte(r))
		case r < 0x7F:
			dst = append(dst, byte(r))
		default:
			dst = appendUnit(dst, r)
			if r > 0xFFFF {
				dst = appendUnit(dst, 0xDC00+(r-0x10000)&0x3FF)
			}
		}
		s = s[w:]
	}
	return append(dst, '"')
}

func appendUnit(dst []byte, r rune) []byte {
	dst = append(dst, '\\', 'u')
	for n := rune(0x1000); n > r && n > 1; n >>= 4 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(r), 16)
}

// Unquote appends what a JSON string says; ok is false if s is none. What follows a whole
// string counts as well, up to the quote that s ends with.
func (d *Doc) Unquote(dst, s []byte) (text []byte, ok bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' || d.Parse(s) != nil {
		return dst, false
	}
	if d.at != len(s) && d.Parse(escapeQuotes(s)) != nil {
		return dst, false
	}
	return append(dst, d.bytes(0)...), true
}

// escapeQuotes is a text in quotes with the quotes within it escaped that are not.
func escapeQuotes(s []byte) []byte {
	whole := append(make([]byte, 0, len(s)+8), '"')
	for i, inner := 0, s[1:len(s)-1]; i < len(inner); i++ {
		switch {
		case inner[i] == '"':
			whole = append(whole, '\\', '"')
		case inner[i] == '\\' && i+1 < len(inner):
			whole = append(whole, inner[i], inner[i+1])
			i++
		default:
			whole = append(whole, inner[i])
		}
	}
	return append(whole, '"')
}

// Append appends the document, its keys in order, the last of equal ones.
func (d *Doc) Append(dst []byte) []byte { return d.append(dst, 0, AppendDecimal) }

// AppendVariant appends the document as a VARIANT is kept: as Append, with numbers in the
// form of their value.
func (d *Doc) AppendVariant(dst []byte) []byte { return d.append(dst, 0, appendVariantNumber) }

// AppendWritten appends the document with its numbers as they are written.
func (d *Doc) AppendWritten(dst []byte) []byte { return d.append(dst, 0, appendWritten) }

func appendWritten(dst, digits []byte) []byte { return append(dst, digits...) }

func (d *Doc) append(dst []byte, n int32, number func(dst, digits []byte) []byte) []byte {
	v := d.nodes[n]
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case True:
		return append(dst, "true"...)
	case False:
		return append(dst, "false"...)
	case Number:
		return number(dst, d.in[v.from:v.to])
	case String:
		return AppendQuoted(dst, d.bytes(n))
	case Array:
		dst = append(dst, '[')
		for k := n + 1; k < v.next; k = d.nodes[k].next {
			if k > n+1 {
				dst = append(dst, ',')
			}
			dst = d.append(dst, k, number)
		}
		return append(dst, ']')
	}
	return d.appendObject(dst, n, number)
}

func (d *Doc) appendObject(dst []byte, n int32, number func(dst, digits []byte) []byte) []byte {
	from := len(d.order)
	for k := n + 1; k < d.nodes[n].next; k = d.nodes[k+1].next {
		d.order = append(d.order, k)
	}
	keys := d.order[from:]
	slices.SortStableFunc(keys, func(a, b int32) int { return compareKeys(d.bytes(a), d.bytes(b)) })
	count := len(keys)
	dst = append(dst, '{')
	written := false
	for i := range count {
		k := d.order[from+i]
		if i+1 < count && bytes.Equal(d.bytes(k), d.bytes(d.order[from+i+1])) {
			continue
		}
		if written {
			dst = append(dst, ',')
		}
		written = true
		dst = append(AppendQuoted(dst, d.bytes(k)), ':')
		dst = d.append(dst, k+1, number)
	}
	d.order = d.order[:from]
	return append(dst, '}')
}

// compareKeys orders keys by their UTF-16 units.
func compareKeys(a, b []byte) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := a[i], b[i]; x != y {
			// Characters beyond U+FFFF are before those from U+E000 on.
			if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
				x, y = y, x
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
