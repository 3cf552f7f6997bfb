package gofunc

import (
	"fmt"
	"reflect"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// takeOne makes the signature of a function of one Go value: the fields of a struct are its
// arguments, and any other value is the only one.
func takeOne(name string, in, out reflect.Type) (*signature, error) {
	result, err := ShapeOf(out)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	s := &signature{name: name, result: result}
	if in.Kind() == reflect.Struct && in.NumField() == 0 {
		return s, nil
	}
	shape, err := ShapeOf(in)
	if err != nil {
		return nil, fmt.Errorf("parameter: %w", err)
	}
	if shape.class != record {
		s.params = []*Shape{shape}
		return s, nil
	}
	for _, f := range shape.fields {
		s.params, s.names = append(s.params, f.shape), append(s.names, f.name)
	}
	return s, nil
}

// inputOf makes the reader of a function of one Go value.
func inputOf[In any](s *signature, args []types.Type, zone *time.Location) (bind func(args []*batch.Column), at func(i int) (In, error)) {
	if s.names == nil && len(s.params) == 1 {
		r := readerOf[In](s.params[0], args[0], zone)
		return func(args []*batch.Column) { r.bind(args[0]) }, r.at
	}
	shape, err := ShapeOf(reflect.TypeFor[In]())
	if err != nil { // a struct without fields
		return func([]*batch.Column) {}, func(int) (v In, err error) { return v, nil }
	}
	reads := make([]get, len(shape.fields))
	for k, f := range shape.fields {
		reads[k] = f.shape.getter(args[k], zone)
	}
	var columns []*batch.Column
	value := new(In)
	into := reflect.ValueOf(value).Elem()
	at = func(i int) (In, error) {
		for k, read := range reads {
			if err := read(columns[k], i, into.Field(shape.fields[k].index)); err != nil {
				return *value, fmt.Errorf("argument %s: %w", s.names[k], err)
			}
		}
		return *value, nil
	}
	return func(args []*batch.Column) { columns = args }, at
}
