package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func contains(all []int, n int) bool { return slices.Contains(all, n) }

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestMisbehavingPrograms runs every program that goes wrong on one cluster, next
// to a job that must not notice.
func TestMisbehavingPrograms(t *testing.T) {
	c := start(t, 1, "taskmanager.memory.process.size=1g", "task.cancellation.timeout=1000")
	witness := c.detached("misbehave", "slow")
	c.running(witness)
	for _, p := range []struct {
		mode   string
		causes []string // what the exception history must say
	}{
		{"error", []string{"not a number: abc", "Culprit"}},
		{"panic", []string{"index of nothing", "Culprit", "misbehave/main.go"}},
		{"goroutine-panic", []string{"far from any task"}},
		{"exit", []string{"7"}},
		{"kill-self", []string{"SIGKILL"}},
		{"open-error", []string{"cannot open what does not exist"}},
		{"two-graphs", []string{"Only in the worker"}},
	} {
		t.Run(p.mode, func(t *testing.T) {
			c := *c
			c.t = t
			c.failed(c.detached("misbehave", p.mode), p.causes...)
		})
	}
	for _, mode := range []string{"loop", "open-deadlock", "stdout"} {
		t.Run(mode, func(t *testing.T) {
			c := *c
			c.t = t
			job := c.detached("misbehave", mode)
			if mode != "open-deadlock" {
				c.running(job)
			}
			c.weir("cancel", "-m", c.rest, job)
			c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
		})
	}
	if state := c.state(witness); state != "RUNNING" {
		t.Errorf("the witness is %s, want it running", state)
	}
	c.works()
	c.weir("cancel", "-m", c.rest, witness)
}

// TestProgramsThatGiveNoJob checks what is said of programs that never reach
// Execute.
func TestProgramsThatGiveNoJob(t *testing.T) {
	c := start(t, 1)
	for mode, want := range map[string]string{
		"no-execute": "Execute",
		"plan-exit":  "giving up before Execute",
		"plan-panic": "misbehave: before Execute",
	} {
		_, errOut, code := c.run(nil, "misbehave", mode)
		if code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%s: code %d, want 1 and %q:\n%s", mode, code, want, errOut)
		}
	}
	c.works()
}
