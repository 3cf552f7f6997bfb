// Package csv reads and writes structs as lines of comma-separated values, as RFC
// 4180 has them.
//
// It promises that what is written can be read again, and that an error names the
// column and its field with the value that was seen. A record is one line: a value
// that holds a line end is refused, because a file could not be cut into splits. It
// never guesses: a column that is missing, a value too many or an empty number are
// errors.
package csv

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weirstream/weir/format"
)

// Format is the format of structs of type T. Their exported fields are the columns,
// in their order, named by the fields' csv tags or else as the fields are; a field
// with the tag "-" is none. A column is a string, a boolean, a number, a time.Time as
// RFC 3339 has it, a type with text methods (encoding.TextMarshaler and
// TextUnmarshaler), or a pointer to one of these, which is nil where the value is empty
// and not quoted.
type Format[T any] struct {
	// Headed says that the first line of each file names the columns. Then columns
	// are found by their names, in any order, and those without a field are passed
	// over. Otherwise a line has exactly the columns of T.
	Headed bool
	// Comma separates values; 0 is a comma.
	Comma rune
}

// Header reports whether the first line of a file names its columns.
func (f Format[T]) Header() bool { return f.Headed }

// comma gives what separates values.
func (f Format[T]) comma() (byte, error) {
	switch {
	case f.Comma == 0:
		return ',', nil
	case f.Comma == '"' || f.Comma == '\n' || f.Comma == '\r' || f.Comma >= utf8.RuneSelf:
		return 0, fmt.Errorf("csv: Comma is %q, want an ASCII character that is no quote and no line end", f.Comma)
	}
	return byte(f.Comma), nil
}

// NewDecoder makes the decoder of one file.
func (f Format[T]) NewDecoder(header string) (format.Decoder[T], error) {
	comma, err := f.comma()
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf[T]()
	if err != nil {
		return nil, err
	}
	d := &decoder[T]{comma: comma, fields: fields}
	if !f.Headed {
		for i := range fields {
			d.columns = append(d.columns, i)
		}
		return d, nil
	}
	names, err := d.split(strings.TrimPrefix(header, "\ufeff"))
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for i, name := range names {
		if found[name.text] {
			return nil, fmt.Errorf("csv: column %d has the name %q, as one before it", i+1, name.text)
		}
		found[name.text] = true
		d.columns = append(d.columns, indexOf(fields, name.text))
	}
	for _, field := range fields {
		if !found[field.name] {
			return nil, fmt.Errorf("csv: no column has the name %q; there are %q", field.name, header)
		}
	}
	return d, nil
}

// indexOf gives the field of a name; -1: there is none.
func indexOf(fields []field, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

// value is what stands between two commas.
type value struct {
	text   string
	quoted bool
}

type decoder[T any] struct {
	comma   byte
	fields  []field
	columns []int // by column, its field; -1: none
	values  []value
}

// Decode reads the values of a line.
func (d *decoder[T]) Decode(line string, v *T) error {
	values, err := d.split(line)
	if err != nil {
		return err
	}
	if len(values) != len(d.columns) {
		return &format.FieldError{Value: line, Err: fmt.Errorf("%d values, want %d", len(values), len(d.columns))}
	}
	target := structOf(v)
	for i, at := range d.columns {
		if at < 0 {
			continue
		}
		f := &d.fields[at]
		if err := f.set(target.Field(f.index), values[i]); err != nil {
			return &format.FieldError{Field: f.name, Column: i + 1, Value: values[i].text, Err: err}
		}
	}
	return nil
}

var (
	errOpen  = errors.New("a quote is not closed; a value must not hold a line end")
	errAfter = errors.New("a quoted value is followed by something else than the next")
	errBare  = errors.New("a value that is not quoted holds a quote")
)

// split cuts a line into its values, which are good until the next call.
func (d *decoder[T]) split(line string) ([]value, error) {
	d.values = d.values[:0]
	for rest := line; ; {
		v, after, err := d.next(rest)
		if err != nil {
			return nil, &format.FieldError{Field: fmt.Sprint("number ", len(d.values)+1), Column: len(d.values) + 1, Value: rest, Err: err}
		}
		d.values = append(d.values, v)
		if after == "" {
			return d.values, nil
		}
		rest = after[1:]
	}
}

// next gives the first value and what is after it: nothing, or a comma and more.
func (d *decoder[T]) next(rest string) (v value, after string, err error) {
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexByte(rest, d.comma)
		if end < 0 {
			end = len(rest)
		}
		if strings.IndexByte(rest[:end], '"') >= 0 {
			return v, "", errBare
		}
		return value{text: rest[:end]}, rest[end:], nil
	}
	var text strings.Builder
	for rest = rest[1:]; ; {
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return v, "", errOpen
		}
		text.WriteString(rest[:end])
		rest = rest[end+1:]
		switch {
		case rest == "" || rest[0] == d.comma:
			return value{text: text.String(), quoted: true}, rest, nil
		case rest[0] != '"':
			return v, "", errAfter
		}
		text.WriteByte('"')
		rest = rest[1:]
	}
}

// NewEncoder makes an encoder.
func (f Format[T]) NewEncoder() (format.Encoder[T], error) {
	comma, err := f.comma()
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf[T]()
	if err != nil {
		return nil, err
	}
	return &encoder[T]{comma: comma, headed: f.Headed, fields: fields}, nil
}

type encoder[T any] struct {
	comma  byte
	headed bool
	fields []field
	text   []byte
}

// AppendHeader appends the names of the columns.
func (e *encoder[T]) AppendHeader(dst []byte) []byte {
	if !e.headed {
		return dst
	}
	for i, f := range e.fields {
		if i > 0 {
			dst = append(dst, e.comma)
		}
		dst = e.quote(dst, []byte(f.name), false)
	}
	return append(dst, '\n')
}

// Append appends a struct as a line.
func (e *encoder[T]) Append(dst []byte, v T) ([]byte, error) {
	source := structOf(&v)
	for i := range e.fields {
		f := &e.fields[i]
		if i > 0 {
			dst = append(dst, e.comma)
		}
		text, null, err := f.get(e.text[:0], source.Field(f.index))
		if err == nil && strings.IndexByte(string(text), '\n') >= 0 {
			err = errors.New("it holds a line end")
		}
		if err != nil {
			return dst, fmt.Errorf("csv: write a record: %w", &format.FieldError{Field: f.name, Column: i + 1, Value: string(text), Err: err})
		}
		e.text = text
		// What is empty and is there is told from what is not, and from an empty line.
		dst = e.quote(dst, text, len(text) == 0 && !null && (f.pointer || len(e.fields) == 1))
	}
	return append(dst, '\n'), nil
}

// quote appends a value, in quotes if it needs them.
func (e *encoder[T]) quote(dst, text []byte, always bool) []byte {
	if !always && strings.IndexByte(string(text), e.comma) < 0 && !strings.ContainsAny(string(text), "\"\r") && !strings.HasPrefix(string(text), "\ufeff") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for _, b := range text {
		if b == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}
