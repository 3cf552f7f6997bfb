package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
)

// dictionary is the values that those of a column chunk are places of.
type dictionary struct {
	count   int // -1: there is none
	i32     []int32
	i64     []int64
	f32     []float32
	f64     []float64
	offsets []int32 // of texts, also of those of fixed size
	data    []byte
}

// load reads a dictionary from a page.
func (d *dictionary) load(n *node, text []byte, count int) error {
	var v values
	if err := v.open(n, d, text, format.Plain, count); err != nil {
		return err
	}
	d.count = -1
	if v.size > 0 && count > len(text)/v.size || v.size == 0 && count > len(text)/4 {
		return fmt.Errorf("the dictionary has %d values, and %d bytes", count, len(text))
	}
	var err error
	switch n.physical {
	case format.Int32:
		d.i32 = sized(d.i32, count)
		err = v.int32s(d.i32, d)
	case format.Int64:
		d.i64 = sized(d.i64, count)
		err = v.int64s(d.i64, d)
	case format.Float:
		d.f32 = sized(d.f32, count)
		err = v.float32s(d.f32, d)
	case format.Double:
		d.f64 = sized(d.f64, count)
		err = v.float64s(d.f64, d)
	case format.Boolean:
		return errors.New("booleans have no dictionary")
	default:
		c := batch.Column{Data: d.data[:0], Offsets: append(d.offsets[:0], 0)}
		err = v.texts(&c, count, d)
		d.data, d.offsets = c.Data, c.Offsets
	}
	if err == nil {
		d.count = count
	}
	return err
}

// sized is a slice of n values, in the same memory if it is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
