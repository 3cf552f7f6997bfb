package stream_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// TestGaps passes while records cannot be collected from a cluster.
func TestGaps(t *testing.T) {
	t.Setenv(assignment.PlanVariable, filepath.Join(t.TempDir(), "graph"))
	env := stream.NewEnv()
	stream.FromSlice(env, []int{1}).Collect()
	if err := env.Execute(t.Context(), "collect"); err == nil || !strings.Contains(err.Error(), "Collect works only in an embedded run") {
		t.Errorf("Execute: %v", err)
	}
}
