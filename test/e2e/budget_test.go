package e2e

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// environment gives the environment of a process.
func environment(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Skipf("the environment of another process cannot be read here: %v", err)
	}
	all := map[string]string{}
	for v := range bytes.SplitSeq(text, []byte{0}) {
		name, value, _ := strings.Cut(string(v), "=")
		all[name] = value
	}
	return all
}

// What weir memory explain says before the start is what the processes of jobs
// are given: each what the slots have that its job holds.
func TestBudgetsAreApplied(t *testing.T) {
	options := []string{"taskmanager.memory.process.size=1200m", "taskmanager.memory.managed.size=64m", "taskmanager.numberOfTaskSlots=2"}
	c := start(t, 1, options...)
	out, errOut, code := c.weir(append([]string{"memory", "explain", "--json"}, c.options...)...)
	var m struct {
		Process, FrameworkHeap, FrameworkOffHeap, Network, Managed int64
	}
	if err := json.Unmarshal([]byte(out), &m, json.MatchCaseInsensitiveNames(true)); err != nil || code != 0 {
		t.Fatalf("memory explain: code %d, %v\n%s%s", code, err, out, errOut)
	}
	job := c.detached("misbehave", "slow")
	c.running(job)
	for _, pid := range c.workers() {
		env := environment(t, pid)
		if want := fmt.Sprintf("%dB", (m.Process-m.FrameworkHeap-m.FrameworkOffHeap)/2/10*9); env["GOMEMLIMIT"] != want {
			t.Errorf("worker %d has GOMEMLIMIT %q, want %s", pid, env["GOMEMLIMIT"], want)
		}
		for _, want := range []string{fmt.Sprintf(`"networkBytes":%d`, m.Network/2), fmt.Sprintf(`"allNetworkBytes":%d`, m.Network), fmt.Sprintf(`"managedBytes":%d`, m.Managed/2)} {
			if !regexp.MustCompile(want + `\b`).MatchString(env["WEIR_WORKER"]) {
				t.Errorf("worker %d is told %s, want %s", pid, env["WEIR_WORKER"], want)
			}
		}
	}
	c.weir("cancel", "-m", c.rest, job)
	c.until("job canceled", func() bool { return c.state(job) == "CANCELED" })
	c.logsNameTheJob(job)
}

// ofAJob are lines of a log that are about one job.
var ofAJob = regexp.MustCompile(`\battempt=|\ballocation=|msg="(task|worker|job|slots?) `)

// logsNameTheJob checks that each line about a job holds its id.
func (c *cluster) logsNameTheJob(job string) {
	c.t.Helper()
	logs, err := filepath.Glob(filepath.Join(c.home, "log", "*.log"))
	if err != nil || len(logs) < 2 {
		c.t.Fatalf("the logs are %v, error %v", logs, err)
	}
	found := 0
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !ofAJob.MatchString(line) {
				continue
			}
			found++
			if !strings.Contains(line, " job="+job) {
				c.t.Errorf("%s: a line about a job does not name it: %s", filepath.Base(path), line)
			}
		}
	}
	if found < 10 {
		c.t.Errorf("only %d lines are about a job", found)
	}
}

// Two jobs on one TaskManager have together what it has, and their processes are
// limited to their parts by the kernel where that is possible.
func TestTwoJobsShareTheMemory(t *testing.T) {
	c := start(t, 1, "taskmanager.numberOfTaskSlots=4", "taskmanager.memory.process.size=1600m")
	var jobs []string
	for _, p := range []string{"1", "3"} {
		out, errOut, code := c.run([]string{"-d", "-p", p}, "misbehave", "slow")
		if code != 0 {
			t.Fatalf("%s%s", out, errOut)
		}
		jobs = append(jobs, submitted.FindStringSubmatch(out)[1])
		c.running(jobs[len(jobs)-1])
	}
	const workers = 1600<<20 - 256<<20 // without the framework's
	var configured struct {
		Memory struct {
			Network int64 `json:"networkMemory"`
		} `json:"memoryConfiguration"`
	}
	c.get("/taskmanagers/"+c.managers()[0], &configured)
	network := configured.Memory.Network
	var soft, told, hard int64
	for _, pid := range c.workers() {
		env := environment(t, pid)
		var a struct {
			NetworkBytes int64 `json:"networkBytes"`
		}
		if err := json.Unmarshal([]byte(env["WEIR_WORKER"]), &a); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(env["GOMEMLIMIT"], "B"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		soft, told, hard = soft+n, told+a.NetworkBytes, hard+groupLimit(pid)
	}
	if soft > workers/10*9 || soft < workers/10*9-10 || told > network || told < network-4 {
		t.Errorf("the two have %d and %d network memory, there are %d and %d", soft, told, workers/10*9, network)
	}
	if hard > workers {
		t.Errorf("the kernel lets them use %d, there are %d", hard, workers)
	}
	for _, job := range jobs {
		c.cancel(job)
	}
}

// groupLimit is the limit of a process's control group; 0: it has none of its own.
func groupLimit(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !strings.Contains(parts[2], "/weir-") {
			continue
		}
		for _, path := range []string{"/sys/fs/cgroup/memory" + parts[2] + "/memory.limit_in_bytes", "/sys/fs/cgroup" + parts[2] + "/memory.max"} {
			if n, err := os.ReadFile(path); err == nil {
				limit, _ := strconv.ParseInt(strings.TrimSpace(string(n)), 10, 64)
				return limit
			}
		}
	}
	return 0
}

// A batch operator that has no managed memory fails its job, which names it and
// the keys.
func TestNoManagedMemory(t *testing.T) {
	c := start(t, 1, "taskmanager.memory.managed.size=0")
	input := t.TempDir()
	writeFile(t, input+"/text", "to be or not to be\n")
	out, errOut, code := c.run(nil, "wordcount", "--input", input+"/*", "--output", input+"/counts")
	if code != 1 {
		t.Fatalf("code %d\n%s%s", code, out, errOut)
	}
	for _, want := range []string{"managed memory exhausted: operator Local Count needs at least 262144 bytes, and its part of the 0 bytes of its slot is 0",
		"'taskmanager.memory.managed.size' or 'taskmanager.memory.managed.fraction'"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%q is not said in\n%s", want, errOut)
		}
	}
	if _, err := os.Stat(input + "/counts"); err == nil {
		t.Error("the output directory of a job that failed is left behind")
	}
}

// A job that needs more network buffers than its processes have fails, and says
// who asked for them and by which keys there could be more. The cluster goes on.
func TestTooFewNetworkBuffers(t *testing.T) {
	c := start(t, 2, "taskmanager.memory.network.min=64kb", "taskmanager.memory.network.max=64kb", "execution.batch-shuffle-mode=ALL_EXCHANGES_PIPELINED")
	out, errOut, code := c.run([]string{"-p", "8"}, "misbehave", "fine")
	if code != 1 {
		t.Fatalf("code %d\n%s%s", code, out, errOut)
	}
	for _, want := range []string{
		"Count -> Sink: Discard (", "create gate with 4 channels from other processes: Insufficient number of network buffers: required ",
		"but only 2 available. The total number of network buffers is currently set to 2 of 32768 bytes each. You can increase this number",
		"'taskmanager.memory.network.min'",
	} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%q is not said in\n%s", want, errOut)
		}
	}
	c.works()
}
