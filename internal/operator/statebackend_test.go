package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/pebble"
)

// The state of an operator goes to the directory for temporary files when it is more
// than the operator's part of managed memory, and leaves it when the task ends.
func TestStateOnDisk(t *testing.T) {
	directory := t.TempDir()
	space := scratch.In(directory)
	shared := pebble.NewShared(1 << 20)
	defer shared.Close()
	s := &stage{}
	c := s.context(space, 1<<20)
	c.Batch, c.Counts = false, new(Counts)
	c.State = StateBackend{Disk: shared.Open, Pool: new(state.Pool)}
	k := newKeyed[int64](c)
	v, err := state.NewValue[string](k.Backend, "v")
	if err != nil {
		t.Fatal(err)
	}
	files := func() []string {
		found, err := filepath.Glob(filepath.Join(directory, "*", "*-state-*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	const keys = 30_000
	value := strings.Repeat("x", 100)
	for i := range int64(keys) {
		if i == 100 && len(files()) > 0 {
			t.Errorf("state that fits into memory has files: %q", files())
		}
		k.SetKey(i, k.Hash(i))
		v.Set(fmt.Sprint(value, i))
	}
	if len(files()) == 0 {
		t.Error("there are no files")
	}
	if held := c.Counts.Managed; held < 200<<10 || held > 1<<20 || held != c.State.Pool.Used() {
		t.Errorf("it holds %d bytes of its 1 MiB, and the pool knows of %d", held, c.State.Pool.Used())
	}
	for i := range int64(keys) {
		k.SetKey(i, k.Hash(i))
		if got, ok := v.Get(); !ok || got != fmt.Sprint(value, i) {
			t.Fatalf("key %d has %q, %v", i, got, ok)
		}
	}
	s.close(true)
	if left := files(); len(left) > 0 || c.State.Pool.Used() != 0 {
		t.Errorf("%q are left, and %d bytes in the pool", left, c.State.Pool.Used())
	}
	if err := space.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}

func TestStateWithoutDirectory(t *testing.T) {
	shared := pebble.NewShared(1 << 20)
	defer shared.Close()
	s := &stage{}
	c := s.context(scratch.In("/nowhere/at/all"), 1)
	c.Batch, c.State.Disk = false, shared.Open
	k := newKeyed[int64](c)
	defer s.close(true)
	v, err := state.NewValue[string](k.Backend, "words")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		err, _ := recover().(error)
		if err == nil || !strings.Contains(err.Error(), "state words") || !strings.Contains(err.Error(), "/nowhere/at/all") {
			t.Errorf("%v", err)
		}
	}()
	for i := range int64(10_000) {
		k.SetKey(i, k.Hash(i))
		v.Set(strings.Repeat("x", 100))
	}
	t.Error("no error")
}
