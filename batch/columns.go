package batch

// Columns is a batch of rows held by columns, each a vector of one type in memory
// laid out as Arrow's, for operators that work on whole columns.
//
// Invariant: every column has N values; Sel, if not nil, is ascending and below N;
// TS and Kind are either empty or have N entries.
type Columns struct {
	// N is how many rows the columns have.
	N int
	// Cols are the columns. They may be shared between batches: who did not make a
	// column does not change it.
	Cols []*Column
	// Sel are the rows that count, in ascending order; nil: all of them.
	Sel []int32
	// TS are the rows' event times in Unix milliseconds; empty: none has one.
	TS []int64
	// Kind is each row's kind; empty: every row is an Insert.
	Kind []RowKind
	// Origin numbers the batch of its source that these rows are, row for row; 0: they are
	// of no such batch.
	Origin int64
}

// Len is the number of rows that count.
func (c *Columns) Len() int {
	if c.Sel != nil {
		return len(c.Sel)
	}
	return c.N
}

// Release does nothing: columns are the garbage collector's, because others may share
// them.
func (c *Columns) Release() {}

// Layout is how a column's values lie in memory.
type Layout uint8

// The layouts, and the field of Column that holds the values.
const (
	Bools      Layout = iota // Bool
	Int8s                    // I8: TINYINT
	Int16s                   // I16: SMALLINT
	Int32s                   // I32: INT, DATE (days since 1970), TIME (milliseconds of the day), months
	Int64s                   // I64: BIGINT, intervals in milliseconds, DECIMAL of up to 18 digits (unscaled)
	Int128s                  // I128: DECIMAL of more digits (unscaled)
	Float32s                 // F32
	Float64s                 // F64
	Moments                  // I64 is milliseconds since 1970, I32 the nanoseconds within, 0 to 999,999, or nil: timestamps
	ByteSlices               // Offsets into Data: text as UTF-8, bytes, BITMAP and VARIANT serialised
	Lists                    // Offsets into Children[0]: ARRAY
	Maps                     // Offsets into Children[0] (keys) and Children[1] (values): MAP, and MULTISET with counts of INT
	Structs                  // Children: ROW
	Nothing                  // no values: every one is NULL
)

// Int128 is a signed integer in two's complement.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Column is a vector of values.
//
// Invariant: the slices of its layout have Len values (Offsets one more), whether a
// value is NULL or not; what lies where a value is NULL is the zero value, or no bytes.
type Column struct {
	Layout Layout
	Len    int
	// Valid has bit i set if value i is not NULL; nil: none is NULL.
	Valid Bitmap

	Bool     []bool
	I8       []int8
	I16      []int16
	I32      []int32
	I64      []int64
	I128     []Int128
	F32      []float32
	F64      []float64
	Offsets  []int32
	Data     []byte
	Children []*Column

	// spare is a bitmap's memory for reuse while Valid is nil.
	spare Bitmap
}

// IsNull reports whether value i is NULL.
func (c *Column) IsNull(i int) bool {
	return c.Layout == Nothing || c.Valid != nil && !c.Valid.Get(i)
}

// Bytes is value i of ByteSlices. It belongs to the column.
func (c *Column) Bytes(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]] }

// Span is where the elements of value i of Lists and Maps lie in the children.
func (c *Column) Span(i int) (from, to int) { return int(c.Offsets[i]), int(c.Offsets[i+1]) }

// Nanos is the nanoseconds within the millisecond of value i of Moments.
func (c *Column) Nanos(i int) int32 {
	if c.I32 == nil {
		return 0
	}
	return c.I32[i]
}

// SetNull makes value i NULL. The column must be the caller's, with Len values.
func (c *Column) SetNull(i int) {
	if c.Valid == nil {
		c.Valid = resized(c.spare, (c.Len+63)/64)
		c.Valid.fill(c.Len)
	}
	c.Valid.Clear(i)
}

// Bitmap has a bit for each value of a column.
type Bitmap []uint64

// NewBitmap makes one of n bits, none set.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// FullBitmap makes one with the first n bits set.
func FullBitmap(n int) Bitmap {
	b := NewBitmap(n)
	b.fill(n)
	return b
}

// fill sets the first n bits, and clears the others.
func (b Bitmap) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
}

// Get reports whether bit i is set.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }

// And gives the bits that are set in both, where nil has all bits set. The result may
// be one of them.
func (b Bitmap) And(o Bitmap) Bitmap {
	if b == nil {
		return o
	}
	if o == nil {
		return b
	}
	and := make(Bitmap, len(b))
	for i := range and {
		and[i] = b[i] & o[i]
	}
	return and
}

// SetValid makes value i one that is not NULL, after SetNull.
func (c *Column) SetValid(i int) {
	if c.Valid != nil {
		c.Valid.Set(i)
	}
}
