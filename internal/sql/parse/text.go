package parse

import (
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

// stringLiteral passes a text in quotes, which must come next.
func (p *parser) stringLiteral() *ast.StringLiteral {
	p.note(KindString)
	if p.peek().kind != text {
		p.fail()
	}
	start := p.start()
	s := p.stringPart()
	// A text may go on in quotes on another line.
	for p.peek().kind == text && p.text[p.start()] == '\'' {
		if !strings.Contains(p.text[p.tokens[p.at-1].end:p.start()], "\n") {
			p.refuse(p.span(p.at), "a text in quotes can go on in other quotes on another line only; write || to join two texts")
		}
		s.Value += p.stringPart().Value
	}
	s.Span = p.from(start)
	return s
}

// key passes a text in quotes that = must follow: another text behind it is
// not its other half.
func (p *parser) key() *ast.StringLiteral {
	p.note(KindString)
	if p.peek().kind != text {
		p.fail()
	}
	s := p.stringPart()
	s.Span = p.span(p.at - 1)
	return s
}

// stringPart passes one token of text.
func (p *parser) stringPart() *ast.StringLiteral {
	t := p.peek()
	p.at++
	whole := p.text[t.start:t.end]
	open := strings.IndexByte(whole, '\'')
	s := &ast.StringLiteral{Value: strings.ReplaceAll(whole[open+1:len(whole)-1], "''", "'")}
	switch prefix := whole[:open]; {
	case strings.HasPrefix(prefix, "_"):
		s.Charset = strings.ToUpper(prefix[1:])
	case strings.HasSuffix(prefix, "&"):
		s.Value = p.unicode(t, s.Value)
	case prefix == "E" || prefix == "e":
		s.Value = escaped(whole[open+1 : len(whole)-1])
	}
	return s
}

// escaped takes the escapes off a text E'…': those of C that are one letter, and
// \u with four digits. Others stay as they are.
func escaped(value string) string {
	letters := map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '\'': '\''}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if i+1 == len(value) || c != '\\' && c != '\'' {
			b.WriteByte(c)
			continue
		}
		next := value[i+1]
		if c == '\'' { // it is doubled
			b.WriteByte(c)
			i++
			continue
		}
		if l, ok := letters[next]; ok {
			b.WriteByte(l)
			i++
			continue
		}
		if next == 'u' && i+6 <= len(value) {
			if n, err := strconv.ParseUint(value[i+2:i+6], 16, 16); err == nil {
				b.WriteRune(rune(n))
				i += 5
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unicode takes the escapes off a text U&'…' [UESCAPE 'c'].
func (p *parser) unicode(t token, value string) string {
	escape := byte('\\')
	if p.skip("UESCAPE") {
		p.note(KindString)
		if p.peek().kind != text {
			p.fail()
		}
		c := p.stringPart().Value
		if len(c) != 1 || isDigit(c[0]) || strings.ContainsAny(strings.ToUpper(c), "+'\"ABCDEF \t\n") {
			p.refuse(p.span(p.at-1), "UESCAPE needs one character that is no hexadecimal digit, blank, plus or quote")
		}
		escape = c[0]
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c != escape:
			b.WriteByte(c)
		case i+1 < len(value) && value[i+1] == escape:
			b.WriteByte(c)
			i++
		case i+5 <= len(value):
			// Flink takes a plus for a digit: \+01F is \001F.
			n, err := strconv.ParseUint(strings.TrimPrefix(value[i+1:i+5], "+"), 16, 16)
			if err != nil {
				p.refuse(ast.Span{Start: t.start, End: t.end}, "the escape "+shown(value[i:i+5])+" is not followed by exactly four hexadecimal digits")
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			p.refuse(ast.Span{Start: t.start, End: t.end}, "the escape "+shown(value[i:])+" is not followed by exactly four hexadecimal digits")
		}
	}
	return b.String()
}

// unsigned passes a number without sign, point or exponent.
func (p *parser) unsigned() (int, *ast.NumberLiteral) {
	p.note(KindNumber)
	t := p.peek()
	if t.kind != number {
		p.fail()
	}
	n := &ast.NumberLiteral{Span: ast.Span{Start: t.start, End: t.end}, Text: p.text[t.start:t.end]}
	v, err := strconv.ParseInt(n.Text, 10, 32)
	if err != nil {
		p.refuse(n.Span, n.Text+" is not a whole number from 0 to 2147483647")
	}
	p.at++
	return int(v), n
}

// intervalQualifier passes the units of an interval.
func (p *parser) intervalQualifier() *ast.IntervalQualifier {
	start := p.start()
	q := &ast.IntervalQualifier{Precision: -1, Fraction: -1}
	q.From = p.intervalUnit("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
	if p.skip("(") {
		q.Precision, _ = p.unsigned()
		if q.From == "SECOND" && p.skip(",") {
			q.Fraction, _ = p.unsigned()
		}
		p.expect(")")
	}
	smaller := map[string][]string{
		"YEAR": {"MONTH"}, "DAY": {"HOUR", "MINUTE", "SECOND"}, "HOUR": {"MINUTE", "SECOND"}, "MINUTE": {"SECOND"},
	}[q.From]
	// TO may also belong to what is around: FLOOR(x TO DAY) has no interval there.
	if len(smaller) > 0 && p.skip("TO") {
		q.To = p.intervalUnit(smaller...)
		if q.To == "SECOND" && p.skip("(") {
			q.Fraction, _ = p.unsigned()
			p.expect(")")
		}
	}
	q.Span = p.from(start)
	return q
}

// intervalUnit passes a unit or its plural.
func (p *parser) intervalUnit(units ...string) string {
	for _, u := range units {
		if p.skip(u) {
			return u
		}
		if t := p.peek(); t.word == u+"S" {
			p.at++
			return u
		}
	}
	panic(p.unexpected())
}

// timeUnit passes a unit of EXTRACT, FLOOR and TIMESTAMPADD. Words that are no
// unit are given as they are: the binder says which are allowed where.
func (p *parser) timeUnit() *ast.Symbol {
	t := p.peek()
	for _, u := range timeUnits {
		if p.skip(u) {
			return &ast.Symbol{Span: p.span(p.at - 1), Word: u}
		}
	}
	if t.kind != word || t.key.IsReserved() {
		p.fail()
	}
	p.at++
	return &ast.Symbol{Span: p.span(p.at - 1), Word: strings.ToUpper(p.text[t.start:t.end])}
}

var timeUnits = strings.Fields("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND DOW DOY ISODOW ISOYEAR MILLENNIUM CENTURY DECADE EPOCH MILLISECOND MICROSECOND NANOSECOND")
