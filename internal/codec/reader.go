package codec

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// A Reader decodes what was encoded with an older schema of T: fields are found
// by their names, new ones are zero, removed ones are dropped, and numbers may
// have become wider. One goroutine owns it.
type Reader[T any] struct {
	plan    *Plan[T]
	from    *program // of old; nil when the schemas are equal
	convert converter
	old     reflect.Value // a slice, of values as they were encoded
}

// NewReader returns the reader of values that were encoded with from. The error
// is a *SchemaError.
func NewReader[T any](from Schema, to *Plan[T]) (*Reader[T], error) {
	if from == to.Schema() {
		return &Reader[T]{plan: to}, nil
	}
	if _, err := from.Compare(to.Schema()); err != nil {
		return nil, err
	}
	return newReader(from, to)
}

// newReader returns a reader that converts, also between equal schemas.
func newReader[T any](from Schema, to *Plan[T]) (*Reader[T], error) {
	old, err := from.parse()
	if err != nil {
		return nil, err
	}
	want, err := to.Schema().parse()
	if err != nil {
		return nil, err
	}
	refuse := func(reason string) error {
		return &SchemaError{Path: "value", From: string(from), To: string(to.Schema()), Reason: reason}
	}
	if old.size() > maxOldSize {
		return nil, refuse("its values are too large to be converted")
	}
	typ, ok := old.goType()
	if !ok {
		return nil, refuse("its maps have keys that are not comparable")
	}
	prog, typeErr := programOf(typ)
	if typeErr != nil {
		return nil, refuse(typeErr.Error())
	}
	convert := conversion(old, typ, want, reflect.TypeFor[T]())
	return &Reader[T]{plan: to, from: prog, convert: convert, old: reflect.MakeSlice(prog.rec.slice, 0, 0)}, nil
}

// Same says whether the schemas are equal, so that what was encoded may also be
// kept as it is.
func (r *Reader[T]) Same() bool { return r.from == nil }

// Decode is Plan.Decode for values that were encoded with the older schema.
func (r *Reader[T]) Decode(dst []T, n int, src []byte) (vals []T, rest []byte, err error) {
	if r.from == nil {
		return r.plan.Decode(dst, n, src)
	}
	if n == 0 {
		return dst, src, nil
	}
	rec := r.from.rec
	if err := rec.justify(n, src); err != nil {
		return dst, src, err
	}
	if r.old.Cap() < n {
		r.old = reflect.MakeSlice(rec.slice, n, n)
	}
	base := r.old.UnsafePointer()
	rest, err = rec.decode(src, base, n)
	if err != nil {
		return dst, src, err
	}
	out := slices.Grow(dst, n)[:len(dst)+n]
	tail := out[len(dst):]
	clear(tail)
	for i := range tail {
		if err := r.convert(unsafe.Add(base, uintptr(i)*rec.size), unsafe.Pointer(&tail[i])); err != nil {
			return dst, src, err
		}
	}
	return out, rest, nil
}

// scalarTypes are the Go types of scalars, by their names in schemas.
var scalarTypes = map[string]reflect.Type{
	"bool": reflect.TypeFor[bool](),
	"int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](), "int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](),
	"uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](), "uint32": reflect.TypeFor[uint32](), "uint64": reflect.TypeFor[uint64](),
	"float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
	"complex64": reflect.TypeFor[complex64](), "complex128": reflect.TypeFor[complex128](),
	"string": reflect.TypeFor[string](), "bytes": reflect.TypeFor[[]byte](), "time": timeType,
}

// widens says whether every value of the scalar from is one of the scalar to.
func widens(from, to string) bool {
	f, t := scalarTypes[from], scalarTypes[to]
	family := func(s string) string { return strings.TrimRight(s, "0123456789") }
	switch pair := family(from) + ">" + family(to); pair {
	case "int>int", "uint>uint", "uint>int", "float>float", "complex>complex":
		return t.Size() > f.Size()
	}
	return false
}

// maxOldSize bounds the memory of one value that is converted.
const maxOldSize = 1 << 24

// size returns about how many bytes a value takes in memory.
func (s *shape) size() uint64 {
	switch s.kind {
	case shapeScalar:
		return uint64(scalarTypes[s.name].Size())
	case shapeStruct:
		n := uint64(8)
		for _, f := range s.fields {
			n += f.size()
		}
		return n
	case shapeArray:
		if s.len == 0 {
			return 0
		}
		return min(uint64(s.len)*(s.elem.size()+8), maxOldSize+1)
	case shapeSlice, shapePointer:
		if s.elem.size() > maxOldSize {
			return maxOldSize + 1
		}
	case shapeMap:
		if s.elem.size() > maxOldSize || s.val.size() > maxOldSize {
			return maxOldSize + 1
		}
	}
	return 24
}

// skippedField is a field that is not encoded.
var skippedField = reflect.StructField{Name: "Skipped", Type: reflect.TypeFor[byte](), Tag: `weir:"-"`}

// goType returns a type whose plan has the layout of the shape. Types that encode
// themselves are strings, which have theirs.
func (s *shape) goType() (t reflect.Type, ok bool) {
	if s.pad {
		return reflect.StructOf([]reflect.StructField{skippedField}), true
	}
	switch s.kind {
	case shapeScalar:
		return scalarTypes[s.name], true
	case shapeBinary:
		return scalarTypes["string"], true
	case shapeStruct:
		fields := make([]reflect.StructField, len(s.fields))
		for i, f := range s.fields {
			if t, ok = f.goType(); !ok {
				return nil, false
			}
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: t}
		}
		return reflect.StructOf(fields), true
	}
	elem, ok := s.elem.goType()
	if !ok {
		return nil, false
	}
	switch s.kind {
	case shapeSlice:
		return reflect.SliceOf(elem), true
	case shapePointer:
		return reflect.PointerTo(elem), true
	case shapeArray:
		if s.gap {
			elem = reflect.StructOf([]reflect.StructField{{Name: "F", Type: elem}, skippedField})
		}
		return reflect.ArrayOf(s.len, elem), true
	}
	val, ok := s.val.goType()
	if !ok || !elem.Comparable() {
		return nil, false
	}
	return reflect.MapOf(elem, val), true
}

// A converter writes the new form of the value at src to dst, which is zero.
type converter func(src, dst unsafe.Pointer) error

// conversion returns the converter between shapes that match, of values that are
// of these types.
func conversion(from *shape, src reflect.Type, to *shape, dst reflect.Type) converter {
	if from.pad {
		return func(_, _ unsafe.Pointer) error { return nil }
	}
	switch from.kind {
	case shapeScalar:
		return scalarConversion(from.name, to.name, dst)
	case shapeBinary:
		return func(src, p unsafe.Pointer) error {
			v := reflect.NewAt(dst, p).Interface().(encoding.BinaryUnmarshaler)
			if err := v.UnmarshalBinary([]byte(*(*string)(src))); err != nil {
				return fmt.Errorf("decode a %s: %w: %w", dst, ErrCorrupt, err)
			}
			return nil
		}
	case shapeStruct:
		return structConversion(from, src, to, dst)
	case shapeArray:
		each := conversion(from.elem, elemOf(from, src), to.elem, dst.Elem())
		n, srcSize, dstSize := dst.Len(), src.Elem().Size(), dst.Elem().Size()
		return func(src, dst unsafe.Pointer) error {
			for i := range uintptr(n) {
				if err := each(unsafe.Add(src, i*srcSize), unsafe.Add(dst, i*dstSize)); err != nil {
					return err
				}
			}
			return nil
		}
	case shapeSlice:
		return sliceConversion(from, src, to, dst)
	case shapeMap:
		return mapConversion(from, src, to, dst)
	}
	each := conversion(from.elem, src.Elem(), to.elem, dst.Elem())
	return func(src, p unsafe.Pointer) error {
		old := *(*unsafe.Pointer)(src)
		if old == nil {
			return nil
		}
		v := reflect.New(dst.Elem()).UnsafePointer()
		*(*unsafe.Pointer)(p) = v
		return each(old, v)
	}
}

// elemOf returns the type of an array's elements without the gap behind each.
func elemOf(s *shape, t reflect.Type) reflect.Type {
	if s.gap {
		return t.Elem().Field(0).Type
	}
	return t.Elem()
}

func structConversion(from *shape, src reflect.Type, to *shape, dst reflect.Type) converter {
	type step struct {
		src, dst uintptr
		convert  converter
	}
	var steps []step
	k := 0
	for i := range dst.NumField() {
		f := dst.Field(i)
		if f.Name == "_" || f.Tag.Get("weir") == "-" {
			continue
		}
		field := to.fields[k]
		k++
		if at := from.field(field.name); at >= 0 {
			old := src.Field(at)
			steps = append(steps, step{old.Offset, f.Offset, conversion(from.fields[at].shape, old.Type, field.shape, f.Type)})
		}
	}
	return func(src, dst unsafe.Pointer) error {
		for _, s := range steps {
			if err := s.convert(unsafe.Add(src, s.src), unsafe.Add(dst, s.dst)); err != nil {
				return err
			}
		}
		return nil
	}
}

func sliceConversion(from *shape, src reflect.Type, to *shape, dst reflect.Type) converter {
	each := conversion(from.elem, src.Elem(), to.elem, dst.Elem())
	srcSize, dstSize := src.Elem().Size(), dst.Elem().Size()
	return func(src, p unsafe.Pointer) error {
		old := (*sliceHeader)(src)
		if old.data == nil {
			return nil
		}
		h := (*sliceHeader)(p)
		h.data, h.len, h.cap = reflect.MakeSlice(dst, old.len, old.len).UnsafePointer(), old.len, old.len
		for i := range uintptr(old.len) {
			if err := each(unsafe.Add(old.data, i*srcSize), unsafe.Add(h.data, i*dstSize)); err != nil {
				return err
			}
		}
		return nil
	}
}

func mapConversion(from *shape, src reflect.Type, to *shape, dst reflect.Type) converter {
	keys := conversion(from.elem, src.Key(), to.elem, dst.Key())
	vals := conversion(from.val, src.Elem(), to.val, dst.Elem())
	return func(p, q unsafe.Pointer) error {
		old := reflect.NewAt(src, p).Elem()
		if old.IsNil() {
			return nil
		}
		m := reflect.MakeMapWithSize(dst, old.Len())
		oldKey, oldVal := reflect.New(src.Key()), reflect.New(src.Elem())
		for iter := old.MapRange(); iter.Next(); {
			oldKey.Elem().SetIterKey(iter)
			oldVal.Elem().SetIterValue(iter)
			k, v := reflect.New(dst.Key()), reflect.New(dst.Elem())
			if err := keys(oldKey.UnsafePointer(), k.UnsafePointer()); err != nil {
				return err
			}
			if err := vals(oldVal.UnsafePointer(), v.UnsafePointer()); err != nil {
				return err
			}
			m.SetMapIndex(k.Elem(), v.Elem())
		}
		*(*unsafe.Pointer)(q) = m.UnsafePointer()
		return nil
	}
}

// scalarConversion copies or widens. Values are named by the widths of the
// schema, so that an int which is not 64 bits wide is narrowed here.
func scalarConversion(from, to string, dst reflect.Type) converter {
	switch from {
	case "string":
		return copying[string]
	case "bytes":
		return copying[[]byte]
	case "time":
		return copying[time.Time]
	case "float32", "float64":
		get := func(p unsafe.Pointer) float64 { return *(*float64)(p) }
		if from == "float32" {
			get = func(p unsafe.Pointer) float64 { return float64(*(*float32)(p)) }
		}
		if to == "float32" {
			return copying[float32]
		}
		return func(src, dst unsafe.Pointer) error { *(*float64)(dst) = get(src); return nil }
	case "complex64":
		if to == "complex128" {
			return func(src, dst unsafe.Pointer) error {
				*(*complex128)(dst) = complex128(*(*complex64)(src))
				return nil
			}
		}
		return copying[complex64]
	case "complex128":
		return copying[complex128]
	}
	return integerConversion(scalarTypes[from], dst)
}

func copying[T any](src, dst unsafe.Pointer) error {
	*(*T)(dst) = *(*T)(src)
	return nil
}

func integerConversion(src, dst reflect.Type) converter {
	get := loads[integerKind(src)]
	size := dst.Size()
	return func(src, p unsafe.Pointer) error {
		x := get(src)
		switch size {
		case 1:
			*(*uint8)(p) = uint8(x)
		case 2:
			*(*uint16)(p) = uint16(x)
		case 4:
			*(*uint32)(p) = uint32(x)
		default:
			*(*uint64)(p) = x
		}
		if size < 8 && loads[integerKind(dst)](p) != x {
			return fmt.Errorf("value %d does not fit the %s of this machine: %w", int64(x), dst, ErrCorrupt)
		}
		return nil
	}
}

// integerKind returns the kind of an integer or bool by its size and sign.
func integerKind(t reflect.Type) reflect.Kind {
	switch t.Kind() {
	case reflect.Bool:
		return reflect.Uint8
	case reflect.Int:
		return map[uintptr]reflect.Kind{4: reflect.Int32, 8: reflect.Int64}[t.Size()]
	case reflect.Uint:
		return map[uintptr]reflect.Kind{4: reflect.Uint32, 8: reflect.Uint64}[t.Size()]
	}
	return t.Kind()
}

// loads read integers of each kind, sign-extended to 64 bits.
var loads = map[reflect.Kind]func(unsafe.Pointer) uint64{
	reflect.Int8:   func(p unsafe.Pointer) uint64 { return uint64(*(*int8)(p)) },
	reflect.Int16:  func(p unsafe.Pointer) uint64 { return uint64(*(*int16)(p)) },
	reflect.Int32:  func(p unsafe.Pointer) uint64 { return uint64(*(*int32)(p)) },
	reflect.Int64:  func(p unsafe.Pointer) uint64 { return uint64(*(*int64)(p)) },
	reflect.Uint8:  func(p unsafe.Pointer) uint64 { return uint64(*(*uint8)(p)) },
	reflect.Uint16: func(p unsafe.Pointer) uint64 { return uint64(*(*uint16)(p)) },
	reflect.Uint32: func(p unsafe.Pointer) uint64 { return uint64(*(*uint32)(p)) },
	reflect.Uint64: func(p unsafe.Pointer) uint64 { return *(*uint64)(p) },
}
