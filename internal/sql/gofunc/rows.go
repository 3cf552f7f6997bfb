package gofunc

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Reader makes what reads rows of a schema as values of T: a struct whose fields are
// columns, by their names whatever their case; []any and map[string]any, which take all
// columns; []string, which are texts as results show them; or the value of the only
// column.
func Reader[T any](schema []types.Field, zone *time.Location) (func(b *batch.Columns, i int) (T, error), error) {
	t := reflect.TypeFor[T]()
	switch t {
	case reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[[]string]():
		if len(schema) != 1 || !schema[0].Type.Kind.IsCollection() {
			return allColumns[T](schema, zone), nil
		}
	}
	shape, err := ShapeOf(t)
	if err != nil {
		return nil, fmt.Errorf("read rows as %s: %w", t, err)
	}
	if shape.class != record || len(schema) == 1 && schema[0].Type.Kind.IsComposite() && !shape.hasColumn(schema[0].Name) {
		return onlyColumn[T](shape, schema, zone)
	}
	reads := make([]get, len(shape.fields))
	columns := make([]int, len(shape.fields))
	for k, f := range shape.fields {
		i := columnOf(schema, f.name)
		if i < 0 {
			return nil, fmt.Errorf("read rows as %s: there is no column for field %s; there are %s", t, shape.Go.Field(f.index).Name, namesOf(schema))
		}
		columns[k] = i
		if reads[k], err = f.shape.resultGetter(schema[i], zone); err != nil {
			return nil, fmt.Errorf("read rows as %s: %w", t, err)
		}
	}
	return func(b *batch.Columns, i int) (v T, err error) {
		into := reflect.ValueOf(&v).Elem()
		for k, read := range reads {
			if err := read(b.Cols[columns[k]], i, into.Field(shape.fields[k].index)); err != nil {
				return v, fmt.Errorf("column %s: %w", schema[columns[k]].Name, err)
			}
		}
		return v, nil
	}, nil
}

func (s *Shape) hasColumn(name string) bool {
	for _, f := range s.fields {
		if folded(f.name) == folded(name) {
			return true
		}
	}
	return false
}

// columnOf finds the column of a name: the same, or one that differs in case and
// underscores only; below 0: there is none.
func columnOf(schema []types.Field, name string) int {
	near := -1
	for i, f := range schema {
		if f.Name == name {
			return i
		}
		if near < 0 && folded(f.Name) == folded(name) {
			near = i
		}
	}
	return near
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func namesOf(schema []types.Field) string {
	all := make([]string, len(schema))
	for i, f := range schema {
		all[i] = f.Name
	}
	return strings.Join(all, ", ")
}

// resultGetter is getter for a column of a result, of which a DECIMAL may be read as text
// too.
func (s *Shape) resultGetter(f types.Field, zone *time.Location) (get, error) {
	inner := s
	if s.class == pointer || s.class == optional {
		inner = s.inner
	}
	if _, ok := s.takes(f.Type); !ok && !(inner.class == text && f.Type.Kind == types.Decimal) {
		return nil, fmt.Errorf("column %s of type %s cannot be read as %s", f.Name, f.Type.Text(), s.Go)
	}
	return s.getter(f.Type, zone), nil
}

func onlyColumn[T any](s *Shape, schema []types.Field, zone *time.Location) (func(b *batch.Columns, i int) (T, error), error) {
	if len(schema) != 1 {
		return nil, fmt.Errorf("read rows of %d columns as %s: it takes one column; a struct takes several", len(schema), s.Go)
	}
	read, err := s.resultGetter(schema[0], zone)
	if err != nil {
		return nil, err
	}
	return func(b *batch.Columns, i int) (v T, err error) {
		if err := read(b.Cols[0], i, reflect.ValueOf(&v).Elem()); err != nil {
			return v, fmt.Errorf("column %s: %w", schema[0].Name, err)
		}
		return v, nil
	}, nil
}

// allColumns reads all columns of rows into a T that has no fields of its own.
func allColumns[T any](schema []types.Field, zone *time.Location) func(b *batch.Columns, i int) (T, error) {
	return func(b *batch.Columns, i int) (v T, err error) {
		switch to := any(&v).(type) {
		case *[]any:
			for k, f := range schema {
				*to = append(*to, dynamicValue(b.Cols[k], i, f.Type, zone))
			}
		case *map[string]any:
			*to = make(map[string]any, len(schema))
			for k, f := range schema {
				(*to)[f.Name] = dynamicValue(b.Cols[k], i, f.Type, zone)
			}
		case *[]string:
			for k, f := range schema {
				if b.Cols[k].IsNull(i) {
					*to = append(*to, "NULL")
				} else {
					*to = append(*to, string(expr.AppendDisplay(nil, zone, f.Type, b.Cols[k], i)))
				}
			}
		}
		return v, nil
	}
}
