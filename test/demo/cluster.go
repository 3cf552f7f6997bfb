package main

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

// cluster is a JobManager and TaskManagers, processes of this one.
type cluster struct {
	bin, home string
	began     time.Time
	options   []string
	rest      string // host:port
	master    *exec.Cmd
	managers  []*exec.Cmd
	killed    int
}

// say tells who watches what happens.
func (c *cluster) say(format string, args ...any) {
	fmt.Printf("%5.1f s  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

// start starts a JobManager and n TaskManagers and waits until they are ready.
func (c *cluster) start(ctx context.Context, n int) error {
	ports, err := processes.FreePorts(2)
	if err != nil {
		return err
	}
	c.rest = net.JoinHostPort("127.0.0.1", ports[0])
	for _, o := range []string{
		"rest.port=" + ports[0], "jobmanager.rpc.port=" + ports[1], "taskmanager.numberOfTaskSlots=1", "parallelism.default=" + strconv.Itoa(n),
		"restart-strategy.type=fixed-delay", "restart-strategy.fixed-delay.attempts=100", "restart-strategy.fixed-delay.delay=100 ms",
	} {
		c.options = append(c.options, "-D", o)
	}
	if c.master, err = c.begin("jobmanager"); err != nil {
		return err
	}
	for range n {
		m, err := c.begin("taskmanager")
		if err != nil {
			return err
		}
		c.managers = append(c.managers, m)
	}
	if err := c.ready(ctx, n); err != nil {
		return err
	}
	c.say("a JobManager (pid %d) and TaskManagers (pids %s) are there", c.master.Process.Pid, c.pids())
	return nil
}

func (c *cluster) pids() (all string) {
	for _, m := range c.managers {
		all += " " + strconv.Itoa(m.Process.Pid)
	}
	return all[1:]
}

func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "weir"), args...)
	cmd.Env = append(os.Environ(), "WEIR_HOME="+c.home)
	return cmd
}

// begin starts a process of the cluster in the background; its log is a file.
func (c *cluster) begin(role string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(c.home, role+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := c.command(context.Background(), append([]string{role}, c.options...)...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, cmd.Start()
}

// ready waits until as many TaskManagers have registered.
func (c *cluster) ready(ctx context.Context, n int) error {
	for {
		var overview struct {
			TaskManagers int `json:"taskmanagers"`
		}
		if err := c.get(ctx, "/overview", &overview); err == nil && overview.TaskManagers >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// get reads an answer of the REST API.
func (c *cluster) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.rest+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.UnmarshalRead(response.Body, into)
}

var submitted = regexp.MustCompile(`JobID ([0-9a-f]{32})`)

// submit runs the job on the cluster and gives its id.
func (c *cluster) submit(ctx context.Context, args ...string) (string, error) {
	all := append([]string{"run", "-m", c.rest, "-d", filepath.Join(c.bin, "growing")}, args...)
	text, err := c.command(ctx, all...).CombinedOutput()
	job := submitted.FindSubmatch(text)
	if err != nil || job == nil {
		return "", errors.Join(err, fmt.Errorf("weir run says:\n%s", text))
	}
	return string(job[1]), nil
}

// state is how the job and its checkpoints are, in words.
func (c *cluster) state(ctx context.Context, job string) string {
	var details struct {
		State string `json:"state"`
	}
	var checkpoints struct {
		Counts struct {
			Completed int `json:"completed"`
			Restored  int `json:"restored"`
		} `json:"counts"`
	}
	if err := errors.Join(c.get(ctx, "/jobs/"+job, &details), c.get(ctx, "/jobs/"+job+"/checkpoints", &checkpoints)); err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("job %s, %d checkpoints", details.State, checkpoints.Counts.Completed)
	if n := checkpoints.Counts.Restored; n > 0 {
		text += fmt.Sprintf(", gone on from one %d times", n)
	}
	return text
}

// replace kills a TaskManager, which runs half of the job, and starts another.
func (c *cluster) replace(ctx context.Context) error {
	victim := c.managers[0]
	c.say("kill -9 %d: a TaskManager dies, and with it a half of the job", victim.Process.Pid)
	if err := victim.Process.Kill(); err != nil {
		return err
	}
	_ = victim.Wait() // it says how it died
	c.killed++
	c.managers = c.managers[1:]
	next, err := c.begin("taskmanager")
	if err != nil {
		return err
	}
	c.managers = append(c.managers, next)
	c.say("another TaskManager (pid %d) is started in its place", next.Process.Pid)
	return ctx.Err()
}

// stop ends all processes; those of the job end with their TaskManagers.
func (c *cluster) stop() {
	for _, p := range append(c.managers, c.master) {
		if p == nil {
			continue
		}
		_ = p.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = p.Process.Kill() })
		_ = p.Wait() // ended by a signal is what it says
		timer.Stop()
	}
}
