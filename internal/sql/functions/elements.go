package functions

import (
	"bytes"
	"cmp"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// same reports whether two values of one type are equal: NULLs are, numbers as numbers are,
// so that NaN is equal to none.
func same(a *batch.Column, i int, b *batch.Column, j int) bool {
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) && b.IsNull(j)
	}
	switch a.Layout {
	case batch.Bools:
		return a.Bool[i] == b.Bool[j]
	case batch.Float32s:
		return a.F32[i] == b.F32[j]
	case batch.Float64s:
		return a.F64[i] == b.F64[j]
	case batch.Int128s:
		return a.I128[i] == b.I128[j]
	case batch.Moments:
		return a.I64[i] == b.I64[j] && a.Nanos(i) == b.Nanos(j)
	case batch.ByteSlices:
		return bytes.Equal(a.Bytes(i), b.Bytes(j))
	case batch.Lists:
		return sameElements(a, i, b, j)
	case batch.Maps:
		return sameMaps(a, i, b, j)
	case batch.Structs:
		for k := range a.Children {
			if !same(a.Children[k], i, b.Children[k], j) {
				return false
			}
		}
		return true
	}
	return intAt(a, i) == intAt(b, j)
}

func sameElements(a *batch.Column, i int, b *batch.Column, j int) bool {
	fromA, toA := a.Span(i)
	fromB, toB := b.Span(j)
	if toA-fromA != toB-fromB {
		return false
	}
	for k := range toA - fromA {
		if !same(a.Children[0], fromA+k, b.Children[0], fromB+k) {
			return false
		}
	}
	return true
}

// sameMaps compares maps whatever the order of their keys.
func sameMaps(a *batch.Column, i int, b *batch.Column, j int) bool {
	fromA, toA := a.Span(i)
	fromB, toB := b.Span(j)
	if toA-fromA != toB-fromB {
		return false
	}
	for k := fromA; k < toA; k++ {
		n := find(b.Children[0], fromB, toB, a.Children[0], k)
		if n < 0 || !same(a.Children[1], k, b.Children[1], n) {
			return false
		}
	}
	return true
}

// find is where a value is among those of a column; -1 if nowhere.
func find(c *batch.Column, from, to int, v *batch.Column, i int) int {
	for k := from; k < to; k++ {
		if same(c, k, v, i) {
			return k
		}
	}
	return -1
}

// compare orders two values that are not NULL, NaN behind all numbers.
func compare(a *batch.Column, i int, b *batch.Column, j int) int {
	switch a.Layout {
	case batch.Bools:
		return int(bit(a.Bool[i])) - int(bit(b.Bool[j]))
	case batch.Float32s:
		return compareFloats(float64(a.F32[i]), float64(b.F32[j]))
	case batch.Float64s:
		return compareFloats(a.F64[i], b.F64[j])
	case batch.Int128s:
		return decimal.Compare(a.I128[i], b.I128[j])
	case batch.Moments:
		return cmp.Or(cmp.Compare(a.I64[i], b.I64[j]), cmp.Compare(a.Nanos(i), b.Nanos(j)))
	case batch.ByteSlices:
		return bytes.Compare(a.Bytes(i), b.Bytes(j))
	}
	return cmp.Compare(intAt(a, i), intAt(b, j))
}

func bit(b bool) int8 {
	if b {
		return 1
	}
	return 0
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1 // b is NaN
	case b == b:
		return 1
	}
	return 0
}

// ordered reports whether values of a type can be sorted.
func ordered(t types.Type) bool {
	k := t.Kind
	return k.IsNumeric() || k.IsText() || k.IsBinary() || k.IsDatetime()
}
