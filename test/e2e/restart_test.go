package e2e

import (
	"encoding/json/v2"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

// rounds is how often the restarts are measured that the tests only log.
var rounds = flag.Int("restarts", 3, "restarts of each kind to run and measure")

// fixedDelay restarts jobs at once, as often as it takes.
func fixedDelay(options ...string) []string {
	return append([]string{"restart-strategy.type=fixed-delay", "restart-strategy.fixed-delay.attempts=1000", "restart-strategy.fixed-delay.delay=0 s"}, options...)
}

// recovered waits until every task of the job runs, and at least one is at the
// attempt. It gives the time at which the last one came to run.
func (c *cluster) recovered(job string, attempt int) time.Time {
	c.t.Helper()
	var last int64
	c.until("all tasks running again", func() bool {
		var detail struct {
			State    string `json:"state"`
			Vertices []struct {
				ID string `json:"id"`
			} `json:"vertices"`
		}
		c.get("/jobs/"+job, &detail)
		if detail.State == "FAILED" {
			c.t.Fatalf("job %s failed: %s", job, c.cause(job))
		}
		last = 0
		newest := 0
		for _, v := range detail.Vertices {
			var vertex struct {
				Subtasks []struct {
					Attempt int    `json:"attempt"`
					Status  string `json:"status"`
				} `json:"subtasks"`
			}
			c.get("/jobs/"+job+"/vertices/"+v.ID, &vertex)
			for _, s := range vertex.Subtasks {
				newest = max(newest, s.Attempt)
				if s.Status != "RUNNING" {
					return false
				}
			}
			var times struct {
				Subtasks []struct {
					Timestamps map[string]int64 `json:"timestamps"`
				} `json:"subtasks"`
			}
			c.get("/jobs/"+job+"/vertices/"+v.ID+"/subtasktimes", &times)
			for _, s := range times.Subtasks {
				last = max(last, s.Timestamps["RUNNING"])
			}
		}
		return newest >= attempt && detail.State == "RUNNING"
	})
	return time.UnixMilli(last)
}

// failure is an entry of `weir exceptions --json`.
type failure struct {
	Cause    string    `json:"cause"`
	Task     string    `json:"task"`
	Attempt  *int      `json:"attempt"`
	Time     int64     `json:"time"`
	Decision string    `json:"decision"`
	Folded   []failure `json:"folded"`
	Process  *struct {
		Signal     string `json:"signal"`
		PeakMemory int64  `json:"peakMemory"`
	} `json:"process"`
}

func (c *cluster) exceptions(job string) []failure {
	c.t.Helper()
	out, errOut, code := c.weir("exceptions", "-m", c.rest, "--json", job)
	var all []failure
	if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil {
		c.t.Fatalf("weir exceptions: code %d, %v\n%s%s", code, err, out, errOut)
	}
	return all
}

// report logs what was measured.
func report(t *testing.T, what string, all []time.Duration) {
	slices.Sort(all)
	t.Logf("%s: median %s, worst %s of %d: %v", what, all[len(all)/2], all[len(all)-1], len(all), all)
}

func TestRestartAfterTaskFailure(t *testing.T) {
	c := start(t, 2, fixedDelay()...)
	trigger := filepath.Join(t.TempDir(), "trigger")
	job := c.detached("misbehave", "error-once", trigger)
	c.running(job)
	var took []time.Duration
	for round := range *rounds {
		writeFile(t, trigger, "")
		running := c.recovered(job, round+1)
		newest := c.exceptions(job)[0]
		if newest.Cause != "this time only" || !strings.HasPrefix(newest.Task, "Source") || !strings.HasPrefix(newest.Decision, "restarted ") {
			t.Errorf("the newest failure is %+v", newest)
		}
		took = append(took, running.Sub(time.UnixMilli(newest.Time)))
	}
	report(t, "task failure to all RUNNING", took)
	c.weir("cancel", "-m", c.rest, job)
	c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
}

func TestRestartAfterWorkerDeath(t *testing.T) {
	c := start(t, 2, fixedDelay()...)
	trigger := filepath.Join(t.TempDir(), "trigger")
	out, errOut, code := c.run([]string{"-d", "-p", "6"}, "misbehave", "kill-self-once", trigger)
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.running(job)
	var took []time.Duration
	for round := range *rounds {
		writeFile(t, trigger, "")
		running := c.recovered(job, round+1)
		all := c.exceptions(job)
		if len(all) != min(round+1, 16) {
			t.Errorf("%d entries after %d deaths", len(all), round+1)
		}
		newest := all[0]
		if newest.Process == nil || newest.Process.Signal != "SIGKILL" || newest.Process.PeakMemory == 0 {
			t.Errorf("the newest failure is %+v", newest)
		}
		took = append(took, running.Sub(time.UnixMilli(newest.Time)))
	}
	report(t, "worker death to all RUNNING", took)
	c.weir("cancel", "-m", c.rest, job)
	c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
}

func TestRestartAfterTaskManagerDeath(t *testing.T) {
	var took []time.Duration
	for range *rounds {
		took = append(took, killTaskManager(t))
	}
	report(t, "kill of a TaskManager to all RUNNING", took)
}

// killTaskManager kills one of three TaskManagers of which the job needs two.
func killTaskManager(t *testing.T) time.Duration {
	c := start(t, 3, fixedDelay()...)
	out, errOut, code := c.run([]string{"-d", "-p", "6"}, "misbehave", "slow")
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.running(job)
	victim := parent(t, c.workers()[0])
	killed := time.Now()
	kill(t, victim)
	running := c.recovered(job, 1)
	for _, f := range c.exceptions(job) {
		if !strings.Contains(f.Cause, "lost") {
			t.Errorf("the cause is %q", f.Cause)
		}
	}
	c.weir("cancel", "-m", c.rest, job)
	c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
	return running.Sub(killed)
}

// parent gives the process that started another.
func parent(t *testing.T, pid int) int {
	t.Helper()
	ppid, err := processes.Parent(pid)
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

func TestFatalErrorIsNotRestarted(t *testing.T) {
	c := start(t, 1, fixedDelay()...)
	trigger := filepath.Join(t.TempDir(), "trigger")
	job := c.detached("misbehave", "fatal-once", trigger)
	c.running(job)
	writeFile(t, trigger, "")
	c.failed(job, "The failure is not recoverable", "it will never work")
	if newest := c.exceptions(job)[0]; !strings.HasPrefix(newest.Decision, "not restarted because ") {
		t.Errorf("the newest failure is %+v", newest)
	}
}

// A restart strategy that makes no sense is refused when the job is submitted,
// and nothing of the job is left.
func TestWrongRestartStrategies(t *testing.T) {
	c := start(t, 1)
	for _, wrong := range []struct {
		flags []string
		want  string
	}{
		{[]string{"-D", "restart-strategy.type=sometimes"}, `restart-strategy.type: "sometimes" is no valid choice; allowed: one of none`},
		{[]string{"-D", "restart-strategy.fixed-delay.attempts=-1"}, `restart-strategy.fixed-delay.attempts: "-1" is no valid integer`},
		{[]string{"-D", "restart-strategy.type=exponential-delay", "-D", "restart-strategy.exponential-delay.initial-backoff=2 min"},
			"the first pause (2 min) is longer than restart-strategy.exponential-delay.max-backoff (1 min)"},
		{[]string{"-D", "execution-retries.default=3"}, "execution-retries.default: Flink has removed this option; set restart-strategy.type: fixed-delay"},
	} {
		_, errOut, code := c.run(append([]string{"-d"}, wrong.flags...), "misbehave", "error")
		if code == 0 || !strings.Contains(errOut, wrong.want) {
			t.Errorf("%v: code %d, want %q in\n%s", wrong.flags, code, wrong.want, errOut)
		}
	}
	var answer struct {
		Jobs []struct{} `json:"jobs"`
	}
	if c.get("/jobs", &answer); len(answer.Jobs) != 0 {
		t.Errorf("%d jobs are there", len(answer.Jobs))
	}
}
