package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/weirstream/weir/client"
)

// A Cluster is one master and some TaskManagers.
type Cluster struct {
	*client.Client
	REST string // host:port
	Home string // WEIR_HOME of its processes

	weir      string
	options   []string
	processes []*exec.Cmd // the master first
	begun     int         // how many were ever started
}

// patience bounds how long a cluster may take to do what is waited for.
const patience = 30 * time.Second

// Start begins a cluster of the given binary and waits until all TaskManagers
// have registered, each with so many slots. Options are "key=value", for all
// processes.
func Start(ctx context.Context, weir string, taskManagers, slots int, options ...string) (*Cluster, error) {
	c, err := prepare(weir, slots)
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		c.options = append(c.options, "-D", o)
	}
	err = c.startMaster(ctx)
	for n := 0; n < taskManagers && err == nil; n++ {
		err = c.startTaskManager(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// prepare chooses ports and makes the home directory; nothing runs yet.
func prepare(weir string, slots int) (*Cluster, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	rest := net.JoinHostPort("localhost", strconv.Itoa(ports[0]))
	return &Cluster{
		Client: client.New(rest), REST: rest, Home: home, weir: weir,
		options: []string{
			"-D", "rest.port=" + strconv.Itoa(ports[0]),
			"-D", "jobmanager.rpc.port=" + strconv.Itoa(ports[1]),
			"-D", "taskmanager.numberOfTaskSlots=" + strconv.Itoa(slots),
		},
	}, nil
}

// freePorts gives port numbers that nobody listens on at the moment.
func freePorts(count int) ([]int, error) {
	var ports []int
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// startMaster returns when REST has answered for the first time.
func (c *Cluster) startMaster(ctx context.Context) error {
	if err := c.begin("jobmanager"); err != nil {
		return err
	}
	return c.until(ctx, "the master's REST API to answer", func() bool {
		_, err := c.Overview(ctx)
		return err == nil
	})
}

// startTaskManager returns when the new TaskManager has registered.
func (c *Cluster) startTaskManager(ctx context.Context, options ...string) error {
	if err := c.begin("taskmanager", options...); err != nil {
		return err
	}
	want := len(c.processes) - 1
	return c.until(ctx, "the TaskManager to register", func() bool {
		o, err := c.Overview(ctx)
		return err == nil && o.TaskManagers == want
	})
}

// begin starts one process, whose output goes to a file in the home directory.
func (c *Cluster) begin(role string, options ...string) error {
	out, err := os.Create(filepath.Join(c.Home, fmt.Sprintf("%s-%d.out", role, c.begun)))
	if err != nil {
		return fmt.Errorf("start %s: %w", role, err)
	}
	defer out.Close()
	c.begun++
	cmd := c.command(slices.Concat([]string{role}, c.options, options)...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", role, err)
	}
	c.processes = append(c.processes, cmd)
	return nil
}

// command is weir with the cluster's home.
func (c *Cluster) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(c.weir, arguments...)
	cmd.Env = append(os.Environ(), "WEIR_HOME="+c.Home)
	return cmd
}

// pollEvery is how often a condition is looked at: often enough not to show in
// figures of milliseconds, seldom enough not to be a load.
const pollEvery = time.Millisecond

// until waits for a condition.
func (c *Cluster) until(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited for %s for %s in vain%s", what, patience, c.outputs())
		}
	}
	return nil
}

// outputs is what the processes have written, for an error.
func (c *Cluster) outputs() string {
	files, err := filepath.Glob(filepath.Join(c.Home, "*.out"))
	if err != nil {
		return ""
	}
	var all string
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && len(text) > 0 {
			all += fmt.Sprintf("; %s ends: %s", filepath.Base(f), text[max(0, len(text)-400):])
		}
	}
	return all
}

// pids are the processes of the cluster, without the workers.
func (c *Cluster) pids() []int {
	var all []int
	for _, p := range c.processes {
		all = append(all, p.Process.Pid)
	}
	return all
}

// Stop ends the processes, the TaskManagers first: politely, after some seconds
// by force. Nothing is left of the cluster.
func (c *Cluster) Stop() error {
	c.Close()
	var errs []error
	for i := len(c.processes) - 1; i >= 0; i-- {
		p := c.processes[i]
		_ = p.Process.Signal(syscall.SIGTERM)
		force := time.AfterFunc(10*time.Second, func() { _ = p.Process.Kill() })
		if err := p.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("end %s: %w", p.Args[1], err))
		}
		force.Stop()
	}
	c.processes = nil
	return errors.Join(append(errs, os.RemoveAll(c.Home))...)
}
