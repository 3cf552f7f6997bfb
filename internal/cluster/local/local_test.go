//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/addressfile"
)

// faultVariable says how the processes of a test misbehave: a role and a fault.
const faultVariable = "WEIR_TEST_FAULT"

// The binary of this test is also the processes it starts. They speak the
// overview and the address file, and nothing else of a cluster.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == JobManager || os.Args[1] == TaskManager) {
		os.Exit(fake(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

func fake(role string, args []string) int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	switch os.Getenv(faultVariable) {
	case role + " stubborn":
		signal.Ignore(syscall.SIGTERM)
	case role + " dies":
		fmt.Fprintln(os.Stderr, "the "+role+" had enough")
		return 3
	case role + " hangs":
		<-ended
		return 0
	case role + " interrupts":
		_ = syscall.Kill(os.Getppid(), syscall.SIGUSR1)
		<-ended
		return 0
	}
	if role == TaskManager {
		// The last option is the port, which the JobManager chose.
		_, port, _ := strings.Cut(args[len(args)-1], "=")
		response, err := http.Post("http://localhost:"+port+"/register", "", nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		response.Body.Close()
		<-ended
		return 0
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var registered atomic.Int64
	http.HandleFunc("POST /register", func(http.ResponseWriter, *http.Request) { registered.Add(1) })
	http.HandleFunc("GET /overview", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"taskmanagers":%d,"slots-total":%d,"slots-available":1,"jobs-running":0,"unknown":"ignored"}`, registered.Load(), registered.Load())
	})
	go http.Serve(l, nil)
	cfg, _ := config.Load("", nil)
	path := addressfile.Path(config.RunDir(cfg), os.Getpid())
	if err := addressfile.Write(path, addressfile.Addresses{REST: l.Addr().String(), RPC: l.Addr().String()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-ended
	return 0
}

// options are those of a cluster of its own.
func options(t *testing.T, taskManagers int, fault string) Options {
	t.Helper()
	t.Setenv(config.HomeVariable, t.TempDir())
	t.Setenv(faultVariable, fault)
	cfg, err := config.Load("", []string{"jobmanager.rpc.port=0"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Config: cfg, TaskManagers: taskManagers}
	t.Cleanup(func() {
		o := o
		o.Patience = 10 * time.Millisecond
		if _, err := Stop(o); err != nil {
			t.Error(err)
		}
	})
	return o
}

func TestStartInspectStop(t *testing.T) {
	o := options(t, 2, "")
	if s, err := Inspect(t.Context(), o); err != nil || len(s.Processes) != 0 {
		t.Errorf("before the start: %+v, error %v", s, err)
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Processes) != 3 || c.Processes[0].Role != JobManager || c.Processes[2].Number != 2 {
		t.Errorf("processes %v", c.Processes)
	}
	s, err := Inspect(t.Context(), o)
	if err != nil || len(s.Processes) != 3 || s.REST != c.REST || s.Overview == nil || s.Overview.TaskManagers != 2 {
		t.Errorf("status %+v, error %v", s, err)
	}
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "jobmanager 1 (pid") {
		t.Errorf("started twice: %v", err)
	}
	stopped, err := Stop(o)
	if err != nil || len(stopped) != 3 {
		t.Errorf("stopped %v, error %v", stopped, err)
	}
	if stopped, err := Stop(o); err != nil || len(stopped) != 0 {
		t.Errorf("stopped twice: %v, error %v", stopped, err)
	}
	noneRuns(t, o, c.Processes)
}

// noneRuns checks that processes are gone, and what was written down of them.
func noneRuns(t *testing.T, o Options, processes []Process) {
	t.Helper()
	for _, p := range processes {
		if p.Runs() {
			t.Errorf("%s runs", p)
		}
	}
	entries, err := os.ReadDir(config.RunDir(o.Config))
	if err != nil || len(entries) != 1 { // the lock
		t.Errorf("in the run directory: %v, error %v", entries, err)
	}
}

func TestAStubbornProcessIsKilled(t *testing.T) {
	o := options(t, 1, JobManager+" stubborn")
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Patience = 50 * time.Millisecond
	if _, err := Stop(o); err != nil {
		t.Error(err)
	}
	noneRuns(t, o, c.Processes)
}

func TestAFailedStartSaysWhy(t *testing.T) {
	for _, role := range []string{JobManager, TaskManager} {
		o := options(t, 1, role+" dies")
		_, err := Start(t.Context(), o)
		var failed *StartError
		if !errors.As(err, &failed) {
			t.Fatalf("%s: %v", role, err)
		}
		if failed.Process != role+" 1" || failed.Reason != "it ended with exit code 3" || !strings.Contains(err.Error(), "the "+role+" had enough") {
			t.Errorf("%s: %v", role, err)
		}
		noneRuns(t, o, nil)
	}
}

func TestALateTaskManagerIsNamed(t *testing.T) {
	o := options(t, 1, TaskManager+" hangs")
	o.Patience = 5 * time.Second // in which the JobManager comes to answer
	_, err := Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "taskmanager 1: it was not ready within 5s: 0 of 1 TaskManagers have registered, with 0 slots") {
		t.Errorf("got %v", err)
	}
	noneRuns(t, o, nil)
}

func TestAnInterruptedStartStopsWhatItBegan(t *testing.T) {
	o := options(t, 1, TaskManager+" interrupts")
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGUSR1)
	defer stop()
	if _, err := Start(ctx, o); err == nil || !errors.Is(err, context.Cause(ctx)) {
		t.Errorf("got %v", err)
	}
	noneRuns(t, o, nil)
}

// The process that has the id of one that is gone is let live.
func TestAReusedIDIsNotKilled(t *testing.T) {
	o := options(t, 0, "")
	stranger := exec.Command(os.Args[0], JobManager)
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stranger.Process.Kill(); stranger.Wait() }()
	run := config.RunDir(o.Config)
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	old := Process{Role: JobManager, Number: 1, PID: stranger.Process.Pid, birth: "another boot/1"}
	if err := old.record(run); err != nil {
		t.Fatal(err)
	}
	if old.Runs() {
		t.Error("the stranger is taken for the process that is gone")
	}
	if stopped, err := Stop(o); err != nil || len(stopped) != 0 {
		t.Errorf("stopped %v, error %v", stopped, err)
	}
	if born, err := birth(stranger.Process.Pid); err != nil || born == "" {
		t.Errorf("the stranger is gone: %q, error %v", born, err)
	}
}

func TestTwoCommandsDoNotMeet(t *testing.T) {
	o := options(t, 0, "")
	run := config.RunDir(o.Config)
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another command") {
		t.Errorf("start: %v", err)
	}
	if _, err := Stop(o); err == nil || !strings.Contains(err.Error(), "another command") {
		t.Errorf("stop: %v", err)
	}
	unlock()
}

// Who looks while another command stops the cluster finds files that are gone when they are
// read.
func TestAPIDFileGoesWhileItIsLookedAt(t *testing.T) {
	run := t.TempDir()
	if err := os.Symlink("gone", filepath.Join(run, "jobmanager-1.pid")); err != nil {
		t.Fatal(err)
	}
	if all, err := recorded(run); err != nil || len(all) != 0 {
		t.Errorf("recorded are %v, error %v", all, err)
	}
}

// Only of one id two births tell two processes apart: those that start in the same tick of
// the clock, as this one and its parent may, have the same.
func TestBirth(t *testing.T) {
	first, err := birth(os.Getpid())
	again, _ := birth(os.Getpid())
	oldest, _ := birth(1)
	if first == "" || first != again || first == oldest || err != nil {
		t.Errorf("births %q, %q, of the oldest process %q, error %v", first, again, oldest, err)
	}
}

func FuzzParsePID(f *testing.F) {
	f.Add("123\nboot/456\n")
	f.Add("123\n")
	f.Add("-1\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		pid, born, err := parsePID(text)
		if err == nil && (pid < 1 || born == "") {
			t.Errorf("%q gives %d, %q", text, pid, born)
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add("jobmanager-1.pid")
	f.Add("taskmanager-01.pid")
	f.Add("taskmanager-2.pid.new")
	f.Fuzz(func(t *testing.T, name string) {
		if p, ours := parseName(name); ours && filepath.Base(p.pidFile("")) != name {
			t.Errorf("%q is taken for %q", name, p.pidFile(""))
		}
	})
}
