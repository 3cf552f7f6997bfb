package operator

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// slicing builds the operator that counts readings in windows of 10 that begin at
// every 5, by the parity of their time.
func slicing(h *host, j *journal) *Receiver[reading] {
	count := state.Aggregator[reading, int64, int64]{
		Create: func() int64 { return 0 },
		Add:    func(n *int64, _ reading) { *n++ },
		Merge:  func(n *int64, other int64) { *n += other },
		Result: func(n *int64) int64 { return *n },
	}
	return AggregateSlices(Sliding{Size: 10, Slide: 5}, func(v reading) int64 { return int64(v) % 2 }, count, nil,
		func(k int64, w Window, n int64) string { return fmt.Sprintf("%d[%d,%d)=%d", k, w.Start, w.End, n) },
	).Build(h.context(), journalOf[string](j)).(*Receiver[reading])
}

// A window is emitted once, also by an instance that goes on from a checkpoint with
// slices that later windows need.
func TestSlicesAreEmittedOnce(t *testing.T) {
	var before, after journal
	h := &host{}
	in := slicing(h, &before)
	for _, v := range []reading{1, 4, 6, 12} {
		in.Push(v, int64(v))
	}
	in.Watermark(10)
	// Of the window that has ended slice 10 is needed by the next one.
	expect(t, &before, "1[-5,5)=1@4 0[-5,5)=1@4 1[0,10)=1@9 0[0,10)=2@9 W10")

	again := &host{}
	in = slicing(again, &after)
	watermark := h.kept[0].Lists[0]
	if err := again.kept[0].Lists[0].Load(watermark.Save()); err != nil {
		t.Fatal(err)
	}
	in.Push(6, 6) // as if it were in the slice that was restored
	in.Push(12, 12)
	in.Push(3, 3) // too late for all its windows
	in.Watermark(14)
	in.Finish()
	expect(t, &after, "0[5,15)=2@14 W14 end")
	if err := again.kept[0].Lists[0].Load([][]byte{{1}}); err == nil {
		t.Error("a damaged watermark was taken")
	}
}

// After a restore with other subtasks, from a checkpoint whose barriers overtook, keys come
// together for which event time had come to different places: what was emitted for one is
// not once more, and what was late for it is late.
func TestSlicesOfSubtasksThatWereNotAsFar(t *testing.T) {
	var after journal
	h := &host{}
	in := slicing(h, &after)
	hasher, err := keygroup.NewHasher[int64](nil)
	if err != nil {
		t.Fatal(err)
	}
	const groups = 128
	var kept [][]byte
	for k, at := range []int64{20, 9} {
		group := uint32(keygroup.Group(hasher.Hash(int64(k)), groups))
		e := binary.LittleEndian.AppendUint64(nil, uint64(at))
		kept = append(kept, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(e, group), group))
	}
	if err := h.kept[0].Lists[0].Load(kept); err != nil {
		t.Fatal(err)
	}
	for _, v := range []reading{6, 7, 18, 17} {
		in.Push(v, int64(v))
	}
	in.Watermark(24)
	in.Finish()
	expect(t, &after, "1[5,15)=1@14 1[10,20)=1@19 1[15,25)=1@24 0[15,25)=1@24 W24 end")
}

// The windows of a slice, on both sides of the year 1970, with an offset, and where
// slides do not divide sizes.
func TestSlicesOfWindows(t *testing.T) {
	for _, s := range []Sliding{{Size: 10, Slide: 10}, {Size: 10, Slide: 5}, {Size: 10, Slide: 4}, {Size: 9, Slide: 4, Offset: 3}, {Size: 4, Slide: 10}} {
		for ts := int64(-40); ts < 40; ts++ {
			slice := s.end(ts, s.slice())
			var ends []int64
			if last := s.lastEnd(slice); last >= slice {
				for end := s.firstEnd(slice); end <= last; end += s.Slide {
					ends = append(ends, end)
				}
			}
			windows := s.Assign(nil, ts)
			if len(windows) != len(ends) {
				t.Fatalf("%+v: %d is in %v, and its slice in windows that end at %v", s, ts, windows, ends)
			}
			for i, w := range windows {
				if w.End != ends[i] || ts < w.Start || ts >= w.End || floorMod(w.Start-s.Offset, s.Slide) != 0 {
					t.Errorf("%+v: %d is in %v, its slice in windows that end at %v", s, ts, windows, ends)
				}
			}
		}
	}
}
