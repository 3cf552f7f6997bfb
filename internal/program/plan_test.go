//go:build linux

package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// upload puts the test binary into a new store.
func upload(t testing.TB) (*Store, Program) {
	t.Helper()
	s := newStore(t)
	p, err := s.Upload("job", bytes.NewReader(self(t)))
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// onlyPrograms complains when something else than programs is in the store.
func onlyPrograms(t *testing.T, s *Store) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := s.Get(e.Name()); err != nil {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestPlan(t *testing.T) {
	s, p := upload(t)
	t.Setenv("WEIR_WORKER", "told to this process, not to the program")
	args := []string{"job", "--input", "a b", ""}
	g, err := (&Planner{Store: s}).Plan(t.Context(), p, args, map[string]string{"parallelism.default": "3"})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := s.Sum(p)
	if err != nil {
		t.Fatal(err)
	}
	a := g.Artifact
	if a.SHA256 != sum || a.Name != "job" || a.Size != p.Size || !slices.Equal(a.Arguments, args) {
		t.Errorf("artifact %+v", a)
	}
	if g.Name != strings.Join(args, " ") || !reflect.DeepEqual(g.Configuration, map[string]string{"parallelism.default": "3"}) {
		t.Errorf("job %q with %v", g.Name, g.Configuration)
	}
	onlyPrograms(t, s)
}

func TestPlanFails(t *testing.T) {
	s, p := upload(t)
	for mode, c := range map[string]struct {
		timeout time.Duration
		memory  int64
		cause   string
		output  string
	}{
		"panic":       {cause: "ended before it described its job: panic: boom", output: "goroutine"},
		"late panic":  {cause: "panic: at the end", output: "goroutine"},
		"exit":        {cause: "cannot read the configuration (exit status 3)", output: "cannot read the configuration"},
		"usage":       {cause: "flag provided but not defined: -bad (exit status 2)", output: "a glob"},
		"silent exit": {cause: "ended before it described its job: exit status 4"},
		"no job":      {cause: "without calling Execute", output: "nothing to do"},
		"garbage":     {cause: "cannot be read"},
		"loop":        {timeout: 300 * time.Millisecond, cause: "did not describe its job within 300ms and was killed"},
		"grow":        {memory: 64 << 20, cause: "used more than 64 MiB before it described its job"},
	} {
		t.Run(mode, func(t *testing.T) {
			planner := &Planner{Store: s, Timeout: c.timeout, Memory: c.memory}
			_, err := planner.Plan(t.Context(), p, []string{mode}, nil)
			var failed *PlanError
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(failed.Cause.Error(), c.cause) || strings.Contains(failed.Cause.Error(), "\n") {
				t.Errorf("cause %q, want one line with %q", failed.Cause, c.cause)
			}
			if !strings.Contains(failed.Output, c.output) || len(failed.Output) > keptOutput {
				t.Errorf("output of %d bytes: %.300q", len(failed.Output), failed.Output)
			}
			if (mode == "no job") != errors.Is(err, ErrNoJob) {
				t.Errorf("%v is ErrNoJob: %t", err, errors.Is(err, ErrNoJob))
			}
			onlyPrograms(t, s)
			if _, err := planner.Plan(t.Context(), p, []string{"job"}, nil); c.timeout == 0 && err != nil {
				t.Errorf("the next good request: %v", err)
			}
		})
	}
}

// TestPlanOfChatter gives a program that talks without end more and more time until
// it has said something before its time was up.
func TestPlanOfChatter(t *testing.T) {
	s, p := upload(t)
	var failed *PlanError
	for timeout := 300 * time.Millisecond; timeout < time.Minute; timeout *= 2 {
		_, err := (&Planner{Store: s, Timeout: timeout}).Plan(t.Context(), p, []string{"chatter"}, nil)
		if !errors.As(err, &failed) || !strings.Contains(failed.Cause.Error(), "did not describe its job within "+timeout.String()+" and was killed") {
			t.Fatalf("error %v", err)
		}
		if failed.Output != "" {
			break
		}
	}
	if !strings.Contains(failed.Output, "and another thing") || len(failed.Output) > keptOutput {
		t.Errorf("output of %d bytes: %.300q", len(failed.Output), failed.Output)
	}
	onlyPrograms(t, s)
}

// A program whose time is up before it is started is told of as one that took too
// long.
func TestPlanWithoutTime(t *testing.T) {
	s, p := upload(t)
	_, err := (&Planner{Store: s, Timeout: 1}).Plan(t.Context(), p, []string{"job"}, nil)
	var failed *PlanError
	if !errors.As(err, &failed) || !strings.Contains(failed.Cause.Error(), "did not describe its job within 1ns and was killed") {
		t.Errorf("error %v", err)
	}
	onlyPrograms(t, s)
}

func TestPlanGivenUp(t *testing.T) {
	s, p := upload(t)
	why := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := (&Planner{Store: s}).Plan(ctx, p, []string{"loop"}, nil); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	onlyPrograms(t, s)
}

// TestPlanLeavesNothing plans a program that writes files into its directory,
// and one that leaves a child behind, which keeps its output open.
func TestPlanLeavesNothing(t *testing.T) {
	s, p := upload(t)
	planner := &Planner{Store: s}
	if _, err := planner.Plan(t.Context(), p, []string{"litter"}, nil); err != nil {
		t.Error(err)
	}
	onlyPrograms(t, s)

	lock := filepath.Join(t.TempDir(), "lock")
	if _, err := planner.Plan(t.Context(), p, []string{"orphan", lock}, nil); err != nil {
		t.Fatal(err)
	}
	onlyPrograms(t, s)
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// This waits until the child, which holds the lock while it lives, is dead.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Error(err)
	}
}

func TestPlanOfDeleted(t *testing.T) {
	s, p := upload(t)
	if err := s.Delete(p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Planner{Store: s}).Plan(t.Context(), p, []string{"job"}, nil); err == nil {
		t.Error("planned")
	}
	onlyPrograms(t, s)
}

func TestTail(t *testing.T) {
	var w tail
	for range 100_000 {
		if _, err := w.Write([]byte("line of the log\n")); err != nil {
			t.Fatal(err)
		}
	}
	if text := w.String(); len(text) > keptOutput || !strings.HasPrefix(text, "line of") || len(w.held) > 2*heldOutput {
		t.Errorf("%d bytes shown, %d held", len(text), len(w.held))
	}
	if w.death() != "" || w.last() != "line of the log" {
		t.Errorf("death %q, last %q", w.death(), w.last())
	}
	if _, err := w.Write(bytes.Repeat([]byte("x\xff"), heldOutput)); err != nil {
		t.Fatal(err)
	}
	if text := w.String(); len(text) > keptOutput {
		t.Errorf("%d bytes of one line shown", len(text))
	}
}
