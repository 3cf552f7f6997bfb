package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/weirstream/weir/internal/testkit/leaks"
)

// Whoever logs waits for the line for a short time only, which does not pass in a
// bubble while a line is being written: so tests that look at once run in one.

func TestMain(m *testing.M) { leaks.Main(m) }

func open(t *testing.T, o Options) (*slog.Logger, *File) {
	t.Helper()
	logger, file, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return logger, file
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestLinesGoToBothPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		dir := filepath.Join(t.TempDir(), "made", "when", "missing")
		logger, file := open(t, Options{Dir: dir, Role: "taskmanager", Number: 2, Host: "h1", Stderr: &stderr})
		logger.Debug("not shown")
		logger.Info("slot allocated", KeyJob, "j1")
		if want := filepath.Join(dir, "weir-taskmanager-2-h1.log"); file.Path() != want {
			t.Errorf("path %s, want %s", file.Path(), want)
		}
		for _, got := range []string{read(t, file.Path()), stderr.String()} {
			if !strings.Contains(got, `level=INFO msg="slot allocated" job=j1`) || strings.Contains(got, "not shown") {
				t.Errorf("got %q", got)
			}
		}
	})
}

func TestReopeningAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Dir: t.TempDir(), Role: "jobmanager", Host: "h", Stderr: io.Discard}
		for _, message := range []string{"first", "second"} {
			logger, file, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			logger.Info(message)
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		got := read(t, filepath.Join(o.Dir, "weir-jobmanager-0-h.log"))
		if !strings.Contains(got, "first") || !strings.Contains(got, "second") {
			t.Errorf("got %q", got)
		}
	})
}

func TestFullFilesAreShiftedAndTheOldestGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	f, err := openFile(path, 10, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 5 {
		if _, err := fmt.Fprintf(f, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "line 4\n", path + ".1": "line 3\n", path + ".2": "line 2\n"} {
		if got := read(t, name); got != want {
			t.Errorf("%s holds %q, want %q", filepath.Base(name), got, want)
		}
	}
	if _, err := os.Stat(path + ".3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a third full file is kept: %v", err)
	}
}

func TestNoFullFileIsKeptWhenNoneIsWanted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	f, err := openFile(path, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, line := range []string{"aa\n", "a line longer than a file\n", "bb\n"} {
		if _, err := f.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); got != "bb\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(path + ".1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a full file is kept: %v", err)
	}
}

func TestAClosedFileLeavesStandardError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		logger, file := open(t, Options{Dir: t.TempDir(), Role: "r", Host: "h", Stderr: &stderr})
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		logger.Info("late")
		if !strings.Contains(stderr.String(), "late") {
			t.Error("the line is lost")
		}
		if _, err := file.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenStandardErrorLeavesTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, file := open(t, Options{Dir: t.TempDir(), Role: "r", Host: "h", Stderr: broken{}})
		logger.Info("still here")
		if !strings.Contains(read(t, file.Path()), "still here") {
			t.Error("the line is lost")
		}
	})
}

func TestLinesFromManyGoroutinesStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, file := open(t, Options{Dir: t.TempDir(), Role: "r", Host: "h", Stderr: io.Discard, MaxFileSize: 4096, MaxFiles: 100})
		const writers, lines = 8, 100
		var running sync.WaitGroup
		for w := range writers {
			running.Go(func() {
				for i := range lines {
					logger.Info("line", "writer", w, "number", i)
				}
			})
		}
		running.Wait()
		paths, err := filepath.Glob(file.Path() + "*")
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, path := range paths {
			for line := range strings.Lines(read(t, path)) {
				if !strings.HasPrefix(line, "time=") || !strings.HasSuffix(line, "\n") || strings.Count(line, "writer=") != 1 {
					t.Fatalf("broken line %q", line)
				}
				count++
			}
		}
		if count != writers*lines || file.Err() != nil {
			t.Errorf("%d lines in %d files, %v", count, len(paths), file.Err())
		}
	})
}

func TestWhatCannotBeOpened(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(occupied, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{Dir: occupied, Role: "r", Host: "h"},
		{Dir: t.TempDir(), Role: "../r", Host: "h"},
	} {
		if _, _, err := Open(o); err == nil {
			t.Errorf("%+v was opened", o)
		}
	}
	logger, file := open(t, Options{Stderr: io.Discard})
	logger.Info("no file is wanted")
	if file != nil {
		t.Error("a file was made")
	}
}

func TestLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var level slog.LevelVar
		logger, _ := open(t, Options{Stderr: &out, Level: &level})
		logger.Log(t.Context(), LevelTrace, "hidden")
		level.Set(LevelTrace)
		logger.Log(t.Context(), LevelTrace, "seen")
		if got := out.String(); strings.Contains(got, "hidden") || !strings.Contains(got, "level=TRACE msg=seen") {
			t.Errorf("got %q", got)
		}
		for name, want := range map[string]slog.Level{"trace": LevelTrace, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "warn": slog.LevelWarn, "ERROR": slog.LevelError} {
			if got, err := ParseLevel(name); err != nil || got != want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		if _, err := ParseLevel("LOUD"); err == nil {
			t.Error("LOUD is a level")
		}
	})
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		max  int64
		want string
	}{
		{100, "one\ntwo\nthree\n"}, {14, "one\ntwo\nthree\n"}, {13, "two\nthree\n"}, {10, "two\nthree\n"},
		{9, "three\n"}, {6, "three\n"}, {3, "ee\n"}, {0, ""}, {-1, ""},
	} {
		got, err := Tail(path, tt.max)
		if err != nil || string(got) != tt.want {
			t.Errorf("Tail %d: %q, %v; want %q", tt.max, got, err, tt.want)
		}
	}
	if _, err := Tail(path+".missing", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Tail(filepath.Dir(path), 1); err == nil {
		t.Error("a directory has an end")
	}
}
