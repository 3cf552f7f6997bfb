package exec

import (
	"bytes"
	"cmp"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
)

// compareValues orders two values of one type, neither NULL: numbers by value, with
// those that are none at the end; texts by their bytes; collections by their elements.
func compareValues(a *batch.Column, i int, b *batch.Column, k int) int {
	switch a.Layout {
	case batch.Bools:
		return compareBools(a.Bool[i], b.Bool[k])
	case batch.Int8s:
		return cmp.Compare(a.I8[i], b.I8[k])
	case batch.Int16s:
		return cmp.Compare(a.I16[i], b.I16[k])
	case batch.Int32s:
		return cmp.Compare(a.I32[i], b.I32[k])
	case batch.Int64s:
		return cmp.Compare(a.I64[i], b.I64[k])
	case batch.Int128s:
		return decimal.Compare(a.I128[i], b.I128[k])
	case batch.Float32s:
		return compareFloats(float64(a.F32[i]), float64(b.F32[k]))
	case batch.Float64s:
		return compareFloats(a.F64[i], b.F64[k])
	case batch.Moments:
		if order := cmp.Compare(a.I64[i], b.I64[k]); order != 0 {
			return order
		}
		return cmp.Compare(a.Nanos(i), b.Nanos(k))
	case batch.ByteSlices:
		return bytes.Compare(a.Bytes(i), b.Bytes(k))
	case batch.Structs:
		for c := range a.Children {
			if order := compareNullable(a.Children[c], i, b.Children[c], k); order != 0 {
				return order
			}
		}
		return 0
	case batch.Lists, batch.Maps:
		return compareCollections(a, i, b, k)
	}
	return 0
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareFloats puts what is no number after all that are.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}

// compareNullable puts NULL before all others.
func compareNullable(a *batch.Column, i int, b *batch.Column, k int) int {
	switch x, y := a.IsNull(i), b.IsNull(k); {
	case x && y:
		return 0
	case x:
		return -1
	case y:
		return 1
	}
	return compareValues(a, i, b, k)
}

func compareCollections(a *batch.Column, i int, b *batch.Column, k int) int {
	from, to := a.Span(i)
	other, end := b.Span(k)
	for ; from < to && other < end; from, other = from+1, other+1 {
		for c := range a.Children {
			if order := compareNullable(a.Children[c], from, b.Children[c], other); order != 0 {
				return order
			}
		}
	}
	return cmp.Compare(to-from, end-other)
}
