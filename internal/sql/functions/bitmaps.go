package functions

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/roaring"
	"github.com/weirstream/weir/types"
)

// bitmaps are the functions of sets of 32-bit numbers, kept as Roaring bitmaps.
func bitmaps() []*expr.Function {
	bitmap := types.Of(types.Bitmap)
	two := func(name, doc string, op roaring.Op) *expr.Function {
		return bound(name, "bitmap", name+"(a, b)", doc, giving("kk", as(bitmap)), func(*expr.Bound) (expr.Kernel, error) {
			var numbers []uint32
			return appending(func(dst []byte, r row) ([]byte, bool) {
				numbers = roaring.Combine(numbers[:0], op, r.bytes(0), r.bytes(1))
				return roaring.Append(dst, numbers), true
			}), nil
		})
	}
	return []*expr.Function{
		two("BITMAP_AND", "The numbers in both.", roaring.And), two("BITMAP_OR", "The numbers in either.", roaring.Or),
		two("BITMAP_XOR", "The numbers in one of both.", roaring.Xor), two("BITMAP_ANDNOT", "The numbers in the first only.", roaring.AndNot),
		bound("BITMAP_BUILD", "bitmap", "BITMAP_BUILD(array)", "The set of an array's numbers.", inferBitmap, buildBitmap),
		function("BITMAP_CARDINALITY", "bitmap", "BITMAP_CARDINALITY(b)", "How many numbers there are.", giving("k", as(long)), computing(func(r row) (int64, bool) { return roaring.Count(r.bytes(0)), true })),
		function("BITMAP_TO_ARRAY", "bitmap", "BITMAP_TO_ARRAY(b)", "The numbers, ascending without sign.", giving("k", as(types.ArrayOf(integer))), listing(func(out *batch.Column, r row) bool {
			for v := range roaring.All(r.bytes(0)) {
				batch.Append(out, int32(v))
			}
			return true
		})),
		function("BITMAP_TO_STRING", "bitmap", "BITMAP_TO_STRING(b)", "The numbers as {1,2,3}.", giving("k", as(text)), appending(func(dst []byte, r row) ([]byte, bool) { return roaring.AppendText(dst, r.bytes(0)), true })),
		function("BITMAP_TO_BYTES", "bitmap", "BITMAP_TO_BYTES(b)", "The set in the portable format.", giving("k", as(octets)), slicing(func(r row) ([]byte, bool) { return r.bytes(0), true })),
		function("BITMAP_FROM_BYTES", "bitmap", "BITMAP_FROM_BYTES(bytes)", "The set that bytes in the portable format are.", giving("b!", as(bitmap)), failing(func(dst []byte, r row) ([]byte, bool, error) {
			return append(dst, r.bytes(0)...), true, roaring.Check(r.bytes(0))
		})),
	}
}

func inferBitmap(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 1 && s.Kind(0) == types.Null {
		s.Args[0] = expr.Null(types.ArrayOf(integer), s.Args[0].Span())
	}
	if _, err := giving("a", like0)(s); err != nil {
		return types.Type{}, err
	}
	if !aInt.takes(s.Type(0).Elem.Kind) {
		return types.Type{}, s.NoMatch("an ARRAY of INT")
	}
	return types.Of(types.Bitmap).WithNull(s.Nullable()), nil
}

func buildBitmap(*expr.Bound) (expr.Kernel, error) {
	var numbers []uint32
	return appending(func(dst []byte, r row) ([]byte, bool) {
		c := r.args[0].Children[0]
		from, to := r.args[0].Span(r.i)
		numbers = numbers[:0]
		for k := from; k < to; k++ {
			if !c.IsNull(k) {
				numbers = append(numbers, uint32(intAt(c, k)))
			}
		}
		slices.Sort(numbers)
		return roaring.Append(dst, slices.Compact(numbers)), true
	}), nil
}
