package batch

import (
	"testing"

	"github.com/weirstream/weir/types"
)

func TestAppendFromCopiesAnyLayout(t *testing.T) {
	row := types.RowOf(types.Field{Name: "a", Type: types.ArrayOf(types.String())}, types.Field{Name: "b", Type: types.TimestampOf(9)})
	src := NewColumn(row)
	for i := range 3 {
		src.appendValid(true)
		list, moment := src.Children[0], src.Children[1]
		list.Children[0].AppendBytes([]byte("xy"))
		list.Children[0].AppendNull()
		list.Offsets = append(list.Offsets, int32(list.Children[0].Len))
		list.Len++
		moment.AppendMoment(int64(i), int32(i))
		src.Len++
	}
	src.AppendNull()
	dst := NewColumn(row)
	for range 2 {
		dst.Reset(0)
		for i := 3; i >= 0; i-- {
			dst.AppendFrom(src, i)
		}
		if dst.Len != 4 || !dst.IsNull(0) || dst.IsNull(1) {
			t.Fatalf("%d rows, first NULL: %v, second: %v", dst.Len, dst.IsNull(0), dst.IsNull(1))
		}
		list, moment := dst.Children[0], dst.Children[1]
		from, to := list.Span(1)
		if !list.IsNull(0) || to-from != 2 || string(list.Children[0].Bytes(from)) != "xy" || !list.Children[0].IsNull(from+1) {
			t.Error("the list of row 1")
		}
		if moment.I64[1] != 2 || moment.Nanos(1) != 2 {
			t.Error("the timestamp of row 1")
		}
	}
}

func TestAppendNullsPastAWord(t *testing.T) {
	c := NewColumn(types.Of(types.BigInt))
	for i := range 200 {
		if i%3 == 0 {
			c.AppendNull()
			continue
		}
		c.appendValid(true)
		c.I64 = append(c.I64, int64(i))
		c.Len++
	}
	for i := range 200 {
		if c.IsNull(i) != (i%3 == 0) {
			t.Fatalf("value %d", i)
		}
	}
}

func TestResetKeepsMemory(t *testing.T) {
	c := NewColumn(types.Of(types.BigInt))
	c.Reset(100)
	c.SetNull(3)
	if n := testing.AllocsPerRun(10, func() { c.Reset(100); c.SetNull(5) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c.IsNull(3) || !c.IsNull(5) {
		t.Error("only value 5 is NULL")
	}
}
