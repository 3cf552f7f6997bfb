package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/client"
)

// Programs are the binaries that are measured.
type Programs struct {
	Weir      string
	WordCount string // examples/wordcount
	Job       string // bench/job
}

// Measurement is what Measure has found.
type Measurement struct {
	figure.Values
	// Failures say why a key has no values.
	Failures map[string]error
}

// Measure makes all measurements, telling progress to log. Text is a glob of the
// files whose words are counted.
func Measure(ctx context.Context, p Programs, text string, log io.Writer) Measurement {
	m := Measurement{figure.Values{}, map[string]error{}}
	m.make(log, []part{
		{[]string{"size of weir"}, func() error { return m.size(p.Weir) }},
		{[]string{"weir version"}, func() error { return m.version(ctx, p.Weir) }},
		{[]string{"jobmanager ready", "taskmanager registered", "idle memory"}, func() error { return m.startup(ctx, p.Weir) }},
		{[]string{"upload", "submit new", "submit cached"}, func() error { return m.submit(ctx, p) }},
		{[]string{"weir run"}, func() error { return m.run(ctx, p) }},
		{[]string{"word count wall", "word count CPU"}, func() error { return m.wordCount(ctx, p, text) }},
	})
	return m
}

// part is what gives the values of some keys.
type part struct {
	keys []string
	make func() error
}

// make makes measurements one after another.
func (m *Measurement) make(log io.Writer, parts []part) {
	for _, one := range parts {
		fmt.Fprintf(log, "measuring %s\n", strings.Join(one.keys, ", "))
		if err := one.make(); err != nil {
			fmt.Fprintf(log, "  %v\n", err)
			for _, key := range one.keys {
				m.Failures[key] = err
			}
		}
	}
}

// How often each measurement is made.
const (
	versionRuns   = 21
	startupRuns   = 7
	submitRuns    = 7
	runRuns       = 9
	wordCountRuns = 5
	warmUps       = 1 // not counted, where the first differs
)

func (m *Measurement) size(weir string) error {
	info, err := os.Stat(weir)
	if err != nil {
		return fmt.Errorf("size of the binary: %w", err)
	}
	m.Add("size of weir", float64(info.Size())/1e6)
	return nil
}

func (m *Measurement) version(ctx context.Context, weir string) error {
	for i := range warmUps + versionRuns {
		begin := time.Now()
		if out, err := exec.CommandContext(ctx, weir, "version").CombinedOutput(); err != nil {
			return fmt.Errorf("weir version: %w: %s", err, out)
		}
		if i >= warmUps {
			m.Add("weir version", milliseconds(begin))
		}
	}
	return nil
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1e3 }

// idleFor is how long a cluster has been idle when its memory is read: long
// enough for what starting left behind to have been given back.
const idleFor = 5 * time.Second

// startup measures a master and one TaskManager until they are ready, and what
// they hold when they have been idle for a while.
func (m *Measurement) startup(ctx context.Context, weir string) error {
	for i := range warmUps + startupRuns {
		if err := m.startOnce(ctx, weir, i >= warmUps, i == warmUps+startupRuns-1 || i == warmUps); err != nil {
			return err
		}
	}
	return nil
}

func (m *Measurement) startOnce(ctx context.Context, weir string, counted, memory bool) (err error) {
	c, master, taskManager, err := StartTimed(ctx, weir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if counted {
		m.Add("jobmanager ready", master)
		m.Add("taskmanager registered", taskManager)
	}
	if memory {
		return m.memory(ctx, c)
	}
	return nil
}

// StartTimed starts a cluster with one TaskManager. It gives the milliseconds
// from starting each process until it is ready.
func StartTimed(ctx context.Context, weir string) (c *Cluster, master, taskManager float64, err error) {
	if c, err = prepare(weir, 1); err != nil {
		return nil, 0, 0, err
	}
	begin := time.Now()
	if err = c.startMaster(ctx); err == nil {
		master = milliseconds(begin)
		begin = time.Now()
		err = c.startTaskManager(ctx)
	}
	if err != nil {
		return nil, 0, 0, errors.Join(err, c.Stop())
	}
	return c, master, milliseconds(begin), nil
}

// memory reads what an idle cluster holds.
func (m *Measurement) memory(ctx context.Context, c *Cluster) error {
	if err := c.Rest(ctx, idleFor); err != nil {
		return err
	}
	sum, err := c.memory("smaps_rollup", "Pss:")
	m.Add("idle memory", float64(sum)/(1<<20))
	return err
}

// Rest leaves the cluster alone for a while.
func (c *Cluster) Rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Resident is the resident memory of master and TaskManagers, in bytes; pages
// that several share count several times.
func (c *Cluster) Resident() (int64, error) { return c.memory("status", "VmRSS:") }

// memory sums a field of a file of /proc/PID over master and TaskManagers.
func (c *Cluster) memory(file, field string) (sum int64, err error) {
	for _, p := range c.processes {
		bytes, err := memoryField(p.Process.Pid, file, field)
		if err != nil {
			return 0, err
		}
		sum += bytes
	}
	return sum, nil
}

// submit measures a job that reads from a silent server: from POST
// /jars/:id/run until all of its tasks are RUNNING, twice for each of several
// programs, which are new to the TaskManager the first time.
func (m *Measurement) submit(ctx context.Context, p Programs) (err error) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve nothing: %w", err)
	}
	defer silent.Close()
	c, err := Start(ctx, p.Weir, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	binary, err := os.ReadFile(p.Job)
	if err != nil {
		return fmt.Errorf("read the job's binary: %w", err)
	}
	request := client.RunRequest{Arguments: []string{"idle", "address=" + silent.Addr().String()}, Parallelism: 1}
	for i := range warmUps + submitRuns {
		// What follows the program in the file changes its hash and nothing else.
		other := string(binary) + fmt.Sprintf("run %d", i)
		begin := time.Now()
		id, err := c.Upload(ctx, fmt.Sprintf("job-%d", i), strings.NewReader(other))
		if err != nil {
			return fmt.Errorf("upload a program: %w", err)
		}
		uploaded := milliseconds(begin)
		fresh, err := c.untilRunning(ctx, id, request)
		if err != nil {
			return err
		}
		cached, err := c.untilRunning(ctx, id, request)
		if err != nil {
			return err
		}
		if i >= warmUps {
			m.Add("upload", uploaded)
			m.Add("submit new", fresh)
			m.Add("submit cached", cached)
		}
	}
	return nil
}

// untilRunning runs a program until all of its tasks are RUNNING, gives the
// milliseconds that took, and cancels it.
func (c *Cluster) untilRunning(ctx context.Context, program string, r client.RunRequest) (float64, error) {
	begin := time.Now()
	job, err := c.Run(ctx, program, r)
	if err != nil {
		return 0, fmt.Errorf("run a program: %w", err)
	}
	var last client.Detail
	err = c.until(ctx, "all tasks to be RUNNING", func() bool {
		if last, err = c.Job(ctx, job); err != nil || client.Ended(last.State) {
			return err == nil
		}
		for _, v := range last.Vertices {
			if v.Status != "RUNNING" {
				return false
			}
		}
		return last.State == "RUNNING" && len(last.Vertices) > 0
	})
	took := milliseconds(begin)
	if err == nil && client.Ended(last.State) {
		err = fmt.Errorf("the job ended as %s instead of running", last.State)
	}
	if err != nil {
		return 0, err
	}
	if err := c.Cancel(ctx, job); err != nil {
		return 0, fmt.Errorf("cancel a job: %w", err)
	}
	if _, err := c.Wait(ctx, job, nil); err != nil {
		return 0, fmt.Errorf("wait for a canceled job: %w", err)
	}
	return took, nil
}

// run measures the whole of `weir run` with a small job.
func (m *Measurement) run(ctx context.Context, p Programs) (err error) {
	c, err := Start(ctx, p.Weir, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	input := filepath.Join(c.Home, "forty.txt")
	if err := os.WriteFile(input, []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\n", 40)), 0o644); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	for i := range warmUps + runRuns {
		output := filepath.Join(c.Home, fmt.Sprintf("counts-%d", i))
		took, err := c.RunAttached(p.WordCount, "--input", input, "--output", output)
		if err != nil {
			return err
		}
		if i >= warmUps {
			m.Add("weir run", took)
		}
	}
	return nil
}

// RunAttached is `weir run`; it gives the milliseconds until it has ended.
func (c *Cluster) RunAttached(program string, arguments ...string) (float64, error) {
	cmd := c.command(append([]string{"run", "-m", c.REST, program}, arguments...)...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("weir run: %w: %s", err, out)
	}
	return milliseconds(begin), nil
}

// wordCount measures the word count of a large text with parallelism 2, each
// time on a cluster that has not run a job, from POST /jars/:id/run to FINISHED.
func (m *Measurement) wordCount(ctx context.Context, p Programs, text string) error {
	for range wordCountRuns {
		wall, cpu, err := WordCount(ctx, p, text, 2)
		if err != nil {
			return err
		}
		m.Add("word count wall", wall)
		m.Add("word count CPU", cpu)
	}
	return nil
}

// WordCount counts the words of a text on a new cluster with one TaskManager. It
// gives the seconds from the submission to FINISHED, and the processor seconds
// of all processes of the cluster in that time.
func WordCount(ctx context.Context, p Programs, text string, parallelism int) (wall, cpu float64, err error) {
	c, err := Start(ctx, p.Weir, 1, parallelism)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	return c.RunToEnd(ctx, p.WordCount, client.RunRequest{
		Arguments:   []string{"--input", text, "--output", filepath.Join(c.Home, "counts")},
		Parallelism: parallelism,
	})
}

// RunToEnd uploads a program, runs it and waits until it has FINISHED. It gives
// the seconds from the submission on, and the processor seconds of all processes
// of the cluster, workers included, in that time.
func (c *Cluster) RunToEnd(ctx context.Context, program string, r client.RunRequest) (wall, cpu float64, err error) {
	f, err := os.Open(program)
	if err != nil {
		return 0, 0, fmt.Errorf("upload a program: %w", err)
	}
	defer f.Close()
	id, err := c.Upload(ctx, filepath.Base(program), f)
	if err != nil {
		return 0, 0, fmt.Errorf("upload %s: %w", program, err)
	}
	before, err := treeSeconds(c.pids())
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	job, err := c.Run(ctx, id, r)
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w", program, err)
	}
	state, err := c.ended(ctx, job)
	if err != nil {
		return 0, 0, fmt.Errorf("wait for %s: %w", program, err)
	}
	wall = time.Since(begin).Seconds()
	after, err := treeSeconds(c.pids())
	if err == nil && state != "FINISHED" {
		err = fmt.Errorf("%s ended as %s", program, state)
	}
	return wall, after - before, err
}

// endEvery is how often a job is asked whether it has ended.
const endEvery = 10 * time.Millisecond

// ended waits until a job has ended and gives its last state.
func (c *Cluster) ended(ctx context.Context, job string) (string, error) {
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	for {
		state, err := c.Status(ctx, job)
		if err != nil || client.Ended(state) {
			return state, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return state, context.Cause(ctx)
		}
	}
}
