package filesystem

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// jsonFormat is how records are written as JSON: an object to a line.
type jsonFormat struct {
	lenient bool // what cannot be read is NULL, and lines without an object are passed over
	missing bool // a member that is not there is an error
	iso     bool // timestamps are written as ISO-8601 has them

	// What is written: nullKeys says what becomes of a NULL key of a map, and nullKey is
	// the key instead of it.
	dropNulls bool // members that are NULL are left out
	plain     bool // decimals have no exponent
	nullKeys  string
	nullKey   string
}

var jsonOptions = []string{"json.fail-on-missing-field", "json.ignore-parse-errors", "json.timestamp-format.standard",
	"json.map-null-key.mode", "json.map-null-key.literal", "json.encode.decimal-as-plain-number", "json.encode.ignore-null-fields"}

// set takes an option; known is false if it is none of the format's.
func (f *jsonFormat) set(key, value string) (known bool, err error) {
	switch key {
	case "json.fail-on-missing-field":
		f.missing, err = truth(value)
	case "json.ignore-parse-errors":
		f.lenient, err = truth(value)
	case "json.timestamp-format.standard":
		if f.iso = value == "ISO-8601"; !f.iso && value != "SQL" {
			err = fmt.Errorf("'%s' is neither SQL nor ISO-8601", value)
		}
	case "json.encode.decimal-as-plain-number":
		f.plain, err = truth(value)
	case "json.encode.ignore-null-fields":
		f.dropNulls, err = truth(value)
	case "json.map-null-key.mode":
		if f.nullKeys = value; value != nullKeyFails && value != nullKeyDrops && value != nullKeyText {
			err = fmt.Errorf("'%s' is none of %s, %s and %s", value, nullKeyFails, nullKeyDrops, nullKeyText)
		}
	case "json.map-null-key.literal":
		f.nullKey = value
	default:
		return false, nil
	}
	return true, err
}

// jsonDecoder takes the members that are wanted out of objects, into columns of text.
type jsonDecoder struct {
	jsonFormat
	names  [][]byte // of the columns, in quotes
	to     []*batch.Column
	text   []bool // the column's values are texts
	bytes  []bool // the column's values are bytes, in Base64
	nested []bool // the column's values are made of others
	found  []bool // of the record that is being read
	next   int    // the column whose name is likely the next
	value  []byte
	starts []int32
}

// decode reads records until so many are there, or only a part of one is left.
func (d *jsonDecoder) decode(text []byte, last bool, most int) (consumed int, err error) {
	d.starts = d.starts[:0]
	for len(d.starts) < most && consumed < len(text) {
		end := bytes.IndexByte(text[consumed:], '\n')
		next := consumed + end + 1
		if end < 0 {
			if !last {
				break
			}
			end, next = len(text)-consumed, len(text)
		}
		line := bytes.TrimSpace(text[consumed : consumed+end])
		if len(line) > 0 {
			if err := d.record(line); err != nil && !d.lenient {
				return consumed, &recordError{consumed, -1, string(line[:min(len(line), 1000)]), err}
			} else if err == nil {
				d.starts = append(d.starts, int32(consumed))
			}
		}
		consumed = next
	}
	return consumed, nil
}

// record reads one object. What a record that is refused has added is taken back.
func (d *jsonDecoder) record(line []byte) (err error) {
	rows := len(d.starts)
	defer func() {
		if err != nil {
			for _, c := range d.to {
				if c != nil {
					cut(c, rows)
				}
			}
		}
	}()
	if line[0] != '{' {
		return fmt.Errorf("a record is a JSON object%s", seen(line, 0))
	}
	clear(d.found)
	d.next = 0
	end := 0
	if err := members(line, 0, 1, func(name, value []byte) error { return d.member(rows, name, value) }, &end); err != nil {
		return err
	}
	if space(line, end) < len(line) {
		return fmt.Errorf("after the record comes more%s", seen(line, space(line, end)))
	}
	for i, c := range d.to {
		if c != nil && !d.found[i] {
			if d.missing {
				return fmt.Errorf("the member %s is missing", d.names[i])
			}
			c.AppendNull()
		}
	}
	return nil
}

// column is the place of a member's column; -1: there is none.
func (d *jsonDecoder) column(name []byte) int {
	if d.next < len(d.names) && bytes.Equal(d.names[d.next], name) {
		d.next++
		return d.next - 1
	}
	plain := name
	if bytes.IndexByte(name, '\\') >= 0 {
		if text, err := unquoted(nil, name); err == nil {
			plain = append(append([]byte{'"'}, text...), '"')
		}
	}
	for i, n := range d.names {
		if bytes.Equal(n, plain) {
			d.next = i + 1
			return i
		}
	}
	return -1
}

// member takes the value of a member: of several of one name the last counts.
func (d *jsonDecoder) member(rows int, name, value []byte) error {
	i := d.column(name)
	if i < 0 || d.to[i] == nil {
		return nil
	}
	c := d.to[i]
	if d.found[i] {
		cut(c, rows)
	}
	d.found[i] = true
	switch {
	case value[0] == 'n':
		c.AppendNull()
	case value[0] != '"' || d.nested[i]:
		c.AppendBytes(value)
	default:
		text, err := unquoted(d.value[:0], value)
		if err != nil {
			return fmt.Errorf("the member %s: %w", name, err)
		}
		d.value = text
		if d.bytes[i] {
			if text, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
				return fmt.Errorf("the member %s: it is no Base64: %w", name, err)
			}
		} else if !d.text[i] {
			text = sqlMoment(text)
		}
		c.AppendBytes(text)
	}
	return nil
}

// sqlMoment writes a timestamp as SQL does. One as in ISO-8601 is understood whichever of
// them the table's option names, which settles how they are written; an instant is one of UTC.
func sqlMoment(text []byte) []byte {
	if day := bytes.IndexByte(text, 'T'); day >= len("2006-01-02") {
		text[day] = ' '
	}
	return bytes.TrimSuffix(text, []byte("Z"))
}

// nestedColumn makes a column of values that are made of others, from their JSON.
func nestedColumn(registry *expr.Registry, session *expr.Session, f jsonFormat, t types.Type, texts *batch.Column) (*batch.Column, error) {
	c := batch.NewColumn(t)
	b := &nestedBuilder{registry: registry, session: session, format: f, casts: map[string]*expr.Program{}}
	for i := range texts.Len {
		if texts.IsNull(i) {
			c.AppendNull()
			continue
		}
		if err := b.append(c, t, texts.Bytes(i)); err != nil {
			return nil, expr.AtRow(i, err)
		}
	}
	return c, nil
}

type nestedBuilder struct {
	registry *expr.Registry
	session  *expr.Session
	format   jsonFormat
	casts    map[string]*expr.Program
}

var errNotNested = errors.New("it is neither a JSON object nor an array")

// append adds a JSON value to a column.
func (b *nestedBuilder) append(c *batch.Column, t types.Type, text []byte) error {
	if text[0] == 'n' {
		c.AppendNull()
		return nil
	}
	end := 0
	switch t.Kind {
	case types.Array:
		if text[0] != '[' {
			return fmt.Errorf("%.100q is no JSON array", text)
		}
		err := members(text, 0, 1, func(_, value []byte) error { return b.append(c.Children[0], *t.Elem, value) }, &end)
		c.EndCollection()
		return err
	case types.Map:
		if text[0] != '{' {
			return fmt.Errorf("%.100q is no JSON object", text)
		}
		err := members(text, 0, 1, func(name, value []byte) error {
			if err := b.append(c.Children[0], *t.Key, name); err != nil {
				return err
			}
			return b.append(c.Children[1], *t.Elem, value)
		}, &end)
		c.EndCollection()
		return err
	case types.Row:
		return b.row(c, t, text)
	}
	return b.scalar(c, t, text)
}

// row adds a JSON object as a row: members by name, those that are missing NULL.
func (b *nestedBuilder) row(c *batch.Column, t types.Type, text []byte) error {
	if text[0] != '{' {
		return errNotNested
	}
	values := make([][]byte, len(t.Fields))
	end := 0
	err := members(text, 0, 1, func(name, value []byte) error {
		plain, err := unquoted(nil, name)
		for i, f := range t.Fields {
			if err == nil && f.Name == string(plain) {
				values[i] = value
			}
		}
		return err
	}, &end)
	if err != nil {
		return err
	}
	for i, f := range t.Fields {
		if values[i] == nil {
			c.Children[i].AppendNull()
		} else if err := b.append(c.Children[i], f.Type, values[i]); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	c.EndRow()
	return nil
}

// scalar adds a value that is cast from its text.
func (b *nestedBuilder) scalar(c *batch.Column, t types.Type, text []byte) error {
	if text[0] == '"' {
		plain, err := unquoted(nil, text)
		if err != nil {
			return err
		}
		if text = plain; t.Kind.IsBinary() {
			if text, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
				return fmt.Errorf("%.100q is no Base64: %w", plain, err)
			}
		} else if t.Kind.IsTimestamp() {
			text = sqlMoment(text)
		}
	}
	if plainText(t) {
		c.AppendBytes(text)
		return nil
	}
	p := b.casts[t.String()]
	if p == nil {
		var err error
		if p, err = castProgram(b.registry, b.session, t, b.format.lenient); err != nil {
			return err
		}
		b.casts[t.String()] = p
	}
	one := batch.NewColumn(types.String())
	one.AppendBytes(text)
	columns, err := p.Eval(&batch.Columns{N: 1, Cols: []*batch.Column{one}})
	if err != nil {
		return fmt.Errorf("'%.100s' is no %s: %w", text, t.Text(), err)
	}
	c.AppendFrom(columns[0], 0)
	return nil
}
