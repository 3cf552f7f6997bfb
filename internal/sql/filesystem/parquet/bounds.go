package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
)

// Bounds are what a row group says of a column.
type Bounds struct {
	// Least and Greatest have one value each, NULL if it is not known. All values of the row
	// group lie between them, but for NULL and NaN; they need not be among them.
	Least, Greatest *batch.Column
	// Nulls is set if some value is NULL, NoNulls if none is, and NoValues if all are.
	Nulls, NoNulls, NoValues bool
}

// Bounds gives those of column i of the reader.
func (r *Reader) Bounds(group, i int) Bounds {
	v := r.vectors[i]
	b := Bounds{Least: fresh(v.to), Greatest: fresh(v.to)}
	if v.levels == nil {
		b.Nulls, b.NoValues = true, true
		b.Least.AppendNull()
		b.Greatest.AppendNull()
		return b
	}
	var least, greatest []byte
	if v.plain && v.levels.flat {
		n := v.levels.n
		meta := &r.file.groups[group].Columns[n.leaf].MetaData
		s := &meta.Statistics
		b.Nulls, b.NoNulls, b.NoValues = s.NullCount > 0, n.definition == 0, s.NullCount > 0 && s.NullCount == meta.NumValues
		least, greatest = s.MinValue, s.MaxValue
		if n.signedOrder() && least == nil && greatest == nil {
			least, greatest = s.Min, s.Max
		}
	}
	bound(b.Least, v.levels, least)
	bound(b.Greatest, v.levels, greatest)
	return b
}

// fresh is an empty column like another.
func fresh(like *batch.Column) *batch.Column {
	c := &batch.Column{Layout: like.Layout}
	if like.Layout == batch.Moments && like.I32 != nil {
		c.I32 = []int32{}
	}
	if like.Offsets != nil {
		c.Offsets = []int32{0}
	}
	for _, child := range like.Children {
		c.Children = append(c.Children, fresh(child))
	}
	return c
}

// signedOrder reports whether what old programs note is in the order of values.
func (n *node) signedOrder() bool {
	switch n.physical {
	case format.Int32, format.Int64:
		return !n.unsigned()
	case format.Float, format.Double:
		return true
	}
	return false
}

// bound appends a value that is written down in a file's footer, NULL if there is none or
// it says nothing.
func bound(to *batch.Column, l *leaf, text []byte) {
	if text == nil || l.unordered || l.convert == nil || l.n.physical == format.Int96 || l.n.physical == format.Boolean || len(text) > 1<<16 {
		to.AppendNull()
		return
	}
	if size := sizeOf(l.n); size > 0 && len(text) != size {
		to.AppendNull()
		return
	}
	if l.n.physical == format.ByteArray {
		text = append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	one := &leaf{chunk: chunk{n: l.n}}
	one.values.scratch = l.values.scratch
	extend(to, 1)
	err := one.values.open(l.n, &one.dictionary, text, format.Plain, 1)
	if err == nil {
		err = l.convert(one, to, 0, 1)
	}
	to.Len = 1
	if err != nil || to.Layout == batch.Float32s && to.F32[0] != to.F32[0] || to.Layout == batch.Float64s && to.F64[0] != to.F64[0] {
		*to = *fresh(to)
		to.AppendNull()
	}
}
