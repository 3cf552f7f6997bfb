package batch

import "testing"

func TestAppendKeepsTimestampsAsLongAsValues(t *testing.T) {
	p := NewPool[int](2, 8, true)
	r := p.Get()
	r.Append(1, NoTimestamp)
	r.Append(2, NoTimestamp)
	if len(r.TS) != 0 {
		t.Fatalf("timestamps of a batch without any: %v", r.TS)
	}
	r.Append(3, 7)
	r.Append(4, NoTimestamp)
	for i, want := range []int64{NoTimestamp, NoTimestamp, 7, NoTimestamp} {
		if got := r.Timestamp(i); got != want {
			t.Errorf("timestamp of record %d: got %d, want %d", i, got, want)
		}
	}
}

func TestPoolReusesAndForgets(t *testing.T) {
	p := NewPool[*int](1, 8, false)
	a, b := p.Get(), p.Get()
	a.Append(new(int), NoTimestamp)
	vals := a.Vals
	a.Release()
	b.Release() // above the limit: dropped
	if vals[0] != nil {
		t.Error("a released batch keeps its records alive")
	}
	if c := p.Get(); c != a || c.Len() != 0 {
		t.Error("the pool did not hand the released batch out again, empty")
	}
	if c := p.Get(); c == b {
		t.Error("the pool kept more batches than its limit")
	}
}
