package coordinator

import (
	"slices"
	"testing"
)

// What a subtask has at a checkpoint is its own; what it was given since comes back,
// whichever older checkpoints are forgotten meanwhile.
func TestGivenIsTakenBackToACheckpoint(t *testing.T) {
	for _, completed := range []int64{0, 1, 2} {
		for back, want := range map[int64][]string{0: {"a", "b", "c"}, 1: {"b", "c"}, 2: {"c"}} {
			var g Given[string]
			g.Add("a")
			g.Mark(1)
			g.Add("b")
			g.Mark(2)
			g.Add("c")
			g.Forget(completed)
			if back < completed {
				continue // it is not restored any more
			}
			if got := g.TakeBack(back); !slices.Equal(got, want) {
				t.Errorf("checkpoint %d complete, back to %d: got %q, want %q", completed, back, got, want)
			}
			if got := g.TakeBack(back); len(got) > 0 {
				t.Errorf("checkpoint %d complete, back to %d: %q came back twice", completed, back, got)
			}
		}
	}
}
