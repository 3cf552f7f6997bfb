package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/bench/process"
)

// flink is a standalone cluster of a genuine Flink, and its SQL client. Its
// distribution is left as it is: the cluster has a configuration of its own.
type flink struct {
	home, work, tables string
	rest               string
	processes          []*exec.Cmd // the JobManager first
	started            cost        // until all slots were there
}

// flinkMemory is that of the TaskManager's process: enough that no query of scale
// factor 1 has to write to disk for the want of it.
const flinkMemory = "6g"

// openFlink starts a cluster with so many slots.
func openFlink(ctx context.Context, home, tables string, slots int) (f *flink, err error) {
	if _, err := os.Stat(filepath.Join(home, "bin", "sql-client.sh")); err != nil {
		return nil, fmt.Errorf("there is no Flink at %s, where -flink names its distribution", home)
	}
	if _, err := exec.LookPath("java"); err != nil {
		return nil, errors.New("there is no java on the path; Flink needs Java 17")
	}
	work, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return nil, fmt.Errorf("start Flink: %w", err)
	}
	f = &flink{home: home, work: work, tables: tables}
	if err := f.start(ctx, slots); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// flinkVersion is that of a distribution, by the name of its main library.
func flinkVersion(home string) string {
	const prefix = "flink-dist-"
	names, err := filepath.Glob(filepath.Join(home, "lib", prefix+"*.jar"))
	if err != nil || len(names) == 0 {
		return "unknown"
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(names[0]), prefix), ".jar")
}

func (f *flink) start(ctx context.Context, slots int) error {
	conf := filepath.Join(f.work, "conf")
	if err := os.CopyFS(conf, os.DirFS(filepath.Join(f.home, "conf"))); err != nil {
		return fmt.Errorf("copy Flink's configuration: %w", err)
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	f.rest = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	more := fmt.Sprintf("\nrest.port: %d\njobmanager.rpc.port: %d\ntaskmanager.numberOfTaskSlots: %d\ntaskmanager.memory.process.size: %s\n"+
		"io.tmp.dirs: %s\npipeline.object-reuse: true\n", ports[0], ports[1], slots, flinkMemory, f.work)
	file, err := os.OpenFile(filepath.Join(conf, "config.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(more)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("configure Flink: %w", err)
	}
	begin := time.Now()
	for _, script := range []string{"jobmanager.sh", "taskmanager.sh"} {
		cmd := f.command(script, "start-foreground")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start Flink's %s: %w", script, err)
		}
		f.processes = append(f.processes, cmd)
	}
	if err := f.awaitSlots(ctx, slots); err != nil {
		return err
	}
	cpu, err := f.seconds()
	f.started = cost{wall: time.Since(begin).Seconds(), cpu: cpu}
	return err
}

func freePorts(count int) (ports []int, err error) {
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

func (f *flink) command(script string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(f.home, "bin", script), arguments...)
	cmd.Env = append(os.Environ(), "FLINK_CONF_DIR="+filepath.Join(f.work, "conf"), "FLINK_LOG_DIR="+f.work, "FLINK_PID_DIR="+f.work)
	return cmd
}

// flinkPatience bounds how long a cluster may take to start.
const flinkPatience = 3 * time.Minute

func (f *flink) awaitSlots(ctx context.Context, slots int) error {
	ctx, cancel := context.WithTimeout(ctx, flinkPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var overview struct {
			Available int `json:"slots-available"`
		}
		if f.get(ctx, "/overview", &overview) == nil && overview.Available == slots {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited for Flink's %d slots for %s in vain", slots, flinkPatience)
		}
	}
}

func (f *flink) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.rest+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(into)
}

// seconds is the processor time of JobManager and TaskManager.
func (f *flink) seconds() (float64, error) {
	var pids []int
	for _, p := range f.processes {
		pids = append(pids, p.Process.Pid)
	}
	return process.Seconds(pids...)
}

// query lets Flink's SQL client carry out a script. The client asks for results
// without a pause, which keeps up to a core busy; it has the lowest priority, so
// that it does not take that core from the cluster.
func (f *flink) query(ctx context.Context, sql string) (answer, cost, error) {
	before, err := f.seconds()
	if err != nil {
		return answer{}, cost{}, err
	}
	a, u, err := runScript(f.work, script(f.tables, sql), func(file string) *exec.Cmd {
		client := f.command("sql-client.sh", "-f", file)
		nice := exec.CommandContext(ctx, "nice", append([]string{"-n", "19"}, client.Args...)...)
		nice.Env = client.Env
		return nice
	})
	if err != nil {
		f.cancelAll()
		return answer{}, cost{}, err
	}
	after, err := f.seconds()
	return a, cost{wall: u.Wall, cpu: after - before + u.CPU, client: u.CPU}, err
}

// cancelAll cancels what a client has left behind that was ended.
func (f *flink) cancelAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var list struct {
		Jobs []struct{ ID, Status string }
	}
	if f.get(ctx, "/jobs", &list) != nil {
		return
	}
	for _, job := range list.Jobs {
		if job.Status != "RUNNING" {
			continue
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPatch, f.rest+"/jobs/"+job.ID, strings.NewReader(""))
		if err != nil {
			return
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	}
}

// close ends the processes, by force after some seconds.
func (f *flink) close() error {
	for i := len(f.processes) - 1; i >= 0; i-- {
		p := f.processes[i]
		_ = p.Process.Signal(syscall.SIGTERM)
		force := time.AfterFunc(20*time.Second, func() { _ = p.Process.Kill() })
		_ = p.Wait() // Java ends with 143 then
		force.Stop()
	}
	return os.RemoveAll(f.work)
}
