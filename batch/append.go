package batch

import "slices"

// Reset makes the column one of n values, none of them NULL, and keeps its memory.
// Values of fixed size are what lay there before, and the caller writes each of them;
// texts and collections are empty, and the caller appends them in order, setting
// Offsets.
func (c *Column) Reset(n int) {
	if c.Valid != nil {
		c.spare, c.Valid = c.Valid, nil
	}
	c.Len = n
	switch c.Layout {
	case Bools:
		c.Bool = resized(c.Bool, n)
	case Int8s:
		c.I8 = resized(c.I8, n)
	case Int16s:
		c.I16 = resized(c.I16, n)
	case Int32s:
		c.I32 = resized(c.I32, n)
	case Int64s:
		c.I64 = resized(c.I64, n)
	case Int128s:
		c.I128 = resized(c.I128, n)
	case Float32s:
		c.F32 = resized(c.F32, n)
	case Float64s:
		c.F64 = resized(c.F64, n)
	case Moments:
		c.I64 = resized(c.I64, n)
		if c.I32 != nil {
			c.I32 = resized(c.I32, n)
		}
	case ByteSlices:
		c.Offsets, c.Data = resized(c.Offsets, n+1), c.Data[:0]
		clear(c.Offsets)
	case Lists, Maps:
		c.Offsets = resized(c.Offsets, n+1)
		clear(c.Offsets)
		for _, child := range c.Children {
			child.Reset(0)
		}
	case Structs:
		for _, child := range c.Children {
			child.Reset(n)
		}
	}
}

func resized[S ~[]T, T any](s S, n int) S { return slices.Grow(s[:0], n)[:n] }

// OwnValid gives the column a bitmap of its own with the bits of valid, where nil has
// all bits set, and keeps the memory of the bitmap it had.
func (c *Column) OwnValid(valid Bitmap) {
	if valid == nil {
		c.Reuse()
		return
	}
	words := (c.Len + 63) / 64
	b := resized(c.room(), words)
	copy(b, valid[:words])
	c.Valid = b
}

// Reuse makes all values valid and keeps the memory of the bitmap.
func (c *Column) Reuse() {
	if c.Valid != nil {
		c.spare, c.Valid = c.Valid, nil
	}
}

// room is memory for a bitmap, of the bitmap the column has or had.
func (c *Column) room() Bitmap {
	if c.Valid != nil {
		return c.Valid
	}
	return c.spare
}

// AppendNull adds a NULL at the end.
func (c *Column) AppendNull() {
	c.appendValid(false)
	switch c.Layout {
	case Bools:
		c.Bool = append(c.Bool, false)
	case Int8s:
		c.I8 = append(c.I8, 0)
	case Int16s:
		c.I16 = append(c.I16, 0)
	case Int32s:
		c.I32 = append(c.I32, 0)
	case Int64s:
		c.I64 = append(c.I64, 0)
	case Int128s:
		c.I128 = append(c.I128, Int128{})
	case Float32s:
		c.F32 = append(c.F32, 0)
	case Float64s:
		c.F64 = append(c.F64, 0)
	case Moments:
		c.moment(0, 0)
	case ByteSlices:
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	case Lists, Maps:
		c.Offsets = append(c.Offsets, int32(c.Children[0].Len))
	case Structs:
		for _, child := range c.Children {
			child.AppendNull()
		}
	}
	c.Len++
}

// AppendMoment adds a timestamp at the end.
func (c *Column) AppendMoment(millis int64, nanos int32) {
	c.appendValid(true)
	c.moment(millis, nanos)
	c.Len++
}

func (c *Column) moment(millis int64, nanos int32) {
	if c.I32 == nil && nanos != 0 {
		c.I32 = make([]int32, len(c.I64), cap(c.I64))
	}
	c.I64 = append(c.I64, millis)
	if c.I32 != nil {
		c.I32 = append(c.I32, nanos)
	}
}

// AppendBytes adds a text or bytes at the end.
func (c *Column) AppendBytes(v []byte) {
	c.appendValid(true)
	c.Data = append(c.Data, v...)
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.Len++
}

// AppendFrom adds value i of a column of the same type at the end.
func (c *Column) AppendFrom(src *Column, i int) {
	if src.IsNull(i) {
		c.AppendNull()
		return
	}
	c.appendValid(true)
	switch c.Layout {
	case Bools:
		c.Bool = append(c.Bool, src.Bool[i])
	case Int8s:
		c.I8 = append(c.I8, src.I8[i])
	case Int16s:
		c.I16 = append(c.I16, src.I16[i])
	case Int32s:
		c.I32 = append(c.I32, src.I32[i])
	case Int64s:
		c.I64 = append(c.I64, src.I64[i])
	case Int128s:
		c.I128 = append(c.I128, src.I128[i])
	case Float32s:
		c.F32 = append(c.F32, src.F32[i])
	case Float64s:
		c.F64 = append(c.F64, src.F64[i])
	case Moments:
		c.moment(src.I64[i], src.Nanos(i))
	case ByteSlices:
		c.Data = append(c.Data, src.Bytes(i)...)
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	case Lists, Maps:
		from, to := src.Span(i)
		for k, child := range c.Children {
			for j := from; j < to; j++ {
				child.AppendFrom(src.Children[k], j)
			}
		}
		c.Offsets = append(c.Offsets, int32(c.Children[0].Len))
	case Structs:
		for k, child := range c.Children {
			child.AppendFrom(src.Children[k], i)
		}
	}
	c.Len++
}

// appendValid notes the validity of the value that is about to be added.
func (c *Column) appendValid(valid bool) {
	if valid && c.Valid == nil {
		return
	}
	if c.Valid == nil {
		b := resized(c.spare, (c.Len+64)/64)
		clear(b)
		for i := range c.Len {
			b.Set(i)
		}
		c.Valid = b
	}
	if len(c.Valid)*64 <= c.Len {
		c.Valid = append(c.Valid, 0)
	}
	if valid {
		c.Valid.Set(c.Len)
	} else {
		c.Valid.Clear(c.Len)
	}
}

// AllNull makes all values NULL.
func (c *Column) AllNull() {
	if c.Valid == nil {
		c.Valid = resized(c.spare, (c.Len+63)/64)
	}
	clear(c.Valid)
}

// Head is a column of the first n values, which shares their memory.
func (c *Column) Head(n int) *Column {
	h := &Column{Layout: c.Layout, Len: n, Data: c.Data}
	if c.Valid != nil {
		h.Valid = c.Valid[:(n+63)/64]
	}
	h.Bool, h.I8, h.I16, h.I32 = head(c.Bool, n), head(c.I8, n), head(c.I16, n), head(c.I32, n)
	h.I64, h.I128, h.F32, h.F64 = head(c.I64, n), head(c.I128, n), head(c.F32, n), head(c.F64, n)
	switch c.Layout {
	case ByteSlices, Lists, Maps:
		h.Offsets, h.Children = c.Offsets[:n+1], c.Children
	case Structs:
		h.Children = make([]*Column, len(c.Children))
		for i, child := range c.Children {
			h.Children[i] = child.Head(n)
		}
	}
	return h
}

func head[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	return s[:n:n]
}

// ClearNulls makes the values of fixed size that are NULL the zero value.
func (c *Column) ClearNulls() {
	for w, valid := range c.Valid {
		if valid == ^uint64(0) {
			continue
		}
		for i := w * 64; i < min(c.Len, w*64+64); i++ {
			if valid>>(i&63)&1 == 0 {
				c.clear(i)
			}
		}
	}
}

func (c *Column) clear(i int) {
	switch c.Layout {
	case Bools:
		c.Bool[i] = false
	case Int8s:
		c.I8[i] = 0
	case Int16s:
		c.I16[i] = 0
	case Int32s:
		c.I32[i] = 0
	case Int64s:
		c.I64[i] = 0
	case Int128s:
		c.I128[i] = Int128{}
	case Float32s:
		c.F32[i] = 0
	case Float64s:
		c.F64[i] = 0
	case Moments:
		c.I64[i] = 0
		if c.I32 != nil {
			c.I32[i] = 0
		}
	}
}
