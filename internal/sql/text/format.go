package text

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is a compiled format of printf as Java's Formatter reads one in English.
type Format struct{ pieces []formatPiece }

type formatPiece struct {
	literal   string
	verb      byte // 0: the literal
	upper     bool
	index     int // of the argument
	flags     string
	width     int
	precision int // -1: none
}

// Arg is a value to be printed.
type Arg struct {
	Kind  ArgKind
	Int   int64
	Float float64
	// Text is the value of a text, and what any other value is as one.
	Text []byte
	// Bits is how many an integer has, for those printed in base 8 and 16.
	Bits int
}

// ArgKind is what kind of value an argument is.
type ArgKind uint8

// The kinds of arguments.
const (
	NullArg ArgKind = iota
	TextArg
	BoolArg
	IntArg
	FloatArg
	DecimalArg // Text holds it
)

// ParseFormat compiles a format; not every text is one.
func ParseFormat(s string) (*Format, bool) {
	f := &Format{}
	next, last := 0, -1
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			f.pieces = append(f.pieces, formatPiece{literal: s})
			break
		}
		if i > 0 {
			f.pieces = append(f.pieces, formatPiece{literal: s[:i]})
		}
		p, explicit, n, ok := parseVerb(s[i+1:])
		if !ok {
			return nil, false
		}
		switch {
		case p.verb == '%' || p.verb == 'n':
		case explicit > 0:
			p.index = explicit - 1
		case strings.Contains(p.flags, "<"):
			p.index = last
		default:
			p.index = next
			next++
		}
		last = p.index
		f.pieces = append(f.pieces, p)
		s = s[i+1+n:]
	}
	return f, true
}

// parseVerb reads what follows a %: n bytes.
func parseVerb(s string) (p formatPiece, explicit, n int, ok bool) {
	p.precision = -1
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && s[digits] == '$' {
		explicit, _ = strconv.Atoi(s[:digits])
		n = digits + 1
	}
	for n < len(s) && strings.IndexByte("-#+ 0,(<", s[n]) >= 0 {
		n++
	}
	p.flags = strings.TrimLeft(s[:n], "123456789$")
	if explicit > 0 {
		p.flags = s[digits+1 : n]
	}
	if strings.Contains(p.flags, "-") && strings.Contains(p.flags, "0") {
		return p, 0, 0, false
	}
	from := n
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	p.width, _ = strconv.Atoi(s[from:n])
	if n < len(s) && s[n] == '.' {
		from = n + 1
		for n++; n < len(s) && '0' <= s[n] && s[n] <= '9'; n++ {
		}
		if from == n {
			return p, 0, 0, false
		}
		p.precision, _ = strconv.Atoi(s[from:n])
	}
	if n >= len(s) || strings.IndexByte("bBhHsScCdoxXeEfgGaA%n", s[n]) < 0 {
		return p, 0, 0, false
	}
	p.upper = 'A' <= s[n] && s[n] <= 'Z'
	p.verb = s[n] | 0x20
	if s[n] == '%' {
		p.verb = '%'
	}
	if p.width == 0 && strings.ContainsAny(p.flags, "-0") {
		return p, 0, 0, false
	}
	return p, explicit, n + 1, true
}

// Append appends the arguments printed by the format; there is no answer if one is
// missing or of a kind that its place cannot print.
func (f *Format) Append(dst []byte, args []Arg) ([]byte, bool) {
	from := len(dst)
	for _, p := range f.pieces {
		switch {
		case p.verb == 0:
			dst = append(dst, p.literal...)
			continue
		case p.verb == 'n':
			dst = append(dst, '\n')
			continue
		}
		var body []byte
		if p.verb == '%' {
			body = []byte("%")
		} else {
			if p.index < 0 || p.index >= len(args) {
				return dst[:from], false
			}
			var ok bool
			if body, ok = p.print(args[p.index]); !ok {
				return dst[:from], false
			}
		}
		if p.upper {
			body = bytes.ToUpper(body)
		}
		dst = p.pad(dst, body)
	}
	return dst, true
}

func (p *formatPiece) has(flag byte) bool { return strings.IndexByte(p.flags, flag) >= 0 }

// pad appends body at the width asked for.
func (p *formatPiece) pad(dst, body []byte) []byte {
	fill := p.width - utf8.RuneCount(body)
	if fill > 0 && !p.has('-') {
		dst = append(dst, bytes.Repeat([]byte(" "), fill)...)
	}
	dst = append(dst, body...)
	if fill > 0 && p.has('-') {
		dst = append(dst, bytes.Repeat([]byte(" "), fill)...)
	}
	return dst
}

func (p *formatPiece) print(a Arg) ([]byte, bool) {
	if a.Kind == NullArg && p.verb != 'b' {
		return cutTo([]byte("null"), p.precision), true
	}
	switch p.verb {
	case 's':
		return cutTo(a.Text, p.precision), true
	case 'b':
		s := "true"
		if a.Kind == NullArg || a.Kind == BoolArg && a.Int == 0 {
			s = "false"
		}
		return cutTo([]byte(s), p.precision), true
	case 'c':
		if a.Kind != IntArg || a.Int < 0 || a.Int > utf8.MaxRune {
			return nil, false
		}
		return utf8.AppendRune(nil, rune(a.Int)), true
	case 'd':
		if a.Kind != IntArg || p.precision >= 0 {
			return nil, false
		}
		digits := strconv.FormatInt(a.Int, 10)
		return p.number(strings.TrimPrefix(digits, "-"), a.Int < 0), true
	case 'o', 'x':
		return p.based(a)
	case 'e', 'f', 'g':
		return p.real(a)
	}
	return nil, false
}

// based prints an integer in base 8 or 16, a negative one by its bits.
func (p *formatPiece) based(a Arg) ([]byte, bool) {
	if a.Kind != IntArg || p.precision >= 0 {
		return nil, false
	}
	v := uint64(a.Int)
	if a.Bits > 0 && a.Bits < 64 {
		v &= 1<<a.Bits - 1
	}
	base, prefix := 16, "0x"
	if p.verb == 'o' {
		base, prefix = 8, "0"
	}
	s := strconv.FormatUint(v, base)
	if !p.has('#') {
		prefix = ""
	}
	if fill := p.width - len(s) - len(prefix); p.has('0') && fill > 0 {
		s = strings.Repeat("0", fill) + s
	}
	return []byte(prefix + s), true
}

// real prints a number with a fraction.
func (p *formatPiece) real(a Arg) ([]byte, bool) {
	v := a.Float
	switch a.Kind {
	case DecimalArg:
		f, err := strconv.ParseFloat(string(a.Text), 64)
		if err != nil {
			return nil, false
		}
		v = f
	case FloatArg:
	default:
		return nil, false
	}
	if math.IsNaN(v) {
		return []byte("NaN"), true
	}
	if math.IsInf(v, 0) {
		s := "Infinity"
		if v < 0 {
			s = "-" + s
		} else if p.has('+') {
			s = "+" + s
		}
		return []byte(s), true
	}
	digits := p.precision
	if digits < 0 {
		digits = 6
	}
	verb := p.verb
	if verb == 'g' {
		digits = max(digits, 1)
		if abs := math.Abs(v); abs == 0 || abs >= 1e-4 && abs < math.Pow10(digits) {
			verb = 'f'
			if abs != 0 {
				digits = max(0, digits-1-int(math.Floor(math.Log10(abs))))
			} else {
				digits--
			}
		} else {
			verb = 'e'
			digits--
		}
	}
	s := strconv.FormatFloat(math.Abs(v), verb, digits, 64)
	return p.number(s, math.Signbit(v)), true
}

// number adds sign, groups and zeros to digits.
func (p *formatPiece) number(digits string, negative bool) []byte {
	if p.has(',') {
		digits = grouped(digits)
	}
	before, after := "", ""
	switch {
	case negative && p.has('('):
		before, after = "(", ")"
	case negative:
		before = "-"
	case p.has('+'):
		before = "+"
	case p.has(' '):
		before = " "
	}
	if fill := p.width - len(before) - len(after) - len(digits); p.has('0') && fill > 0 {
		digits = strings.Repeat("0", fill) + digits
	}
	return []byte(before + digits + after)
}

// grouped puts a comma before every three digits of the whole part.
func grouped(digits string) string {
	whole, rest := digits, ""
	if i := strings.IndexAny(digits, ".e"); i >= 0 {
		whole, rest = digits[:i], digits[i:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + rest
}

func cutTo(s []byte, precision int) []byte {
	if precision < 0 {
		return s
	}
	return s[:offset(s, precision)]
}
