package codec

import (
	"encoding"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// formatVersion starts every fingerprint; it changes with the layout.
const formatVersion = "weir/1 "

// maxColumns bounds the columns of one type. A type can name exponentially
// many without being large itself.
const maxColumns = 1 << 14

var (
	timeType        = reflect.TypeFor[time.Time]()
	appenderType    = reflect.TypeFor[encoding.BinaryAppender]()
	unmarshalerType = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

// A compiler makes the program of one root type.
type compiler struct {
	root    reflect.Type
	shape   strings.Builder       // the schema
	active  map[reflect.Type]bool // the types being compiled, outermost to innermost
	columns int
}

// compile makes the program of t.
func compile(t reflect.Type) (*program, *TypeError) {
	c := &compiler{root: t, active: map[reflect.Type]bool{}}
	path := t.Name()
	if path == "" {
		path = "record"
	}
	rec, err := c.record(t, path, false)
	if err != nil {
		return nil, err
	}
	schema := c.shape.String()
	h := fnv.New64a()
	h.Write([]byte(formatVersion + schema))
	return &program{
		rec:         rec,
		schema:      Schema(schema),
		fingerprint: h.Sum64(),
		pointerFree: pointerFree(t),
		keyErr:      rec.checkKey(t),
	}, nil
}

// fail reports that the part at path, of type t, cannot be encoded.
func (c *compiler) fail(t reflect.Type, path, reason string) *TypeError {
	return &TypeError{Root: c.root.String(), Path: path, Type: t.String(), Reason: reason}
}

// record compiles a type whose values are encoded together. If padded, a value
// takes at least a bit even if it has no size in memory: something else is
// allocated for each.
func (c *compiler) record(t reflect.Type, path string, padded bool) (*record, *TypeError) {
	r, err := c.element(t, path)
	if err == nil && r.minBits == 0 && (padded || r.size > 0) {
		c.shape.WriteString("+")
		c.add(r, column{kind: kindPad, typ: t, path: path}, 8, true)
	}
	return r, err
}

// element compiles a type without padding it, for records and arrays.
func (c *compiler) element(t reflect.Type, path string) (*record, *TypeError) {
	r := &record{typ: t, slice: reflect.SliceOf(t), size: t.Size(), fixed: true}
	if err := c.compile(r, t, 0, path); err != nil {
		return nil, err
	}
	return r, nil
}

// add adds a column whose values take at least bits, exactly if fixed.
func (c *compiler) add(r *record, col column, bits uint64, fixed bool) {
	c.columns++
	r.cols = append(r.cols, col)
	r.minBits += bits
	r.fixed = r.fixed && fixed
}

// compile adds the columns of type t, which lies at off in the values of r.
func (c *compiler) compile(r *record, t reflect.Type, off uintptr, path string) *TypeError {
	if c.active[t] {
		return c.fail(t, path, "recursive type: a type that contains itself cannot be laid out in columns; refer to the inner value by a key, or implement encoding.BinaryAppender and encoding.BinaryUnmarshaler")
	}
	if c.columns >= maxColumns {
		return c.fail(t, path, fmt.Sprintf("the type has more than %d columns", maxColumns))
	}
	c.active[t] = true
	defer delete(c.active, t)

	col := column{off: off, typ: t, path: path}
	switch {
	case t == timeType:
		c.shape.WriteString("time")
		col.kind = kindTime
		c.add(r, col, 96, true)
		return nil
	case encodesItself(t):
		fmt.Fprintf(&c.shape, "binary(%s.%s)", t.PkgPath(), t.Name())
		col.kind = kindBinary
		r.partial = true
		c.add(r, col, 32, false)
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.structure(r, t, off, path)
	case reflect.Array:
		return c.array(r, col)
	case reflect.Slice:
		return c.slice(r, col)
	case reflect.Map:
		return c.mapping(r, col)
	case reflect.Pointer:
		return c.pointer(r, col)
	case reflect.String:
		c.shape.WriteString("string")
		col.kind = kindString
		c.add(r, col, 32, false)
		return nil
	}
	return c.scalar(r, col)
}

// scalar adds a column of fixed width, or says why there is none.
func (c *compiler) scalar(r *record, col column) *TypeError {
	t := col.typ
	name := t.Kind().String()
	col.kind, col.width, col.count = kindFixed, t.Size(), 1
	switch t.Kind() {
	case reflect.Bool:
		col.class = classBool
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Int, reflect.Uint:
		name += "64"
		if t.Size() != 8 {
			col.kind, col.width = kindInt, 8
		}
		if t.Kind() == reflect.Int {
			col.class = classSigned
		}
	case reflect.Float32, reflect.Float64:
		col.class = classFloat
	case reflect.Complex64, reflect.Complex128:
		col.class, col.width, col.count = classFloat, t.Size()/2, 2
	default:
		return c.fail(t, col.path, refusal(t.Kind()))
	}
	c.shape.WriteString(name)
	c.add(r, col, uint64(col.width*col.count)*8, true)
	return nil
}

// refusal says why values of kind k cannot be encoded.
func refusal(k reflect.Kind) string {
	const or = ` or tag the field weir:"-" to leave it out`
	switch k {
	case reflect.Interface:
		return "an interface cannot be encoded, as its values can be of any type: use a concrete type" + or
	case reflect.Chan:
		return "a channel cannot be encoded: remove it" + or
	case reflect.Func:
		return "a function cannot be encoded: remove it" + or
	case reflect.Uintptr:
		return "a uintptr means nothing in another process: use uint64" + or
	case reflect.UnsafePointer:
		return "an unsafe.Pointer means nothing in another process: use *T" + or
	}
	return "values of kind " + k.String() + " cannot be encoded"
}

// structure adds the columns of the fields of a struct.
func (c *compiler) structure(r *record, t reflect.Type, off uintptr, path string) *TypeError {
	c.shape.WriteString("{")
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			r.partial = true
			continue
		}
		if f.Tag.Get("weir") == "-" {
			r.partial = true
			continue
		}
		at := path + "." + f.Name
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct // its own fields are looked at
		if !f.IsExported() && !embedded {
			return c.fail(f.Type, at, fmt.Sprintf("the field is unexported: export it, tag it weir:\"-\" to leave it out, or implement encoding.BinaryAppender and encoding.BinaryUnmarshaler on %s", t))
		}
		c.shape.WriteString(f.Name)
		c.shape.WriteString(":")
		if err := c.compile(r, f.Type, off+f.Offset, at); err != nil {
			return err
		}
		c.shape.WriteString(";")
	}
	c.shape.WriteString("}")
	return nil
}

// array adds an array: one column if its elements are scalars throughout.
func (c *compiler) array(r *record, col column) *TypeError {
	n := uintptr(col.typ.Len())
	fmt.Fprintf(&c.shape, "[%d]", n)
	elem, err := c.element(col.typ.Elem(), col.path+"[]")
	if err != nil {
		return err
	}
	r.partial = r.partial || elem.partial
	if n == 0 || len(elem.cols) == 0 {
		return nil
	}
	r.nested = r.nested || elem.nested
	bits := uint64(n) * elem.minBits
	one := elem.cols[0]
	single := len(elem.cols) == 1 && one.kind == kindFixed
	switch {
	case single && one.width*one.count == elem.size:
		col.kind, col.class, col.width, col.count = kindFixed, one.class, one.width, one.count*n
	case single:
		c.shape.WriteString("/") // the layout differs from that of the same scalars without a gap
		fallthrough
	default:
		col.kind, col.elem, col.count = kindArray, elem, n
	}
	c.add(r, col, bits, elem.fixed)
	return nil
}

// slice adds a slice, or bytes.
func (c *compiler) slice(r *record, col column) *TypeError {
	elem := col.typ.Elem()
	if elem.Kind() == reflect.Uint8 && !encodesItself(elem) {
		c.shape.WriteString("bytes")
		col.kind = kindBytes
		c.add(r, col, 32, false)
		return nil
	}
	c.shape.WriteString("[]")
	var err *TypeError
	col.kind = kindSlice
	if col.elem, err = c.record(elem, col.path+"[]", false); err != nil {
		return err
	}
	r.nested = true
	c.add(r, col, 32, false)
	return nil
}

// mapping adds a map.
func (c *compiler) mapping(r *record, col column) *TypeError {
	var err *TypeError
	col.kind = kindMap
	c.shape.WriteString("map[")
	if col.elem, err = c.record(col.typ.Key(), col.path+"[key]", true); err != nil {
		return err
	}
	c.shape.WriteString("]")
	if col.val, err = c.record(col.typ.Elem(), col.path+"[value]", false); err != nil {
		return err
	}
	keys, vals := col.elem, col.val
	col.entries = &sync.Pool{New: func() any { return newMapEntries(keys, vals) }}
	r.nested = true
	c.add(r, col, 32, false)
	return nil
}

// pointer adds a pointer.
func (c *compiler) pointer(r *record, col column) *TypeError {
	var err *TypeError
	col.kind = kindPointer
	c.shape.WriteString("*")
	if col.elem, err = c.record(col.typ.Elem(), col.path, true); err != nil {
		return err
	}
	r.nested = true
	c.add(r, col, 1, false)
	return nil
}

// encodesItself says whether t has methods of its own to encode and decode it.
// Methods that t may have from an embedded field do not count.
func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	if t.Kind() == reflect.Pointer || !p.Implements(appenderType) || !p.Implements(unmarshalerType) {
		return false
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous {
			continue
		}
		e := f.Type
		if e.Kind() != reflect.Pointer && e.Kind() != reflect.Interface {
			e = reflect.PointerTo(e)
		}
		_, appends := e.MethodByName("AppendBinary")
		_, unmarshals := e.MethodByName("UnmarshalBinary")
		if appends || unmarshals {
			return false
		}
	}
	return true
}

// pointerFree says whether the memory of a t holds no pointer, whatever of it
// is encoded.
func pointerFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return t.Len() == 0 || pointerFree(t.Elem())
	case reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface,
		reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	}
	return true
}

// The layout of bytes and slices relies on these sizes.
var _ = [1]struct{}{}[unsafe.Sizeof(sliceHeader{})-unsafe.Sizeof([]byte(nil))]
