package operator

import (
	"math"
	"slices"
	"testing"
)

// Each subtask has its own watermark when a barrier overtakes, and goes on with it; with
// other subtasks it is the least of those whose key groups a subtask has.
func TestKeptWatermark(t *testing.T) {
	lists := func(parallelism int) (lists []KeptList, at []int64) {
		at = make([]int64, parallelism)
		for i := range at {
			at[i] = math.MinInt64
			c := &Context{Subtask: i, Parallelism: parallelism, MaxParallelism: 128}
			lists = append(lists, keptWatermark(c, "watermark", &at[i], nil))
		}
		return lists, at
	}
	before, had := lists(4)
	copy(had, []int64{20, 12, -5, 7})
	var kept [][]byte
	for _, l := range before {
		kept = append(kept, l.Save()...)
	}
	for _, want := range [][]int64{{20, 12, -5, 7}, {12, -5}, {-5}, {20, 20, 12, 12, -5, -5, 7, 7}, {12, -5, -5}} {
		after, at := lists(len(want))
		for _, l := range after {
			if err := l.Load(kept); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(at, want) {
			t.Errorf("%d subtasks: %d, want %d", len(want), at, want)
		}
	}
	after, at := lists(2)
	for schema, ok := range map[string]bool{watermarkOfGroups: true, "int64": true, "string": false} {
		if err := after[0].Fits(schema); (err == nil) != ok {
			t.Errorf("%s: %v", schema, err)
		}
	}
	if err := after[0].Load([][]byte{{9, 0, 0, 0, 0, 0, 0, 0}, {8, 0, 0, 0, 0, 0, 0, 0}}); err != nil || at[0] != 8 {
		t.Errorf("from watermarks alone: %d, %v", at[0], err)
	}
	if err := after[0].Load([][]byte{{1}}); err == nil {
		t.Error("one byte was taken for a watermark")
	}
}
