package gofunc

import (
	"reflect"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// reader reads the values of a column as T.
type reader[T any] struct {
	// bind takes the column of a batch.
	bind func(c *batch.Column)
	// at is value i.
	at func(i int) (T, error)
}

// readerOf makes the reader of a parameter whose arguments are of type t.
func readerOf[T any](s *Shape, t types.Type, zone *time.Location) reader[T] {
	if r, ok := common[T](t, zone); ok {
		return r
	}
	read := s.getter(t, zone)
	var c *batch.Column
	value := new(T) // all of it is written for each row, and given as a copy
	into := reflect.ValueOf(value).Elem()
	return reader[T]{
		bind: func(column *batch.Column) { c = column },
		at: func(i int) (T, error) {
			err := read(c, i, into)
			return *value, err
		},
	}
}

// common makes the readers of types that lie in columns as they are.
func common[T any](t types.Type, zone *time.Location) (reader[T], bool) {
	var made any
	switch any((*T)(nil)).(type) {
	case *bool:
		made = fixed[bool]()
	case *int8:
		made = fixed[int8]()
	case *int16:
		made = fixed[int16]()
	case *int32:
		made = fixed[int32]()
	case *int64:
		made = fixed[int64]()
	case *float32:
		made = fixed[float32]()
	case *float64:
		made = fixed[float64]()
	case *int:
		var all []int64
		made = reader[int]{func(c *batch.Column) { all = c.I64 }, func(i int) (int, error) { return int(all[i]), nil }}
	case *string:
		var all string
		var ends []int32
		made = reader[string]{
			// One copy for the batch: who keeps a value keeps no column's memory, which is
			// used again.
			func(c *batch.Column) { all, ends = string(c.Data), c.Offsets },
			func(i int) (string, error) { return all[ends[i]:ends[i+1]], nil },
		}
	case *[]byte:
		var all []byte
		var ends []int32
		made = reader[[]byte]{
			func(c *batch.Column) { all, ends = append([]byte{}, c.Data...), c.Offsets },
			func(i int) ([]byte, error) { return all[ends[i]:ends[i+1]:ends[i+1]], nil },
		}
	case *time.Time:
		var of *batch.Column
		made = reader[time.Time]{func(c *batch.Column) { of = c }, func(i int) (time.Time, error) { return momentAt(of, i, t, zone), nil }}
	}
	if made == nil {
		made = commonPointer[T](t, zone)
	}
	r, ok := made.(reader[T])
	return r, ok
}

// commonPointer makes the readers of pointers to such types; nil: T is none.
func commonPointer[T any](t types.Type, zone *time.Location) any {
	switch any((*T)(nil)).(type) {
	case **bool:
		return pointers[bool](t, zone)
	case **int32:
		return pointers[int32](t, zone)
	case **int64:
		return pointers[int64](t, zone)
	case **int:
		return pointers[int](t, zone)
	case **float64:
		return pointers[float64](t, zone)
	case **string:
		return pointers[string](t, zone)
	case **time.Time:
		return pointers[time.Time](t, zone)
	}
	return nil
}

// pointers reads values as pointers into memory that is the function's to keep: one
// allocation for the batch.
func pointers[T any](t types.Type, zone *time.Location) reader[*T] {
	inner, _ := common[T](t, zone)
	var c *batch.Column
	var values []T
	return reader[*T]{
		func(column *batch.Column) { inner.bind(column); c, values = column, make([]T, column.Len) },
		func(i int) (*T, error) {
			if c.IsNull(i) {
				return nil, nil
			}
			v, err := inner.at(i)
			values[i] = v
			return &values[i], err
		},
	}
}

func fixed[T batch.Fixed]() reader[T] {
	var all []T
	return reader[T]{func(c *batch.Column) { all = batch.Values[T](c) }, func(i int) (T, error) { return all[i], nil }}
}
