package jsondoc

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	True
	False
	Number
	String
	Array
	Object
)

// Scalar reports whether values have no others in them.
func (k Kind) Scalar() bool { return k < Array }

// node is a value. The values in it follow it; next is the node behind them all. An
// object's are its keys and values in turn.
type node struct {
	kind Kind
	// from and to are where its text is: a number's in the input, a string's in texts.
	from, to int32
	next     int32
}

// Doc is a document that was read. It is used again for the next one, and by one goroutine.
type Doc struct {
	in    []byte
	texts []byte
	nodes []node
	at    int
	depth int
	// Strict refuses keys that an object has twice.
	Strict bool
	order  []int32 // scratch of writing
	found  []int32 // scratch of paths
	spare  []int32
}

// maxDepth is how deep values may be nested.
const maxDepth = 1000

// SyntaxError says that a text is no JSON.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reading JSON: %s at byte %d", e.Reason, e.Offset)
}

func (d *Doc) bad(reason string) error { return &SyntaxError{d.at, reason} }

// Parse reads the first document of a text. The text must not be changed while the
// document is used.
func (d *Doc) Parse(text []byte) error {
	d.in, d.texts, d.nodes, d.at, d.depth = text, d.texts[:0], d.nodes[:0], 0, 0
	d.blanks()
	if d.at == len(d.in) {
		return d.bad("there is no value")
	}
	if err := d.value(); err != nil {
		return err
	}
	if !d.nodes[0].kind.Scalar() || d.nodes[0].kind == String || d.at == len(d.in) {
		return nil
	}
	if c := d.in[d.at]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return nil
	}
	return d.bad("a blank is expected behind the value")
}

// Kind is that of the document's root.
func (d *Doc) Kind() Kind { return d.nodes[0].kind }

func (d *Doc) blanks() {
	for d.at < len(d.in) {
		switch d.in[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

func (d *Doc) add(n node) int32 {
	d.nodes = append(d.nodes, n)
	return int32(len(d.nodes) - 1)
}

func (d *Doc) value() error {
	if d.at >= len(d.in) {
		return d.bad("a value is expected, not the end")
	}
	switch c := d.in[d.at]; {
	case c == '{' || c == '[':
		return d.container(c == '{')
	case c == '"':
		return d.string()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 't':
		return d.word("true", True)
	case c == 'f':
		return d.word("false", False)
	case c == 'n':
		return d.word("null", Null)
	}
	return d.bad("a value is expected")
}

func (d *Doc) word(w string, k Kind) error {
	end := d.at + len(w)
	if end > len(d.in) || string(d.in[d.at:end]) != w || end < len(d.in) && wordly(d.in[end]) {
		return d.bad("a value is expected")
	}
	n := d.add(node{kind: k, from: int32(d.at), to: int32(end)})
	d.nodes[n].next = n + 1
	d.at = end
	return nil
}

func wordly(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (d *Doc) container(object bool) error {
	if d.depth++; d.depth > maxDepth {
		return d.bad(fmt.Sprintf("values are nested more than %d deep", maxDepth))
	}
	n := d.add(node{kind: Array})
	closing := byte(']')
	if object {
		d.nodes[n].kind, closing = Object, '}'
	}
	d.at++
	for first := true; ; first = false {
		d.blanks()
		if d.at >= len(d.in) {
			return d.bad("the closing '" + string(closing) + "' is missing")
		}
		if d.in[d.at] == closing && first {
			break
		}
		if object {
			if err := d.key(n); err != nil {
				return err
			}
		}
		if err := d.value(); err != nil {
			return err
		}
		d.blanks()
		if d.at >= len(d.in) {
			return d.bad("the closing '" + string(closing) + "' is missing")
		}
		if d.in[d.at] == closing {
			break
		}
		if d.in[d.at] != ',' {
			return d.bad("',' or '" + string(closing) + "' is expected")
		}
		d.at++
	}
	d.at++
	d.depth--
	d.nodes[n].next = int32(len(d.nodes))
	return nil
}

// key reads a key and the colon.
func (d *Doc) key(object int32) error {
	if d.in[d.at] != '"' {
		return d.bad("a key in double quotes is expected")
	}
	n := int32(len(d.nodes))
	if err := d.string(); err != nil {
		return err
	}
	if d.Strict {
		for k := object + 1; k < n; k = d.nodes[k+1].next {
			if d.text(k) == d.text(n) {
				return d.bad("the key " + d.text(n) + " is there twice")
			}
		}
	}
	d.blanks()
	if d.at >= len(d.in) || d.in[d.at] != ':' {
		return d.bad("':' is expected")
	}
	d.at++
	d.blanks()
	return nil
}

// text is a string's text without its escapes.
func (d *Doc) text(n int32) string { return string(d.bytes(n)) }

func (d *Doc) bytes(n int32) []byte {
	v := d.nodes[n]
	if v.kind == String {
		return d.texts[v.from:v.to]
	}
	return d.in[v.from:v.to]
}

func (d *Doc) number() error {
	from := d.at
	if d.in[d.at] == '-' {
		d.at++
	}
	whole := d.digits()
	switch {
	case whole == 0:
		return d.bad("a digit is expected")
	case whole > 1 && d.in[d.at-whole] == '0':
		return d.bad("a number begins with 0")
	}
	if d.at < len(d.in) && d.in[d.at] == '.' {
		d.at++
		if d.digits() == 0 {
			return d.bad("a digit is expected behind '.'")
		}
	}
	if d.at < len(d.in) && d.in[d.at]|0x20 == 'e' {
		d.at++
		if d.at < len(d.in) && (d.in[d.at] == '+' || d.in[d.at] == '-') {
			d.at++
		}
		if d.digits() == 0 {
			return d.bad("a digit is expected in the exponent")
		}
	}
	if d.at-from > 1000 {
		return d.bad("a number has more than 1000 digits")
	}
	n := d.add(node{kind: Number, from: int32(from), to: int32(d.at)})
	d.nodes[n].next = n + 1
	return nil
}

func (d *Doc) digits() int {
	n := 0
	for d.at < len(d.in) && '0' <= d.in[d.at] && d.in[d.at] <= '9' {
		d.at++
		n++
	}
	return n
}

func (d *Doc) string() error {
	from := len(d.texts)
	d.at++
	for d.at < len(d.in) {
		switch c := d.in[d.at]; {
		case c == '"':
			d.at++
			n := d.add(node{kind: String, from: int32(from), to: int32(len(d.texts))})
			d.nodes[n].next = n + 1
			return nil
		case c == '\\':
			if err := d.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return d.bad("a control character in a string must be escaped")
		default:
			d.texts = append(d.texts, c)
			d.at++
		}
	}
	return d.bad("a string is not ended")
}

func (d *Doc) escape() error {
	if d.at+1 >= len(d.in) {
		return d.bad("a string is not ended")
	}
	c := d.in[d.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := d.unit(d.at + 2)
		if !ok {
			return d.bad("four hexadecimal digits are expected behind \\u")
		}
		d.at += 6
		if utf16.IsSurrogate(r) {
			r = d.pair(r)
		}
		d.texts = utf8.AppendRune(d.texts, r)
		return nil
	default:
		return d.bad("an unknown escape")
	}
	d.texts = append(d.texts, c)
	d.at += 2
	return nil
}

// unit reads four hexadecimal digits.
func (d *Doc) unit(at int) (rune, bool) {
	if at+4 > len(d.in) {
		return 0, false
	}
	r := rune(0)
	for _, c := range d.in[at : at+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// pair is the character that half of a pair begins; a question mark if the other half is
// missing.
func (d *Doc) pair(high rune) rune {
	if d.at+1 < len(d.in) && d.in[d.at] == '\\' && d.in[d.at+1] == 'u' {
		if low, ok := d.unit(d.at + 2); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				d.at += 6
				return r
			}
		}
	}
	return '?'
}
