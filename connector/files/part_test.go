package files

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
)

// host does for an operator what its task would.
type host struct {
	operator.Runtime // the rest is not used
	closers          []func(failed bool)
	answers          []string // of the coordinator
	mail             []func()
	kept             []operator.Kept
	restore          map[string][][]byte // by list: what the operator begins with
}

func (h *host) Keep(_ ident.OperatorID, k operator.Kept) {
	h.kept = append(h.kept, k)
	for _, l := range k.Lists {
		if h.restore != nil {
			operator.Check(l.Load(h.restore[l.Name]))
		}
	}
}

// At posts f when its time has come; letters runs it.
func (h *host) At(at int64, f func()) func() {
	timer := time.AfterFunc(time.Until(time.UnixMilli(at)), func() { h.mail = append(h.mail, f) })
	return func() { timer.Stop() }
}

func (h *host) Now() int64 { return time.Now().UnixMilli() }

// letters runs what has been posted.
func (h *host) letters() {
	synctest.Wait()
	for _, f := range h.mail {
		f()
	}
	h.mail = nil
}

func (h *host) Wake()                 {}
func (h *host) Mail(f func())         { h.mail = append(h.mail, f) }
func (h *host) OnFlush(func())        {}
func (h *host) OnClose(f func(bool))  { h.closers = append(h.closers, f) }
func (h *host) Done() <-chan struct{} { return nil }
func (h *host) CountIn(int)           {}
func (h *host) CountOut(int)          {}
func (h *host) Ask(_ ident.OperatorID, _ []byte, then func([]byte, error)) {
	if len(h.answers) == 0 {
		then(nil, errors.New("the coordinator is gone"))
		return
	}
	answer := h.answers[0]
	h.answers = h.answers[1:]
	then([]byte(answer), nil)
}

func (h *host) context(subtask, attempt int) *operator.Context {
	return &operator.Context{Runtime: h, Signal: operator.NewSignal(func() {}), Subtask: subtask, Parallelism: 8, Attempt: attempt, Logger: slog.New(slog.DiscardHandler)}
}

// close ends the operator as its task would.
func (h *host) close(failed bool) error {
	return operator.Guard(func() {
		for _, f := range h.closers {
			f(failed)
		}
	})
}

// sink opens the writer of one subtask.
func sink(t *testing.T, dir string, subtask, attempt int) (*host, *operator.Receiver[string]) {
	t.Helper()
	h := &host{}
	var in *operator.Receiver[string]
	err := operator.Guard(func() {
		in = WriteLines(dir, func(v string) string { return v }).Build(h.context(subtask, attempt), nil).(*operator.Receiver[string])
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, in
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestAPartIsSeenWhenItIsComplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on the way")
	first, in := sink(t, dir, 0, 0)
	second, _ := sink(t, dir, 1, 2)
	long := strings.Repeat("x", 3*writeBuffer)
	for _, line := range []string{"a", "", long, "ü\xff"} {
		in.Push(line, batch.NoTimestamp)
	}
	if got := names(t, dir); !slices.Equal(got, []string{".made", ".part-0-0.inprogress", ".part-1-2.inprogress"}) {
		t.Errorf("before the end: %q", got)
	}
	if err := errors.Join(first.close(false), second.close(false)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"part-0", "part-1"}) {
		t.Errorf("after the end: %q", got)
	}
	for name, want := range map[string]string{"part-0": "a\n\n" + long + "\nü\xff\n", "part-1": ""} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(text) != want {
			t.Errorf("%s: %d bytes, error %v, want %d bytes", name, len(text), err, len(want))
		}
	}
}

func TestAFailedPartIsRemoved(t *testing.T) {
	dir := t.TempDir()
	h, in := sink(t, dir, 3, 0)
	in.Push("a", batch.NoTimestamp)
	if err := h.close(true); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// A directory that the job has made goes with the last part that fails, and one
// that was there before stays.
func TestADirectoryThatWasMadeInVainIsRemoved(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	first, _ := sink(t, dir, 0, 0)
	second, _ := sink(t, dir, 1, 0)
	if err := first.close(true); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{".made", ".part-1-0.inprogress"}) {
		t.Errorf("while another part is written: %q", got)
	}
	if err := second.close(true); err != nil {
		t.Fatal(err)
	}
	if got := names(t, parent); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	// The job restarts: one part is whole, and the others fail after all.
	first, _ = sink(t, dir, 0, 1)
	second, _ = sink(t, dir, 1, 1)
	if err := errors.Join(first.close(false), second.close(true)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"part-0"}) {
		t.Errorf("after a whole part: %q", got)
	}
	there := filepath.Join(parent, "there")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	h, _ := sink(t, there, 0, 0)
	if err := h.close(true); err != nil {
		t.Fatal(err)
	}
	if got := names(t, there); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// Parts that begin while others fail and take the directory away find it again.
func TestPartsBeginAndFailAtTheSameTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var all sync.WaitGroup
	for subtask := range 4 {
		all.Go(func() {
			for attempt := range 50 {
				p, err := createPart(dir, author{subtask, 4, attempt})
				if err == nil {
					err = p.close(true)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A part that cannot be completed fails the job and is not seen.
func TestAPartThatCannotBeWrittenIsNamed(t *testing.T) {
	dir := t.TempDir()
	h, _ := sink(t, dir, 0, 0)
	if err := os.MkdirAll(filepath.Join(dir, "part-0", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.close(false); err == nil || !strings.HasPrefix(err.Error(), "write text: ") || !strings.Contains(err.Error(), "part-0") {
		t.Errorf("got %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"part-0"}) {
		t.Errorf("left behind: %q", got)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := operator.Guard(func() { WriteLines(file, func(v string) string { return v }).Build((&host{}).context(0, 0), nil) })
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file as directory: %v", err)
	}
}

func TestCheckEmpty(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(CheckEmpty(dir), CheckEmpty(filepath.Join(dir, "missing"))); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, ".hidden")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckEmpty(dir); err == nil || !strings.Contains(err.Error(), dir+" exists and is not empty") {
		t.Errorf("got %v", err)
	}
	var path *fs.PathError
	if err := CheckEmpty(file); !errors.As(err, &path) {
		t.Errorf("a file as directory: %v", err)
	}
}

// read runs a source until it ends.
func read(h *host) (got []string, err error) {
	err = operator.Guard(func() {
		out := &operator.Receiver[string]{Push: func(v string, _ int64) { got = append(got, v) }, Watermark: func(int64) {}, Idle: func(bool) {}}
		for s := operator.FromSource(Lines("in")).Open(h.context(0, 0), out); s.Poll() != operator.Done; {
		}
	})
	return got, errors.Join(err, h.close(err != nil))
}

func TestTheReaderReadsAllSplits(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 3 * batch.MaxRows {
		want = append(want, fmt.Sprint(i))
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.WriteFile(a, []byte(strings.Join(want, "\n")+"\n"), 0o600), os.WriteFile(b, []byte("last"), 0o600)); err != nil {
		t.Fatal(err)
	}
	want = append(want, "last")
	size := len(strings.Join(want, "\n")) - len("last")
	h := &host{answers: []string{
		fmt.Sprintf(`{"split":{"id":0,"files":[{"path":%q,"offset":0,"length":1000,"size":%d}]}}`, a, size),
		fmt.Sprintf(`{"split":{"id":1,"files":[{"path":%q,"offset":1000,"length":%d,"size":%d},{"path":%q,"offset":0,"length":4,"size":4}]}}`, a, size-1000, size, b),
		`{"done":true}`,
	}}
	got, err := read(h)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d; error %v", len(got), len(want), err)
	}
}

func TestAReaderWithoutAnswerFails(t *testing.T) {
	for want, answers := range map[string][]string{"the coordinator is gone": nil, "ask for the next split": {"{"}} {
		if _, err := read(&host{answers: answers}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := read(&host{answers: []string{fmt.Sprintf(`{"split":{"id":0,"files":[{"path":%q,"length":9,"size":9}]}}`, missing), `{"done":true}`}})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
}

// A subtask that runs again, though it had finished, replaces its part; one whose
// process was killed leaves nothing.
func TestASubtaskThatRunsAgainReplacesItsPart(t *testing.T) {
	dir := t.TempDir()
	for attempt, text := range []string{"first", "killed", "second"} {
		p, err := createPart(dir, author{0, 1, attempt})
		if err != nil {
			t.Fatal(err)
		}
		p.text.WriteString(text)
		if text == "killed" {
			p.file.Close()
			continue
		}
		if err := p.close(false); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"part-0"}) {
		t.Errorf("files: %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "part-0")); string(text) != "second" {
		t.Errorf("part-0: %q, %v", text, err)
	}
}

// An attempt that was taken for dead does not put its part in the place of its successor's,
// whenever it began and ends, also if it is of another parallelism.
func TestAPartIsOfOneAttempt(t *testing.T) {
	for _, c := range []struct {
		what        string
		frozen      author
		next        author
		beginsLate  bool // after its successor
		endsLate    bool // the same
		beginsAtAll bool
	}{
		{"the same subtask", author{0, 1, 0}, author{0, 1, 1}, false, false, true},
		{"the same subtask, which wakes up at the end", author{0, 1, 0}, author{0, 1, 1}, false, true, true},
		{"the same subtask, which begins too late", author{0, 1, 0}, author{0, 1, 1}, true, false, false},
		{"a subtask that is gone", author{2, 4, 0}, author{0, 2, 1}, false, true, true},
		{"a subtask that is gone, which begins too late", author{2, 4, 0}, author{0, 2, 1}, true, false, true},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		var frozen, next *part
		begin := func(p **part, a author) error {
			made, err := createPart(dir, a)
			if err == nil {
				*p = made
				made.text.WriteString(fmt.Sprint(a))
			}
			return err
		}
		if !c.beginsLate {
			if err := begin(&frozen, c.frozen); err != nil {
				t.Fatal(err)
			}
		}
		if err := begin(&next, c.next); err != nil {
			t.Fatal(err)
		}
		if c.beginsLate {
			if err := begin(&frozen, c.frozen); (err == nil) != c.beginsAtAll {
				t.Errorf("%s: begins: %v", c.what, err)
			}
		}
		if frozen != nil && !c.endsLate && !c.beginsLate {
			if err := frozen.close(false); err == nil {
				t.Errorf("%s: it ends well", c.what)
			}
		}
		if err := next.close(false); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if frozen != nil && (c.endsLate || c.beginsLate) {
			if err := frozen.close(false); err == nil {
				t.Errorf("%s: it ends well", c.what)
			}
		}
		if got := names(t, dir); !slices.Equal(got, []string{"part-0"}) {
			t.Errorf("%s: files: %q", c.what, got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "part-0")); string(text) != fmt.Sprint(c.next) {
			t.Errorf("%s: part-0: %q, %v", c.what, text, err)
		}
	}
}

// What subtasks had finished that there are no more since a rescale is written again by
// those there are, and goes.
func TestPartsOfSubtasksThatAreGone(t *testing.T) {
	dir := t.TempDir()
	for subtask := range 4 {
		p, err := createPart(dir, author{subtask, 4, 0})
		if err == nil && subtask != 2 { // whose process is killed
			err = p.close(false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for subtask := range 2 {
		p, err := createPart(dir, author{subtask, 2, 1})
		if err == nil {
			err = p.close(false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"part-0", "part-1"}) {
		t.Errorf("files: %q", got)
	}
}
