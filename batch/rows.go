package batch

// AppendRows adds some values of a column of the same type at the end, in the order
// of rows; nil: all of them. It is AppendFrom for many.
func (c *Column) AppendRows(src *Column, rows []int32) {
	if src.Layout == Nothing && c.Layout != Nothing { // NULL of whatever type
		n := len(rows)
		if rows == nil {
			n = src.Len
		}
		for range n {
			c.AppendNull()
		}
		return
	}
	if rows == nil {
		c.appendAll(src)
		return
	}
	c.appendValidity(src, rows, len(rows))
	switch c.Layout {
	case Bools:
		c.Bool = gather(c.Bool, src.Bool, rows)
	case Int8s:
		c.I8 = gather(c.I8, src.I8, rows)
	case Int16s:
		c.I16 = gather(c.I16, src.I16, rows)
	case Int32s:
		c.I32 = gather(c.I32, src.I32, rows)
	case Int64s:
		c.I64 = gather(c.I64, src.I64, rows)
	case Int128s:
		c.I128 = gather(c.I128, src.I128, rows)
	case Float32s:
		c.F32 = gather(c.F32, src.F32, rows)
	case Float64s:
		c.F64 = gather(c.F64, src.F64, rows)
	case Moments:
		c.nanosFor(src)
		c.I64 = gather(c.I64, src.I64, rows)
		if src.I32 != nil {
			c.I32 = gather(c.I32, src.I32, rows)
		} else if c.I32 != nil {
			c.I32 = zeros(c.I32, len(rows))
		}
	case ByteSlices:
		for _, i := range rows {
			c.Data = append(c.Data, src.Data[src.Offsets[i]:src.Offsets[i+1]]...)
			c.Offsets = append(c.Offsets, int32(len(c.Data)))
		}
	case Lists, Maps:
		c.appendSpans(src, rows)
	case Structs:
		for k, child := range c.Children {
			child.AppendRows(src.Children[k], rows)
		}
	}
	c.Len += len(rows)
}

// appendAll adds all values of src.
func (c *Column) appendAll(src *Column) {
	c.appendValidity(src, nil, src.Len)
	n := src.Len
	switch c.Layout {
	case Bools:
		c.Bool = append(c.Bool, src.Bool[:n]...)
	case Int8s:
		c.I8 = append(c.I8, src.I8[:n]...)
	case Int16s:
		c.I16 = append(c.I16, src.I16[:n]...)
	case Int32s:
		c.I32 = append(c.I32, src.I32[:n]...)
	case Int64s:
		c.I64 = append(c.I64, src.I64[:n]...)
	case Int128s:
		c.I128 = append(c.I128, src.I128[:n]...)
	case Float32s:
		c.F32 = append(c.F32, src.F32[:n]...)
	case Float64s:
		c.F64 = append(c.F64, src.F64[:n]...)
	case Moments:
		c.nanosFor(src)
		c.I64 = append(c.I64, src.I64[:n]...)
		if src.I32 != nil {
			c.I32 = append(c.I32, src.I32[:n]...)
		} else if c.I32 != nil {
			c.I32 = zeros(c.I32, n)
		}
	case ByteSlices:
		base := int32(len(c.Data)) - src.Offsets[0]
		c.Data = append(c.Data, src.Data[src.Offsets[0]:src.Offsets[n]]...)
		for _, end := range src.Offsets[1 : n+1] {
			c.Offsets = append(c.Offsets, end+base)
		}
	case Lists, Maps:
		c.appendSpans(src, ascending(n))
	case Structs:
		for k, child := range c.Children {
			child.appendAll(src.Children[k])
		}
	}
	c.Len += n
}

// appendSpans adds the collections of some rows.
func (c *Column) appendSpans(src *Column, rows []int32) {
	var elements []int32
	end := c.Offsets[len(c.Offsets)-1]
	for _, i := range rows {
		from, to := src.Offsets[i], src.Offsets[i+1]
		for j := from; j < to; j++ {
			elements = append(elements, j)
		}
		end += to - from
		c.Offsets = append(c.Offsets, end)
	}
	if elements == nil {
		return
	}
	for k, child := range c.Children {
		child.AppendRows(src.Children[k], elements)
	}
}

func ascending(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func gather[T any](dst, src []T, rows []int32) []T {
	at := len(dst)
	dst = grown(dst, len(rows))
	to := dst[at:]
	for k, i := range rows {
		to[k] = src[i]
	}
	return dst
}

// grown is a slice with n more values, which are what lay there before.
func grown[T any](s []T, n int) []T {
	if need := len(s) + n; need > cap(s) {
		larger := make([]T, len(s), max(need, 2*cap(s)))
		copy(larger, s)
		s = larger
	}
	return s[:len(s)+n]
}

func zeros[T any](s []T, n int) []T {
	at := len(s)
	s = grown(s, n)
	clear(s[at:])
	return s
}

// nanosFor gives a column of timestamps room for nanoseconds if src has some.
func (c *Column) nanosFor(src *Column) {
	if c.I32 == nil && src.I32 != nil {
		c.I32 = zeros([]int32(nil), len(c.I64))
		if c.I32 == nil {
			c.I32 = []int32{}
		}
	}
}

// appendValidity notes which of the n values that are about to be added are NULL:
// those of rows, or all.
func (c *Column) appendValidity(src *Column, rows []int32, n int) {
	if c.Layout == Nothing || src.Layout != Nothing && src.Valid == nil && c.Valid == nil {
		return
	}
	if c.Valid == nil {
		c.Valid = FullBitmap(c.Len)
	}
	for words := (c.Len + n + 63) / 64; len(c.Valid) < words; {
		c.Valid = append(c.Valid, 0)
	}
	for k := range n {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		if src.IsNull(i) {
			c.Valid.Clear(c.Len + k)
		} else {
			c.Valid.Set(c.Len + k)
		}
	}
}

// Empty makes an empty column for values as c has them.
func (c *Column) Empty() *Column {
	e := &Column{Layout: c.Layout}
	switch c.Layout {
	case ByteSlices, Lists, Maps:
		e.Offsets = []int32{0}
	case Moments:
		if c.I32 != nil {
			e.I32 = []int32{}
		}
	}
	for _, child := range c.Children {
		e.Children = append(e.Children, child.Empty())
	}
	return e
}

// Rows makes a column of some of c's values; nil: all of them.
func (c *Column) Rows(rows []int32) *Column {
	r := c.Empty()
	r.AppendRows(c, rows)
	return r
}

// Compact makes a batch of the rows that count, which shares nothing with c.
func (c *Columns) Compact() *Columns {
	r := &Columns{N: c.Len(), Cols: make([]*Column, len(c.Cols))}
	for i, col := range c.Cols {
		r.Cols[i] = col.Rows(c.Sel)
	}
	if len(c.TS) > 0 {
		r.TS = picked(c.TS, c.Sel)
	}
	if len(c.Kind) > 0 {
		r.Kind = picked(c.Kind, c.Sel)
	}
	return r
}

func picked[T any](s []T, rows []int32) []T {
	if rows == nil {
		return append([]T(nil), s...)
	}
	return gather([]T(nil), s, rows)
}
