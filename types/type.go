package types

import (
	"slices"
)

// Kind is the root of a type: what its values are.
type Kind uint8

// The kinds of types.
const (
	// Null is the type of a NULL whose type nothing says.
	Null Kind = iota
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal
	Char
	VarChar
	Binary
	VarBinary
	Date
	Time
	Timestamp    // a date and a time of day, of no zone
	TimestampLTZ // an instant, shown in the session's zone
	IntervalYearMonth
	IntervalDayTime
	Array
	Map
	Multiset
	Row
	// Raw is what only its own functions understand: BITMAP and VARIANT have kinds of
	// their own.
	Raw
	Variant
	Bitmap
	// Structured is a ROW with the name of a type.
	Structured
	// Descriptor names a column in the call of a table function.
	Descriptor
	// Symbol is a keyword argument, such as the unit of EXTRACT.
	Symbol
)

// Limits of the types' parameters.
const (
	// MaxLength is the length of STRING and BYTES: VARCHAR and VARBINARY without limit.
	MaxLength = 1<<31 - 1
	// MaxPrecision is how many digits a DECIMAL has at most.
	MaxPrecision = 38
	// MaxShortPrecision is how many digits a DECIMAL has at most whose unscaled value is
	// kept in 64 bits.
	MaxShortPrecision = 18
)

// Type is a logical type. The zero value is the type of NULL, not nullable; types are
// made by the functions of their names.
type Type struct {
	Kind Kind
	// Nullable says that values may be NULL.
	Nullable bool
	// Length is that of CHAR and VARCHAR in characters, of BINARY and VARBINARY in bytes.
	Length int
	// Precision is that of DECIMAL in digits, of TIME and timestamps in digits of a
	// second's fraction, of an interval in digits of its leading field.
	Precision int
	// Scale is that of DECIMAL, or of an interval's seconds.
	Scale int
	// Resolution is an interval's.
	Resolution Resolution
	// Elem is the element of ARRAY and MULTISET, and the value of MAP.
	Elem *Type
	// Key is that of MAP.
	Key *Type
	// Fields are those of ROW and structured types.
	Fields []Field
	// Name is that of a structured type, and the class of RAW.
	Name string
	// Time says that a timestamp is a time attribute.
	Time TimeAttribute
}

// Field is one of a ROW, and of a table's schema.
type Field struct {
	Name    string
	Type    Type
	Comment string
}

// TimeAttribute says what time a timestamp column stands for.
type TimeAttribute uint8

// The time attributes.
const (
	NoTime TimeAttribute = iota
	Rowtime
	Proctime
)

// Resolution is which fields an interval has.
type Resolution uint8

// The resolutions of intervals.
const (
	NoResolution Resolution = iota
	Year
	YearToMonth
	Month
	Day
	DayToHour
	DayToMinute
	DayToSecond
	Hour
	HourToMinute
	HourToSecond
	Minute
	MinuteToSecond
	Second
)

// Of is a nullable type of a kind without parameters.
func Of(k Kind) Type { return Type{Kind: k, Nullable: true} }

// DecimalOf is DECIMAL(precision, scale), nullable.
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Nullable: true, Precision: precision, Scale: scale}
}

// CharOf is CHAR(length), nullable.
func CharOf(length int) Type { return Type{Kind: Char, Nullable: true, Length: length} }

// VarCharOf is VARCHAR(length), nullable.
func VarCharOf(length int) Type { return Type{Kind: VarChar, Nullable: true, Length: length} }

// String is STRING, nullable.
func String() Type { return VarCharOf(MaxLength) }

// BinaryOf is BINARY(length), nullable.
func BinaryOf(length int) Type { return Type{Kind: Binary, Nullable: true, Length: length} }

// VarBinaryOf is VARBINARY(length), nullable.
func VarBinaryOf(length int) Type { return Type{Kind: VarBinary, Nullable: true, Length: length} }

// Bytes is BYTES, nullable.
func Bytes() Type { return VarBinaryOf(MaxLength) }

// TimeOf is TIME(precision), nullable.
func TimeOf(precision int) Type { return Type{Kind: Time, Nullable: true, Precision: precision} }

// TimestampOf is TIMESTAMP(precision), nullable.
func TimestampOf(precision int) Type {
	return Type{Kind: Timestamp, Nullable: true, Precision: precision}
}

// TimestampLTZOf is TIMESTAMP_LTZ(precision), nullable.
func TimestampLTZOf(precision int) Type {
	return Type{Kind: TimestampLTZ, Nullable: true, Precision: precision}
}

// ArrayOf is ARRAY<elem>, nullable.
func ArrayOf(elem Type) Type { return Type{Kind: Array, Nullable: true, Elem: &elem} }

// MultisetOf is MULTISET<elem>, nullable.
func MultisetOf(elem Type) Type { return Type{Kind: Multiset, Nullable: true, Elem: &elem} }

// MapOf is MAP<key, value>, nullable.
func MapOf(key, value Type) Type { return Type{Kind: Map, Nullable: true, Key: &key, Elem: &value} }

// RowOf is ROW<fields>, nullable.
func RowOf(fields ...Field) Type { return Type{Kind: Row, Nullable: true, Fields: fields} }

// NotNull is the type without NULL.
func (t Type) NotNull() Type { t.Nullable = false; return t }

// OrNull is the type with NULL.
func (t Type) OrNull() Type { t.Nullable = true; return t }

// WithNull is the type, nullable or not.
func (t Type) WithNull(nullable bool) Type { t.Nullable = nullable; return t }

// Equal reports whether both are the same type, with nullability, names and
// parameters. Comments and time attributes do not matter.
func (t Type) Equal(o Type) bool { return t.Nullable == o.Nullable && t.EqualButNull(o) }

// EqualButNull is Equal without looking at the outermost nullability.
func (t Type) EqualButNull(o Type) bool {
	if t.Kind != o.Kind || t.Length != o.Length || t.Precision != o.Precision || t.Scale != o.Scale || t.Resolution != o.Resolution || t.Name != o.Name {
		return false
	}
	return equalPart(t.Elem, o.Elem) && equalPart(t.Key, o.Key) &&
		slices.EqualFunc(t.Fields, o.Fields, func(a, b Field) bool { return a.Name == b.Name && a.Type.Equal(b.Type) })
}

func equalPart(a, b *Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// IsText reports whether values are texts.
func (k Kind) IsText() bool { return k == Char || k == VarChar }

// IsBinary reports whether values are bytes.
func (k Kind) IsBinary() bool { return k == Binary || k == VarBinary }

// IsInteger reports whether values are whole numbers.
func (k Kind) IsInteger() bool { return k >= TinyInt && k <= BigInt }

// IsApproximate reports whether values are floating-point numbers.
func (k Kind) IsApproximate() bool { return k == Float || k == Double }

// IsExact reports whether values are integers or decimals.
func (k Kind) IsExact() bool { return k.IsInteger() || k == Decimal }

// IsNumeric reports whether values are numbers.
func (k Kind) IsNumeric() bool { return k >= TinyInt && k <= Decimal }

// IsTimestamp reports whether values are a date and a time.
func (k Kind) IsTimestamp() bool { return k == Timestamp || k == TimestampLTZ }

// IsDatetime reports whether values are dates, times or both.
func (k Kind) IsDatetime() bool { return k >= Date && k <= TimestampLTZ }

// IsInterval reports whether values are lengths of time.
func (k Kind) IsInterval() bool { return k == IntervalYearMonth || k == IntervalDayTime }

// IsCollection reports whether values hold any number of others.
func (k Kind) IsCollection() bool { return k == Array || k == Map || k == Multiset }

// IsComposite reports whether values have fields.
func (k Kind) IsComposite() bool { return k == Row || k == Structured }
