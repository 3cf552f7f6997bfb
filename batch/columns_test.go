package batch

import "testing"

func TestColumnNulls(t *testing.T) {
	c := &Column{Layout: Int32s, Len: 70, I32: make([]int32, 70)}
	if c.IsNull(69) {
		t.Error("a column without bitmap has no NULL")
	}
	c.SetNull(69)
	if !c.IsNull(69) || c.IsNull(0) || c.IsNull(68) {
		t.Error("only value 69 is NULL")
	}
	if got := c.Valid.And(nil); !got.Get(68) || got.Get(69) {
		t.Error("nil has all bits set")
	}
	b := NewBitmap(70)
	b.Set(68)
	b.Set(69)
	if got := c.Valid.And(b); got.Get(0) || !got.Get(68) || got.Get(69) {
		t.Error("and")
	}
}

func TestColumnBytes(t *testing.T) {
	c := &Column{Layout: ByteSlices, Len: 2, Offsets: []int32{0, 1, 3}, Data: []byte("abc")}
	if string(c.Bytes(1)) != "bc" || (&Columns{N: 2, Cols: []*Column{c}, Sel: []int32{1}}).Len() != 1 {
		t.Error("bytes or selection")
	}
	if from, to := c.Span(1); from != 1 || to != 3 {
		t.Error("span")
	}
}
