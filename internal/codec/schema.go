package codec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Schema is the shape of a type as text: the names, kinds and order of its
// fields, not the names of types. Plans of equal schemas understand each other.
//
//	int64 string bytes time …     a scalar; int and uint are int64 and uint64
//	{Name:string;Age:int32;}      a struct, in the order of its fields
//	[]T [4]T map[K]V *T           T/ and T+ tell layouts apart that would look alike
//	binary(net/netip.Addr)        a type that encodes itself
type Schema string

// Schema returns the schema of T.
func (p *Plan[T]) Schema() Schema { return p.prog.schema }

// A SchemaError says why what was encoded with one schema cannot be read as
// another.
type SchemaError struct {
	Path     string // the part, "value.Items[].Price"
	From, To string // its schemas; To is empty when From is not a schema
	Reason   string
}

// Error names the part, both schemas and the reason.
func (e *SchemaError) Error() string {
	if e.To == "" {
		return fmt.Sprintf("codec: schema %q: %s", e.From, e.Reason)
	}
	return fmt.Sprintf("codec: %s was %s and is now %s: %s", e.Path, e.From, e.To, e.Reason)
}

// Compare says what is different when values that were encoded with s are read as
// values of to: fields that are added (they are zero), removed (they are dropped)
// or widened. The error, a *SchemaError, says why they cannot be.
func (s Schema) Compare(to Schema) (changes []string, err error) {
	if s == to {
		return nil, nil
	}
	from, err := s.parse()
	if err != nil {
		return nil, err
	}
	want, err := to.parse()
	if err != nil {
		return nil, err
	}
	var m matcher
	if err := m.match("value", from, want, false); err != nil {
		return nil, err
	}
	return m.changes, nil
}

// A shape is a parsed schema.
type shape struct {
	kind   shapeKind
	name   string // of scalars and types that encode themselves
	len    int    // of arrays
	elem   *shape // of slices, arrays, maps (keys), pointers
	val    *shape // of maps
	fields []shapeField
	gap    bool // an array's elements are single scalars with a gap behind each
	pad    bool // a value has no columns and takes a byte
}

type shapeField struct {
	name string
	*shape
}

type shapeKind uint8

const (
	shapeScalar shapeKind = iota // also string, bytes, time
	shapeStruct
	shapeSlice
	shapeArray
	shapeMap
	shapePointer
	shapeBinary
)

// String writes the schema of the shape.
func (s *shape) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *shape) write(b *strings.Builder) {
	switch s.kind {
	case shapeScalar:
		b.WriteString(s.name)
	case shapeBinary:
		b.WriteString("binary(" + s.name + ")")
	case shapeSlice:
		b.WriteString("[]")
		s.elem.write(b)
	case shapeArray:
		fmt.Fprintf(b, "[%d]", s.len)
		s.elem.write(b)
	case shapeMap:
		b.WriteString("map[")
		s.elem.write(b)
		b.WriteString("]")
		s.val.write(b)
	case shapePointer:
		b.WriteString("*")
		s.elem.write(b)
	case shapeStruct:
		b.WriteString("{")
		for _, f := range s.fields {
			b.WriteString(f.name + ":")
			f.write(b)
			b.WriteString(";")
		}
		b.WriteString("}")
	}
	if s.gap {
		b.WriteString("/")
	}
	if s.pad {
		b.WriteString("+")
	}
}

// maxShapeDepth bounds how deep schemas nest. Go types do not come near it.
const maxShapeDepth = 200

// parse reads a schema.
func (s Schema) parse() (*shape, error) {
	p := &schemaParser{rest: string(s)}
	t, err := p.shape(0)
	if err == nil && p.rest != "" {
		err = p.fail("it goes on with %q", p.rest)
	}
	if err != nil {
		return nil, &SchemaError{Path: "value", From: string(s), Reason: err.Error()}
	}
	return t, nil
}

// A schemaParser reads a schema from the front of rest.
type schemaParser struct {
	rest   string
	shapes int
}

func (p *schemaParser) fail(format string, args ...any) error {
	return fmt.Errorf("it is no schema: "+format, args...)
}

// eat removes prefix from the front, if it is there.
func (p *schemaParser) eat(prefix string) (ok bool) {
	p.rest, ok = strings.CutPrefix(p.rest, prefix)
	return ok
}

// until removes what is before the first of these bytes.
func (p *schemaParser) until(stop string) (string, error) {
	i := strings.IndexAny(p.rest, stop)
	if i < 0 {
		return "", p.fail("%q has no %q", p.rest, stop)
	}
	head := p.rest[:i]
	p.rest = p.rest[i:]
	return head, nil
}

func (p *schemaParser) shape(depth int) (s *shape, err error) {
	if p.shapes++; p.shapes > maxColumns || depth > maxShapeDepth {
		return nil, p.fail("it is too large")
	}
	switch {
	case p.eat("[]"):
		s = &shape{kind: shapeSlice}
		s.elem, err = p.shape(depth + 1)
	case p.eat("["):
		s, err = p.array(depth)
	case p.eat("map["):
		s = &shape{kind: shapeMap}
		if s.elem, err = p.shape(depth + 1); err != nil {
			return nil, err
		}
		if !p.eat("]") {
			return nil, p.fail("a map's key ends with %q", p.rest)
		}
		s.val, err = p.shape(depth + 1)
	case p.eat("*"):
		s = &shape{kind: shapePointer}
		s.elem, err = p.shape(depth + 1)
	case p.eat("binary("):
		s, err = p.binary()
	case p.eat("{"):
		s, err = p.structure(depth)
	default:
		s, err = p.scalar()
	}
	if err != nil {
		return nil, err
	}
	if s.kind == shapeArray {
		s.gap = p.eat("/")
	}
	s.pad = p.eat("+")
	return s, nil
}

func (p *schemaParser) array(depth int) (*shape, error) {
	digits, err := p.until("]")
	if err != nil {
		return nil, err
	}
	p.eat("]")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return nil, p.fail("an array has %q elements", digits)
	}
	s := &shape{kind: shapeArray, len: int(n)}
	s.elem, err = p.shape(depth + 1)
	return s, err
}

// binary reads the name of a type up to the parenthesis that closes; the names of
// type arguments may have parentheses too.
func (p *schemaParser) binary() (*shape, error) {
	open := 1
	for i := range len(p.rest) {
		switch p.rest[i] {
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			s := &shape{kind: shapeBinary, name: p.rest[:i]}
			p.rest = p.rest[i+1:]
			return s, nil
		}
	}
	return nil, p.fail("%q has no end", "binary("+p.rest)
}

func (p *schemaParser) structure(depth int) (*shape, error) {
	s := &shape{kind: shapeStruct}
	for !p.eat("}") {
		name, err := p.until(":;{}[]*")
		if err != nil {
			return nil, err
		}
		if name == "" || !p.eat(":") {
			return nil, p.fail("a field begins with %q", p.rest)
		}
		field, err := p.shape(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.eat(";") {
			return nil, p.fail("field %s goes on with %q", name, p.rest)
		}
		s.fields = append(s.fields, shapeField{name, field})
	}
	return s, nil
}

func (p *schemaParser) scalar() (*shape, error) {
	i := 0
	for i < len(p.rest) && (p.rest[i] >= 'a' && p.rest[i] <= 'z' || p.rest[i] >= '0' && p.rest[i] <= '9') {
		i++
	}
	name := p.rest[:i]
	if _, ok := scalarTypes[name]; !ok {
		return nil, p.fail("%q begins with no type", p.rest)
	}
	p.rest = p.rest[i:]
	return &shape{kind: shapeScalar, name: name}, nil
}

// A matcher collects how one schema becomes another.
type matcher struct{ changes []string }

func (m *matcher) change(format string, args ...any) {
	m.changes = append(m.changes, fmt.Sprintf(format, args...))
}

// match checks that from can be read as to. In a key no field may come or go:
// keys that were different must stay so, and equal ones be found again.
func (m *matcher) match(path string, from, to *shape, key bool) error {
	refuse := func(reason string) error {
		return &SchemaError{Path: path, From: from.String(), To: to.String(), Reason: reason}
	}
	if from.kind != to.kind {
		return refuse("a kind of type cannot become another")
	}
	switch from.kind {
	case shapeScalar:
		switch {
		case from.name == to.name:
		case !widens(from.name, to.name):
			return refuse("allowed are wider integers of the same sign, or signed ones wider than unsigned, and wider floats")
		default:
			m.change("%s widened from %s to %s", path, from.name, to.name)
		}
		return nil
	case shapeBinary:
		if from.name != to.name {
			return refuse("a type that encodes itself can only stay what it is")
		}
		return nil
	case shapeStruct:
		return m.structures(path, from, to, key, refuse)
	case shapeArray:
		if from.len != to.len {
			return refuse("an array cannot change its length; a slice can")
		}
		return m.match(path+"[]", from.elem, to.elem, key)
	case shapeMap:
		if err := m.match(path+"[key]", from.elem, to.elem, true); err != nil {
			return err
		}
		return m.match(path+"[value]", from.val, to.val, key)
	case shapePointer:
		return m.match(path, from.elem, to.elem, key)
	}
	return m.match(path+"[]", from.elem, to.elem, key)
}

func (m *matcher) structures(path string, from, to *shape, key bool, refuse func(string) error) error {
	for _, f := range from.fields {
		if to.field(f.name) < 0 {
			if key {
				return refuse("field " + f.name + " of a key cannot be removed")
			}
			m.change("%s.%s removed", path, f.name)
		}
	}
	for _, f := range to.fields {
		i := from.field(f.name)
		switch {
		case i >= 0:
			if err := m.match(path+"."+f.name, from.fields[i].shape, f.shape, key); err != nil {
				return err
			}
		case key:
			return refuse("field " + f.name + " cannot be added to a key")
		default:
			m.change("%s.%s added", path, f.name)
		}
	}
	if len(m.changes) == 0 && !slices.EqualFunc(from.fields, to.fields, func(a, b shapeField) bool { return a.name == b.name }) {
		m.change("%s has its fields in another order", path)
	}
	return nil
}

// field returns the index of the field of this name, or -1.
func (s *shape) field(name string) int {
	return slices.IndexFunc(s.fields, func(f shapeField) bool { return f.name == name })
}
