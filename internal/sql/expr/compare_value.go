package expr

import (
	"bytes"
	"cmp"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// CompareValues orders value i of x and value j of y, both of type t and not NULL. It is
// a total order: NaN is the greatest number and equal to itself, and -0.0 is less than
// 0.0. Collections and rows are compared part by part, NULL first.
func CompareValues(t types.Type, x *batch.Column, i int, y *batch.Column, j int) int {
	switch batch.LayoutOf(t) {
	case batch.Bools:
		switch {
		case x.Bool[i] == y.Bool[j]:
			return 0
		case y.Bool[j]:
			return -1
		}
		return 1
	case batch.Int8s:
		return cmp.Compare(x.I8[i], y.I8[j])
	case batch.Int16s:
		return cmp.Compare(x.I16[i], y.I16[j])
	case batch.Int32s:
		return cmp.Compare(x.I32[i], y.I32[j])
	case batch.Int64s:
		return cmp.Compare(x.I64[i], y.I64[j])
	case batch.Int128s:
		return decimal.Compare(x.I128[i], y.I128[j])
	case batch.Float32s:
		return compareFloats(float64(x.F32[i]), float64(y.F32[j]))
	case batch.Float64s:
		return compareFloats(x.F64[i], y.F64[j])
	case batch.Moments:
		return cmp.Or(cmp.Compare(x.I64[i], y.I64[j]), cmp.Compare(x.Nanos(i), y.Nanos(j)))
	case batch.ByteSlices:
		return bytes.Compare(x.Bytes(i), y.Bytes(j))
	}
	return compareParts(t, x, i, y, j)
}

func compareParts(t types.Type, x *batch.Column, i int, y *batch.Column, j int) int {
	switch batch.LayoutOf(t) {
	case batch.Lists, batch.Maps:
		from, to := x.Span(i)
		other, end := y.Span(j)
		for ; from < to && other < end; from, other = from+1, other+1 {
			for k := range x.Children {
				if c := compareNullable(part(t, k), x.Children[k], from, y.Children[k], other); c != 0 {
					return c
				}
			}
		}
		return cmp.Compare(to-from, end-other)
	case batch.Structs:
		for k := range x.Children {
			if c := compareNullable(part(t, k), x.Children[k], i, y.Children[k], j); c != 0 {
				return c
			}
		}
	}
	return 0
}

func compareNullable(t types.Type, x *batch.Column, i int, y *batch.Column, j int) int {
	switch a, b := x.IsNull(i), y.IsNull(j); {
	case a && b:
		return 0
	case a:
		return -1
	case b:
		return 1
	}
	return CompareValues(t, x, i, y, j)
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return cmp.Compare(rank(a), rank(b))
}

// rank orders numbers that are neither less nor greater than one another.
func rank(v float64) int {
	switch {
	case v != v:
		return 2
	case v == 0 && 1/v < 0:
		return 0
	}
	return 1
}

// SameValue reports whether value i of x and value j of y, both of type t and not NULL,
// are equal as = has it; parts that are NULL are equal. Maps are equal whatever the
// order of their entries.
func SameValue(t types.Type, x *batch.Column, i int, y *batch.Column, j int) bool {
	switch batch.LayoutOf(t) {
	case batch.Float32s:
		return x.F32[i] == y.F32[j]
	case batch.Float64s:
		return x.F64[i] == y.F64[j]
	case batch.Lists:
		from, to := x.Span(i)
		other, end := y.Span(j)
		if to-from != end-other {
			return false
		}
		for k := range to - from {
			if !samePart(*t.Elem, x.Children[0], from+k, y.Children[0], other+k) {
				return false
			}
		}
		return true
	case batch.Maps:
		return sameMap(t, x, i, y, j)
	case batch.Structs:
		for k, f := range t.Fields {
			if !samePart(f.Type, x.Children[k], i, y.Children[k], j) {
				return false
			}
		}
		return true
	}
	return CompareValues(t, x, i, y, j) == 0
}

func samePart(t types.Type, x *batch.Column, i int, y *batch.Column, j int) bool {
	if x.IsNull(i) || y.IsNull(j) {
		return x.IsNull(i) == y.IsNull(j)
	}
	return SameValue(t, x, i, y, j)
}

func sameMap(t types.Type, x *batch.Column, i int, y *batch.Column, j int) bool {
	from, to := x.Span(i)
	other, end := y.Span(j)
	if to-from != end-other {
		return false
	}
	for k := from; k < to; k++ {
		found := false
		for l := other; l < end && !found; l++ {
			found = samePart(part(t, 0), x.Children[0], k, y.Children[0], l) && samePart(part(t, 1), x.Children[1], k, y.Children[1], l)
		}
		if !found {
			return false
		}
	}
	return true
}

// Parts are the types of a column's children: the element of an ARRAY, the key and
// value of a MAP, the element and count of a MULTISET, the fields of a ROW.
func Parts(t types.Type) []types.Type {
	switch t.Kind {
	case types.Array:
		return []types.Type{*t.Elem}
	case types.Map:
		return []types.Type{*t.Key, *t.Elem}
	case types.Multiset:
		return []types.Type{*t.Elem, count}
	}
	parts := make([]types.Type, len(t.Fields))
	for i, f := range t.Fields {
		parts[i] = f.Type
	}
	return parts
}

// count is the type of a MULTISET's counts.
var count = types.Of(types.Int).NotNull()

// part is the type of a column's child k, without making a list of all.
func part(t types.Type, k int) types.Type {
	switch {
	case t.Kind.IsComposite():
		return t.Fields[k].Type
	case k == 0 && t.Kind == types.Map:
		return *t.Key
	case k == 1 && t.Kind == types.Multiset:
		return count
	}
	return *t.Elem
}
