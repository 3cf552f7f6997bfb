package replaced

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A note names whatever a file may be called.
func TestANoteNamesFiles(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "a"), filepath.Join(dir, "p=1", "b \"c\"\nd"), filepath.Join(dir, "not UTF-8 \xff")}
	own, err := Write(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(dir)
	if err != nil || read != own {
		t.Errorf("read %q, %v, want %q", read, err, own)
	}
	if got, err := read.Files(dir); err != nil || !slices.Equal(got, files) {
		t.Errorf("it names %q, %v, want %q", got, err, files)
	}
	all, err := List(dir, func() ([]string, error) { return append(files, filepath.Join(dir, "e"), filepath.Join(dir, name)), nil }, func(f string) string { return f })
	if err != nil || len(all) != 1 || filepath.Base(all[0]) != "e" {
		t.Errorf("what counts is %q, %v", all, err)
	}
}

// Only who has written a note last removes it, and with it what was left by others who were
// killed.
func TestANoteIsRemovedByItsWriter(t *testing.T) {
	dir := t.TempDir()
	if note, err := Read(filepath.Join(dir, "none")); err != nil || note != "" {
		t.Errorf("without a directory: %q, %v", note, err)
	}
	first, err := Write(dir, []string{filepath.Join(dir, "a")})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Write(dir, []string{filepath.Join(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+"-123"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, first); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left, want the second note", left)
	}
	if err := Remove(dir, second); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// Files that are replaced while they are listed are listed again; those that come are not
// waited for for ever. A note that somebody has changed is no note.
func TestFilesAreListedUntilTheyStay(t *testing.T) {
	dir := t.TempDir()
	path := func(f string) string { return f }
	listed := 0
	_, err := List(dir, func() ([]string, error) {
		if listed++; listed <= 3 {
			_, err := Write(dir, []string{filepath.Join(dir, strings.Repeat("a", listed))})
			return nil, err
		}
		return []string{filepath.Join(dir, "aaa"), filepath.Join(dir, "b")}, nil
	}, path)
	if err != nil || listed != 4 {
		t.Errorf("listed %d times, %v, want 4", listed, err)
	}
	listed = 0
	if _, err := List(dir, func() ([]string, error) {
		listed++
		return nil, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "\"%d\"\n", listed), 0o666)
	}, path); err == nil || listed != tries {
		t.Errorf("listed %d times, %v, want %d times in vain", listed, err, tries)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := List(dir, func() ([]string, error) { return []string{filepath.Join(dir, "a")}, nil }, path); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a note that is none: %v", err)
	}
}
