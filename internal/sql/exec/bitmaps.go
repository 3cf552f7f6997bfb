package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/roaring"
	"github.com/weirstream/weir/types"
)

func init() {
	define(func(*plan.AggregateCall) []types.Type { return []types.Type{types.Of(types.Bitmap)} }, newBitmaps,
		"BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG", "BITMAP_AND_AGG", "BITMAP_AND_CARDINALITY_AGG", "BITMAP_OR_AGG", "BITMAP_OR_CARDINALITY_AGG", "BITMAP_XOR_AGG", "BITMAP_XOR_CARDINALITY_AGG")
}

// bitmaps combines sets of numbers, or makes them of numbers. A group without any is NULL.
type bitmaps struct {
	op     roaring.Op
	counts bool // the result is how many numbers there are
	sets   [][]byte
	// fresh are numbers of each group that are not in its set yet.
	fresh   [][]uint32
	scratch []uint32
}

func newBitmaps(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 {
		return nil, fmt.Errorf("%d arguments, want 1", len(c.ArgTypes))
	}
	a := &bitmaps{op: roaring.Or, counts: strings.HasSuffix(c.Function, "_CARDINALITY_AGG")}
	want := types.Bitmap
	switch {
	case strings.HasPrefix(c.Function, "BITMAP_AND_"):
		a.op = roaring.And
	case strings.HasPrefix(c.Function, "BITMAP_XOR_"):
		a.op = roaring.Xor
	case strings.HasPrefix(c.Function, "BITMAP_BUILD_"):
		want = types.Int
	}
	if c.ArgTypes[0].Kind != want {
		return nil, fmt.Errorf("of %v: want %v", c.ArgTypes[0], want)
	}
	return a, nil
}

func (a *bitmaps) grow(n int) { a.sets, a.fresh = grown(a.sets, n), grown(a.fresh, n) }

func (a *bitmaps) update(groups []int32, args []*batch.Column, rows []int32) {
	c := args[0]
	for r, g := range groups {
		switch i := at(rows, r); {
		case c.IsNull(i):
		case c.Layout == batch.Int32s:
			if a.fresh[g] = append(a.fresh[g], uint32(c.I32[i])); len(a.fresh[g]) >= 4096 {
				a.settle(g)
			}
		default:
			a.combine(g, c.Bytes(i))
		}
	}
}

// settle puts a group's fresh numbers into its set.
func (a *bitmaps) settle(g int32) {
	if n := a.fresh[g]; len(n) > 0 {
		slices.Sort(n)
		a.combine(g, roaring.Append(nil, slices.Compact(n)))
		a.fresh[g] = n[:0]
	}
}

func (a *bitmaps) combine(g int32, set []byte) {
	if a.sets[g] == nil {
		a.sets[g] = append([]byte{}, set...)
		return
	}
	a.scratch = roaring.Combine(a.scratch[:0], a.op, a.sets[g], set)
	a.sets[g] = roaring.Append(a.sets[g][:0], a.scratch)
}

func (a *bitmaps) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		if !states[0].IsNull(r) {
			a.combine(g, states[0].Bytes(r))
		}
	}
}

func (a *bitmaps) states(out []*batch.Column, from, to int) {
	for g := from; g < to; g++ {
		if a.settle(int32(g)); a.sets[g] == nil {
			out[0].AppendNull()
		} else {
			out[0].AppendBytes(a.sets[g])
		}
	}
}

func (a *bitmaps) results(out *batch.Column, from, to int) {
	if !a.counts {
		a.states([]*batch.Column{out}, from, to)
		return
	}
	for g := from; g < to; g++ {
		if a.settle(int32(g)); a.sets[g] == nil {
			out.AppendNull()
		} else {
			batch.Append(out, roaring.Count(a.sets[g]))
		}
	}
}

func (a *bitmaps) size() int {
	n := 4 * cap(a.scratch)
	for g := range a.sets {
		n += 48 + cap(a.sets[g]) + 4*cap(a.fresh[g])
	}
	return n
}

func (a *bitmaps) clear() { a.sets, a.fresh = nil, nil }
