package gofunc

import (
	"reflect"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// put appends a Go value to a column.
type put func(c *batch.Column, v reflect.Value)

// putter makes what appends values of type t, one that the shape gives.
func (s *Shape) putter(t types.Type) put {
	switch s.class {
	case pointer:
		inner := s.inner.putter(t)
		return func(c *batch.Column, v reflect.Value) {
			if v.IsNil() {
				c.AppendNull()
				return
			}
			inner(c, v.Elem())
		}
	case optional:
		inner := s.inner.putter(t)
		return func(c *batch.Column, v reflect.Value) {
			if !v.Field(1).Bool() {
				c.AppendNull()
				return
			}
			inner(c, v.Field(0))
		}
	case boolean:
		return func(c *batch.Column, v reflect.Value) { batch.Append(c, v.Bool()) }
	case integer:
		return s.integerPutter()
	case floating:
		if s.Type.Kind == types.Float {
			return func(c *batch.Column, v reflect.Value) { batch.Append(c, float32(v.Float())) }
		}
		return func(c *batch.Column, v reflect.Value) { batch.Append(c, v.Float()) }
	case text:
		return func(c *batch.Column, v reflect.Value) {
			c.AppendBytes([]byte(strings.ToValidUTF8(v.String(), "\uFFFD")))
		}
	case binary:
		return func(c *batch.Column, v reflect.Value) { c.AppendBytes(v.Bytes()) }
	case moment:
		return func(c *batch.Column, v reflect.Value) {
			appendMoment(c, v.Interface().(time.Time), t)
		}
	case duration:
		return func(c *batch.Column, v reflect.Value) {
			batch.Append(c, time.Duration(v.Int()).Milliseconds())
		}
	case list:
		return s.listPutter(t)
	case mapping:
		return s.mapPutter(t)
	}
	return s.recordPutter(t)
}

func (s *Shape) integerPutter() put {
	switch s.Type.Kind {
	case types.TinyInt:
		return func(c *batch.Column, v reflect.Value) { batch.Append(c, int8(v.Int())) }
	case types.SmallInt:
		return func(c *batch.Column, v reflect.Value) { batch.Append(c, int16(v.Int())) }
	case types.Int:
		return func(c *batch.Column, v reflect.Value) { batch.Append(c, int32(v.Int())) }
	}
	return func(c *batch.Column, v reflect.Value) { batch.Append(c, v.Int()) }
}

func (s *Shape) listPutter(t types.Type) put {
	element := s.inner.putter(*t.Elem)
	return func(c *batch.Column, v reflect.Value) {
		for k := range v.Len() {
			element(c.Children[0], v.Index(k))
		}
		c.EndCollection()
	}
}

func (s *Shape) mapPutter(t types.Type) put {
	keys, values := s.key.putter(*t.Key), s.inner.putter(*t.Elem)
	return func(c *batch.Column, v reflect.Value) {
		for _, k := range sortedKeys(v) {
			keys(c.Children[0], k)
			values(c.Children[1], v.MapIndex(k))
		}
		c.EndCollection()
	}
}

func (s *Shape) recordPutter(t types.Type) put {
	fields := make([]put, len(s.fields))
	for k, f := range s.fields {
		fields[k] = f.shape.putter(t.Fields[k].Type)
	}
	return func(c *batch.Column, v reflect.Value) {
		for k, write := range fields {
			write(c.Children[k], v.Field(s.fields[k].index))
		}
		c.EndRow()
	}
}

// appendMoment appends a time: with a zone the instant, without one the time of day where
// it is, cut to the digits of the type.
func appendMoment(c *batch.Column, v time.Time, t types.Type) {
	if t.Kind != types.TimestampLTZ {
		v = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
	}
	if t.Kind == types.Date {
		const day = 24 * 60 * 60
		days := v.Unix() / day
		if v.Unix()%day < 0 {
			days--
		}
		batch.Append(c, int32(days))
		return
	}
	unit := time.Duration(1)
	for range 9 - t.Precision {
		unit *= 10
	}
	nanos := v.Nanosecond() / int(unit) * int(unit)
	c.AppendMoment(v.Unix()*1000+int64(nanos/1e6), int32(nanos%1e6))
}
