package exec

import "github.com/weirstream/weir/batch"

// bytesOf is about how many bytes the values of a batch take.
func bytesOf(b *batch.Columns) int {
	n := 0
	for _, c := range b.Cols {
		n += columnBytes(c)
	}
	return n
}

// columnBytes is about how many bytes a column's values take.
func columnBytes(c *batch.Column) int {
	n := len(c.Valid)*8 + c.Len*width(c) + len(c.Data)
	for _, child := range c.Children {
		n += columnBytes(child)
	}
	return n
}

// width is how many bytes a value takes in the column itself.
func width(c *batch.Column) int {
	switch c.Layout {
	case batch.Bools, batch.Int8s:
		return 1
	case batch.Int16s:
		return 2
	case batch.Int32s, batch.Float32s, batch.ByteSlices, batch.Lists, batch.Maps:
		return 4
	case batch.Int64s, batch.Float64s:
		return 8
	case batch.Int128s:
		return 16
	case batch.Moments:
		if c.I32 != nil {
			return 12
		}
		return 8
	}
	return 0
}
