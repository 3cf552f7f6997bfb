package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/testkit/recorded"
)

// notServed are Flink's paths that this version answers as unknown, as
// docs/gaps.md says, those about operations of the recorded cluster, and one that
// Flink, too, answers with 503.
var notServed = []string{"/savepoints/", "/rescaling/"}

// differs are recordings that a cluster of today answers otherwise, and why.
var differs = map[string]string{
	"empty-root":                             "there is no web interface",
	"idle-taskmanager-thread-dump":           "TaskManagers tell no stacks, see docs/gaps.md",
	"batch-finished-job":                     "the plan of a sized batch job has no stream graph here",
	"jar2-accum-finished-checkpoints":        "it was a streaming job; of a batch job Flink says the same as we do",
	"jar2-accum-finished-checkpoints-config": "it was a streaming job; of a batch job Flink says the same as we do",
	"stopped-finished-checkpoints":           "it was a streaming job; of a batch job Flink says the same as we do",
	"stopped-finished-checkpoints-config":    "it was a streaming job; of a batch job Flink says the same as we do",
	"canceled-v0-backpressure-1":             "figures of a task that has ended are not kept",
	"canceled-v1-backpressure-1":             "figures of a task that has ended are not kept",
	"stopped-finished-v0-backpressure-1":     "figures of a task that has ended are not kept",
	"stopped-finished-v1-backpressure-1":     "figures of a task that has ended are not kept",
	"jar2-accum-finished-v0-backpressure-1":  "no answer there is an accident of Flink's",
	"scheduled-vertex-unknown-flamegraph":    "recorded with flame graphs enabled",
	"noresource-application-exceptions":      "the application had failed there, not its job alone",
}

// recordings are read once: there are many.
var recordings struct {
	sync.Once
	all []*recorded.Recording
}

// like sends the GET requests that were recorded in a situation to a cluster in
// the same one, and compares the answers.
func (c *cluster) like(situation, job string) {
	c.t.Helper()
	recorded.Material(c.t, "golden/rest") // or the test is skipped
	recordings.Do(func() { recordings.all = recorded.Load(c.t) })
	things := recorded.Things{Job: job, TaskManager: c.manager()}
	if job != "" {
		things.Vertices = c.vertices(job)
	}
	compared := 0
	for _, r := range recordings.all {
		if !strings.HasPrefix(r.Name, situation) || r.Request.Method != "GET" || differs[r.Name] != "" || strings.Contains(r.Request.Path, "/logs/") {
			continue
		}
		path := r.Target(things)
		if slices.ContainsFunc(notServed, func(part string) bool { return strings.Contains(path, part) }) {
			continue
		}
		status, body := c.ask("GET", path, "", nil)
		compared++
		for _, difference := range r.Differences(status, body) {
			c.t.Errorf("%s: %s: %s", r.Name, r.Pattern(), difference)
		}
	}
	c.t.Logf("%s: %d recordings compared", situation, compared)
	if compared == 0 {
		c.t.Errorf("%s: nothing was compared", situation)
	}
}

// manager gives the id of a TaskManager; empty: there is none.
func (c *cluster) manager() string {
	if all := c.managers(); len(all) > 0 {
		return all[0]
	}
	return ""
}

// vertices lists the vertices of a job.
func (c *cluster) vertices(job string) (all []string) {
	c.t.Helper()
	var detail struct {
		Vertices []struct {
			ID string `json:"id"`
		} `json:"vertices"`
	}
	c.get("/jobs/"+job, &detail)
	for _, v := range detail.Vertices {
		all = append(all, v.ID)
	}
	return all
}

// wide submits a program with a parallelism and gives its job's id.
func (c *cluster) wide(parallelism int, flags []string, program string, arguments ...string) string {
	c.t.Helper()
	flags = append([]string{"-d", "-p", fmt.Sprint(parallelism)}, flags...)
	out, errOut, code := c.run(flags, program, arguments...)
	m := submitted.FindStringSubmatch(out)
	if code != 0 || m == nil {
		c.t.Fatalf("run %s: code %d\n%s%s", program, code, out, errOut)
	}
	return m[1]
}

// reaches waits until the job is in a state.
func (c *cluster) reaches(job, state string) {
	c.t.Helper()
	c.until("the job is "+state, func() bool { return c.state(job) == state })
}

// TestRecordedSituations brings a cluster into the situations in which a genuine
// Flink was asked, and asks the same.
func TestRecordedSituations(t *testing.T) {
	start(t, 0).like("empty-", "")
	c := start(t, 1, "taskmanager.numberOfTaskSlots=2", "task.cancellation.timeout=5 s", "web.exception-history-size=2",
		"completed-application-store.cache-size=1")
	failed := ""
	c.until("the TaskManager has measured itself", func() bool {
		var metrics []struct{}
		c.get("/taskmanagers/metrics", &metrics)
		return len(metrics) > 0
	})
	c.like("idle-", "")
	c.like("idle2-", "")

	t.Run("running and canceled", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(2, nil, "misbehave", "slow")
		c.running(job)
		c.like("jar2-stream-running-", job)
		c.like("stream-running-", job)
		c.weir("cancel", "-m", c.rest, job)
		c.reaches(job, "CANCELED")
		c.like("canceled-", job)
	})
	t.Run("finished", func(t *testing.T) {
		c := c.in(t)
		in, out := t.TempDir()+"/in", t.TempDir()
		writeFile(t, in, "to be or not to be\n")
		job := c.wide(2, nil, "wordcount", "--input", in, "--output", out)
		c.reaches(job, "FINISHED")
		c.like("batch-finished-", job)
		c.like("jar2-accum-finished-", job)
		c.like("stopped-finished-", job)
	})
	t.Run("failed", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(2, nil, "misbehave", "error")
		c.reaches(job, "FAILED")
		c.like("failed-stream-", job)
		c.like("jar-failed-", job)
		failed = job
	})
	t.Run("restarting", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(2, []string{"-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.delay=1 h"}, "misbehave", "error")
		c.reaches(job, "RESTARTING")
		c.like("restarting-", job)
		c.weir("cancel", "-m", c.rest, job)
		c.reaches(job, "CANCELED")
		c.like("restarting-canceled-", job)
	})
	t.Run("restarts used up", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(1, []string{"-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=2",
			"-D", "restart-strategy.fixed-delay.delay=10 ms"}, "misbehave", "error")
		c.reaches(job, "FAILED")
		c.like("exhausted-", job)
		var answer struct {
			History struct {
				Entries []struct {
					Decision string `json:"decision"`
				} `json:"entries"`
				Truncated bool `json:"truncated"`
			} `json:"exceptionHistory"`
		}
		c.get("/jobs/"+job+"/exceptions", &answer)
		if h := answer.History; len(h.Entries) != 2 || !h.Truncated || !strings.HasPrefix(h.Entries[0].Decision, "not restarted because its 2 restarts are used up") {
			t.Errorf("of 3 failures the history, which holds 2, has %+v", h)
		}
	})
	t.Run("canceling", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(1, nil, "misbehave", "loop")
		c.running(job)
		c.ask("PATCH", "/jobs/"+job, "", nil)
		c.reaches(job, "CANCELLING")
		c.like("cancel-", job)
		c.reaches(job, "CANCELED")
	})
	t.Run("waiting for slots", func(t *testing.T) {
		c := c.in(t)
		job := c.wide(5, nil, "misbehave", "slow")
		c.until("tasks are SCHEDULED", func() bool { return strings.Contains(c.tasks(job), "SCHEDULED") })
		c.until("the job has the slots there are", func() bool {
			var answer struct {
				Slots []struct {
					Job string `json:"jobId"`
				} `json:"allocatedSlots"`
			}
			c.get("/taskmanagers/"+c.manager(), &answer)
			return len(answer.Slots) == 2 && answer.Slots[0].Job == job && answer.Slots[1].Job == job
		})
		c.like("scheduled-", job)
		c.weir("cancel", "-m", c.rest, job)
		c.reaches(job, "CANCELED")
	})
	// In memory there is room for the job that ended last only.
	c.until("the failed job is in a file", func() bool {
		files, err := filepath.Glob(filepath.Join(c.home, "tmp", "jm-*", failed))
		return err == nil && len(files) == 1
	})
	c.like("failed-stream-", failed)
}

// TestRecordedWantOfSlots is of jobs that fail because there are too few slots:
// at once when the start-up period is over, and else when the time for requests is, in
// which the slots there are have come.
func TestRecordedWantOfSlots(t *testing.T) {
	for situation, options := range map[string][]string{
		"noslots-":    {"resourcemanager.standalone.start-up-time=0 s"},
		"noresource-": {"slot.request.timeout=5 s", "resourcemanager.standalone.start-up-time=1 h"},
	} {
		t.Run(situation, func(t *testing.T) {
			c := start(t, 1, append(options, "taskmanager.numberOfTaskSlots=2")...)
			job := c.wide(5, nil, "misbehave", "slow")
			c.reaches(job, "FAILED")
			c.like(situation, job)
			out, errOut, code := c.weir("exceptions", "-m", c.rest, job)
			if numbers := regexp.MustCompile(`need 5 slots, have 2, free \d, slot sharing group "\w*"`); code != 0 || !numbers.MatchString(out) {
				t.Errorf("weir exceptions does not say how many slots there are: %d\n%s%s", code, out, errOut)
			}
		})
	}
}
