package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/stream/streamtest"
)

func TestPagesAreRanked(t *testing.T) {
	h := streamtest.Through(t, func(lines stream.DataStream[string]) stream.DataStream[string] { return top(lines, 2) })
	for _, pages := range []string{"00 a b c b c c", "59 a", "61 d", "58 a a a", "65 e e"} {
		second, names, _ := strings.Cut(pages, " ")
		at := map[string]string{"00": "09:30:00", "59": "09:30:59", "61": "09:31:01", "58": "09:30:58", "65": "09:31:05"}[second]
		for page := range strings.FieldsSeq(names) {
			h.ProcessUntimed("2024-05-17T" + at + "Z," + page)
		}
	}
	if got := h.Output(); len(got) != 0 {
		t.Errorf("before the minute is over: %q", got)
	}
	h.Restore(h.Snapshot(), streamtest.Parallelism(3))
	for range 3 { // one for each subtask, of whose watermarks the least counts
		h.ProcessUntimed("2024-05-17T09:31:10.001Z,d")
	}
	if got, want := h.Output(), []string{"09:30 1. a 5", "09:30 2. c 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	h.Finish()
	if got, want := h.Output(), []string{"09:31 1. d 4", "09:31 2. e 2"}; !slices.Equal(got, want) {
		t.Errorf("at the end: got %q, want %q", got, want)
	}
}
