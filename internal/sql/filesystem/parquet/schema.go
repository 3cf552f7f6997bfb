package parquet

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxDepth bounds how deep fields lie in each other, so that levels are bytes.
	maxDepth = 100
	maxLevel = 255
)

// node is a field of a file's schema.
type node struct {
	name string
	// path is the names from the top, with dots.
	path       string
	names      []string // of the path, in files that are written
	repetition format.FieldRepetitionType
	// Levels are those of a value that is there: definition says how many of the optional
	// and repeated fields down to it are, repetition how many of those are repeated.
	definition, repeated int
	children             []*node
	// top says that it is a column.
	top bool

	// The rest is of leaves.
	leaf      int // its number
	physical  format.Type
	length    int // of FIXED_LEN_BYTE_ARRAY
	logical   format.LogicalTypeValue
	converted deprecated.ConvertedType
	annotated bool // converted is set
	scale     int
	precision int
}

func (n *node) group() bool { return n.children != nil }

// schema makes a tree of the flat list that a file has.
func schema(elements []format.SchemaElement) (root *node, leaves []*node, err error) {
	if len(elements) == 0 {
		return nil, nil, fmt.Errorf("it is empty")
	}
	b := treeBuilder{rest: elements}
	root, err = b.node(nil, 0)
	if err == nil && len(b.rest) > 0 {
		err = fmt.Errorf("%d fields belong to nothing", len(b.rest))
	}
	if err == nil && !root.group() {
		err = fmt.Errorf("it has no columns")
	}
	return root, b.leaves, err
}

type treeBuilder struct {
	rest   []format.SchemaElement
	leaves []*node
}

// node takes the next field and those in it.
func (b *treeBuilder) node(parent *node, depth int) (*node, error) {
	if len(b.rest) == 0 {
		return nil, fmt.Errorf("fields are missing at its end")
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("fields lie more than %d deep in each other", maxDepth)
	}
	e := &b.rest[0]
	b.rest = b.rest[1:]
	n := &node{name: e.Name, path: e.Name, logical: e.LogicalType.Value, converted: e.ConvertedType.V, annotated: e.ConvertedType.Valid}
	if parent != nil {
		n.top = depth == 1
		n.repetition, n.definition, n.repeated = e.RepetitionType.V, parent.definition, parent.repeated
		if parent.path != "" {
			n.path = parent.path + "." + e.Name
		}
		switch n.repetition {
		case format.Required:
		case format.Optional:
			n.definition++
		case format.Repeated:
			n.definition++
			n.repeated++
		default:
			return nil, fmt.Errorf("field %s is repeated in way %d, which is not known", n.path, n.repetition)
		}
	} else {
		n.path = ""
	}
	if !e.Type.Valid || parent == nil {
		return n, b.group(n, int(e.NumChildren.V), depth)
	}
	n.leaf, n.physical, n.length = len(b.leaves), e.Type.V, int(e.TypeLength.V)
	if n.physical < format.Boolean || n.physical > format.FixedLenByteArray {
		return nil, fmt.Errorf("field %s is of physical type %d, which is not known", n.path, n.physical)
	}
	if n.physical == format.FixedLenByteArray && (n.length <= 0 || n.length > maxPage) {
		return nil, fmt.Errorf("field %s has values of %d bytes", n.path, n.length)
	}
	n.scale, n.precision = int(e.Scale.V), int(e.Precision.V)
	if d, ok := n.logical.(*format.DecimalType); ok {
		n.scale, n.precision = int(d.Scale), int(d.Precision)
	}
	b.leaves = append(b.leaves, n)
	return n, nil
}

func (b *treeBuilder) group(n *node, children, depth int) error {
	if children < 0 || children > len(b.rest) {
		return fmt.Errorf("field %s has %d fields, and %d are left", n.path, children, len(b.rest))
	}
	n.children = []*node{}
	for range children {
		c, err := b.node(n, depth+1)
		if err != nil {
			return err
		}
		n.children = append(n.children, c)
	}
	return nil
}

// child is the field of a name, or the only one that differs from it in capitals; nil:
// there is none.
func (n *node) child(name string) *node {
	var like *node
	several := false
	for _, c := range n.children {
		if c.name == name {
			return c
		}
		if strings.EqualFold(c.name, name) {
			like, several = c, like != nil
		}
	}
	if several {
		return nil
	}
	return like
}

// text says what a field holds, as people read it.
func (n *node) text() string {
	if n.group() {
		var all []string
		for _, c := range n.children {
			all = append(all, c.name)
		}
		kind := "group"
		if n.logical != nil {
			kind = n.logical.String()
		} else if n.annotated {
			kind = convertedNames[n.converted]
		}
		return fmt.Sprintf("%s{%s}", kind, strings.Join(all, ", "))
	}
	t := n.physical.String()
	if n.physical == format.FixedLenByteArray {
		t = fmt.Sprintf("%s(%d)", t, n.length)
	}
	switch {
	case n.logical != nil:
		t += " " + n.logical.String()
	case n.decimal():
		t += fmt.Sprintf(" DECIMAL(%d,%d)", n.precision, n.scale)
	case n.annotated:
		t += " " + convertedNames[n.converted]
	}
	if n.repetition == format.Repeated {
		return "repeated " + t
	}
	return t
}

// decimal reports whether values are unscaled decimals.
func (n *node) decimal() bool {
	_, ok := n.logical.(*format.DecimalType)
	return ok || n.logical == nil && n.annotated && n.converted == deprecated.Decimal
}

// unsigned reports whether integers have no sign.
func (n *node) unsigned() bool {
	if t, ok := n.logical.(*format.IntType); ok {
		return !t.IsSigned
	}
	return n.annotated && n.converted >= deprecated.Uint8 && n.converted <= deprecated.Uint64
}

// convertedNames are what the format calls what old programs note of a field.
var convertedNames = map[deprecated.ConvertedType]string{
	deprecated.UTF8: "UTF8", deprecated.Map: "MAP", deprecated.MapKeyValue: "MAP_KEY_VALUE", deprecated.List: "LIST", deprecated.Enum: "ENUM",
	deprecated.Decimal: "DECIMAL", deprecated.Date: "DATE", deprecated.TimeMillis: "TIME_MILLIS", deprecated.TimeMicros: "TIME_MICROS",
	deprecated.TimestampMillis: "TIMESTAMP_MILLIS", deprecated.TimestampMicros: "TIMESTAMP_MICROS",
	deprecated.Uint8: "UINT_8", deprecated.Uint16: "UINT_16", deprecated.Uint32: "UINT_32", deprecated.Uint64: "UINT_64",
	deprecated.Int8: "INT_8", deprecated.Int16: "INT_16", deprecated.Int32: "INT_32", deprecated.Int64: "INT_64",
	deprecated.Json: "JSON", deprecated.Bson: "BSON", deprecated.Interval: "INTERVAL",
}
