package functions

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// row is a row of the arguments' columns.
type row struct {
	args []*batch.Column
	i    int
}

// has reports whether there is an argument k.
func (r row) has(k int) bool { return k < len(r.args) }

func (r row) null(k int) bool { return r.args[k].IsNull(r.i) }

// bytes is a text or bytes.
func (r row) bytes(k int) []byte { return r.args[k].Bytes(r.i) }

// int is a whole number of any size, a date or a time.
func (r row) int(k int) int64 { return intAt(r.args[k], r.i) }

func (r row) bool(k int) bool { return r.args[k].Bool[r.i] }

func intAt(c *batch.Column, i int) int64 {
	switch c.Layout {
	case batch.Int8s:
		return int64(c.I8[i])
	case batch.Int16s:
		return int64(c.I16[i])
	case batch.Int32s:
		return int64(c.I32[i])
	}
	return c.I64[i]
}

// setInt writes a whole number of any size.
func setInt(c *batch.Column, i int, v int64) {
	switch c.Layout {
	case batch.Int8s:
		c.I8[i] = int8(v)
	case batch.Int16s:
		c.I16[i] = int16(v)
	case batch.Int32s:
		c.I32[i] = int32(v)
	default:
		c.I64[i] = v
	}
}

// unscaledAt is a DECIMAL's digits.
func unscaledAt(c *batch.Column, i int) batch.Int128 {
	if c.Layout == batch.Int128s {
		return c.I128[i]
	}
	return decimal.FromInt64(c.I64[i])
}

func setUnscaled(c *batch.Column, i int, v batch.Int128) {
	if c.Layout == batch.Int128s {
		c.I128[i] = v
	} else {
		c.I64[i] = decimal.Low(v)
	}
}

// floatAt is a number of any kind as a DOUBLE.
func floatAt(t types.Type, c *batch.Column, i int) float64 {
	switch c.Layout {
	case batch.Float64s:
		return c.F64[i]
	case batch.Float32s:
		return float64(c.F32[i])
	}
	if t.Kind == types.Decimal {
		return decimal.ToFloat64(unscaledAt(c, i), t.Scale)
	}
	return float64(intAt(c, i))
}

// appending is a kernel of a function that appends a text or bytes to dst; without ok the
// result is NULL.
func appending(f func(dst []byte, r row) (result []byte, ok bool)) expr.Kernel {
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		dst, ok := f(dst, r)
		return dst, ok, nil
	})
}

// failing is appending of a function that may fail.
func failing(f func(dst []byte, r row) (result []byte, ok bool, err error)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewBytes(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			var ok bool
			var err error
			if w.Data, ok, err = f(w.Data, row{args, i}); err != nil {
				return expr.AtRow(i, err)
			}
			if !ok {
				w.Null(i)
			}
			return nil
		})
	}
}

// slicing is appending of a function that gives a part of its argument.
func slicing(f func(r row) (part []byte, ok bool)) expr.Kernel {
	return appending(func(dst []byte, r row) ([]byte, bool) {
		part, ok := f(r)
		return append(dst, part...), ok
	})
}

// computing is a kernel of a function that gives a value of fixed size; without ok the
// result is NULL.
func computing[T batch.Fixed](f func(r row) (value T, ok bool)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		values := batch.Values[T](out)
		return rows.Each(func(i int) error {
			v, ok := f(row{args, i})
			if ok {
				values[i] = v
			} else {
				values[i] = *new(T)
				out.SetNull(i)
			}
			return nil
		})
	}
}

// trying is computing of a function that may fail.
func trying[T batch.Fixed](f func(r row) (value T, ok bool, err error)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		values := batch.Values[T](out)
		return rows.Each(func(i int) error {
			v, ok, err := f(row{args, i})
			if err != nil {
				return expr.AtRow(i, err)
			}
			values[i] = v
			if !ok {
				out.SetNull(i)
			}
			return nil
		})
	}
}

// listing is a kernel of a function that appends elements to an array; without ok the
// result is NULL.
func listing(f func(elements *batch.Column, r row) bool) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			if !f(out.Children[0], row{args, i}) {
				out.SetNull(i)
			}
			return nil
		})
	}
}
