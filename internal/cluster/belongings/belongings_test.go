//go:build unix

package belongings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func open(t *testing.T, directory, name string) *Register {
	t.Helper()
	r, err := Open(directory, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func populate(t *testing.T, r *Register, path string) {
	t.Helper()
	if err := r.Directory(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// die ends a register as the death of its process does: nothing is removed, and
// the lock is free.
func (r *Register) die() { r.file.Close(); r.file = nil }

func TestWhatGoesWithAProcess(t *testing.T) {
	run, tmp := t.TempDir(), t.TempDir()
	ended, killed, alive := open(t, run, "tm-1"), open(t, run, "tm-2"), open(t, run, "tm-3")
	one, two, three := filepath.Join(tmp, "tm-1"), filepath.Join(tmp, "tm-2"), filepath.Join(tmp, "tm-3")
	populate(t, ended, one)
	populate(t, killed, two)
	populate(t, alive, three)
	if err := killed.Add(filepath.Join(run, "tm-never-made.sock")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(killed.AddAll(filepath.Join(tmp, "weir-2-")), os.MkdirAll(filepath.Join(tmp, "weir-2-1", "sub"), 0o700),
		os.Mkdir(filepath.Join(tmp, "weir-2-2"), 0o700), os.Mkdir(filepath.Join(tmp, "weir-22-1"), 0o700)); err != nil {
		t.Fatal(err)
	}
	killed.die()
	if err := ended.Close(); err != nil || exists(one) || !exists(two) || !exists(three) {
		t.Errorf("after the end of one: error %v", err)
	}
	for range 2 {
		if err := Sweep(run); err != nil || exists(two) || !exists(three) {
			t.Errorf("after a sweep: error %v", err)
		}
	}
	if err := alive.Close(); err != nil || exists(three) {
		t.Errorf("after the end of all: error %v", err)
	}
	if exists(filepath.Join(tmp, "weir-2-1")) || exists(filepath.Join(tmp, "weir-2-2")) || !exists(filepath.Join(tmp, "weir-22-1")) {
		t.Error("of the paths with one beginning, not those were removed that should be")
	}
	if left, _ := os.ReadDir(run); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := alive.Add(three); err == nil {
		t.Error("a path was added after Close")
	}
}

func TestANameIsOneProcess(t *testing.T) {
	run := t.TempDir()
	open(t, run, "tm-1")
	if _, err := Open(run, "tm-1"); err == nil || !strings.Contains(err.Error(), "another process has it") {
		t.Errorf("got %v", err)
	}
}

// A list that a process has just made, and not locked yet, looks like a dead
// process's; two TaskManagers that start at once met there.
func TestSweptWhileItBegins(t *testing.T) {
	run := t.TempDir()
	stop, swept := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				swept <- nil
				return
			default:
			}
			if err := Sweep(run); err != nil {
				swept <- err
				return
			}
		}
	}()
	for range 3000 {
		r, err := Open(run, "tm-1")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-swept; err != nil {
		t.Error(err)
	}
}

// Whatever a list holds, only absolute paths with names of Weir's are removed.
func TestListed(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"/tmp/tm-*\n/tmp/*\n*\n":       "",
		"/tmp/weir-1-*\n":              "/tmp/weir-1-*",
		"/tmp/tm-1\n":                  "/tmp/tm-1",
		"/tmp/tm-1\n/tmp/tm-2":         "/tmp/tm-1",
		"/\n/tmp\ntm-1\n/tmp/tm-\n":    "",
		"/tmp/tm-1/../../etc\n":        "",
		"/tmp/tm-1/..\n/a/weir-x\n":    "/a/weir-x",
		"/precious\n\n/tmp/jm-1/a b\n": "",
	} {
		if got := strings.Join(listed(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if err := open(t, t.TempDir(), "jm-1").Add("/tmp/precious"); err == nil {
		t.Error("a path that is not ours was taken")
	}
}

func FuzzListed(f *testing.F) {
	f.Add("/tmp/tm-1\n/tmp/tm-2")
	f.Add("/\n..\n/tmp/../tm-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range listed(text) {
			if !removable(path) || !strings.Contains(text, path+"\n") {
				t.Errorf("%q gives %q", text, path)
			}
		}
	})
}

// A process that was killed takes a moment to die, and may make files until then.
func TestADirectoryThatIsStillWrittenIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tm-dying")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	begun, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for n := range 5000 {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600) // in vain once it is removed
			if n == 100 {
				close(begun)
			}
		}
	}()
	<-begun
	if err := removeOne(dir); err != nil {
		t.Error(err)
	}
	<-over
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
