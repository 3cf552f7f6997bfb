package expr

import "github.com/weirstream/weir/batch"

// choices says for each row which of some columns its value is taken from.
type choices struct {
	of      []int32
	columns []*batch.Column
	pending []int32
}

// begin prepares for rows, none of which has chosen.
func (c *choices) begin(rows Rows) {
	if cap(c.of) < rows.N {
		c.of = make([]int32, rows.N)
	}
	c.of = c.of[:rows.N]
	c.columns = c.columns[:0]
}

// merge writes each row of out from the column it has chosen.
func (c *choices) merge(out *batch.Column, rows Rows) {
	_ = rows.Each(func(i int) error {
		if c.columns[c.of[i]].IsNull(i) {
			out.SetNull(i)
		}
		return nil
	})
	switch out.Layout {
	case batch.Bools:
		gather[bool](c, out, rows)
	case batch.Int8s:
		gather[int8](c, out, rows)
	case batch.Int16s:
		gather[int16](c, out, rows)
	case batch.Int32s:
		gather[int32](c, out, rows)
	case batch.Int64s:
		gather[int64](c, out, rows)
	case batch.Int128s:
		gather[batch.Int128](c, out, rows)
	case batch.Float32s:
		gather[float32](c, out, rows)
	case batch.Float64s:
		gather[float64](c, out, rows)
	case batch.Moments:
		c.moments(out, rows)
	case batch.ByteSlices:
		w := NewBytes(out)
		_ = rows.Each(func(i int) error {
			w.Row(i)
			if src := c.columns[c.of[i]]; !src.IsNull(i) {
				w.Data = append(w.Data, src.Bytes(i)...)
			}
			return nil
		})
		w.Close()
	case batch.Lists, batch.Maps:
		w := NewCollections(out)
		_ = rows.Each(func(i int) error {
			w.Row(i)
			appendElements(out, c.columns[c.of[i]], i)
			return nil
		})
		w.Close()
	case batch.Structs:
		c.fields(out, rows)
	}
}

func gather[T batch.Fixed](c *choices, out *batch.Column, rows Rows) {
	r := batch.Values[T](out)
	_ = rows.Each(func(i int) error {
		if src := c.columns[c.of[i]]; src.Layout != batch.Nothing {
			r[i] = batch.Values[T](src)[i]
		}
		return nil
	})
}

func (c *choices) moments(out *batch.Column, rows Rows) {
	_ = rows.Each(func(i int) error {
		src := c.columns[c.of[i]]
		if src.Layout == batch.Nothing {
			return nil
		}
		out.I64[i] = src.I64[i]
		if out.I32 != nil {
			out.I32[i] = src.Nanos(i)
		}
		return nil
	})
}

// fields merges each field of rows with the choices of the rows.
func (c *choices) fields(out *batch.Column, rows Rows) {
	inner := choices{of: c.of, columns: make([]*batch.Column, len(c.columns))}
	for k, child := range out.Children {
		for i, src := range c.columns {
			inner.columns[i] = src
			if src != nil && src.Layout == batch.Structs {
				inner.columns[i] = src.Children[k]
			}
		}
		inner.merge(child, rows)
	}
}

// appendElements appends the elements of value i of a collection to the children of
// another.
func appendElements(out, src *batch.Column, i int) {
	if src.IsNull(i) {
		return
	}
	from, to := src.Span(i)
	for k, child := range out.Children {
		for j := from; j < to; j++ {
			child.AppendFrom(src.Children[k], j)
		}
	}
}
