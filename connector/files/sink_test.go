package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/operator"
)

// kept is what a checkpoint has of the subtasks of a sink, by list.
type kept map[string][][]byte

// subtask is one attempt of a sink's subtask with what its task does for it.
type subtask struct {
	*host
	t  *testing.T
	in *operator.Receiver[string]
}

// attempt runs a sink's subtask that begins with a checkpoint; nil: with nothing.
func attempt(t *testing.T, s Sink[string], number, parallelism, attempt int, from kept) *subtask {
	t.Helper()
	h := &host{restore: from}
	c := h.context(number, attempt)
	c.JobID, c.Parallelism, c.Checkpoints = "0123456789abcdef0123456789abcdef", parallelism, true
	a := &subtask{host: h, t: t}
	a.must(operator.Guard(func() { a.in = operator.SinkTo(s).Build(c, nil).(*operator.Receiver[string]) }))
	return a
}

func (a *subtask) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *subtask) push(lines ...string) {
	a.t.Helper()
	a.must(operator.Guard(func() {
		for _, line := range lines {
			a.in.Push(line, batch.NoTimestamp)
		}
	}))
}

// snapshot takes the subtask's part of a checkpoint.
func (a *subtask) snapshot(checkpoint int64) kept {
	a.t.Helper()
	k := kept{}
	a.must(operator.Guard(func() {
		a.host.kept[0].Prepare(checkpoint)
		for _, l := range a.host.kept[0].Lists {
			k[l.Name] = l.Save()
		}
	}))
	return k
}

func (a *subtask) complete(checkpoint int64) {
	a.t.Helper()
	a.must(operator.Guard(func() { a.host.kept[0].Complete(checkpoint) }))
}

// together is a checkpoint of several subtasks.
func together(parts ...kept) kept {
	all := kept{}
	for _, p := range parts {
		for name, elements := range p {
			all[name] = append(all[name], elements...)
		}
	}
	return all
}

// seen gives the lines of all finished files, sorted.
func seen(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, strings.Fields(string(text))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// hidden gives how many files are not finished; -1: their directory is gone.
func hidden(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".weir-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return -1
	}
	return len(names(t, found[0]))
}

func (a *subtask) wants(dir, lines string) {
	a.t.Helper()
	if got := seen(a.t, dir); got != lines {
		a.t.Errorf("seen are %q, want %q", got, lines)
	}
}

func lineSink(dir string) Sink[string] {
	return Sink[string]{Dir: dir, Format: format.Text[string](func(s string) string { return s })}
}

// spanning is a sink whose files go on over checkpoints.
func spanning(dir string) Sink[string] {
	s := lineSink(dir)
	s.Rolling.Size = 1 << 20
	return s
}

func TestSinkCommitsWithTheCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := attempt(t, lineSink(dir), 0, 1, 0, nil)
	a.push("a", "b")
	a.wants(dir, "")
	a.snapshot(1)
	a.push("c")
	a.wants(dir, "")
	a.complete(1)
	a.wants(dir, "a b")
	a.complete(1) // may come again
	a.snapshot(2)
	a.snapshot(3) // the notice of the second is lost
	a.complete(3)
	a.wants(dir, "a b c")
	a.push("d")
	a.must(operator.Guard(a.in.Finish))
	a.snapshot(4)
	a.complete(4)
	a.must(a.close(false))
	a.wants(dir, "a b c d")
	if n := hidden(t, dir); n != -1 {
		t.Errorf("%d hidden files are left", n)
	}
}

// A task fails at each point between the checkpoints; the next attempt begins with
// the last complete one and is given the records after it once more.
func TestSinkIsExactAfterFailures(t *testing.T) {
	for name, s := range map[string]func(string) Sink[string]{"rolling with checkpoints": lineSink, "going on": spanning} {
		for _, point := range []string{"before the snapshot", "before the commit", "after the commit", "killed before the snapshot", "killed before the commit", "killed after the commit"} {
			t.Run(name+", "+point, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "out")
				sink := s(dir)
				a := attempt(t, sink, 0, 1, 0, nil)
				a.push("a", "b")
				first := a.snapshot(1)
				a.complete(1)
				a.push("c", "d")
				from, again := first, []string{"c", "d", "e"}
				if !strings.Contains(point, "before the snapshot") {
					second := a.snapshot(2)
					if strings.Contains(point, "after") {
						a.complete(2)
					}
					// The checkpoint is complete, though the task may not have heard it.
					from, again = second, []string{"e"}
				}
				a.push("x", "y") // come again
				if !strings.HasPrefix(point, "killed") {
					a.must(a.close(true))
				}
				for attemptNumber := 1; attemptNumber <= 2; attemptNumber++ { // restored twice
					b := attempt(t, sink, 0, 1, attemptNumber, from)
					b.push(again...)
					b.snapshot(int64(2 + attemptNumber))
					if attemptNumber == 1 {
						b.must(b.close(true))
						continue
					}
					b.complete(4)
					b.must(operator.Guard(b.in.Finish))
					b.snapshot(5)
					b.complete(5)
					b.must(b.close(false))
					b.wants(dir, "a b c d e")
				}
				if n := hidden(t, dir); n != -1 {
					t.Errorf("%d hidden files are left", n)
				}
			})
		}
	}
}

// An attempt that was taken for dead, because its process was frozen, ends after the
// next one has begun: what it removes and writes then is its own.
func TestSinkOfAnAttemptThatIsTakenForDead(t *testing.T) {
	dir := t.TempDir()
	frozen := attempt(t, lineSink(dir), 0, 1, 0, nil)
	frozen.push("a", "b")
	next := attempt(t, lineSink(dir), 0, 1, 1, nil)
	next.push("a", "b", "c")
	frozen.close(true)
	next.snapshot(1)
	next.complete(1)
	next.wants(dir, "a b c")

	goesOn := spanning(filepath.Join(dir, "on"))
	frozen = attempt(t, goesOn, 0, 1, 0, nil)
	frozen.push("a")
	k := frozen.snapshot(1)
	next = attempt(t, goesOn, 0, 1, 1, k)
	next.push("b")
	frozen.push(strings.Repeat("z", writeBuffer)) // reaches the file
	frozen.close(true)
	next.snapshot(2)
	next.complete(2)
	next.in.Finish()
	if got := seen(t, goesOn.Dir); got != "a" && got != "a b" {
		t.Errorf("seen are %.40q", got)
	}
}

// An attempt that was taken for dead before it began, because its process was slow, does
// so after the next one: it touches nothing that the next one writes.
func TestSinkOfAnAttemptThatBeginsTooLate(t *testing.T) {
	for _, from := range []int64{0, 1} { // a checkpoint that both begin with, or none
		dir := filepath.Join(t.TempDir(), "out")
		var first kept
		want := "c d e"
		if from > 0 {
			a := attempt(t, lineSink(dir), 0, 1, 0, nil)
			a.push("a", "b")
			first = a.snapshot(1)
			a.complete(1)
			a.must(a.close(true))
			want = "a b c d e"
		}
		next := attempt(t, lineSink(dir), 0, 1, 2, first)
		next.push("c")
		next.snapshot(2)
		next.complete(2)
		next.push("d")
		next.snapshot(3)
		next.push("e")
		late := attempt(t, lineSink(dir), 0, 1, 1, first)
		late.must(late.close(true))
		next.complete(3)
		next.snapshot(4)
		next.complete(4)
		next.must(next.close(false))
		next.wants(dir, want)
		if n := hidden(t, dir); n != -1 {
			t.Errorf("%d hidden files are left", n)
		}
	}
}

// What attempts that were taken for dead begin while their successor writes goes when that
// one ends, also that of a subtask which is its own by now.
func TestSinkOfAttemptsThatLiveOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	self, other := attempt(t, lineSink(dir), 0, 2, 0, nil), attempt(t, spanning(dir), 1, 2, 1, nil)
	next := attempt(t, lineSink(dir), 0, 1, 1, nil)
	next.push("a")
	next.snapshot(1)
	next.complete(1)
	for _, old := range []*subtask{self, other} {
		old.snapshot(1)
		old.push("lost")
	} // and both are killed
	next.push("b")
	next.must(next.close(false))
	next.wants(dir, "a b")
	if n := hidden(t, dir); n != -1 {
		t.Errorf("%d hidden files are left", n)
	}
}

// What subtasks had to commit is committed by others when there are fewer or more.
func TestSinkIsRescaled(t *testing.T) {
	for name, s := range map[string]func(string) Sink[string]{"rolling with checkpoints": lineSink, "going on": spanning} {
		for _, to := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprint(name, " to ", to), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "out")
				var all kept
				for i := range 3 {
					a := attempt(t, s(dir), i, 3, 0, nil)
					a.push(fmt.Sprint("a", i))
					all = together(all, a.snapshot(1))
					a.push(fmt.Sprint("lost", i))
				} // all are killed
				for i := range to {
					b := attempt(t, s(dir), i, to, 0, all)
					b.push(fmt.Sprint("b", i))
					b.must(operator.Guard(b.in.Finish))
					b.snapshot(2)
					b.complete(2)
					b.must(b.close(false))
				}
				want := "a0 a1 a2"
				for i := range to {
					want += fmt.Sprint(" b", i)
				}
				if got := seen(t, dir); got != want {
					t.Errorf("seen are %q, want %q", got, want)
				}
				if n := hidden(t, dir); n != -1 {
					t.Errorf("%d hidden files are left", n)
				}
			})
		}
	}
}

// Without checkpoints all is seen at the end, and an attempt that begins anew takes
// the place of one that had finished.
func TestSinkWithoutCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	s := lineSink(dir)
	s.Partition = func(v string) string { return "first=" + v[:1] }
	s.Rolling.Size = 1
	for n, lines := range [][]string{{"ax", "bx", "az"}, {"ax"}} {
		a := attempt(t, s, 0, 1, n, nil)
		a.push(lines...)
		a.must(operator.Guard(a.in.Finish))
		if n == 0 {
			a.wants(dir, "")
		}
		a.must(a.close(false))
		slices.Sort(lines)
		a.wants(dir, strings.Join(lines, " "))
	}
	if got := names(t, filepath.Join(dir, "first=a")); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
}

func TestSinkRolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		s := lineSink(dir)
		s.Rolling = Rolling{Size: 6, Interval: time.Minute}
		s.Suffix = ".txt"
		a := attempt(t, s, 3, 4, 0, nil)
		defer func() { a.must(a.close(true)) }()
		a.push("aa", "bb", "cc") // the second fills the file
		a.snapshot(1)
		a.complete(1)
		a.wants(dir, "aa bb")
		time.Sleep(time.Minute)
		a.letters()
		a.snapshot(2)
		a.complete(2)
		a.wants(dir, "aa bb cc")
		for _, name := range names(t, dir) {
			if !strings.HasPrefix(name, ".weir-") && (!strings.HasPrefix(name, "part-") || !strings.HasSuffix(name, ".txt") || !strings.Contains(name, "-3-0-")) {
				t.Errorf("a file is named %s", name)
			}
		}
	})
}

// More partitions than files may be open at once.
func TestSinkManyPartitions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	s := lineSink(dir)
	s.Partition = func(v string) string { return "p/" + v }
	a := attempt(t, s, 0, 1, 0, nil)
	const partitions = maxOpen + 44
	for range 2 {
		for i := range partitions {
			a.push(fmt.Sprint(i))
		}
	}
	a.snapshot(1)
	a.complete(1)
	a.must(a.close(true))
	if got := strings.Fields(seen(t, dir)); len(got) != 2*partitions {
		t.Errorf("%d lines, want %d", len(got), 2*partitions)
	}
}

func TestSinkRefuses(t *testing.T) {
	dir := t.TempDir()
	for text, s := range map[string]Sink[string]{
		"Dir is empty":        {Format: lineSink("").Format},
		"Format is nil":       {Dir: dir},
		"Rolling.Size is -1":  {Dir: dir, Format: lineSink("").Format, Rolling: Rolling{Size: -1}},
		"Rolling.Interval is": {Dir: dir, Format: lineSink("").Format, Rolling: Rolling{Interval: 1}},
		"Suffix is":           {Dir: dir, Format: lineSink("").Format, Suffix: "a/b"},
		"is relative":         {Dir: "out", Format: lineSink("").Format},
	} {
		if err := s.Check(true); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
	}
	for _, partition := range []string{"/etc", "../a", "a/../b", "a//b", ".hidden", "a/.b", "."} {
		s := lineSink(dir)
		s.Partition = func(string) string { return partition }
		a := attempt(t, s, 0, 1, 0, nil)
		err := operator.Guard(func() { a.in.Push("x", batch.NoTimestamp) })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the partition of a record is %q", partition)) {
			t.Errorf("%q: %v", partition, err)
		}
		a.must(a.close(true))
	}
}

// A pending file that somebody has removed is a loss, and is told; so is one that
// would take the place of another.
func TestSinkTellsOfLoss(t *testing.T) {
	for _, c := range []struct {
		spoil func(pending, final string) error
		want  string
	}{
		{func(pending, _ string) error { return os.Remove(pending) }, "somebody has removed it"},
		{func(_, final string) error { return os.WriteFile(final, nil, 0o600) }, "another program writes into this directory"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		a := attempt(t, lineSink(dir), 0, 1, 0, nil)
		a.push("a")
		a.snapshot(1)
		found, _ := filepath.Glob(filepath.Join(dir, ".weir-*", "*"))
		if len(found) != 1 {
			t.Fatalf("pending are %v", found)
		}
		a.must(c.spoil(found[0], filepath.Join(dir, filepath.Base(found[0]))))
		err := operator.Guard(func() { a.host.kept[0].Complete(1) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
		a.must(a.close(true))
	}
}

// A checkpoint that has been tampered with is refused, whatever it names.
func TestPendingIsChecked(t *testing.T) {
	for _, text := range []string{"", "{}", `{"dir":"/tmp","hidden":".weir-1","name":"../x"}`, `{"dir":"/tmp","hidden":".weir-1","name":"x","partition":"../y"}`} {
		if p, err := decodePending([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, p)
		}
	}
}

// Whatever a checkpoint says, no file outside of its directory is meant.
func FuzzPending(f *testing.F) {
	f.Add([]byte(`{"dir":"/out","hidden":".weir-1","partition":"a=1","name":"part-1","length":7}`))
	f.Add([]byte(`{"dir":"/out","hidden":"../x","name":"part-1"}`))
	f.Add([]byte(`{"dir":"/out","hidden":".weir-1","name":".."}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decodePending(text)
		if err != nil {
			return
		}
		for _, path := range []string{p.hidden(), p.final()} {
			if rest, err := filepath.Rel(p.Dir, path); err != nil || !filepath.IsLocal(rest) || rest == "." {
				t.Errorf("%s names %s", text, path)
			}
		}
	})
}

// The metrics hear what has been written when it is.
func TestWhatIsWrittenIsCounted(t *testing.T) {
	h := &host{}
	c := h.context(0, 0)
	c.Parallelism, c.Checkpoints, c.Counts = 1, true, &operator.Counts{}
	in := operator.SinkTo(Sink[string]{Dir: t.TempDir(), Format: format.Text[string](func(s string) string { return s })}).Build(c, nil).(*operator.Receiver[string])
	in.Push("two", batch.NoTimestamp)
	in.Push("lines", batch.NoTimestamp)
	if got := c.Counts.Sink.Totals(); got.Records != 0 {
		t.Errorf("%d are said to be written", got.Records)
	}
	h.kept[0].Prepare(1)
	if got := c.Counts.Sink.Totals(); got.Records != 2 || got.Bytes != int64(len("two\nlines\n")) || got.Errors != 0 {
		t.Errorf("the metrics heard %+v", got)
	}
	if err := h.close(true); err != nil {
		t.Error(err)
	}
}
