package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirstream/weir/internal/testkit/processes"
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
	before := c.things()
	input := c.t.TempDir()
	writeFile(c.t, input+"/text", "to be or not to be\n")
	out, errOut, code := c.run([]string{"-p", "2"}, "wordcount", "--input", input+"/*", "--output", input+"/counts")
	if code != 0 {
		c.t.Errorf("the next job: code %d\n%s%s", code, out, errOut)
	}
	if got := lines(c.t, input+"/counts"); !slices.Equal(got, []string{"be\t2", "not\t1", "or\t1", "to\t2"}) {
		c.t.Errorf("the next job counted %q", got)
	}
	c.nothingNew(before)
}

// managers lists the ids of the registered TaskManagers.
func (c *cluster) managers() []string {
	c.t.Helper()
	var answer struct {
		Managers []struct {
			ID string `json:"id"`
		} `json:"taskmanagers"`
	}
	c.get("/taskmanagers", &answer)
	var ids []string
	for _, m := range answer.Managers {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestKilledWorker(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	other := c.detached("misbehave", "slow")
	c.running(other)
	spared := c.workers()
	job := c.detached("misbehave", "fine")
	c.running(job)
	for _, pid := range c.workers() {
		if !slices.Contains(spared, pid) {
			kill(t, pid)
			break
		}
	}
	c.failed(job, "SIGKILL", `"taskManagerId"`)
	if state := c.state(other); state != "RUNNING" {
		t.Errorf("the other job is %s, want it running", state)
	}
	if got := c.workers(); !slices.Equal(got, spared) {
		t.Errorf("the workers are %d, want %d to be spared", got, spared)
	}
	c.works()
	c.weir("cancel", "-m", c.rest, other)
}

func TestKilledTaskManager(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	out, errOut, code := c.run([]string{"-d", "-p", "6"}, "misbehave", "fine") // more than one TaskManager has slots
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.running(job)
	before := c.managers()
	kill(t, c.pids[2])
	c.until("one TaskManager left", func() bool { return len(c.managers()) == 1 })
	killed := slices.DeleteFunc(before, func(id string) bool { return id == c.managers()[0] })
	c.failed(job, "TaskManager "+killed[0])
	c.until("its workers are gone", func() bool { return len(c.workers()) == 0 })
	c.works()
}

// A new master at the address of a killed one takes its TaskManagers over; they
// let go of its jobs.
func TestKilledMaster(t *testing.T) {
	t.Parallel()
	ports, err := processes.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, 1, "jobmanager.rpc.port="+ports[0], "rest.port="+ports[1])
	follower := c.attach(nil, "misbehave", "fine")
	c.running(follower.job)
	kill(t, c.pids[0])
	if got := follower.wait(); got.code != 1 || !strings.Contains(got.text, "Lost sight of job "+follower.job) {
		t.Errorf("run, attached: code %d\n%s", got.code, got.text)
	}
	c.until("cluster status says that the JobManager has ended", func() bool {
		out, _, code := c.weir(append([]string{"cluster", "status"}, c.options...)...)
		return code == 0 && strings.Contains(out, "ended") && strings.Contains(out, "The JobManager does not run.")
	})
	if _, errOut, code := c.weir("list", "-m", c.rest); code != 1 || !strings.Contains(errOut, "Is the cluster running?") {
		t.Errorf("list: code %d\n%s", code, errOut)
	}
	next := c.foreground("jobmanager")
	c.rest = c.address(next.Process.Pid).REST
	c.until("the TaskManager has registered", func() bool { return len(c.managers()) == 1 })
	c.until("the workers of the dead master's job are gone", func() bool { return len(c.workers()) == 0 })
	if err := syscall.Kill(c.pids[1], 0); err != nil {
		t.Errorf("the TaskManager did not outlive the master: %v", err)
	}
	c.works()
	next.Process.Signal(syscall.SIGTERM)
	if err := next.Wait(); err != nil {
		t.Errorf("the new master, when told to end: %v", err)
	}
	if out, errOut, code := c.weir(append([]string{"cluster", "stop"}, c.options...)...); code != 0 {
		t.Fatalf("cluster stop: code %d\n%s%s", code, out, errOut)
	}
	c.begin(1)
	c.works()
}

// foreground starts a process of the cluster, and waits for a master to serve.
// The caller ends it; else it ends with the test.
func (c *cluster) foreground(role string, options ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(bin, "weir"), append(append([]string{role}, c.options...), options...)...)
	cmd.Env = append(os.Environ(), "WEIR_HOME="+c.home)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	c.until("process "+strconv.Itoa(cmd.Process.Pid)+" serves REST", func() bool {
		_, err := os.Stat(c.addressFile(cmd.Process.Pid))
		return err == nil
	})
	return cmd
}
