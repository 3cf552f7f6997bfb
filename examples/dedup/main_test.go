package main

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/stream/streamtest"
)

func TestLinesComeOnce(t *testing.T) {
	h := streamtest.Through(t, once)
	h.ProcessUntimed("a", "b", "a")
	h.Restore(h.Snapshot(), streamtest.Parallelism(2))
	h.ProcessUntimed("b", "c")
	h.AdvanceTime(remembered / 2)
	h.ProcessUntimed("a", "c")
	h.AdvanceTime(remembered / 2)
	h.ProcessUntimed("a")
	got := h.Output()
	slices.Sort(got)
	if want := []string{"a", "a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
