package batch

// Fixed is a value of fixed size.
type Fixed interface {
	bool | int8 | int16 | int32 | int64 | Int128 | float32 | float64
}

// Values are a column's values of fixed size, for code that is generic over the
// layout. They belong to the column. For Moments, int64 gives the milliseconds.
func Values[T Fixed](c *Column) []T { return *slot[T](c) }

// slot is the field of the column that holds values of the type.
func slot[T Fixed](c *Column) *[]T {
	var p any
	switch any(*new(T)).(type) {
	case bool:
		p = &c.Bool
	case int8:
		p = &c.I8
	case int16:
		p = &c.I16
	case int32:
		p = &c.I32
	case int64:
		p = &c.I64
	case Int128:
		p = &c.I128
	case float32:
		p = &c.F32
	case float64:
		p = &c.F64
	}
	return p.(*[]T)
}

// Append adds a value of fixed size at the end.
func Append[T Fixed](c *Column, v T) {
	c.appendValid(true)
	s := slot[T](c)
	*s = append(*s, v)
	c.Len++
}

// EndCollection adds a value at the end of Lists or Maps: the elements that were
// appended to the children since the one before.
func (c *Column) EndCollection() {
	c.appendValid(true)
	c.Offsets = append(c.Offsets, int32(c.Children[0].Len))
	c.Len++
}

// EndRow adds a value at the end of Structs: one value was appended to each child.
func (c *Column) EndRow() {
	c.appendValid(true)
	c.Len++
}
