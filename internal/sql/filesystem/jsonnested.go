package filesystem

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// nestedBuilder adds JSON values to columns.
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
			return b.refused(c, fmt.Errorf("%.100q is no JSON array", text))
		}
		err := members(text, 0, 1, func(_, value []byte) error { return b.append(c.Children[0], *t.Elem, value) }, &end)
		c.EndCollection()
		return err
	case types.Map:
		if text[0] != '{' {
			return b.refused(c, fmt.Errorf("%.100q is no JSON object", text))
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

// refused makes of a value that cannot be read NULL, if that is wanted.
func (b *nestedBuilder) refused(c *batch.Column, err error) error {
	if b.format.lenient {
		c.AppendNull()
		return nil
	}
	return err
}

// row adds a JSON object as a row: members by name, those that are missing NULL.
func (b *nestedBuilder) row(c *batch.Column, t types.Type, text []byte) error {
	if text[0] != '{' {
		return b.refused(c, errNotNested)
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
			return b.refused(c, err)
		}
		if text = plain; t.Kind.IsBinary() {
			if text, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
				return b.refused(c, fmt.Errorf("%.100q is no Base64: %w", plain, err))
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
