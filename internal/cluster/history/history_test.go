package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/cluster/archive"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func id(n byte) ident.JobID { return ident.JobID{ID: ident.ID{15: n}} }

var begin = time.Unix(1_800_000_000, 0)

// write makes the archive of a job, written the given time after begin.
func write(t *testing.T, dir string, n byte, after time.Duration) {
	t.Helper()
	job := id(n)
	err := archive.Write(dir, job, []archive.Entry{
		{Path: "/jobs/overview", JSON: fmt.Appendf(nil, `{"jobs":[{"jid":"%s","n":%d}]}`, job, n)},
		{Path: "/jobs/" + job.String(), JSON: fmt.Appendf(nil, `{"n":%d,"after":"%s"}`, n, after)},
	})
	if err == nil {
		err = os.Chtimes(filepath.Join(dir, job.String()), begin.Add(after), begin.Add(after))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// log collects lines of the log.
func log() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// numbers gives the numbers of the jobs in the list, in order.
func numbers(w *Watcher) []byte {
	var all []byte
	for _, text := range w.Lists(context.Background(), "/jobs/overview") {
		var n byte
		fmt.Sscanf(string(text[bytes.Index(text, []byte(`"n":`)):]), `"n":%d`, &n)
		all = append(all, n)
	}
	return all
}

func find(w *Watcher, n byte) string {
	text, err := w.Find(context.Background(), id(n), "/jobs/"+id(n).String())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestArchivesComeAndGo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 1, time.Second)
	w := New(Options{Directories: []string{dir}, Interval: time.Second})
	w.Refresh(begin)
	if got := numbers(w); !slices.Equal(got, []byte{1}) {
		t.Errorf("at the start: %v", got)
	}
	write(t, dir, 2, 3*time.Second)
	write(t, dir, 3, 2*time.Second)
	w.Refresh(begin)
	if got := numbers(w); !slices.Equal(got, []byte{2, 3, 1}) {
		t.Errorf("the last one is not first: %v", got)
	}
	if got := find(w, 2); got != `{"n":2,"after":"3s"}` {
		t.Errorf("found %s", got)
	}
	if text, err := w.Find(t.Context(), id(2), "/jobs/"+id(2).String()+"/nothing"); text != nil || err != nil {
		t.Errorf("nothing is there, and it gives %s, error %v", text, err)
	}

	// An archive that is written again, while the old one is in memory.
	write(t, dir, 2, 9*time.Second)
	w.Refresh(begin)
	if got := find(w, 2); got != `{"n":2,"after":"9s"}` {
		t.Errorf("found %s", got)
	}

	// One that is removed is no longer seen, before and after the next look.
	if err := os.Remove(filepath.Join(dir, id(3).String())); err != nil {
		t.Fatal(err)
	}
	var missing *dispatcher.NotFoundError
	if _, err := w.Find(t.Context(), id(3), "/jobs/overview"); !errors.As(err, &missing) || missing.Job != id(3) {
		t.Errorf("got %v", err)
	}
	w.Refresh(begin)
	if got := numbers(w); !slices.Equal(got, []byte{2, 1}) {
		t.Errorf("after one was removed: %v", got)
	}
	if got := find(w, 3); got != "Could not find Flink job (00000000000000000000000000000003)" {
		t.Errorf("found %s", got)
	}
}

// A broken archive is named once for each time it changes, and hides no other.
func TestABrokenArchiveIsNamedAndLeftOut(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 1, time.Second)
	broken := filepath.Join(dir, id(2).String())
	if err := os.WriteFile(broken, []byte(`{"archive": [{"path": "/jobs/over`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README", ".draft", strings.ToUpper("abcdefabcdefabcdefabcdefabcdefab")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no archive"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, id(9).String()), 0o700); err != nil {
		t.Fatal(err)
	}
	logger, text := log()
	w := New(Options{Directories: []string{dir}, Logger: logger, RetainedJobs: 1})
	w.Refresh(begin)
	for range 3 {
		w.Refresh(begin)
	}
	if got := numbers(w); !slices.Equal(got, []byte{1}) {
		t.Errorf("seen: %v", got)
	}
	if n := strings.Count(text.String(), "an archive is left out"); n != 1 || !strings.Contains(text.String(), broken) || !strings.Contains(text.String(), "level=WARN") {
		t.Errorf("named %d times in\n%s", n, text)
	}
	if _, err := os.Stat(broken); err != nil {
		t.Errorf("a broken archive was deleted: %v", err)
	}
	if err := os.WriteFile(broken, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Refresh(begin)
	if n := strings.Count(text.String(), "an archive is left out"); n != 2 {
		t.Errorf("after it changed it was named %d times in\n%s", n, text)
	}
	write(t, dir, 2, 0)
	w = New(Options{Directories: []string{dir}})
	w.Refresh(begin)
	if got := numbers(w); !slices.Equal(got, []byte{1, 2}) {
		t.Errorf("after it was mended: %v", got)
	}
}

func TestRetention(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for n := range byte(5) {
		write(t, first, n, time.Duration(n)*time.Minute)
		write(t, second, 10+n, time.Duration(n)*time.Minute)
	}
	logger, text := log()
	w := New(Options{Directories: []string{first, second}, RetainedJobs: 2, Logger: logger})
	w.Refresh(begin)
	if got := numbers(w); !slices.Equal(got, []byte{4, 14, 3, 13}) && !slices.Equal(got, []byte{14, 4, 13, 3}) {
		t.Errorf("each directory keeps 2, seen: %v", got)
	}
	if files, _ := os.ReadDir(first); len(files) != 2 {
		t.Errorf("left: %v", files)
	}
	if n := strings.Count(text.String(), "archive deleted"); n != 6 {
		t.Errorf("%d deletions are told in\n%s", n, text)
	}
	w = New(Options{Directories: []string{first, second}, RetainedTime: time.Hour})
	w.Refresh(begin.Add(time.Hour + 3*time.Minute + time.Second))
	if got := numbers(w); len(got) != 2 || slices.Contains(got, 3) || slices.Contains(got, 13) {
		t.Errorf("two are older than an hour, seen: %v", got)
	}
}

func TestTwoDirectoriesWithTheSameJob(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, first, 1, time.Second)
	write(t, second, 1, time.Minute)
	w := New(Options{Directories: []string{first, second}})
	w.Refresh(begin)
	if got := find(w, 1); got != `{"n":1,"after":"1s"}` || len(numbers(w)) != 1 {
		t.Errorf("found %s among %v", got, numbers(w))
	}
}

// A directory that is not there is named once and looked for again.
func TestADirectoryThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	synctest.Test(t, func(t *testing.T) {
		logger, text := log()
		w := New(Options{Directories: []string{dir}, Interval: 10 * time.Second, Logger: logger})
		ctx, cancel := context.WithCancel(t.Context())
		go w.Run(ctx)
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if n := strings.Count(text.String(), "cannot be read"); n != 1 || len(numbers(w)) != 0 {
			t.Errorf("named %d times in\n%s", n, text)
		}
		write(t, dir, 1, 0)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := numbers(w); !slices.Equal(got, []byte{1}) {
			t.Errorf("seen: %v", got)
		}
		cancel()
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	var c cache
	known := map[ident.JobID]*entry{}
	for n := range byte(4) {
		e := &entry{job: id(n)}
		known[e.job] = e
		c.put(e, &archive.Archive{Size: cacheBytes / 2})
		c.put(e, &archive.Archive{Size: cacheBytes / 2})
	}
	if len(c.all) != 2 || c.bytes != cacheBytes || c.get(known[id(0)]) != nil || c.get(known[id(2)]) == nil {
		t.Errorf("%d archives of %d bytes", len(c.all), c.bytes)
	}
	huge := &entry{job: id(9)}
	known[huge.job] = huge
	c.put(huge, &archive.Archive{Size: 2 * cacheBytes})
	if len(c.all) != 1 || c.get(huge) == nil {
		t.Errorf("after a large one: %d archives", len(c.all))
	}
	delete(known, huge.job)
	if c.keep(known); len(c.all) != 0 || c.bytes != 0 {
		t.Errorf("after it has gone: %d archives of %d bytes", len(c.all), c.bytes)
	}
}
