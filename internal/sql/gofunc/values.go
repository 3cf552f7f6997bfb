package gofunc

import (
	"fmt"
	"reflect"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// Values are Go values as the rows of a table.
type Values struct {
	// Schema are the columns: the fields of a struct, or the value.
	Schema []types.Field

	len   int
	field func(column int) int // of the value that is in a column; below 0: the value
	at    func(row int) reflect.Value
	puts  []put
}

// ValuesOf makes rows of values. They are read when the rows are, and must not be changed.
func ValuesOf[T any](rows []T) (*Values, error) {
	s, err := ShapeOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	if s.class == dynamic {
		return nil, fmt.Errorf("the Go type %s stands for no SQL type", s.Go)
	}
	v := &Values{len: len(rows), at: func(row int) reflect.Value { return reflect.ValueOf(&rows[row]).Elem() }}
	if s.class != record {
		v.Schema = []types.Field{{Name: "value", Type: s.Type}}
		v.field = func(int) int { return -1 }
		v.puts = []put{s.putter(s.Type)}
		return v, nil
	}
	for _, f := range s.fields {
		v.Schema = append(v.Schema, types.Field{Name: f.name, Type: f.shape.Type})
		v.puts = append(v.puts, f.shape.putter(f.shape.Type))
	}
	v.field = func(column int) int { return s.fields[column].index }
	return v, nil
}

// Len is how many rows there are.
func (v *Values) Len() int { return v.len }

// Batch gives some columns of the rows from one to before another.
func (v *Values) Batch(columns []int, from, to int) *batch.Columns {
	b := &batch.Columns{N: to - from}
	for _, k := range columns {
		c := batch.NewColumn(v.Schema[k].Type)
		for row := from; row < to; row++ {
			value := v.at(row)
			if f := v.field(k); f >= 0 {
				value = value.Field(f)
			}
			v.puts[k](c, value)
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}
