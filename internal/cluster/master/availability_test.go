package master

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
)

func TestCompletedCheckpointsOutliveTheProcess(t *testing.T) {
	dir, job := t.TempDir(), ident.JobID{ID: ident.ID{1}}
	settings := []string{"high-availability.type=filesystem", "high-availability.storageDir=file://" + dir, "high-availability.cluster-id=here"}
	for life := range 2 {
		m, err := start(t, settings...)
		if err != nil {
			t.Fatal(err)
		}
		store := m.stores(job)
		ask := func(f func(then func(any, error))) string {
			t.Helper()
			answers := make(chan string, 1)
			m.loop.Post(func() { f(func(v any, err error) { answers <- fmt.Sprint(v, " ", err) }) })
			return <-answers
		}
		if got, want := ask(func(then func(any, error)) { store.NextID(0, func(id int64, err error) { then(id, err) }) }), fmt.Sprint(life+1, " <nil>"); got != want {
			t.Errorf("life %d drew the id %s, want %s", life, got, want)
		}
		all := ask(func(then func(any, error)) {
			store.All(func(p []checkpoint.Pointer, err error) { then(p, err) })
		})
		if want := [...]string{"[] <nil>", "[{1 file:/ckpt/chk-1}] <nil>"}[life]; all != want {
			t.Errorf("life %d found %s, want %s", life, all, want)
		}
		if life == 0 {
			if got := ask(func(then func(any, error)) {
				store.Add(checkpoint.Pointer{Checkpoint: 1, Location: "file:/ckpt/chk-1"}, func(err error) { then("", err) })
			}); got != " <nil>" {
				t.Error(got)
			}
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "here", "jobs", job.String(), "checkpoints", "completed", "1")); err != nil {
		t.Error(err)
	}
}

func TestHighAvailabilityNeedsADirectory(t *testing.T) {
	_, err := start(t, "high-availability.type=filesystem")
	if err == nil || !strings.Contains(err.Error(), "high-availability.type is filesystem, and high-availability.storageDir names no directory") {
		t.Errorf("started: %v", err)
	}
	if m, err := start(t); err != nil || m.stores != nil {
		t.Errorf("without it: %v", err)
	} else if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
