package parquet

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/types"
)

// Reading says how values are read where a file leaves it open.
type Reading struct {
	// Zone is that in which instants are seen as TIMESTAMP, and times of no zone are
	// instants; nil: UTC.
	Zone *datetime.Zone
}

// TypeError says that a file's field does not hold values of the table's type.
type TypeError struct {
	Column string
	// Found is what the file has, Wanted what the table says.
	Found, Wanted string
	// Hint says more; it may be empty.
	Hint string
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("column %s is %s in the file, and %s in the table", e.Column, e.Found, e.Wanted)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// matcher finds the fields of a table in a file.
type matcher struct {
	reading Reading
	scratch *scratch
	leaves  []*leaf
}

// field is the vector of a column or of a field of a ROW.
func (m *matcher) field(t types.Type, parent *node, name string, exists int) (*vector, error) {
	n := parent.child(name)
	if n == nil {
		return &vector{to: batch.NewColumn(t)}, nil
	}
	if n.repetition == format.Repeated { // a list without a name of its own
		if t.Kind != types.Array {
			return nil, wrong(n, t, "it is a list")
		}
		return m.list(t, n.definition-1, n.repeated-1, exists, n, n)
	}
	return m.value(t, n, exists)
}

// wrong says that a field does not hold what is wanted.
func wrong(n *node, t types.Type, hint string) error {
	return &TypeError{n.path, n.text(), t.Text(), hint}
}

// value is the vector of a field's values, or of the elements of a list.
func (m *matcher) value(t types.Type, n *node, exists int) (*vector, error) {
	switch t.Kind {
	case types.Array:
		if n.group() && len(n.children) == 1 && n.children[0].repetition == format.Repeated {
			return m.list(t, n.definition, n.repeated, exists, n, n.children[0])
		}
		return nil, wrong(n, t, "")
	case types.Map, types.Multiset:
		return m.pairs(t, n, exists)
	case types.Row, types.Structured:
		return m.row(t, n, exists)
	}
	if n.group() {
		return nil, wrong(n, t, "")
	}
	return m.plain(t, n, exists)
}

// plain is the vector of a leaf.
func (m *matcher) plain(t types.Type, n *node, exists int) (*vector, error) {
	read, err := conversion(t, n, m.reading)
	if err != nil {
		return nil, err
	}
	to := batch.NewColumn(t)
	instants, _ := n.stamp()
	moved := t.Kind.IsTimestamp() && m.reading.place(t, instants) != nil
	l := m.leaf(n)
	l.to, l.unordered, l.convert, l.exists, l.flat = to, moved, read, exists, n.top && n.repeated == 0
	return &vector{to: to, levels: l, plain: true}, nil
}

// list is the vector of an ARRAY: repeated is the field that is there as often as the
// list has elements.
func (m *matcher) list(t types.Type, definition, depth, exists int, named, repeated *node) (*vector, error) {
	element := repeated
	if repeated != named && repeated.group() && len(repeated.children) == 1 && repeated.name != "array" && repeated.name != named.name+"_tuple" &&
		repeated.children[0].repetition != format.Repeated {
		element = repeated.children[0]
	}
	v := &vector{to: batch.NewColumn(t), definition: definition, depth: depth, exists: exists, element: repeated.definition}
	c, err := m.value(*t.Elem, element, repeated.definition)
	if err != nil {
		return nil, err
	}
	return m.together(v, repeated, c)
}

// pairs is the vector of a MAP or MULTISET.
func (m *matcher) pairs(t types.Type, n *node, exists int) (*vector, error) {
	key, value := t.Key, t.Elem
	if t.Kind == types.Multiset {
		counts := types.Of(types.Int)
		key, value = t.Elem, &counts
	}
	if !n.group() || len(n.children) != 1 || n.children[0].repetition != format.Repeated || len(n.children[0].children) != 2 {
		return nil, wrong(n, t, "")
	}
	repeated := n.children[0]
	v := &vector{to: batch.NewColumn(t), definition: n.definition, depth: n.repeated, exists: exists, element: repeated.definition}
	k, err := m.value(*key, repeated.children[0], repeated.definition)
	if err != nil {
		return nil, err
	}
	e, err := m.value(*value, repeated.children[1], repeated.definition)
	if err != nil {
		return nil, err
	}
	return m.together(v, repeated, k, e)
}

// row is the vector of a ROW.
func (m *matcher) row(t types.Type, n *node, exists int) (*vector, error) {
	if !n.group() || listed(n) {
		return nil, wrong(n, t, "")
	}
	v := &vector{to: batch.NewColumn(t), definition: n.definition, depth: n.repeated, exists: exists}
	var all []*vector
	for _, f := range t.Fields {
		c, err := m.field(f.Type, n, f.Name, exists)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return m.together(v, n, all...)
}

// listed reports whether a group is said to be a list or map.
func listed(n *node) bool {
	switch n.logical.(type) {
	case *format.ListType, *format.MapType:
		return true
	}
	return n.annotated && (n.converted == deprecated.List || n.converted == deprecated.Map || n.converted == deprecated.MapKeyValue)
}

// together puts fields into one that holds them. If the file has none of them, another
// leaf below n tells where values are.
func (m *matcher) together(v *vector, n *node, children ...*vector) (*vector, error) {
	v.children = children
	v.to.Children = v.to.Children[:0]
	for _, c := range children {
		v.to.Children = append(v.to.Children, c.to)
		if v.levels == nil {
			v.levels = c.levels
		}
	}
	if v.levels != nil {
		return v, nil
	}
	for n.group() {
		if len(n.children) == 0 {
			return nil, fmt.Errorf("column %s is a group without fields in the file", n.path)
		}
		n = n.children[0]
	}
	at := slices.IndexFunc(m.leaves, func(l *leaf) bool { return l.n == n && !l.flat })
	if at < 0 {
		v.levels = m.leaf(n)
		return v, nil
	}
	v.levels = m.leaves[at]
	return v, nil
}

// leaf adds one.
func (m *matcher) leaf(n *node) *leaf {
	l := &leaf{chunk: chunk{n: n}}
	l.values.scratch = m.scratch
	m.leaves = append(m.leaves, l)
	return l
}
