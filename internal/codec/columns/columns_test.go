package columns

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// allTypes has a column of every layout.
var allTypes = []types.Type{
	types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
	types.DecimalOf(38, 2), types.Of(types.Float), types.Of(types.Double), types.TimestampOf(3), types.TimestampOf(9),
	types.String(), types.ArrayOf(types.String()), types.MapOf(types.String(), types.Of(types.Int)),
	types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b", Type: types.ArrayOf(types.Of(types.Double))}),
	types.Of(types.Null),
}

func shape() (all []*batch.Column) {
	for _, t := range allTypes {
		all = append(all, batch.NewColumn(t))
	}
	return all
}

// fill adds a random value, now and then NULL.
func fill(r *rand.Rand, c *batch.Column) {
	if c.Layout == batch.Nothing || r.IntN(5) == 0 {
		c.AppendNull()
		return
	}
	switch c.Layout {
	case batch.Bools:
		batch.Append(c, r.IntN(2) == 0)
	case batch.Int8s:
		batch.Append(c, int8(r.Uint32()))
	case batch.Int16s:
		batch.Append(c, int16(r.Uint32()))
	case batch.Int32s:
		batch.Append(c, int32(r.Uint32()))
	case batch.Int64s:
		batch.Append(c, int64(r.Uint64()))
	case batch.Int128s:
		batch.Append(c, batch.Int128{Hi: int64(r.Uint64()), Lo: r.Uint64()})
	case batch.Float32s:
		batch.Append(c, r.Float32())
	case batch.Float64s:
		batch.Append(c, r.Float64())
	case batch.Moments:
		c.AppendMoment(r.Int64(), r.Int32N(1_000_000))
	case batch.ByteSlices:
		c.AppendBytes(make([]byte, r.IntN(20)))
	case batch.Lists, batch.Maps:
		for range r.IntN(4) {
			for _, child := range c.Children {
				fill(r, child)
			}
		}
		c.EndCollection()
	case batch.Structs:
		for _, child := range c.Children {
			fill(r, child)
		}
		c.EndRow()
	}
}

func random(r *rand.Rand, n int) *batch.Columns {
	b := &batch.Columns{N: n, Cols: shape()}
	for _, c := range b.Cols {
		for range n {
			fill(r, c)
		}
	}
	if r.IntN(2) == 0 {
		for range n {
			b.TS = append(b.TS, r.Int64())
			b.Kind = append(b.Kind, batch.RowKind(r.IntN(4)))
		}
	}
	if r.IntN(2) == 0 {
		b.Sel = []int32{}
		for i := range n {
			if r.IntN(3) == 0 {
				b.Sel = append(b.Sel, int32(i))
			}
		}
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		b := random(r, r.IntN(200))
		got, err := Decode(Append(nil, b), shape())
		if err != nil {
			t.Fatal(err)
		}
		want := b.Compact()
		if got.N != want.N || !reflect.DeepEqual(append([]int64{}, got.TS...), append([]int64{}, want.TS...)) ||
			!reflect.DeepEqual(append([]batch.RowKind{}, got.Kind...), append([]batch.RowKind{}, want.Kind...)) {
			t.Fatalf("rows, times or kinds: got %d %v %v, want %d %v %v", got.N, got.TS, got.Kind, want.N, want.TS, want.Kind)
		}
		for i := range want.Cols {
			for k := range want.N {
				if !same(got.Cols[i], k, want.Cols[i], k) {
					t.Fatalf("column %s, row %d differs", allTypes[i], k)
				}
			}
		}
	}
}

// same compares two values.
func same(a *batch.Column, i int, b *batch.Column, k int) bool {
	if a.IsNull(i) || b.IsNull(k) {
		return a.IsNull(i) && b.IsNull(k)
	}
	x, y := a.Rows([]int32{int32(i)}), b.Rows([]int32{int32(k)})
	switch a.Layout {
	case batch.Moments:
		return x.I64[0] == y.I64[0] && x.Nanos(0) == y.Nanos(0)
	case batch.Lists, batch.Maps, batch.Structs:
		if a.Layout != batch.Structs && x.Offsets[1] != y.Offsets[1] {
			return false
		}
		for c := range x.Children {
			for j := range x.Children[c].Len {
				if !same(x.Children[c], j, y.Children[c], j) {
					return false
				}
			}
		}
		return true
	}
	x.Valid, y.Valid = nil, nil
	return string(Append(nil, &batch.Columns{N: 1, Cols: []*batch.Column{x}})) == string(Append(nil, &batch.Columns{N: 1, Cols: []*batch.Column{y}}))
}

func TestSlicedCollections(t *testing.T) {
	c := batch.NewColumn(types.ArrayOf(types.String()))
	for _, list := range [][]string{{"a", "b"}, {}, {"c"}} {
		for _, v := range list {
			c.Children[0].AppendBytes([]byte(v))
		}
		c.EndCollection()
	}
	tail := &batch.Column{Layout: batch.Lists, Len: 2, Offsets: c.Offsets[1:], Children: c.Children}
	got, err := Decode(Append(nil, &batch.Columns{N: 2, Cols: []*batch.Column{tail}}), []*batch.Column{c})
	if err != nil {
		t.Fatal(err)
	}
	if from, to := got.Cols[0].Span(1); from != 0 || to != 1 || string(got.Cols[0].Children[0].Bytes(0)) != "c" {
		t.Errorf("the last list is [%d,%d) of %q", from, to, got.Cols[0].Children[0].Data)
	}
}

func TestDecodeRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := Append(nil, random(r, 70))
	for n := range whole {
		if _, err := Decode(whole[:n], shape()); err == nil {
			t.Fatalf("the first %d of %d bytes are a batch", n, len(whole))
		}
	}
	if _, err := Decode(append(whole, 0), shape()); err == nil {
		t.Error("a byte too many is accepted")
	}
	if _, err := Decode(whole, shape()[1:]); err == nil {
		t.Error("other columns are accepted")
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		f.Add(Append(nil, random(r, 20)))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		b, err := Decode(src, shape())
		if err != nil {
			return
		}
		again, err := Decode(Append(nil, b), shape())
		if err != nil || again.N != b.N {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
	})
}

func TestHashOfEqualKeys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	b := random(r, 100)
	keys := make([]int, len(b.Cols))
	for i := range keys {
		keys[i] = i
	}
	want := Hash(nil, b, keys)
	got := Hash(nil, b.Compact(), keys)
	if !reflect.DeepEqual(append([]uint64{}, got...), append([]uint64{}, want...)) {
		t.Error("a selection changes hashes")
	}
	zero := math.Copysign(0, -1)
	doubles := batch.Columns{N: 4, Cols: []*batch.Column{{Layout: batch.Float64s, Len: 4,
		F64: []float64{0, zero, math.NaN(), math.Float64frombits(math.Float64bits(math.NaN()) ^ 1)}}}}
	h := Hash(nil, &doubles, []int{0})
	if h[0] != h[1] || h[2] != h[3] || h[0] == h[2] {
		t.Errorf("hashes of 0.0, -0.0 and two that are no number: %x", h)
	}
	small := batch.Columns{N: 1, Cols: []*batch.Column{{Layout: batch.Int16s, Len: 1, I16: []int16{-7}}}}
	large := batch.Columns{N: 1, Cols: []*batch.Column{{Layout: batch.Int64s, Len: 1, I64: []int64{-7}}}}
	if Hash(nil, &small, []int{0})[0] != Hash(nil, &large, []int{0})[0] {
		t.Error("a whole number's hash depends on its size")
	}
}
