package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// A worker dies between two stages: what it had produced is produced again, what
// the other one had is not, and the result is right, whether the second stage has
// the parallelism it was given or one that was decided when the first was done.
func TestWorkerDiesBetweenStages(t *testing.T) {
	t.Parallel()
	c := start(t, 2, fixedDelay("taskmanager.numberOfTaskSlots=1")...)
	for _, test := range []struct {
		name     string
		settings []string
		second   int // tasks of the second stage
	}{
		{"as given", []string{"-p", "2", "-D", "execution.batch.adaptive.auto-parallelism.enabled=false"}, 2},
		{"sized", []string{"-p", "4", "-D", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task=20 bytes",
			"-D", "execution.batch.adaptive.auto-parallelism.default-source-parallelism=2"}, 4},
	} {
		t.Run(test.name, func(t *testing.T) { dieBetweenStages(t, c, test.settings, test.second) })
	}
}

// The pause before the restart is long enough for the death to be heard of, which
// its peers notice first.
func dieBetweenStages(t *testing.T, c *cluster, settings []string, second int) {
	dir := t.TempDir()
	trigger, output := filepath.Join(dir, "trigger"), filepath.Join(dir, "counts")
	writeFile(t, trigger, "")
	out, errOut, code := c.run(append([]string{"-d", "-D", "restart-strategy.fixed-delay.delay=5 s"}, settings...), "misbehave", "stages", trigger, output)
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	job := submitted.FindStringSubmatch(out)[1]
	c.until("job finished", func() bool {
		state := c.state(job)
		if state == "FAILED" {
			t.Fatalf("the job failed: %s", c.cause(job))
		}
		return state == "FINISHED"
	})
	var detail struct {
		Vertices []struct {
			ID string `json:"id"`
		} `json:"vertices"`
	}
	c.get("/jobs/"+job, &detail)
	var attempts [][]int
	for _, v := range detail.Vertices {
		var vertex struct {
			Subtasks []struct {
				Attempt int `json:"attempt"`
			} `json:"subtasks"`
		}
		c.get("/jobs/"+job+"/vertices/"+v.ID, &vertex)
		var of []int
		for _, s := range vertex.Subtasks {
			of = append(of, s.Attempt)
		}
		slices.Sort(of)
		attempts = append(attempts, of)
	}
	if len(attempts) != 2 || !slices.Equal(attempts[0], []int{0, 1}) || len(attempts[1]) != second {
		t.Errorf("attempts of the stages' tasks: %v, want one of the first stage to run again, and %d in the second", attempts, second)
	}
	var want []string
	for k := range 16 {
		want = append(want, fmt.Sprintf("%d\t100", k))
	}
	slices.Sort(want)
	if got := lines(t, output); !slices.Equal(got, want) {
		t.Errorf("counted %q", got)
	}
	if n := len(c.exceptions(job)); n != 1 {
		t.Errorf("%d entries after one death: %+v", n, c.exceptions(job))
	}
}
