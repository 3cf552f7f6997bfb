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
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/ident"
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

// hiddenIn is the one hidden directory.
func hiddenIn(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".weir-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("hidden directories: %v, %v", found, err)
	}
	return found[0]
}

// partPrefix begins the names of all files of the sink in a directory.
func partPrefix(t *testing.T, dir string) string {
	t.Helper()
	return "part-" + strings.TrimPrefix(filepath.Base(hiddenIn(t, dir)), ".weir-") + "-"
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

// Attempts that were taken for dead begin no file any more once their successor writes,
// also those of a subtask which is its own by now. What one leaves that is killed in the
// middle of it goes when the successor ends.
func TestSinkOfAttemptsThatLiveOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	self, other := attempt(t, lineSink(dir), 0, 2, 0, nil), attempt(t, spanning(dir), 1, 2, 1, nil)
	for _, old := range []*subtask{self, other} {
		old.push("lost")
	}
	next := attempt(t, lineSink(dir), 0, 1, 2, nil)
	next.push("a")
	next.snapshot(1)
	next.complete(1)
	for _, old := range []*subtask{self, other} {
		if old.snapshot(1); old == other {
			other.in.Finish()
		}
		err := operator.Guard(func() { old.in.Push("lost", batch.NoTimestamp) })
		if err == nil || !strings.Contains(err.Error(), "another attempt has taken the place of this one") {
			t.Errorf("it goes on: %v", err)
		}
	}
	for _, name := range []string{"0-0-0-7", "1-0-1-7", "1-0-1-claim"} {
		next.must(os.WriteFile(filepath.Join(hiddenIn(t, dir), partPrefix(t, dir)+name), nil, 0o600))
	}
	next.push("b")
	next.must(next.close(false))
	next.wants(dir, "a b")
	if n := hidden(t, dir); n != -1 {
		t.Errorf("%d hidden files are left", n)
	}
	for _, old := range []*subtask{self, other} {
		old.must(old.close(true))
	}
	next.wants(dir, "a b")
}

// In a job without checkpoints an attempt that was taken for dead before its first record
// does not make seen what it writes, whenever it ends; nor does one that begins too late
// and ends before its successor.
func TestSinkWithoutCheckpointsIsWrittenByOneAttempt(t *testing.T) {
	for _, order := range []string{"before its successor ends", "after its successor has ended", "begun too late"} {
		t.Run(order, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			s := lineSink(dir)
			s.Partition = func(v string) string { return "first=" + v[:1] }
			var frozen *subtask
			wakes := func() error {
				return errors.Join(operator.Guard(func() {
					frozen.in.Push("a", batch.NoTimestamp)
					frozen.in.Finish()
				}), frozen.close(false))
			}
			if order != "begun too late" {
				frozen = attempt(t, s, 0, 1, 0, nil)
			}
			next := attempt(t, s, 0, 1, 1, nil)
			next.push("a", "b")
			switch order {
			case "before its successor ends":
				if err := wakes(); err == nil {
					t.Error("it ends well")
				}
			case "begun too late":
				frozen = attempt(t, s, 0, 1, 0, nil)
				frozen.must(wakes())
			}
			next.must(next.close(false))
			if order == "after its successor has ended" {
				if err := wakes(); err == nil {
					t.Error("it ends well")
				}
			}
			next.wants(dir, "a b")
			if n := hidden(t, dir); n != -1 {
				t.Errorf("%d hidden files are left", n)
			}
		})
	}
}

// An attempt of before a rescale that begins too late touches nothing of the subtasks that
// there are since then, though it owned their remains.
func TestSinkOfAnAttemptFromBeforeARescale(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var now []*subtask
	for i := range 4 {
		a := attempt(t, lineSink(dir), i, 4, 3, nil)
		a.push(fmt.Sprint("a", i))
		a.snapshot(1)
		now = append(now, a)
	}
	late := attempt(t, lineSink(dir), 0, 1, 2, nil)
	late.push("lost")
	late.must(late.close(true))
	for _, a := range now {
		a.complete(1)
		a.push("b")
		a.must(a.close(false))
	}
	now[0].wants(dir, "a0 a1 a2 a3 b b b b")
	if n := hidden(t, dir); n != -1 {
		t.Errorf("%d hidden files are left", n)
	}
}

// An attempt that is frozen while it takes over a file does not bring it back when another
// has done so in its place, and has finished it.
func TestSinkOfAnAttemptThatTakesOverTooLate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	first := attempt(t, spanning(dir), 0, 1, 0, nil)
	first.push("a")
	from := first.snapshot(1)
	var file pending
	for _, name := range names(t, hiddenIn(t, dir)) {
		if !strings.HasSuffix(name, "-claim") {
			file = pending{Dir: dir, Hidden: filepath.Base(hiddenIn(t, dir)), Name: name, Length: 2}
		}
	}
	texts, err := encodeAll([]pending{file})
	first.must(err)
	opened, _, err := spanning(dir).Open(connector.SinkContext{
		Job: "0123456789abcdef0123456789abcdef", Operator: ident.OperatorID{}.String(), Parallelism: 1, Attempt: 1, Checkpoints: true,
		Restored: &connector.Restored{Checkpoint: 1, States: []connector.State{{Data: texts[0]}}}, Logger: slog.New(slog.DiscardHandler),
	})
	first.must(err)
	frozen := opened.(*writer[string])
	next := attempt(t, spanning(dir), 0, 1, 2, from)
	if err := frozen.takeOver(file); err == nil || !strings.Contains(err.Error(), "another attempt has taken the place of this one") {
		t.Errorf("it takes over: %v", err)
	}
	next.push("b")
	next.snapshot(2)
	next.complete(2)
	first.must(frozen.Close())
	next.must(next.close(false))
	next.wants(dir, "a b")
	if n := hidden(t, dir); n != -1 {
		t.Errorf("%d hidden files are left", n)
	}
}

// A sink that writes nothing leaves nothing, not even a directory.
func TestSinkWithoutRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := attempt(t, lineSink(dir), 0, 1, 0, nil)
	a.must(a.close(false))
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	// Where files were, of which a reader has taken all away, the directory stays.
	a = attempt(t, lineSink(dir), 0, 1, 0, nil)
	a.push("a")
	a.snapshot(1)
	a.complete(1)
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "part-") {
			a.must(os.Remove(filepath.Join(dir, name)))
		}
	}
	a.must(a.close(false))
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left are %v", got)
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
					b := attempt(t, s(dir), i, to, 1, all)
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
		found, _ := filepath.Glob(filepath.Join(dir, ".weir-*", "*-0")) // not its claim
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

// An attempt that is frozen between its last record and the removal of what was there before
// takes nothing away, when it wakes up, of what its successor has written, and tells of
// nothing.
func TestReplacingByAnAttemptThatIsTakenForDead(t *testing.T) {
	for _, committed := range []bool{false, true} { // before it was frozen
		dir := t.TempDir()
		s := lineSink(dir)
		s.Replace, s.Success = true, "_SUCCESS"
		open := func(attempt int) (*writer[string], connector.Committer) {
			t.Helper()
			w, c, err := s.Open(connector.SinkContext{Job: "0123", Operator: "4567", Parallelism: 1, Attempt: attempt, Logger: slog.New(slog.DiscardHandler),
				Metrics: &connector.SinkMetrics{}, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			return w.(announcing[string]).Writer.(replacing[string]).writer, c
		}
		write := func(w *writer[string], line string) (all []connector.Committable) {
			t.Helper()
			if err := errors.Join(w.Write(line, 0), w.Flush(true)); err != nil {
				t.Fatal(err)
			}
			texts, err := w.Prepare(connector.AtEnd)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range append(texts, removal, announcement) {
				all = append(all, connector.Committable{Data: text})
			}
			return all
		}
		if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		frozen, commits := open(0)
		late := write(frozen, "first")
		if committed {
			if _, err := commits.Commit(t.Context(), late); err != nil {
				t.Fatal(err)
			}
		}
		next, commitsNext := open(1)
		all := write(next, "second")
		if _, err := commitsNext.Commit(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		success := filepath.Join(dir, "_SUCCESS")
		if err := os.Remove(success); err != nil {
			t.Fatal(err)
		}
		_, err := commits.Commit(t.Context(), late)
		if _, told := os.Stat(success); !committed && (err == nil || told == nil) {
			t.Errorf("it commits: %v, and tells of it: %v", err, told)
		}
		if err := os.RemoveAll(success); err != nil {
			t.Fatal(err)
		}
		if got := seen(t, dir); got != "second" {
			t.Errorf("committed before %t: seen are %q", committed, got)
		}
	}
}
