package csv

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// field is a field of a struct that is a column.
type field struct {
	name    string
	index   int
	pointer bool // empty is nil
	kind    kind
	bits    int // of a number
	goType  reflect.Type
}

// kind is how a value is written.
type kind uint8

const (
	text kind = iota
	boolean
	signed
	unsigned
	float
	moment     // time.Time
	marshalled // by methods of its own
)

var (
	timeType    = reflect.TypeFor[time.Time]()
	marshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// structOf gives the struct that v points to.
func structOf[T any](v *T) reflect.Value { return reflect.ValueOf(v).Elem() }

// fieldsOf gives the columns of T, or says why it has none.
func fieldsOf[T any]() ([]field, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, fmt.Errorf("csv: records are of type %s, want a struct", t)
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("csv")
		if name == "-" || !f.IsExported() {
			continue
		}
		if !tagged || name == "" {
			name = f.Name
		}
		c, err := fieldOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("csv: field %s of %s: %w", f.Name, t, err)
		}
		if indexOf(all, name) >= 0 {
			return nil, fmt.Errorf("csv: field %s of %s has the name %q, as one before it", f.Name, t, name)
		}
		c.name, c.index = name, i
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("csv: %s has no exported field", t)
	}
	return all, nil
}

func fieldOf(t reflect.Type) (field, error) {
	f := field{}
	if t.Kind() == reflect.Pointer {
		f.pointer = true
		t = t.Elem()
	}
	f.goType = t
	switch {
	case t == timeType:
		f.kind = moment
		return f, nil
	case t.Implements(marshaler) && reflect.PointerTo(t).Implements(unmarshaler):
		f.kind = marshalled
		return f, nil
	}
	switch t.Kind() {
	case reflect.String:
		f.kind = text
	case reflect.Bool:
		f.kind = boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.kind, f.bits = signed, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.kind, f.bits = unsigned, t.Bits()
	case reflect.Float32, reflect.Float64:
		f.kind, f.bits = float, t.Bits()
	default:
		return f, fmt.Errorf("type %s cannot be a column; give it MarshalText and UnmarshalText, or the tag csv:\"-\"", t)
	}
	return f, nil
}

// set gives the field its value.
func (f *field) set(to reflect.Value, v value) error {
	if f.pointer {
		if v.text == "" && !v.quoted {
			return nil
		}
		to.Set(reflect.New(f.goType))
		to = to.Elem()
	}
	var err error
	switch f.kind {
	case text:
		to.SetString(v.text)
	case boolean:
		var b bool
		b, err = strconv.ParseBool(v.text)
		to.SetBool(b)
	case signed:
		var n int64
		n, err = strconv.ParseInt(v.text, 10, f.bits)
		to.SetInt(n)
	case unsigned:
		var n uint64
		n, err = strconv.ParseUint(v.text, 10, f.bits)
		to.SetUint(n)
	case float:
		var x float64
		x, err = strconv.ParseFloat(v.text, f.bits)
		to.SetFloat(x)
	case moment:
		var at time.Time
		at, err = time.Parse(time.RFC3339Nano, v.text)
		to.Set(reflect.ValueOf(at))
	case marshalled:
		return to.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.text))
	}
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		err = number.Err
	}
	if err != nil {
		return fmt.Errorf("want %s: %w", f.goType, err)
	}
	return nil
}

// get appends the field's value; null: it is a nil pointer.
func (f *field) get(dst []byte, from reflect.Value) (_ []byte, null bool, err error) {
	if f.pointer {
		if from.IsNil() {
			return dst, true, nil
		}
		from = from.Elem()
	}
	switch f.kind {
	case text:
		dst = append(dst, from.String()...)
	case boolean:
		dst = strconv.AppendBool(dst, from.Bool())
	case signed:
		dst = strconv.AppendInt(dst, from.Int(), 10)
	case unsigned:
		dst = strconv.AppendUint(dst, from.Uint(), 10)
	case float:
		dst = strconv.AppendFloat(dst, from.Float(), 'g', -1, f.bits)
	case moment:
		dst = from.Interface().(time.Time).AppendFormat(dst, time.RFC3339Nano)
	case marshalled:
		var written []byte
		written, err = from.Interface().(encoding.TextMarshaler).MarshalText()
		dst = append(dst, written...)
	}
	return dst, false, err
}
