//go:build unix

package session_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/local"
	"github.com/weirstream/weir/internal/cluster/session"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// The binary of this test is also every process of the clusters it starts, and
// the program that runs on them.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(assignment.PlanVariable) != "" || os.Getenv(assignment.WorkerVariable) != "":
		os.Exit(program(os.Args[1:]))
	case len(os.Args) > 1 && (os.Args[1] == local.JobManager || os.Args[1] == local.TaskManager):
		os.Exit(process(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

func process(role string, args []string) int {
	var dynamic []string
	flags := flag.NewFlagSet(role, flag.ExitOnError)
	flags.Func("D", "key=value", func(d string) error { dynamic = append(dynamic, d); return nil })
	_ = flags.Parse(args)
	cfg, err := config.Load("", dynamic)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return config.ExitCode
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	run := session.JobManager
	if role == local.TaskManager {
		run = session.TaskManager
	}
	if err := run(ctx, session.Options{Config: cfg, Version: "test"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// program is a job, by its first argument.
func program(args []string) int {
	env := stream.NewEnv()
	switch args[0] {
	case "count":
		stream.ReadText(env, args[1]).FlatMap(strings.FieldsSeq).KeyBy(stream.Self[string]).Count().
			WriteText(args[2], func(p stream.Pair[string, int64]) string { return fmt.Sprintf("%s %d", p.Key, p.Value) })
	case "endless":
		// The connection tells the test that the job runs, and when its process
		// is gone.
		call := sync.OnceValues(func() (net.Conn, error) { return net.Dial("tcp", args[1]) })
		stream.Sequence(env, 1, 1<<62).KeyBy(func(n int64) int64 { return n % 100 }).Sum(func(n int64) int64 { return n }).
			ForEach(func(stream.Pair[int64, int64]) error { _, err := call(); return err })
	case "fails":
		stream.Sequence(env, 1, 100).ForEach(func(n int64) error {
			if n == 50 {
				return errors.New("fifty is too much")
			}
			return nil
		}).Name("picky")
	case "exits":
		stream.Sequence(env, 1, 100).ForEach(func(int64) error { os.Exit(7); return nil }).Name("leaves")
	}
	if err := env.Execute(context.Background(), args[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// cluster starts one of its own, which ends with the test.
func cluster(t *testing.T, taskManagers int, dynamic ...string) (*client.Client, local.Options, string) {
	t.Helper()
	home, err := os.MkdirTemp("", "weir-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(config.HomeVariable, home)
	dynamic = append([]string{"rest.port=0", "jobmanager.rpc.port=0", "jobmanager.memory.process.size=1600m",
		"taskmanager.memory.process.size=1728m", "taskmanager.numberOfTaskSlots=2"}, dynamic...)
	o := local.Options{TaskManagers: taskManagers}
	if o.Config, err = config.Load("", dynamic); err != nil {
		t.Fatal(err)
	}
	for _, d := range dynamic {
		o.Arguments = append(o.Arguments, "-D", d)
	}
	t.Cleanup(func() {
		if _, err := local.Stop(o); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			showLogs(t, home)
		}
		os.RemoveAll(home)
	})
	running, err := local.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(running.Processes) != taskManagers+1 {
		t.Errorf("the cluster has the processes %v", running.Processes)
	}
	c := client.New(running.REST)
	t.Cleanup(c.Close)
	return c, o, home
}

func showLogs(t *testing.T, home string) {
	_ = filepath.WalkDir(filepath.Join(home, "log"), func(path string, d fs.DirEntry, _ error) error {
		if text, err := os.ReadFile(path); err == nil {
			t.Logf("%s:\n%s", d.Name(), text[max(0, len(text)-8000):])
		}
		return nil
	})
}

// run uploads this binary and runs one of its jobs.
func run(t *testing.T, c *client.Client, r client.RunRequest) string {
	t.Helper()
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	id, err := c.Upload(t.Context(), "job", self)
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.Run(t.Context(), id, r)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func end(t *testing.T, c *client.Client, job string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	state, err := c.Wait(ctx, job, nil)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestAJobOnProcesses(t *testing.T) {
	c, o, home := cluster(t, 2)
	for i := range 10 {
		name := filepath.Join(home, fmt.Sprintf("in-%d.txt", i))
		if err := os.WriteFile(name, bytes.Repeat([]byte("to be or not to be\n"), 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(home, "out")
	// Both TaskManagers are needed for a parallelism of 4, so records cross.
	job := run(t, c, client.RunRequest{Arguments: []string{"count", filepath.Join(home, "in-*.txt"), out}, Parallelism: 4})
	if state := end(t, c, job); state != "FINISHED" {
		exceptions, err := c.Exceptions(t.Context(), job)
		t.Fatalf("the job is %s: %+v, error %v", state, exceptions, err)
	}
	if got, want := lines(t, out), []string{"be 2000", "not 1000", "or 1000", "to 2000"}; !slices.Equal(got, want) {
		t.Errorf("counted %v", got)
	}

	status, err := local.Inspect(t.Context(), o)
	if err != nil || status.Overview == nil || status.Overview.TaskManagers != 2 || status.Overview.Slots != 4 || status.Overview.JobsFinished != 1 {
		t.Errorf("status %+v, overview %+v, error %v", status, status.Overview, err)
	}
	if _, err := local.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("a second cluster of the same home: %v", err)
	}
	stopped, err := local.Stop(o)
	if len(stopped) != 3 || err != nil {
		t.Errorf("stopped %v, error %v", stopped, err)
	}
	for _, p := range stopped {
		if p.Runs() {
			t.Errorf("%s still runs", p)
		}
	}
	nothingLeft(t, home)
}

func lines(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.Sort(all)
	return all
}

// nothingLeft checks that a stopped cluster leaves logs and its lock, no more.
func nothingLeft(t *testing.T, home string) {
	t.Helper()
	for _, dir := range []string{"run", "tmp", "blobs"} {
		entries, _ := os.ReadDir(filepath.Join(home, dir))
		for _, e := range entries {
			if e.Name() != "cluster.lock" {
				t.Errorf("%s/%s is left", dir, e.Name())
			}
		}
	}
}

func TestHowJobsEnd(t *testing.T) {
	c, _, _ := cluster(t, 1)
	job, conn := endless(t, c, 2)
	if err := c.Cancel(t.Context(), job); err != nil {
		t.Error(err)
	}
	if state := end(t, c, job); state != "CANCELED" {
		t.Errorf("after cancel: %s", state)
	}
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	for what, want := range map[string]string{"fails": "fifty is too much", "exits": "exit code 7"} {
		job := run(t, c, client.RunRequest{Arguments: []string{what}})
		if state := end(t, c, job); state != "FAILED" {
			t.Errorf("%s: %s", what, state)
		}
		exceptions, err := c.Exceptions(t.Context(), job)
		if err != nil || !strings.Contains(fmt.Sprintf("%+v", exceptions), want) {
			t.Errorf("%s: exceptions %+v, error %v", what, exceptions, err)
		}
	}
	if o, err := c.Overview(t.Context()); err != nil || o.TaskManagers != 1 {
		t.Errorf("the TaskManager has not outlived its jobs: %+v, error %v", o, err)
	}
}

func TestAPortInUseIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	home := t.TempDir()
	t.Setenv(config.HomeVariable, home)
	for _, key := range []string{"rest.port", "jobmanager.rpc.port"} {
		dynamic := []string{"rest.port=0", "jobmanager.rpc.port=0", "jobmanager.memory.process.size=1600m", fmt.Sprintf("%s=%d", key, port)}
		cfg, err := config.Load("", dynamic)
		if err != nil {
			t.Fatal(err)
		}
		err = session.JobManager(t.Context(), session.Options{Config: cfg, Stderr: io.Discard})
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), fmt.Sprint(port)) {
			t.Errorf("%s in use: %v", key, err)
		}
		o := local.Options{Config: cfg}
		for _, d := range dynamic {
			o.Arguments = append(o.Arguments, "-D", d)
		}
		_, err = local.Start(t.Context(), o)
		var failed *local.StartError
		if !errors.As(err, &failed) || !strings.Contains(failed.Tail, key) {
			t.Errorf("cluster start with %s in use: %v", key, err)
		}
		nothingLeft(t, home)
	}
}

func TestABadConfigurationListsAllProblems(t *testing.T) {
	t.Setenv(config.HomeVariable, t.TempDir())
	cfg, err := config.Load("", []string{"cluster.id=none", "taskmanager.bind-host=0.0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	err = session.TaskManager(t.Context(), session.Options{Config: cfg, Stderr: io.Discard})
	var refused *config.Error
	if !errors.As(err, &refused) || len(refused.Problems) != 3 {
		t.Errorf("got %v", err)
	}
}

// endless runs a job until it is known to run; the connection ends with its
// process.
func endless(t *testing.T, c *client.Client, parallelism int) (job string, conn net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // other processes of the job call too
	job = run(t, c, client.RunRequest{Arguments: []string{"endless", l.Addr().String()}, Parallelism: parallelism,
		Configuration: map[string]string{"execution.runtime-mode": "STREAMING"}})
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if conn, err = l.Accept(); err != nil {
		exceptions, _ := c.Exceptions(t.Context(), job)
		t.Fatalf("the job does not run: %v, exceptions %+v", err, exceptions)
	}
	t.Cleanup(func() { conn.Close() })
	return job, conn
}

// A TaskManager that is killed leaves no worker behind.
func TestNoWorkerOutlivesItsTaskManager(t *testing.T) {
	c, o, _ := cluster(t, 1)
	_, conn := endless(t, c, 2)
	status, err := local.Inspect(t.Context(), o)
	if err != nil || len(status.Processes) != 2 {
		t.Fatalf("status %+v, error %v", status, err)
	}
	_ = syscall.Kill(status.Processes[1].PID, syscall.SIGKILL)
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}
