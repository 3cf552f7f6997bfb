package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesGoInTurnAndLeaveNothing(t *testing.T) {
	parents := []string{t.TempDir(), t.TempDir()}
	d := In(parents...)
	var files []File
	for range 4 {
		f, err := d.Create("set@a/b:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("one ")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("two")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if _, err := f.ReadAt(got, 4); err != nil || string(got) != "two" {
			t.Errorf("read %q: %v", got, err)
		}
		files = append(files, f)
	}
	for _, parent := range parents {
		if found, _ := filepath.Glob(filepath.Join(parent, "*", "set_a_b_0-*")); len(found) != 2 {
			t.Errorf("%q in %s, want two files", found, parent)
		}
	}
	if err := files[1].Discard(); err != nil {
		t.Error(err)
	}
	if err := files[1].Discard(); err != nil {
		t.Errorf("discarded again: %v", err)
	}
	if _, err := files[1].Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after discard: %v", err)
	}
	if _, err := os.Stat(files[1].Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("discarded file: %v", err)
	}
	if n := d.Files(); n != 3 {
		t.Errorf("%d files, want 3", n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, parent := range parents {
		if left, _ := os.ReadDir(parent); len(left) != 0 {
			t.Errorf("%v left in %s", left, parent)
		}
	}
	if _, err := d.Create("late"); err == nil {
		t.Error("a file was made after Close")
	}
}

func TestADirectoryThatIsNotThere(t *testing.T) {
	here, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	d := In(gone, here)
	for range 3 {
		f, err := d.Create("x")
		if err != nil || !strings.HasPrefix(f.Name(), here) {
			t.Errorf("made %v: %v", f, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := In(gone).Create("x"); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("got %v", err)
	}
	if _, err := In().Create("x"); err == nil || !strings.Contains(err.Error(), "io.tmp.dirs") {
		t.Errorf("got %v", err)
	}
}

func TestNamesAreShortAndPlain(t *testing.T) {
	d := In(t.TempDir())
	f, err := d.Create(strings.Repeat("ä/", 300))
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(f.Name()); len(base) > 255 {
		t.Errorf("a name of %d bytes", len(base))
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
