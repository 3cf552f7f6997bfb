package filesystem

import (
	"bytes"
	"encoding/binary"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"math/bits"
)

// maxDepth bounds how deep JSON values are nested.
const maxDepth = 1000

var (
	errJSONEnd   = errors.New("the line ends within a JSON value")
	errJSONDepth = fmt.Errorf("the JSON is nested deeper than %d", maxDepth)
)

// space skips white space.
func space(text []byte, i int) int {
	for i < len(text) && text[i] <= ' ' && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// skip gives the end of the JSON value that begins at i.
func skip(text []byte, i, depth int) (end int, err error) {
	if i >= len(text) {
		return i, errJSONEnd
	}
	switch c := text[i]; {
	case c == '"':
		return scanString(text, i)
	case c >= '0' && c <= '9' || c == '-':
		return scanNumber(text, i)
	case c == '{' || c == '[':
		if depth >= maxDepth {
			return i, errJSONDepth
		}
		return skipNested(text, i, depth+1)
	case c == 't':
		return scanWord(text, i, "true")
	case c == 'f':
		return scanWord(text, i, "false")
	case c == 'n':
		return scanWord(text, i, "null")
	}
	return i, fmt.Errorf("a JSON value cannot begin with %q", text[i])
}

func scanWord(text []byte, i int, word string) (int, error) {
	if !bytes.HasPrefix(text[i:], []byte(word)) {
		return i, fmt.Errorf("%.10q is no JSON value", text[i:])
	}
	return i + len(word), nil
}

// scanString gives the end of the string that begins at i.
func scanString(text []byte, i int) (int, error) {
	const quotes, slashes, blanks = '"' * lowBits, '\\' * lowBits, ' ' * lowBits
	for i++; i < len(text); {
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			q, s := w^quotes, w^slashes
			// The lowest of the bits set is that of the first byte which is a quote, a backslash
			// or less than a blank.
			found := ((q-lowBits)&^q | (s-lowBits)&^s | (w-blanks)&^w) & highBits
			if found != 0 {
				i += bits.TrailingZeros64(found) >> 3
				break
			}
			i += 8
		}
		if i >= len(text) {
			break
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			i += 2
		case c < ' ':
			return i, fmt.Errorf("a JSON string cannot hold the character %q", c)
		default:
			i++
		}
	}
	return len(text), errJSONEnd
}

func digits(text []byte, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}

func scanNumber(text []byte, i int) (int, error) {
	begin := i
	if text[i] == '-' {
		i++
	}
	whole := digits(text, i)
	if whole == i || text[i] == '0' && whole > i+1 {
		return i, fmt.Errorf("%.20q is no JSON number", text[begin:])
	}
	if i = whole; i < len(text) && text[i] == '.' {
		if i = digits(text, whole+1); i == whole+1 {
			return i, fmt.Errorf("%.20q is no JSON number", text[begin:])
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		end := digits(text, i)
		if end == i {
			return i, fmt.Errorf("%.20q is no JSON number", text[begin:])
		}
		i = end
	}
	return i, nil
}

// skipNested gives the end of the object or array that begins at i.
func skipNested(text []byte, i, depth int) (end int, err error) {
	object := text[i] == '{'
	closing := text[i] + 2 // in ASCII
	if i = space(text, i+1); i < len(text) && text[i] == closing {
		return i + 1, nil
	}
	for {
		if object {
			if _, i, err = memberName(text, i); err != nil {
				return i, err
			}
		}
		if i, err = skip(text, i, depth); err != nil {
			return i, err
		}
		i = space(text, i)
		if i < len(text) && text[i] == closing {
			return i + 1, nil
		}
		if i >= len(text) || text[i] != ',' {
			return i, fmt.Errorf("after a JSON value comes a comma or %q%s", closing, seen(text, i))
		}
		i = space(text, i+1)
	}
}

// memberName reads the name, in quotes, that begins at i, and the colon behind it, and
// gives where the value begins.
func memberName(text []byte, i int) (name []byte, value int, err error) {
	if i >= len(text) || text[i] != '"' {
		return nil, i, fmt.Errorf("a member of a JSON object begins with its name in quotes%s", seen(text, i))
	}
	end, err := scanString(text, i)
	if err != nil {
		return nil, i, err
	}
	name = text[i:end]
	if i = space(text, end); i >= len(text) || text[i] != ':' {
		return nil, i, fmt.Errorf("after the name %s comes a colon%s", name, seen(text, i))
	}
	return name, space(text, i+1), nil
}

// members calls each with the name (as written, in quotes; nil in an array) and the text of
// every member of the object or array that begins at i.
func members(text []byte, i, depth int, each func(name, value []byte) error, end *int) error {
	object := text[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = space(text, i+1)
	if i < len(text) && text[i] == closing {
		*end = i + 1
		return nil
	}
	for {
		var name []byte
		if object {
			var err error
			if name, i, err = memberName(text, i); err != nil {
				return err
			}
		}
		last, err := skip(text, i, depth)
		if err != nil {
			return err
		}
		if err := each(name, text[i:last]); err != nil {
			return err
		}
		i = space(text, last)
		if i < len(text) && text[i] == closing {
			*end = i + 1
			return nil
		}
		if i >= len(text) || text[i] != ',' {
			return fmt.Errorf("after a JSON value comes a comma or %q%s", closing, seen(text, i))
		}
		i = space(text, i+1)
	}
}

func seen(text []byte, i int) string {
	if i >= len(text) {
		return ", and the line ends"
	}
	return fmt.Sprintf(", not %q", text[i])
}

// unquoted is what a JSON string stands for.
func unquoted(dst, text []byte) ([]byte, error) {
	if bytes.IndexByte(text, '\\') < 0 {
		return append(dst, text[1:len(text)-1]...), nil
	}
	return jsontext.AppendUnquote(dst, text)
}
