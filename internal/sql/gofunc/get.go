package gofunc

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// errNull is what stands in the way of reading a NULL.
var errNull = errors.New("a NULL cannot be read as a Go value that has none: use a pointer or sql.Null")

// get reads value i of a column into a Go value that can be set.
type get func(c *batch.Column, i int, into reflect.Value) error

// getter makes what reads values of type t, one that the shape takes.
func (s *Shape) getter(t types.Type, zone *time.Location) get {
	switch s.class {
	case pointer:
		inner := s.inner.getter(t, zone)
		return func(c *batch.Column, i int, into reflect.Value) error {
			if c.IsNull(i) {
				into.SetZero()
				return nil
			}
			v := reflect.New(s.inner.Go)
			into.Set(v)
			return inner(c, i, v.Elem())
		}
	case optional:
		inner := s.inner.getter(t, zone)
		return func(c *batch.Column, i int, into reflect.Value) error {
			into.SetZero()
			if c.IsNull(i) {
				return nil
			}
			into.Field(1).SetBool(true)
			return inner(c, i, into.Field(0))
		}
	case dynamic:
		return func(c *batch.Column, i int, into reflect.Value) error {
			if v := dynamicValue(c, i, t, zone); v != nil {
				into.Set(reflect.ValueOf(v))
			} else {
				into.SetZero()
			}
			return nil
		}
	}
	present := s.present(t, zone)
	return func(c *batch.Column, i int, into reflect.Value) error {
		if c.IsNull(i) {
			return errNull
		}
		return present(c, i, into)
	}
}

// present reads values that are not NULL.
func (s *Shape) present(t types.Type, zone *time.Location) get {
	switch s.class {
	case boolean:
		return func(c *batch.Column, i int, into reflect.Value) error { into.SetBool(c.Bool[i]); return nil }
	case integer:
		return func(c *batch.Column, i int, into reflect.Value) error { into.SetInt(whole(c, i)); return nil }
	case floating:
		return func(c *batch.Column, i int, into reflect.Value) error { into.SetFloat(number(c, i, t)); return nil }
	case text:
		if t.Kind == types.Decimal {
			return func(c *batch.Column, i int, into reflect.Value) error {
				into.SetString(string(decimal.Append(nil, unscaled(c, i), t.Scale)))
				return nil
			}
		}
		return func(c *batch.Column, i int, into reflect.Value) error { into.SetString(string(c.Bytes(i))); return nil }
	case binary:
		return func(c *batch.Column, i int, into reflect.Value) error {
			into.SetBytes(append([]byte{}, c.Bytes(i)...))
			return nil
		}
	case moment:
		return func(c *batch.Column, i int, into reflect.Value) error {
			into.Set(reflect.ValueOf(momentAt(c, i, t, zone)))
			return nil
		}
	case duration:
		return func(c *batch.Column, i int, into reflect.Value) error {
			into.SetInt(int64(durationAt(c, i)))
			return nil
		}
	case list:
		return s.listGetter(t, zone)
	case mapping:
		return s.mapGetter(t, zone)
	}
	return s.recordGetter(t, zone)
}

func (s *Shape) listGetter(t types.Type, zone *time.Location) get {
	element := s.inner.getter(*t.Elem, zone)
	return func(c *batch.Column, i int, into reflect.Value) error {
		from, to := c.Span(i)
		all := reflect.MakeSlice(s.Go, to-from, to-from)
		for k := from; k < to; k++ {
			if err := element(c.Children[0], k, all.Index(k-from)); err != nil {
				return fmt.Errorf("element %d of an array: %w", k-from+1, err)
			}
		}
		into.Set(all)
		return nil
	}
}

func (s *Shape) mapGetter(t types.Type, zone *time.Location) get {
	keys, values := s.key.getter(*t.Key, zone), s.inner.getter(*t.Elem, zone)
	return func(c *batch.Column, i int, into reflect.Value) error {
		from, to := c.Span(i)
		all := reflect.MakeMapWithSize(s.Go, to-from)
		key, value := reflect.New(s.key.Go).Elem(), reflect.New(s.inner.Go).Elem()
		for k := from; k < to; k++ {
			if err := errors.Join(keys(c.Children[0], k, key), values(c.Children[1], k, value)); err != nil {
				return fmt.Errorf("an entry of a map: %w", err)
			}
			all.SetMapIndex(key, value)
		}
		into.Set(all)
		return nil
	}
}

func (s *Shape) recordGetter(t types.Type, zone *time.Location) get {
	fields := make([]get, len(s.fields))
	for k, f := range s.fields {
		fields[k] = f.shape.getter(t.Fields[k].Type, zone)
	}
	return func(c *batch.Column, i int, into reflect.Value) error {
		for k, read := range fields {
			if err := read(c.Children[k], i, into.Field(s.fields[k].index)); err != nil {
				return fmt.Errorf("field %s: %w", s.fields[k].name, err)
			}
		}
		return nil
	}
}

// whole is an integer of any size.
func whole(c *batch.Column, i int) int64 {
	switch c.Layout {
	case batch.Int8s:
		return int64(c.I8[i])
	case batch.Int16s:
		return int64(c.I16[i])
	case batch.Int32s:
		return int64(c.I32[i])
	}
	return c.I64[i]
}

// number is a number of any type.
func number(c *batch.Column, i int, t types.Type) float64 {
	switch {
	case c.Layout == batch.Float64s:
		return c.F64[i]
	case c.Layout == batch.Float32s:
		return float64(c.F32[i])
	case t.Kind == types.Decimal:
		return decimal.ToFloat64(unscaled(c, i), t.Scale)
	}
	return float64(whole(c, i))
}

// unscaled are the digits of a DECIMAL.
func unscaled(c *batch.Column, i int) decimal.Int128 {
	if c.Layout == batch.Int128s {
		return c.I128[i]
	}
	return decimal.FromInt64(c.I64[i])
}

// momentAt is a timestamp or date: of a zone the instant in it, otherwise the time of day
// that it says, in UTC.
func momentAt(c *batch.Column, i int, t types.Type, zone *time.Location) time.Time {
	if t.Kind == types.Date {
		return time.Unix(int64(c.I32[i])*24*60*60, 0).UTC()
	}
	at := time.UnixMilli(c.I64[i]).Add(time.Duration(c.Nanos(i)))
	if t.Kind == types.TimestampLTZ && zone != nil {
		return at.In(zone)
	}
	return at.UTC()
}

// durationAt is an interval, or the time since midnight.
func durationAt(c *batch.Column, i int) time.Duration {
	return time.Duration(whole(c, i)) * time.Millisecond
}

// dynamicValue is the Go value that a value is closest to; nil: NULL.
func dynamicValue(c *batch.Column, i int, t types.Type, zone *time.Location) any {
	if c.IsNull(i) {
		return nil
	}
	switch t.Kind {
	case types.Boolean:
		return c.Bool[i]
	case types.TinyInt:
		return c.I8[i]
	case types.SmallInt:
		return c.I16[i]
	case types.Int, types.IntervalYearMonth:
		return c.I32[i]
	case types.BigInt:
		return c.I64[i]
	case types.Float:
		return c.F32[i]
	case types.Double:
		return c.F64[i]
	case types.Char, types.VarChar:
		return string(c.Bytes(i))
	case types.Binary, types.VarBinary:
		return append([]byte{}, c.Bytes(i)...)
	case types.Date, types.Timestamp, types.TimestampLTZ:
		return momentAt(c, i, t, zone)
	case types.Time, types.IntervalDayTime:
		return durationAt(c, i)
	case types.Array:
		from, to := c.Span(i)
		all := make([]any, 0, to-from)
		for k := from; k < to; k++ {
			all = append(all, dynamicValue(c.Children[0], k, *t.Elem, zone))
		}
		return all
	case types.Map:
		from, to := c.Span(i)
		all := make(map[string]any, to-from)
		for k := from; k < to; k++ {
			all[string(expr.AppendDisplay(nil, zone, *t.Key, c.Children[0], k))] = dynamicValue(c.Children[1], k, *t.Elem, zone)
		}
		return all
	case types.Row, types.Structured:
		all := make(map[string]any, len(t.Fields))
		for k, f := range t.Fields {
			all[f.Name] = dynamicValue(c.Children[k], i, f.Type, zone)
		}
		return all
	}
	return string(expr.AppendDisplay(nil, zone, t, c, i))
}
