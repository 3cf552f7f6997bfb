package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// soon makes silence be noticed after a few seconds.
func soon(options ...string) []string {
	return fixedDelay(append([]string{"heartbeat.interval=500 ms", "heartbeat.timeout=5 s"}, options...)...)
}

// signal sends a signal to a process.
func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatalf("signal %d: %v", pid, err)
	}
}

// A worker that is there and does not answer is killed, the failure says in which
// state it was, and the job goes on in another one to its end.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	c := start(t, 1, soon()...)
	hold := filepath.Join(t.TempDir(), "hold") // else the job might end before its worker is stopped
	writeFile(t, hold, "")
	job := c.detached("misbehave", "brief", hold)
	c.running(job)
	workers := c.workers()
	if len(workers) != 1 {
		t.Fatalf("the workers are %d, want one", workers)
	}
	signal(t, workers[0], syscall.SIGSTOP)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	c.until("job finished", func() bool { return c.state(job) == "FINISHED" })
	all := c.exceptions(job)
	if len(all) != 1 {
		t.Fatalf("%d failures, want one: %+v", len(all), all)
	}
	if want := "the process of job misbehave brief did not answer for 5s and was killed; it was stopped (state T)"; !strings.Contains(all[0].Cause, want) {
		t.Errorf("the cause is %q, want %q", all[0].Cause, want)
	}
	if !strings.HasPrefix(all[0].Decision, "restarted ") {
		t.Errorf("the decision is %q", all[0].Decision)
	}
	c.works()
}

// A TaskManager that is frozen is lost, and its job goes on elsewhere. When it
// thaws it is another one: its workers end, and it can be used again.
func TestFrozenTaskManager(t *testing.T) {
	t.Parallel()
	c := start(t, 3, soon()...)
	out, errOut, code := c.run([]string{"-d", "-p", "6"}, "misbehave", "slow")
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.running(job)
	before := c.workers()
	victim := parent(t, before[0])
	signal(t, victim, syscall.SIGSTOP)
	thawed := false
	defer func() {
		if !thawed {
			_ = syscall.Kill(victim, syscall.SIGCONT)
		}
	}()
	c.until("two TaskManagers left", func() bool { return len(c.managers()) == 2 })
	c.recovered(job, 1)
	signal(t, victim, syscall.SIGCONT)
	thawed = true
	c.until("three TaskManagers again", func() bool { return len(c.managers()) == 3 })
	c.until("the workers of the frozen one are gone", func() bool { return !slices.Contains(c.workers(), before[0]) })
	if state := c.state(job); state != "RUNNING" {
		t.Errorf("the job is %s, want it running", state)
	}
	if n := len(c.exceptions(job)); n != 1 {
		t.Errorf("%d failures after one: %+v", n, c.exceptions(job))
	}
	c.weir("cancel", "-m", c.rest, job)
	c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
	c.works()
}
