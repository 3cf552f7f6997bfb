package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// kill ends a process at once.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// failed waits until the job has failed and checks that its cause, as REST shows
// it, holds every text.
func (c *cluster) failed(job string, texts ...string) {
	c.t.Helper()
	c.until("job failed", func() bool { return c.state(job) == "FAILED" })
	cause := c.cause(job)
	for _, text := range texts {
		if !strings.Contains(cause, text) {
			c.t.Errorf("the cause of job %s does not say %q:\n%s", job, text, cause)
		}
	}
}

// works checks that the cluster runs another job to its end.
func (c *cluster) works() {
	c.t.Helper()
	input := c.t.TempDir()
	writeFile(c.t, input+"/text", "to be or not to be\n")
	out, errOut, code := c.run([]string{"-p", "2"}, "wordcount", "--input", input+"/*")
	if code != 0 {
		c.t.Errorf("the next job: code %d\n%s%s", code, out, errOut)
	}
}

func TestKilledWorker(t *testing.T) {
	c := start(t, 2)
	other := c.detached("misbehave", "slow")
	c.running(other)
	spared := c.workers()
	job := c.detached("misbehave", "fine")
	c.running(job)
	for _, pid := range c.workers() {
		if !contains(spared, pid) {
			kill(t, pid)
			break
		}
	}
	c.failed(job, "SIGKILL")
	if state := c.state(other); state != "RUNNING" {
		t.Errorf("the other job is %s, want it running", state)
	}
	c.works()
	c.weir("cancel", "-m", c.rest, other)
}

func TestKilledTaskManager(t *testing.T) {
	c := start(t, 2)
	out, errOut, code := c.run([]string{"-d", "-p", "6"}, "misbehave", "fine") // more than one TaskManager has slots
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.running(job)
	kill(t, c.pids[2])
	c.failed(job, "TaskManager")
	c.until("one TaskManager left", func() bool {
		var o struct {
			Managers int `json:"taskmanagers"`
		}
		c.get("/overview", &o)
		return o.Managers == 1
	})
	c.works()
}

func TestKilledMaster(t *testing.T) {
	c := start(t, 1)
	job := c.detached("misbehave", "fine")
	c.running(job)
	kill(t, c.pids[0])
	c.until("the workers of the dead master's job are gone", func() bool { return len(c.workers()) == 0 })
	if out, _, code := c.weir(append([]string{"cluster", "status"}, c.options...)...); code != 0 || !strings.Contains(out, "ended") {
		t.Errorf("cluster status: code %d\n%s", code, out)
	}
	if err := syscall.Kill(c.pids[1], 0); err != nil {
		t.Errorf("the TaskManager did not outlive the master: %v", err)
	}
	if out, errOut, code := c.weir(append([]string{"cluster", "stop"}, c.options...)...); code != 0 {
		t.Fatalf("cluster stop: code %d\n%s%s", code, out, errOut)
	}
	again := restart(t, c)
	again.works()
}
