package gofunc

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/weirstream/weir/types"
)

// class is what values of a Go type are to SQL.
type class uint8

const (
	boolean class = iota
	integer
	floating
	text
	binary
	moment
	duration
	list
	mapping
	record
	pointer  // NULL is nil
	optional // sql.Null: NULL is not Valid
	dynamic  // any: whatever there is
)

// Shape is a Go type as SQL sees it. It is never changed once made.
type Shape struct {
	Go reflect.Type
	// Type is that of results, nullable if the Go type has a value for NULL.
	Type types.Type

	class class
	// inner is what is in a list, a pointer or an optional, and a mapping's value.
	inner, key *Shape
	fields     []field
}

// field is one of a record.
type field struct {
	name  string
	index int
	shape *Shape
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	anyType      = reflect.TypeFor[any]()
)

// ShapeOf looks at a type.
func ShapeOf(t reflect.Type) (*Shape, error) {
	return shapeOf(t, map[reflect.Type]bool{})
}

// plainKinds are the Go kinds that say all.
var plainKinds = map[reflect.Kind]struct {
	class class
	kind  types.Kind
}{
	reflect.Bool: {boolean, types.Boolean}, reflect.Int8: {integer, types.TinyInt}, reflect.Int16: {integer, types.SmallInt}, reflect.Int32: {integer, types.Int},
	reflect.Int64: {integer, types.BigInt}, reflect.Int: {integer, types.BigInt}, reflect.Float32: {floating, types.Float}, reflect.Float64: {floating, types.Double},
}

// shapeOf looks at a type within others.
func shapeOf(t reflect.Type, within map[reflect.Type]bool) (*Shape, error) {
	s := &Shape{Go: t}
	switch {
	case t == timeType:
		s.class, s.Type = moment, types.TimestampLTZOf(9).NotNull()
		return s, nil
	case t == durationType:
		s.class, s.Type = duration, types.Type{Kind: types.IntervalDayTime, Resolution: types.DayToSecond, Precision: 9, Scale: 3}
		return s, nil
	case t == anyType:
		s.class, s.Type = dynamic, types.Of(types.Null)
		return s, nil
	case isOptional(t):
		s.class = optional
		return s, s.of(t.Field(0).Type, within)
	}
	if plain, ok := plainKinds[t.Kind()]; ok {
		s.class, s.Type = plain.class, types.Of(plain.kind).NotNull()
		return s, nil
	}
	switch t.Kind() {
	case reflect.String:
		s.class, s.Type = text, types.String().NotNull()
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			s.class, s.Type = binary, types.Bytes().NotNull()
			return s, nil
		}
		s.class = list
		err := s.of(t.Elem(), within)
		s.Type = types.ArrayOf(s.inner.sqlType()).NotNull()
		return s, err
	case reflect.Map:
		s.class = mapping
		var err error
		if s.key, err = shapeOf(t.Key(), within); err != nil {
			return nil, err
		}
		err = s.of(t.Elem(), within)
		s.Type = types.MapOf(s.key.Type, s.inner.sqlType()).NotNull()
		return s, err
	case reflect.Pointer:
		s.class = pointer
		return s, s.of(t.Elem(), within)
	case reflect.Struct:
		return s, s.record(within)
	default:
		return nil, fmt.Errorf("the Go type %s stands for no SQL type; those that do are %s", t, known)
	}
	return s, nil
}

const known = "bool, int8 to int64, int, float32, float64, string, []byte, time.Time, time.Duration, slices, maps and structs of these, and for what may be NULL pointers to them and sql.Null"

// of sets what is inside.
func (s *Shape) of(t reflect.Type, within map[reflect.Type]bool) (err error) {
	if s.inner, err = shapeOf(t, within); err != nil {
		return err
	}
	if s.class == pointer || s.class == optional {
		if s.inner.nullable() {
			return fmt.Errorf("the Go type %s has two values for NULL", s.Go)
		}
		s.Type = s.inner.Type.OrNull()
	}
	return nil
}

func (s *Shape) sqlType() types.Type {
	if s == nil {
		return types.Type{}
	}
	return s.Type
}

// nullable reports whether there is a value for NULL.
func (s *Shape) nullable() bool {
	return s.class == pointer || s.class == optional || s.class == dynamic
}

// isOptional reports whether t is sql.Null of something.
func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == "database/sql" && strings.HasPrefix(t.Name(), "Null[")
}

// record looks at the fields of a struct.
func (s *Shape) record(within map[reflect.Type]bool) error {
	if within[s.Go] {
		return fmt.Errorf("the Go type %s contains itself", s.Go)
	}
	within[s.Go] = true
	defer delete(within, s.Go)
	s.class = record
	var fields []types.Field
	for i := range s.Go.NumField() {
		f := s.Go.Field(i)
		tag, tagged := f.Tag.Lookup("sql")
		switch {
		case tag == "-":
			continue
		case !f.IsExported():
			return fmt.Errorf("field %s of %s is not exported; a tag `sql:\"-\"` leaves it out", f.Name, s.Go)
		case !tagged:
			tag = columnName(f.Name)
		}
		shape, err := shapeOf(f.Type, within)
		if err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Name, s.Go, err)
		}
		s.fields = append(s.fields, field{tag, i, shape})
		fields = append(fields, types.Field{Name: tag, Type: shape.Type})
	}
	if len(fields) == 0 {
		return fmt.Errorf("the Go type %s has no fields", s.Go)
	}
	s.Type = types.RowOf(fields...).NotNull()
	return nil
}

// columnName is what a field is called as a column: UnitPrice is unit_price, and UserID
// is user_id.
func columnName(field string) string {
	var b strings.Builder
	letters := []rune(field)
	for i, r := range letters {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) && letters[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// takes says as which type a value of type t is read; false: it cannot be.
func (s *Shape) takes(t types.Type) (types.Type, bool) {
	if s.class == pointer || s.class == optional {
		return s.inner.takes(t)
	}
	if t.Kind == types.Null && s.class != dynamic {
		return s.Type.OrNull(), true
	}
	own := s.Type.WithNull(t.Nullable)
	switch s.class {
	case boolean:
		return t, t.Kind == types.Boolean
	case integer:
		return own, t.Kind.IsInteger() && t.Kind <= s.Type.Kind
	case floating:
		return own, t.Kind.IsNumeric() && (t.Kind != types.Double || s.Type.Kind == types.Double)
	case text:
		return t, t.Kind.IsText()
	case binary:
		return t, t.Kind.IsBinary()
	case moment:
		return t, t.Kind.IsTimestamp() || t.Kind == types.Date
	case duration:
		return t, t.Kind == types.IntervalDayTime || t.Kind == types.Time
	case list:
		if t.Kind != types.Array {
			return t, false
		}
		elem, ok := s.inner.takes(*t.Elem)
		return types.ArrayOf(elem).WithNull(t.Nullable), ok
	case mapping:
		if t.Kind != types.Map {
			return t, false
		}
		key, isKey := s.key.takes(*t.Key)
		value, ok := s.inner.takes(*t.Elem)
		return types.MapOf(key, value).WithNull(t.Nullable), ok && isKey
	case record:
		return s.takesRow(t)
	}
	return t, true
}

// takesRow is takes of a record, whose fields go by their order.
func (s *Shape) takesRow(t types.Type) (types.Type, bool) {
	if !t.Kind.IsComposite() || len(t.Fields) != len(s.fields) {
		return t, false
	}
	fields := make([]types.Field, len(t.Fields))
	for i, f := range t.Fields {
		want, ok := s.fields[i].shape.takes(f.Type)
		if !ok {
			return t, false
		}
		fields[i] = types.Field{Name: f.Name, Type: want}
	}
	return types.RowOf(fields...).WithNull(t.Nullable), true
}

// gives says whether results can be of type t.
func (s *Shape) gives(t types.Type) bool {
	switch s.class {
	case pointer, optional:
		return s.inner.gives(t)
	case moment:
		return t.Kind.IsTimestamp() || t.Kind == types.Date
	case dynamic:
		return false
	}
	return s.Type.EqualButNull(t)
}
