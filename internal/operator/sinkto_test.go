package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/ident"
)

// ledger is a sink whose committables are the records since the last one, and whose
// commits fail as often as it says.
type ledger struct {
	c         connector.SinkContext
	written   []string
	committed []string
	most      int // committables done at once; 0: all
	failures  int
	cause     error
	closed    bool
}

func (l *ledger) Open(c connector.SinkContext) (connector.Writer[string], connector.Committer, error) {
	l.c = c
	return l, l, nil
}

func (l *ledger) Write(v string, _ int64) error { l.written = append(l.written, v); return nil }
func (l *ledger) Flush(bool) error              { return nil }
func (l *ledger) Close() error                  { l.closed = true; return nil }

func (l *ledger) Prepare(int64) ([][]byte, error) {
	var all [][]byte
	for _, v := range l.written {
		all = append(all, []byte(v))
	}
	l.written = nil
	return all, nil
}

func (l *ledger) State() ([][]byte, error) { return [][]byte{[]byte("open")}, nil }

func (l *ledger) Commit(_ context.Context, all []connector.Committable) (int, error) {
	if l.failures > 0 {
		l.failures--
		return 0, l.cause
	}
	if l.most > 0 && len(all) > l.most {
		all = all[:l.most]
	}
	for _, c := range all {
		l.committed = append(l.committed, fmt.Sprintf("%s/%d@%d", c.Data, c.Subtask, c.Checkpoint))
		if c.Again {
			l.committed[len(l.committed)-1] += "!"
		}
	}
	return len(all), nil
}

func (l *ledger) wants(t *testing.T, committed string) {
	t.Helper()
	if got := strings.Join(l.committed, " "); got != committed {
		t.Errorf("committed are %q, want %q", got, committed)
	}
}

// sinkOf builds the operator over a ledger; from is what it begins with, by list.
func sinkOf(t *testing.T, l *ledger, subtask, parallelism int, from map[string][][]byte) (*restoring, *Receiver[string]) {
	t.Helper()
	h := &restoring{from: from}
	c := h.context()
	c.Counts = &h.counts
	c.Runtime, c.Subtask, c.Parallelism, c.Logger = h, subtask, parallelism, slog.New(slog.DiscardHandler)
	var in *Receiver[string]
	if err := Guard(func() { in = SinkTo[string](l).Build(c, nil).(*Receiver[string]) }); err != nil {
		t.Fatal(err)
	}
	return h, in
}

// restoring is a host that gives an operator what a checkpoint held.
type restoring struct {
	host
	from   map[string][][]byte
	counts Counts
}

func (h *restoring) Keep(op ident.OperatorID, k Kept) {
	h.host.Keep(op, k)
	for _, l := range k.Lists {
		if h.from != nil {
			Check(l.Load(h.from[l.Name]))
		}
	}
}

func (h *restoring) save(checkpoint int64) map[string][][]byte {
	all := map[string][][]byte{}
	h.kept[0].Prepare(checkpoint)
	for _, l := range h.kept[0].Lists {
		if l.Mode != Gathered {
			panic("who commits what is decided by whose it was")
		}
		all[l.Name] = l.Save()
	}
	return all
}

func TestCommitsWaitForTheirCheckpoint(t *testing.T) {
	l := &ledger{most: 1}
	h, in := sinkOf(t, l, 0, 1, nil)
	in.Push("a", batch.NoTimestamp)
	in.Push("b", batch.NoTimestamp)
	h.save(1)
	in.Push("c", batch.NoTimestamp)
	h.save(2)
	l.wants(t, "")
	h.kept[0].Complete(1)
	l.wants(t, "a/0@1 b/0@1")
	h.save(3)
	h.kept[0].Complete(3)
	h.kept[0].Complete(2) // late
	l.wants(t, "a/0@1 b/0@1 c/0@2")
}

// Each earlier subtask's committables go to exactly one, at any parallelism, and
// are committed before anything is written.
func TestCommitsAreTakenOver(t *testing.T) {
	from := map[string][][]byte{}
	for i := range 3 {
		h, in := sinkOf(t, &ledger{}, i, 3, nil)
		in.Push(fmt.Sprint("v", i), batch.NoTimestamp)
		for name, elements := range h.save(7) {
			from[name] = append(from[name], elements...)
		}
	}
	for _, parallelism := range []int{1, 2, 3, 4} {
		seen := map[string]bool{}
		for i := range parallelism {
			l := &ledger{}
			h, _ := sinkOf(t, l, i, parallelism, from)
			for _, c := range l.committed {
				if seen[c] {
					t.Errorf("%s was committed twice", c)
				}
				seen[c] = true
			}
			if l.c.Restored == nil || l.c.Restored.Checkpoint != 7 || len(l.c.Restored.Pending) != len(l.committed) || len(l.c.Restored.States) != len(l.committed) {
				t.Errorf("subtask %d of %d begins with %+v", i, parallelism, l.c.Restored)
			}
			if left := h.save(8)["committables"]; len(left) != 0 {
				t.Errorf("subtask %d of %d keeps %s", i, parallelism, left)
			}
		}
		if !seen["v0/0@7!"] || !seen["v1/1@7!"] || !seen["v2/2@7!"] || len(seen) != 3 {
			t.Errorf("parallelism %d: %v", parallelism, seen)
		}
	}
}

func TestCommitsAreTriedAgain(t *testing.T) {
	l := &ledger{failures: 3, cause: connector.Retriable(errors.New("not now"))}
	h, in := sinkOf(t, l, 0, 1, nil)
	in.Push("a", batch.NoTimestamp)
	h.save(1)
	h.kept[0].Complete(1)
	in.Push("b", batch.NoTimestamp)
	if got := h.save(2)["committables"]; len(got) != 2 {
		t.Errorf("what is not committed is not kept: %s", got)
	}
	h.kept[0].Complete(2)
	l.wants(t, "")
	h.advance(100)
	h.advance(299)
	l.wants(t, "")
	h.advance(300)
	h.advance(700)
	l.wants(t, "a/0@1 b/0@2")
	if got := h.counts.Sink.Totals(); got.Errors != 3 {
		t.Errorf("the metrics have heard of %d failures, want 3", got.Errors)
	}

	l.failures = commitTries
	in.Push("c", batch.NoTimestamp)
	h.save(3)
	err := Guard(func() {
		h.kept[0].Complete(3)
		for range commitTries {
			h.advance(h.now + 10_000)
		}
	})
	if err == nil || err.Error() != "Op: commit what was written: not now" {
		t.Errorf("after %d tries: %v", commitTries, err)
	}

	l.failures, l.cause = 1, errors.New("never")
	if err := Guard(func() { h.kept[0].Complete(3) }); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("what does not pass: %v", err)
	}
}

// A task that has finished commits what no checkpoint will; one that has not does
// not.
func TestCommitsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failed := range []bool{false, true} {
			l := &ledger{failures: 2, cause: connector.Retriable(errors.New("not now"))}
			h, in := sinkOf(t, l, 0, 1, nil)
			in.Push("a", batch.NoTimestamp)
			in.Finish()
			if err := Guard(func() { h.closers[0](failed) }); err != nil || !l.closed {
				t.Errorf("close: %v", err)
			}
			if want := map[bool]string{false: "a/0@0"}[failed]; strings.Join(l.committed, " ") != want {
				t.Errorf("failed %v: committed are %v", failed, l.committed)
			}
		}
	})
}
