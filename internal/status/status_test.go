package status

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

func TestNothingLeavesATerminalState(t *testing.T) {
	for _, from := range Jobs() {
		for _, to := range Jobs() {
			if from.Terminal() && from.CanBecome(to) {
				t.Errorf("job: %s is terminal and may become %s", from, to)
			}
		}
		if parsed, ok := ParseJob(from.String()); !ok || parsed != from {
			t.Errorf("job state %s does not parse back", from)
		}
	}
	for _, from := range Executions() {
		for _, to := range Executions() {
			if from.Terminal() && from.CanBecome(to) {
				t.Errorf("execution: %s is terminal and may become %s", from, to)
			}
		}
		if parsed, ok := ParseExecution(from.String()); !ok || parsed != from {
			t.Errorf("execution state %s does not parse back", from)
		}
	}
}

func TestEveryLiveStateReachesAnEnd(t *testing.T) {
	for _, from := range Jobs() {
		if !from.Terminal() && !jobReachesEnd(from, map[Job]bool{}) {
			t.Errorf("job state %s reaches no terminal state", from)
		}
	}
	for _, from := range Executions() {
		if !from.Terminal() && !from.CanBecome(Failed) {
			t.Errorf("execution state %s cannot fail", from)
		}
	}
}

func jobReachesEnd(s Job, seen map[Job]bool) bool {
	if s.GloballyTerminal() {
		return true
	}
	seen[s] = true
	for _, n := range jobTransitions[s] {
		if !seen[n] && jobReachesEnd(n, seen) {
			return true
		}
	}
	return false
}

// An error of the operating system's is told whole: its innermost text alone
// names no file.
func TestFailureOf(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "/data/in", Err: errors.New("no such file or directory")}
	for _, c := range []struct {
		err     error
		message string
		chain   []string
	}{
		{errors.New("plain"), "plain", nil},
		{fmt.Errorf("read text: %w", fmt.Errorf("split 3: %w", errors.New("too long"))), "too long", []string{"read text", "split 3"}},
		{fmt.Errorf("read text: %w", missing), "open /data/in: no such file or directory", []string{"read text"}},
		{fmt.Errorf("%w, as everywhere", missing), "open /data/in: no such file or directory, as everywhere", nil},
	} {
		f := FailureOf(c.err)
		if f.Message != c.message || !slices.Equal(f.Chain, c.chain) || f.Error() != c.err.Error() {
			t.Errorf("%v: message %q, chain %q", c.err, f.Message, f.Chain)
		}
	}
}
