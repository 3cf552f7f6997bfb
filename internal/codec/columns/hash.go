package columns

import (
	"math"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// nullHash is the hash of NULL: no more than any other number.
const nullHash = 0x9e3779b97f4a7c15

// Hash gives the hash of the columns keys of each row that counts, in their order,
// after dst. Whoever owns a row's key group is found by it, so it never changes: equal
// keys have equal hashes, whole numbers whatever their size, 0.0 and -0.0 too, and all
// that are not a number.
func Hash(dst []uint64, b *batch.Columns, keys []int) []uint64 {
	at := len(dst)
	for range b.Len() {
		dst = append(dst, 0)
	}
	for k, key := range keys {
		hashColumn(dst[at:], b.Cols[key], b.Sel, k == 0)
	}
	return dst
}

// hashColumn mixes the hashes of a column's values into hashes.
func hashColumn(hashes []uint64, c *batch.Column, rows []int32, first bool) {
	switch {
	case c.Layout == batch.Int64s && c.Valid == nil && rows == nil && first:
		for i := range hashes {
			hashes[i] = keygroup.HashInt(uint64(c.I64[i]))
		}
		return
	case c.Layout == batch.ByteSlices && c.Valid == nil && rows == nil && first:
		for i := range hashes {
			hashes[i] = keygroup.HashBytes(c.Data[c.Offsets[i]:c.Offsets[i+1]])
		}
		return
	}
	for k := range hashes {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		h := hashValue(c, i)
		if !first {
			h = mix(hashes[k], h)
		}
		hashes[k] = h
	}
}

func mix(a, b uint64) uint64 { return keygroup.HashInt(a*31 + b) }

// hashValue is the hash of value i.
func hashValue(c *batch.Column, i int) uint64 {
	if c.IsNull(i) {
		return nullHash
	}
	switch c.Layout {
	case batch.Bools:
		if c.Bool[i] {
			return keygroup.HashInt(1)
		}
		return keygroup.HashInt(0)
	case batch.Int8s:
		return keygroup.HashInt(uint64(int64(c.I8[i])))
	case batch.Int16s:
		return keygroup.HashInt(uint64(int64(c.I16[i])))
	case batch.Int32s:
		return keygroup.HashInt(uint64(int64(c.I32[i])))
	case batch.Int64s:
		return keygroup.HashInt(uint64(c.I64[i]))
	case batch.Int128s:
		v := c.I128[i]
		if v.Hi == int64(v.Lo)>>63 {
			return keygroup.HashInt(v.Lo)
		}
		return mix(keygroup.HashInt(uint64(v.Hi)), v.Lo)
	case batch.Float32s:
		return hashFloat(float64(c.F32[i]))
	case batch.Float64s:
		return hashFloat(c.F64[i])
	case batch.Moments:
		h := keygroup.HashInt(uint64(c.I64[i]))
		if nanos := c.Nanos(i); nanos != 0 {
			h = mix(h, uint64(nanos))
		}
		return h
	case batch.ByteSlices:
		return keygroup.HashBytes(c.Bytes(i))
	}
	return hashNested(c, i)
}

func hashFloat(v float64) uint64 {
	switch {
	case v == 0:
		v = 0
	case v != v:
		v = math.NaN()
	}
	return keygroup.HashInt(math.Float64bits(v))
}

// hashNested is the hash of a collection or a row.
func hashNested(c *batch.Column, i int) uint64 {
	from, to := i, i+1
	if c.Layout != batch.Structs {
		from, to = c.Span(i)
	}
	h := keygroup.HashInt(uint64(to - from))
	for _, child := range c.Children {
		for j := from; j < to; j++ {
			h = mix(h, hashValue(child, j))
		}
	}
	return h
}
