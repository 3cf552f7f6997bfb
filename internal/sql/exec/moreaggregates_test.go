package exec

import (
	"math"
	"slices"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/roaring"
	"github.com/weirstream/weir/types"
)

// aggregated gives the result of one group of rows: computed in one accumulator, and by
// the states of two in a third. Both must be the same.
func aggregated(t *testing.T, call plan.AggregateCall, args ...*batch.Column) string {
	t.Helper()
	fresh := func() accumulator {
		a, err := newAccumulator(&call)
		if err != nil {
			t.Fatal(err)
		}
		a.grow(1)
		return a
	}
	result := func(a accumulator) string {
		out := batch.NewColumn(call.Type)
		a.results(out, 0, 1)
		return expr.Display(call.Type, out, 0)
	}
	n := args[0].Len
	whole, merged := fresh(), fresh()
	whole.update(make([]int32, n), args, nil)
	for _, half := range [][2]int{{0, n / 2}, {n / 2, n}} {
		part := fresh()
		var rows []int32
		for i := half[0]; i < half[1]; i++ {
			rows = append(rows, int32(i))
		}
		if len(rows) > 0 {
			part.update(make([]int32, len(rows)), args, rows)
		}
		var states []*batch.Column
		for _, s := range aggregates[call.Function].state(&call) {
			states = append(states, batch.NewColumn(s))
		}
		part.states(states, 0, 1)
		merged.merge([]int32{0}, states)
	}
	got := result(whole)
	if other := result(merged); other != got {
		t.Errorf("%s: %s in one, %s in parts", call.Function, got, other)
	}
	return got
}

func columnOf[T batch.Fixed](t types.Type, values ...T) *batch.Column {
	c := batch.NewColumn(t)
	c.AppendNull()
	for _, v := range values {
		batch.Append(c, v)
	}
	return c
}

func textsOf(values ...string) *batch.Column {
	c := batch.NewColumn(types.String())
	c.AppendNull()
	for _, v := range values {
		c.AppendBytes([]byte(v))
	}
	return c
}

func TestPercentile(t *testing.T) {
	double := types.Of(types.Double)
	call := plan.AggregateCall{Function: "PERCENTILE", ArgTypes: []types.Type{double, double}, Type: double}
	values := columnOf(double, 4.0, 1, 2, 2)
	if got := aggregated(t, call, values, columnOf(double, 0.5, 0.5, 0.5, 0.5)); got != "2.0" {
		t.Errorf("median %s", got)
	}
	if got := aggregated(t, call, values, columnOf(double, 0.9, 0.9, 0.9, 0.9)); got != "3.3999999999999995" && got != "3.4000000000000004" {
		t.Errorf("nine tenths %s", got)
	}
	weighted := call
	weighted.ArgTypes = append(weighted.ArgTypes, types.Of(types.BigInt))
	if got := aggregated(t, weighted, values, columnOf(double, 0.5, 0.5, 0.5, 0.5), columnOf[int64](types.Of(types.BigInt), 9, 1, 0, -1)); got != "4.0" {
		t.Errorf("with weights %s", got)
	}
	if got := aggregated(t, call, columnOf[float64](double), columnOf[float64](double)); got != "NULL" {
		t.Errorf("of nothing %s", got)
	}
}

func TestApproximateCount(t *testing.T) {
	bigints := types.Of(types.BigInt)
	call := plan.AggregateCall{Function: "APPROX_COUNT_DISTINCT", ArgTypes: []types.Type{bigints}, Type: bigints}
	if got := aggregated(t, call, columnOf[int64](bigints, 5, 7, 5)); got != "2" {
		t.Errorf("of two: %s", got)
	}
	var s sketch
	keys := newKeyer([]int{0}, []types.Type{bigints}, grouping, nil)
	c := columnOf[int64](bigints)
	for i := range int64(100_000) {
		batch.Append(c, i)
	}
	keys.of(&batch.Columns{N: c.Len, Cols: []*batch.Column{c}})
	for _, h := range keys.hashes[1:] {
		s.add(h)
	}
	if n := s.count(); math.Abs(float64(n)-100_000) > 3000 {
		t.Errorf("of 100,000: %d", n)
	}
}

func TestBitmapAggregates(t *testing.T) {
	bitmap, integer := types.Of(types.Bitmap), types.Of(types.Int)
	build := plan.AggregateCall{Function: "BITMAP_BUILD_AGG", ArgTypes: []types.Type{integer}, Type: bitmap}
	a, _ := newAccumulator(&build)
	a.grow(1)
	c := columnOf[int32](integer, 3, 1, 3, -1)
	a.update(make([]int32, c.Len), []*batch.Column{c}, nil)
	out := batch.NewColumn(bitmap)
	a.results(out, 0, 1)
	if got := slices.Collect(roaring.All(out.Bytes(0))); !slices.Equal(got, []uint32{1, 3, math.MaxUint32}) {
		t.Errorf("built %v", got)
	}
	sets := batch.NewColumn(bitmap)
	sets.AppendNull()
	for _, s := range [][]uint32{{1, 2, 3}, {2, 3, 4}, {3, 9}} {
		sets.AppendBytes(roaring.Append(nil, s))
	}
	for f, want := range map[string]string{"BITMAP_AND_CARDINALITY_AGG": "1", "BITMAP_OR_CARDINALITY_AGG": "5", "BITMAP_XOR_CARDINALITY_AGG": "4"} {
		if got := aggregated(t, plan.AggregateCall{Function: f, ArgTypes: []types.Type{bitmap}, Type: types.Of(types.BigInt)}, sets); got != want {
			t.Errorf("%s: %s, want %s", f, got, want)
		}
	}
}

func TestJSONAggregates(t *testing.T) {
	call := plan.AggregateCall{ArgTypes: []types.Type{types.String()}, Type: types.String()}
	for f, want := range map[string]string{"JSON_ARRAYAGG_NULL_ON_NULL": `[null,"a":1,"b\"":2]`, "JSON_ARRAYAGG_ABSENT_ON_NULL": `["a":1,"b\"":2]`} {
		call.Function = f
		if got := aggregated(t, call, textsOf(`"a":1`, `"b\"":2`)); got != want {
			t.Errorf("%s: %s, want %s", f, got, want)
		}
	}
	call.Function = "JSON_OBJECTAGG_ABSENT_ON_NULL"
	if got, want := aggregated(t, call, textsOf(`"b\"":2`, `"a":1`)), `{"a":1,"b\"":2}`; got != want {
		t.Errorf("the members are %s, want %s", got, want)
	}
	if n := keyEnd([]byte(`"b\"":2`)); n != 5 {
		t.Errorf("the key ends at %d", n)
	}
}
