package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// splits is how many splits the input of a job with state has, and its parallelism.
const splits = 4

// exactJob is a job with state, of n records a split.
type exactJob struct {
	kind    string
	n       int
	options string
	rescale bool // its parallelism is changed while it runs
	inline  bool // its state, which is small, has no files of its own
}

var exactJobs = []exactJob{
	{kind: "counted", n: 6000},
	{kind: "windows", n: 6000, options: "execution.checkpointing.incremental=true"},
	{kind: "pairs", n: 6000},
	{kind: "ruled", n: 6000, options: "state.backend.type=rocksdb"},
	{kind: "valued", n: 6000},
	{kind: "skewed", n: 6000, options: "execution.checkpointing.unaligned.enabled=true", inline: true},
	{kind: "matched", n: 6000},
	{kind: "rescaled", n: 6000, options: "jobmanager.scheduler=adaptive jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling=100ms", rescale: true, inline: true},
}

// checkpointed are the options of jobs with state.
const checkpointed = "execution.checkpointing.interval=150ms execution.checkpointing.timeout=20s execution.checkpointing.tolerable-failed-checkpoints=1000 execution.checkpointing.num-retained=2"

// TestExactlyOnce runs jobs with state one after another, injects faults while they
// run, and lets the oracle judge what they have written all the time and in the
// end, when nothing else may be left.
func TestExactlyOnce(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000_000)
	}
	began := time.Now()
	e := &exact{t: &failures{T: t}}
	var kinds []*kind
	t.Cleanup(func() { // when the cluster has been ended and its logs are shown
		fmt.Printf("exactly once: seed %d, %d faults of %d planned in %.0f s: %v; %d jobs, %d restores, %d rescales asked for, judged %d times, %d found wrong\n",
			*seed, e.f.total(kinds), *planned, time.Since(began).Seconds(), e.f, e.jobs, e.restores, e.rescales, e.judged, e.wrong)
		if t.Failed() {
			fmt.Printf("exactly once: the same faults again: make exactly-once FAULTS=%d SEED=%d\n%s\n", *planned, *seed, strings.Join(e.t.said, "\n"))
		}
	})
	// Small buffers hold little between two tasks: slow ones hold up the others at once.
	e.c = start(e.t, 4, "taskmanager.memory.segment-size=4kb")
	e.f = &faults{c: e.c, random: rand.New(rand.NewPCG(*seed, 1)), injected: map[string]int{}, harmed: map[int]bool{}}
	kinds = append(withoutMaster(processKinds), e.moments()...)
	left := plan(e.f.random, *planned, kinds)
	for len(left) > 0 {
		n := min(len(left), 2+e.f.random.IntN(3))
		left = append(e.round(exactJobs[e.jobs%len(exactJobs)], left[:n]), left[n:]...)
	}
	if e.restores == 0 && *planned > 4 {
		t.Error("no job was restored from a checkpoint")
	}
}

// withoutMaster gives the kinds of faults that leave the master alone: its jobs
// would be gone with it.
func withoutMaster(kinds []*kind) (others []*kind) {
	for _, k := range kinds {
		if k.name != "kill master" {
			others = append(others, k)
		}
	}
	return others
}

// exact is one run of jobs with state.
type exact struct {
	t        *failures
	c        *cluster
	f        *faults
	jobs     int
	restores int
	rescales int // that were asked for
	judged   int
	wrong    int
	now      running // the job that runs
}

// running is where the job that runs writes.
type running struct{ id, checkpoints, output string }

// round injects faults while a job runs, and gives back those that could not be
// injected yet.
func (e *exact) round(j exactJob, kinds []*kind) (later []*kind) {
	e.t.Helper()
	began := time.Now()
	dir := filepath.Join(e.c.dir, fmt.Sprint("job-", e.jobs)) // which stays when something is wrong
	e.now = running{checkpoints: filepath.Join(dir, "checkpoints"), output: filepath.Join(dir, "out")}
	options := checkpointed + " execution.checkpointing.dir=" + e.now.checkpoints + " " + j.options
	if !j.inline {
		options += " execution.checkpointing.data-inline-threshold=0"
	}
	e.now.id = e.c.submit("streams", strconv.Itoa(splits), options,
		j.kind, strconv.Itoa(splits), strconv.Itoa(j.n), e.now.output)
	e.c.runs(e.now.id)
	judging, judged := make(chan struct{}), make(chan []string)
	go func() { judged <- watch(j, e.now.output, judging) }()
	rescaled := make(chan int)
	go func() { rescaled <- e.rescale(j, judging) }()
	var done []string
	for _, k := range kinds {
		<-time.After(time.Duration(e.f.random.IntN(1200)) * time.Millisecond)
		if e.f.inject(k) {
			done = append(done, k.name)
		} else {
			later = append(later, k)
		}
	}
	e.f.undo()
	e.c.allRegistered()
	e.c.finished(e.now.id)
	close(judging)
	e.rescales += <-rescaled
	verdicts := append(<-judged, judge(j, e.now.output, "final"))
	if left := remaining(e.now.checkpoints); len(left) > 0 {
		verdicts = append(verdicts, fmt.Sprintf("wrong: of its checkpoints are left %q", left))
	}
	e.restores += e.c.attempt(e.now.id)
	e.jobs++
	e.judged += len(verdicts)
	for _, v := range verdicts {
		if strings.Contains(v, ":") {
			e.wrong++
			e.t.Errorf("%s of %d after %q, in %s: %s", j.kind, j.n, done, dir, v)
		}
	}
	e.t.Logf("%s, %s: %.1f s, %s", j.kind, strings.Join(done, " and "), time.Since(began).Seconds(), verdicts[len(verdicts)-1])
	return later
}

// mostRescales bounds the rescales of a job: where each takes as long as the time to the
// next, it would come to nothing else.
const mostRescales = 6

// rescale asks for another parallelism of a job every two seconds until it is told to
// stop, or has been accepted often enough, and says how often that was: a master that is
// frozen does not answer.
func (e *exact) rescale(j exactJob, stop <-chan struct{}) (accepted int) {
	if !j.rescale {
		return 0
	}
	vertices := e.c.look(e.now.id).Vertices
	client := http.Client{Timeout: time.Second}
	for poll := time.NewTicker(2 * time.Second); ; {
		select {
		case <-stop:
			poll.Stop()
			return accepted
		case <-poll.C:
		}
		if accepted == mostRescales {
			continue
		}
		var body []string
		for _, v := range vertices {
			body = append(body, fmt.Sprintf(`%q: {"parallelism": {"lowerBound": 1, "upperBound": %d}}`, v.ID, 1+accepted*3%splits))
		}
		request, err := http.NewRequest(http.MethodPut, "http://"+e.c.rest+"/jobs/"+e.now.id+"/resource-requirements", strings.NewReader("{"+strings.Join(body, ", ")+"}"))
		if err != nil {
			continue
		}
		if response, err := client.Do(request); err == nil {
			if response.Body.Close(); response.StatusCode == http.StatusOK {
				accepted++
			}
		}
	}
}

// watch judges what a job has written until it is told to stop, and gives all
// verdicts.
func watch(j exactJob, output string, stop <-chan struct{}) (verdicts []string) {
	for poll := time.NewTicker(500 * time.Millisecond); ; {
		select {
		case <-stop:
			poll.Stop()
			return verdicts
		case <-poll.C:
			verdicts = append(verdicts, judge(j, output))
		}
	}
}

// judge asks the oracle, whose verdict has a colon if something is wrong.
func judge(j exactJob, output string, final ...string) string {
	cmd := exec.Command(filepath.Join(bin, "oracle"), append([]string{j.kind, strconv.Itoa(splits), strconv.Itoa(j.n), output}, final...)...)
	said, err := cmd.CombinedOutput()
	if verdict := strings.TrimSpace(string(said)); err == nil || strings.Contains(verdict, ":") {
		return verdict
	}
	return fmt.Sprintf("the oracle: %v", err)
}

// remaining gives the files below a directory that are there when a master has had the
// time to delete them, which it does after its job is over.
func remaining(dir string) (left []string) {
	limit := time.Now().Add(patience / 3)
	for poll := time.Tick(50 * time.Millisecond); ; <-poll {
		if left = files(dir); len(left) == 0 || time.Now().After(limit) {
			return left
		}
	}
}

// files gives all files below a directory.
func files(dir string) (found []string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	return found
}
