package exec

import (
	"encoding/binary"
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
)

// ordering is how rows are sorted.
type ordering []plan.SortKey

// compare orders row i of a and row k of b.
func (o ordering) compare(a *batch.Columns, i int, b *batch.Columns, k int) int {
	for _, key := range o {
		if order := compareKey(key, a.Cols[key.Column], i, b.Cols[key.Column], k); order != 0 {
			return order
		}
	}
	return 0
}

// compareKey orders two values as a key says.
func compareKey(key plan.SortKey, a *batch.Column, i int, b *batch.Column, k int) int {
	switch x, y := a.IsNull(i), b.IsNull(k); {
	case x && y:
		return 0
	case x != y:
		if x == key.NullsLast {
			return 1
		}
		return -1
	}
	order := compareValues(a, i, b, k)
	if key.Descending {
		return -order
	}
	return order
}

// prefix is a number for the first key of a row: rows of which it differs are ordered as
// it is.
func (o ordering) prefix(b *batch.Columns, row int) uint64 {
	if len(o) == 0 {
		return 0
	}
	key := o[0]
	c := b.Cols[key.Column]
	const upper = 1 << 63
	if c.IsNull(row) {
		if key.NullsLast {
			return upper
		}
		return 0
	}
	v := leading(c, row)
	if key.Descending {
		v = ^v
	}
	if v >>= 1; !key.NullsLast {
		v |= upper
	}
	return v
}

// leading is a number that is ordered as values are, as far as it tells them apart.
func leading(c *batch.Column, i int) uint64 {
	const upper = 1 << 63
	switch c.Layout {
	case batch.Bools:
		if c.Bool[i] {
			return upper
		}
	case batch.Int8s:
		return uint64(uint8(c.I8[i])^0x80) << 56
	case batch.Int16s:
		return uint64(uint16(c.I16[i])^0x8000) << 48
	case batch.Int32s:
		return uint64(uint32(c.I32[i])^1<<31) << 32
	case batch.Int64s, batch.Moments:
		return uint64(c.I64[i]) ^ upper
	case batch.Int128s:
		return uint64(c.I128[i].Hi) ^ upper
	case batch.Float32s:
		return leadingFloat(float64(c.F32[i]))
	case batch.Float64s:
		return leadingFloat(c.F64[i])
	case batch.ByteSlices:
		v := c.Bytes(i)
		if len(v) >= 8 {
			return binary.BigEndian.Uint64(v)
		}
		var room [8]byte
		copy(room[:], v)
		return binary.BigEndian.Uint64(room[:])
	}
	return 0
}

func leadingFloat(v float64) uint64 {
	switch {
	case v != v:
		return math.MaxUint64
	case v == 0:
		v = 0
	}
	bits := math.Float64bits(v)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
