package fs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/faulty"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/fs/mem"
)

// everywhere runs a test with each file system; root is where it may write.
func everywhere(t *testing.T, test func(t *testing.T, f fs.FileSystem, root fs.Location)) {
	memory := mem.New(func() time.Time { return time.Unix(7, 0) })
	all := fs.ByScheme{local.Scheme: local.FileSystem{}, mem.Scheme: memory}
	t.Run("file", func(t *testing.T) { test(t, local.FileSystem{}, place(t, t.TempDir())) })
	t.Run("mem", func(t *testing.T) { test(t, memory, "mem:/work") })
	t.Run("by scheme", func(t *testing.T) { test(t, all, place(t, t.TempDir())) })
	t.Run("faulty", func(t *testing.T) { test(t, faulty.New(all), "mem:/faulty") })
}

func place(t *testing.T, path string) fs.Location {
	at, err := fs.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func write(t *testing.T, f fs.FileSystem, at fs.Location, data string) {
	t.Helper()
	if err := fs.WriteFile(t.Context(), f, at, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, f fs.FileSystem, at fs.Location) string {
	t.Helper()
	data, err := fs.ReadFile(t.Context(), f, at, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func list(t *testing.T, f fs.FileSystem, dir fs.Location) string {
	t.Helper()
	entries, err := f.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name, _ := e.Location.Under(dir)
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestFileIsThereOnceCommitted(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		at := root.Join("chk-1", "a")
		w, err := f.Create(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := io.WriteString(w, "abc"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Stat(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before the commit Stat says %v", err)
		}
		if names := list(t, f, root); names != "" {
			t.Errorf("before the commit List gives %q", names)
		}
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Abort() // has no effect any more
		if got := read(t, f, at); got != "abcabcabc" {
			t.Errorf("read %q", got)
		}
		if e, err := f.Stat(t.Context(), at); err != nil || e.Size != 9 || e.Location != at || e.Modified.IsZero() {
			t.Errorf("Stat gives %+v, %v", e, err)
		}
		if _, err := f.Stat(t.Context(), at.Join("below")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("below a file Stat says %v", err)
		}
		if names := list(t, f, root); names != "chk-1/a" {
			t.Errorf("List gives %q", names)
		}
	})
}

func TestAbortLeavesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		at := root.Join("a")
		w, err := f.Create(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, "abc")
		w.Abort()
		_ = w.Commit(t.Context())
		if _, err := f.Open(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open says %v", err)
		}
	})
}

func TestFirstCommitWins(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		at := root.Join("a")
		first, err := f.Create(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		second, err := f.Create(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(first, "first")
		_, _ = io.WriteString(second, "second")
		if err := second.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := first.Commit(t.Context()); !errors.Is(err, fs.ErrExist) {
			t.Errorf("the later commit says %v", err)
		}
		if _, err := f.Create(t.Context(), at); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create of a name that is taken says %v", err)
		}
		if got := read(t, f, at); got != "second" {
			t.Errorf("read %q", got)
		}
		if names := list(t, f, root); names != "a" {
			t.Errorf("List gives %q", names)
		}
	})
}

func TestReadAt(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		write(t, f, root.Join("a"), "0123456789")
		file, err := f.Open(t.Context(), root.Join("a"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		p := make([]byte, 4)
		if n, err := file.ReadAt(p, 3); n != 4 || err != nil || string(p) != "3456" {
			t.Errorf("in the middle: %d %v %q", n, err, p)
		}
		if n, err := file.ReadAt(p, 8); n != 2 || err != io.EOF {
			t.Errorf("over the end: %d %v", n, err)
		}
		if file.Size() != 10 {
			t.Errorf("size %d", file.Size())
		}
		if _, err := fs.ReadFile(t.Context(), f, root.Join("a"), 9); err == nil || !strings.Contains(err.Error(), "at most 9") {
			t.Errorf("a file over the limit: %v", err)
		}
	})
}

func TestDelete(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		ctx := t.Context()
		for _, name := range []string{"job/chk-1/a", "job/chk-1/b/c", "job/chk-10/a", "job/shared/x"} {
			write(t, f, root.Join(name), name)
		}
		for range 2 { // the second time there is nothing to do
			if err := f.Delete(ctx, root.Join("job/shared/x")); err != nil {
				t.Fatal(err)
			}
			if err := f.DeleteTree(ctx, root.Join("job/chk-1")); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Delete(ctx, root.Join("job")); err != nil {
			t.Errorf("delete of a directory: %v", err)
		}
		if names := list(t, f, root); names != "job/chk-10/a" {
			t.Errorf("left are %q", names)
		}
		if names := list(t, f, root.Join("nowhere")); names != "" {
			t.Errorf("nowhere holds %q", names)
		}
		if names := list(t, f, root.Join("job/chk-10/a")); names != "" {
			t.Errorf("a file holds %q", names)
		}
		if err := f.DeleteTree(ctx, fs.Location(root.Scheme()+":/")); err == nil {
			t.Error("the root was deleted")
		}
	})
}

func TestManyWriters(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		var all sync.WaitGroup
		won := make(chan string, 8)
		for i := range cap(won) {
			all.Go(func() {
				text := strings.Repeat(string(rune('a'+i)), 1000)
				if fs.WriteFile(context.Background(), f, root.Join("same"), []byte(text)) == nil {
					won <- text
				}
			})
		}
		all.Wait()
		close(won)
		if text := <-won; text != read(t, f, root.Join("same")) || len(won) > 0 {
			t.Errorf("%d writers won besides the one whose file is there", len(won))
		}
	})
}

func TestUnknownScheme(t *testing.T) {
	all := fs.ByScheme{local.Scheme: local.FileSystem{}, mem.Scheme: mem.New(time.Now)}
	_, err := all.Create(t.Context(), "s3://bucket/a")
	if !errors.Is(err, fs.ErrScheme) || !strings.Contains(err.Error(), `unknown scheme "s3", known are: file, mem`) {
		t.Error(err)
	}
	if _, err := all.Open(t.Context(), ""); err == nil {
		t.Error("the zero location was opened")
	}
}

func TestCrashLeavesHiddenFiles(t *testing.T) {
	dir := t.TempDir()
	root, f := place(t, dir), local.FileSystem{}
	w, err := f.Create(t.Context(), root.Join("job", "a"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(make([]byte, 100))
	// The process dies here: nothing is aborted.
	if names := list(t, f, root); names != "" {
		t.Errorf("List gives %q", names)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "job", ".weir-*.part")); len(found) != 1 {
		t.Errorf("hidden files: %v", found)
	}
	if err := f.DeleteTree(t.Context(), root.Join("job")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "job")); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	w.Abort()
}

func TestUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, local.FileSystem{}, place(t, dir).Join("file"), "in the way")
	err := fs.WriteFile(t.Context(), local.FileSystem{}, place(t, dir).Join("file", "a"), nil)
	if err == nil || !strings.Contains(err.Error(), "file:"+dir+"/file/a") || !strings.Contains(err.Error(), "bytes free") {
		t.Errorf("the error does not name the location and the free bytes: %v", err)
	}
}

func TestFaults(t *testing.T) {
	f := faulty.New(mem.New(time.Now))
	f.Limit(5)
	err := fs.WriteFile(t.Context(), f, "mem:/a", []byte("0123456789"))
	if !errors.Is(err, fs.ErrFull) || err.Error() != "write mem:/a (0 bytes free): no space left" {
		t.Errorf("full: %v", err)
	}
	f.Limit(-1)
	broken := errors.New("broken")
	f.Fail = func(op faulty.Op, at fs.Location) error {
		if op == faulty.Commit && at.Base() == "a" {
			return broken
		}
		return nil
	}
	if err := fs.WriteFile(t.Context(), f, "mem:/a", nil); !errors.Is(err, broken) {
		t.Errorf("failing: %v", err)
	}
	f.Tear = func(_ fs.Location, data []byte) []byte { return data[:len(data)/2] }
	write(t, f, "mem:/b", "0123456789")
	if got := read(t, f, "mem:/b"); got != "01234" {
		t.Errorf("torn: %q", got)
	}
	waited := 0
	f.Wait = func(faulty.Op, fs.Location) { waited++ }
	read(t, f, "mem:/b")
	if waited != 2 { // open and read
		t.Errorf("waited %d times", waited)
	}
	if names := list(t, f, "mem:/"); names != "b" {
		t.Errorf("left are %q", names)
	}
}

func TestCanceled(t *testing.T) {
	everywhere(t, func(t *testing.T, f fs.FileSystem, root fs.Location) {
		w, err := f.Create(t.Context(), root.Join("a"))
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Commit(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("Commit says %v", err)
		}
		if names := list(t, f, root); names != "" {
			t.Errorf("left are %q", names)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"/a/b", "file:/a", "file:///a/../b", "file://host/a", "s3://bucket/a/b", "mem:/", "a:b", "", "C:\\x", "file:/%2e%2e/a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := fs.Parse(text)
		if err != nil {
			return
		}
		if p := at.Path(); !strings.HasPrefix(p, "/") || strings.Contains(p+"/", "/../") {
			t.Errorf("%q is %q with path %q", text, at, p)
		}
		if below, ok := at.Join("x").Under(at); !ok || below != "x" {
			t.Errorf("%q: x is not below %q", text, at)
		}
		if at.Join("x").Parent() != at || at.Join("x").Base() != "x" {
			t.Errorf("%q: the parent of %q is %q", text, at.Join("x"), at.Join("x").Parent())
		}
	})
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"/data/ckpt/":           "file:/data/ckpt",
		"file:///data/sp":       "file:/data/sp",
		"FILE://localhost/a//b": "file:/a/b",
		"file:/a%20b":           "file:/a b",
		"mem:/x/./y":            "mem:/x/y",
		"s3://bucket/a":         "s3://bucket/a",
		"":                      `location "": is empty`,
		"data":                  `location "data": want an absolute path, or a URL such as file:///data/checkpoints`,
		"./data":                `location "./data": want an absolute path, or a URL such as file:///data/checkpoints`,
		"file://host/a":         `location "file://host/a": names the host host; a file: URL has none, as in file:///data/checkpoints`,
		"file:a":                `location "file:a": its path is not absolute`,
		"file:/a\x00":           `location "file:/a\x00": its path has a zero byte`,
	} {
		at, err := fs.Parse(text)
		got := string(at)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if !bytes.Equal([]byte(fs.Location("mem:/a").Join("../b", "c/")), []byte("mem:/a/b/c")) {
		t.Error(fs.Location("mem:/a").Join("../b", "c/"))
	}
}
