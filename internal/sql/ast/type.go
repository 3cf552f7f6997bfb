package ast

// DataType is a type as written: *ScalarType, *CollectionType, *MapType,
// *RowType, *RawType, *StructuredType, *IntervalType or *NamedType.
type DataType interface {
	Node
	// Nullability is what was said of NULL after the type.
	Nullability() Nullability
	dataType()
}

// Nullability is NULL or NOT NULL, or not said.
type Nullability string

const (
	Nullable Nullability = "NULL"
	NotNull  Nullability = "NOT NULL"
)

// nullable is what all types share.
type nullable struct{ Null Nullability }

// Nullability is what was said of NULL after the type.
func (n nullable) Nullability() Nullability { return n.Null }

// ScalarType is a type by its keyword.
type ScalarType struct {
	Span
	// Name is one of CHAR, VARCHAR, STRING, BINARY, VARBINARY, BYTES, BOOLEAN,
	// DECIMAL, TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE, DATE, TIME,
	// TIMESTAMP, TIMESTAMP_LTZ, VARIANT, BITMAP, NULL, ANY, and others that are
	// refused later. INT, DEC, NUMERIC, CHARACTER and DOUBLE PRECISION have
	// become their usual names, TIMESTAMP WITH LOCAL TIME ZONE is TIMESTAMP_LTZ.
	Name string
	// Precision is the length or precision, Scale what follows it; -1 if not
	// said.
	Precision, Scale int
	// Zone is WITH LOCAL TIME ZONE if that was written of TIME, or empty.
	Zone string
	nullable
}

// CollectionType is ARRAY<t>, t ARRAY, MULTISET<t> or t MULTISET.
type CollectionType struct {
	Span
	// Kind is ARRAY or MULTISET.
	Kind    string
	Element DataType
	nullable
}

// MapType is MAP<key, value>.
type MapType struct {
	Span
	Key, Value DataType
	nullable
}

// RowType is ROW<name type 'comment', …> or ROW(…).
type RowType struct {
	Span
	Fields []*RowField
	nullable
}

// RowField is one field of a row or structured type.
type RowField struct {
	Span
	Name Name
	Type DataType
	// Comment is nil if there is none.
	Comment *StringLiteral
}

// RawType is RAW('class', 'serializer').
type RawType struct {
	Span
	Class, Serializer *StringLiteral
	nullable
}

// StructuredType is STRUCTURED<'class', name type, …>.
type StructuredType struct {
	Span
	Class  *StringLiteral
	Fields []*RowField
	nullable
}

// IntervalType is INTERVAL with its units.
type IntervalType struct {
	Span
	Qualifier *IntervalQualifier
	nullable
}

// NamedType is a type that is no keyword; the catalog may know it.
type NamedType struct {
	Span
	Name ObjectName
	nullable
}

func (*ScalarType) dataType()     {}
func (*CollectionType) dataType() {}
func (*MapType) dataType()        {}
func (*RowType) dataType()        {}
func (*RawType) dataType()        {}
func (*StructuredType) dataType() {}
func (*IntervalType) dataType()   {}
func (*NamedType) dataType()      {}

// SetNullability says what follows the type about NULL.
func SetNullability(t DataType, n Nullability) {
	switch t := t.(type) {
	case *ScalarType:
		t.Null = n
	case *CollectionType:
		t.Null = n
	case *MapType:
		t.Null = n
	case *RowType:
		t.Null = n
	case *RawType:
		t.Null = n
	case *StructuredType:
		t.Null = n
	case *IntervalType:
		t.Null = n
	case *NamedType:
		t.Null = n
	}
}

func (*ScalarType) children(func(Node))         {}
func (n *CollectionType) children(f func(Node)) { f(n.Element) }
func (n *RowType) children(f func(Node))        { each(n.Fields, f) }
func (n *IntervalType) children(f func(Node))   { some(n.Qualifier, f) }
func (n *NamedType) children(f func(Node))      { f(&n.Name) }

func (n *MapType) children(f func(Node)) {
	f(n.Key)
	f(n.Value)
}

func (n *RowField) children(f func(Node)) {
	f(&n.Name)
	f(n.Type)
	some(n.Comment, f)
}

func (n *RawType) children(f func(Node)) {
	some(n.Class, f)
	some(n.Serializer, f)
}

func (n *StructuredType) children(f func(Node)) {
	some(n.Class, f)
	each(n.Fields, f)
}

// dataType gives a type to f that may be missing.
func dataType(t DataType, f func(Node)) {
	if t != nil {
		f(t)
	}
}
