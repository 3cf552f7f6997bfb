package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parallel waits until all tasks of the job run, so many of each vertex.
func (c *cluster) parallel(job string, n int) {
	c.t.Helper()
	c.until(fmt.Sprintf("it runs with a parallelism of %d", n), func() bool {
		var detail struct {
			State    string `json:"state"`
			Vertices []struct {
				Parallelism int            `json:"parallelism"`
				Tasks       map[string]int `json:"tasks"`
			} `json:"vertices"`
		}
		c.get("/jobs/"+job, &detail)
		if detail.State == "FAILED" || detail.State == "FINISHED" {
			c.t.Fatalf("job %s is %s: %s", job, detail.State, c.cause(job))
		}
		for _, v := range detail.Vertices {
			if v.Parallelism != n || v.Tasks["RUNNING"] != n {
				return false
			}
		}
		return len(detail.Vertices) > 0
	})
}

// require wants each vertex of a job to be so parallel.
func (c *cluster) require(job string, n int) {
	c.t.Helper()
	var wish map[string]any
	c.get("/jobs/"+job+"/resource-requirements", &wish)
	var fields []string
	for id := range wish { // order: it becomes an object
		fields = append(fields, fmt.Sprintf(`"%s":{"parallelism":{"lowerBound":1,"upperBound":%d}}`, id, n))
	}
	status, text := c.ask("PUT", "/jobs/"+job+"/resource-requirements", "application/json", strings.NewReader("{"+strings.Join(fields, ",")+"}"))
	if status != 200 || text != "{}" {
		c.t.Fatalf("require %d: %d %s", n, status, text)
	}
}

// TestParallelismFollowsSlots changes the parallelism of a job while it runs, by wish
// and by the loss of a TaskManager. What it writes is what one writes that nobody
// disturbs.
func TestParallelismFollowsSlots(t *testing.T) {
	c := start(t, 2, "execution.checkpointing.interval=200 ms", "taskmanager.numberOfTaskSlots=1", "heartbeat.interval=300 ms")
	work := t.TempDir()
	arguments := func(out string) []string { return []string{"-last", "500000", "-out", filepath.Join(work, out)} }
	undisturbed := c.wide(2, nil, "ledger", arguments("undisturbed")...)
	c.reaches(undisturbed, "FINISHED")

	hold := filepath.Join(work, "hold")
	writeFile(t, hold, "")
	job := c.wide(2, []string{"-D", "jobmanager.scheduler=adaptive", "-D", "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling=0 ms"},
		"ledger", append(arguments("rescaled"), "-hold", hold)...)
	c.parallel(job, 2)
	for _, n := range []int{1, 2} {
		c.require(job, n)
		c.parallel(job, n)
	}
	kill(t, c.pids[2])
	c.parallel(job, 1)
	c.tells("did not run for", 0, "why", "-m", c.rest, job)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	c.reaches(job, "FINISHED")
	got, want := written(t, filepath.Join(work, "rescaled")), written(t, filepath.Join(work, "undisturbed"))
	if !slices.Equal(got, want) {
		t.Errorf("the job that was rescaled wrote %d lines, the one that was left alone %d; the first one that differs: %s", len(got), len(want), differing(got, want))
	}
}
