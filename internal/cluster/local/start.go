//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/addressfile"
	"github.com/weirstream/weir/internal/logging"
)

// NumberVariable is the environment variable that tells a process which of its
// role it is, for the name of its log file.
const NumberVariable = "WEIR_PROCESS_NUMBER"

// Options say which cluster is meant and how it is started.
type Options struct {
	// Config is the configuration the processes will find, too: by the
	// environment and Arguments.
	Config *config.Config
	// Executable is weir itself; empty: the program that runs now.
	Executable string
	// Arguments follow the verb of each process: --config-dir and -D.
	Arguments    []string
	TaskManagers int
	// Patience is how long the cluster may take to become ready, and a process
	// to end by itself; zero: one minute, and ten seconds.
	Patience time.Duration
}

// A Cluster is a running one.
type Cluster struct {
	REST      string // host:port
	RPC       string // host:port
	Processes []Process
}

// A StartError says which process kept the cluster from starting, and why.
type StartError struct {
	Process string // "taskmanager 1"; empty: none in particular
	Reason  string
	LogFile string // empty: there is none
	Tail    string // the last lines of LogFile
}

// Error gives the reason and the log's last lines.
func (e *StartError) Error() string {
	var b strings.Builder
	b.WriteString("the cluster did not start: ")
	if e.Process != "" {
		b.WriteString(e.Process + ": ")
	}
	b.WriteString(e.Reason)
	if e.LogFile != "" {
		fmt.Fprintf(&b, "\nthe last lines of %s:\n%s", e.LogFile, indent(e.Tail))
	}
	return b.String()
}

func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "  (nothing was written)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// starter is one Start.
type starter struct {
	Options
	run, log string
	began    []Process
}

// Start begins a JobManager and the TaskManagers and returns when the REST API
// answers and all have registered, with their slots. On failure, or when ctx ends, it stops what
// it began; the error is then a *StartError or ctx's cause.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.TaskManagers < 0 {
		return nil, fmt.Errorf("%d TaskManagers: it must be at least 0", o.TaskManagers)
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Executable == "" {
		var err error
		if o.Executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find the program to start: %w", err)
		}
	}
	s := &starter{Options: o, run: config.RunDir(o.Config), log: config.LogDir(o.Config)}
	for _, dir := range []string{s.run, s.log} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("start a cluster: %w", err)
		}
	}
	unlock, err := lock(s.run)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.clear(); err != nil {
		return nil, err
	}
	cluster, err := s.start(ctx)
	if err != nil {
		return nil, errors.Join(err, end(s.run, s.began, defaultGrace))
	}
	return cluster, nil
}

// lock keeps two commands from changing one cluster at the same time.
func lock(run string) (unlock func(), err error) {
	path := filepath.Join(run, "cluster.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cluster: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another command is starting or stopping this cluster right now (%s is locked); wait for it", path)
		}
		return nil, fmt.Errorf("lock the cluster: %w", err)
	}
	return func() { f.Close() }, nil
}

// clear makes sure that no cluster runs, and forgets processes that are gone.
func (s *starter) clear() error {
	processes, err := recorded(s.run)
	if err != nil {
		return err
	}
	for _, p := range processes {
		if p.Runs() {
			return fmt.Errorf("a cluster is running already: %s, written down in %s; add a TaskManager to it with weir taskmanager, end it with weir cluster stop, or use another %s", p, s.run, config.HomeVariable)
		}
		if err := forget(s.run, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *starter) start(ctx context.Context) (*Cluster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Patience, &StartError{Reason: fmt.Sprintf("it was not ready within %s", s.Patience)})
	defer cancel()
	master, err := s.begin(JobManager, 1, s.Arguments)
	if err != nil {
		return nil, err
	}
	var at addressfile.Addresses
	if err := s.until(ctx, func() (ready bool, err error) {
		at, ready, err = addressfile.Read(addressfile.Path(s.run, master.PID))
		return ready, err
	}); err != nil {
		return nil, err
	}
	arguments := s.Arguments
	if config.JobManagerRPCPort.In(s.Config) == 0 {
		_, port, err := net.SplitHostPort(at.RPC)
		if err != nil {
			return nil, fmt.Errorf("the JobManager's address %q: %w", at.RPC, err)
		}
		arguments = append(arguments[:len(arguments):len(arguments)], "-D", config.JobManagerRPCPort.Key+"="+port)
	}
	for n := range s.TaskManagers {
		if _, err := s.begin(TaskManager, n+1, arguments); err != nil {
			return nil, err
		}
	}
	var overview Overview
	var unanswered error
	slots := config.TaskManagerNumberOfTaskSlots.In(s.Config)
	err = s.until(ctx, func() (bool, error) {
		o, err := ask(ctx, s.Config, at.REST)
		if ctx.Err() == nil { // else the answer was cut off and says nothing
			overview, unanswered = o, err
		}
		// A TaskManager tells of its slots after it has registered.
		return err == nil && o.TaskManagers >= s.TaskManagers && o.Slots >= s.TaskManagers*slots, nil
	})
	if err != nil {
		var late *StartError
		if errors.As(err, &late) && late.Process == "" {
			late.Reason += s.missing(overview, unanswered)
			s.showLog(late)
		}
		return nil, err
	}
	return &Cluster{REST: at.REST, RPC: at.RPC, Processes: s.began}, nil
}

// missing says how far the cluster had come.
func (s *starter) missing(o Overview, unanswered error) string {
	if unanswered != nil {
		return ": the REST API does not answer: " + unanswered.Error()
	}
	return fmt.Sprintf(": %d of %d TaskManagers have registered, with %d slots", o.TaskManagers, s.TaskManagers, o.Slots)
}

// showLog adds the log of the last process begun.
func (s *starter) showLog(e *StartError) {
	if len(s.began) > 0 {
		last := s.began[len(s.began)-1]
		e.Process = fmt.Sprintf("%s %d", last.Role, last.Number)
		e.LogFile, e.Tail = s.tail(last)
	}
}

const (
	pollInterval = 10 * time.Millisecond
	tailBytes    = 4096
)

// until waits for a condition while all processes live.
func (s *starter) until(ctx context.Context, ready func() (bool, error)) error {
	for {
		ok, err := ready()
		if ok || err != nil {
			return err
		}
		if err := s.allLive(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// allLive looks for a child that has ended.
func (s *starter) allLive() error {
	for _, p := range s.began {
		var how unix.WaitStatus
		pid, err := unix.Wait4(p.PID, &how, unix.WNOHANG, nil)
		if pid == 0 && err == nil || errors.Is(err, unix.EINTR) {
			continue
		}
		reason := "it ended"
		switch {
		case err == nil && how.Exited():
			reason = "it ended with exit code " + strconv.Itoa(how.ExitStatus())
		case err == nil && how.Signaled():
			reason = "it was killed by " + how.Signal().String()
		}
		e := &StartError{Process: fmt.Sprintf("%s %d", p.Role, p.Number), Reason: reason}
		e.LogFile, e.Tail = s.tail(p)
		return e
	}
	return nil
}

// output is where standard output and error of a process itself go. What the
// workers of a TaskManager print is in its .out file, what it logs in its .log.
func (s *starter) output(p Process) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return filepath.Join(s.log, fmt.Sprintf("weir-%s-%d-%s.err", p.Role, p.Number, strings.ReplaceAll(host, "/", "_")))
}

// tail gives the end of what a process has said: on standard error, or, when it
// has said nothing there, in its log.
func (s *starter) tail(p Process) (file, end string) {
	file = s.output(p)
	text, err := logging.Tail(file, tailBytes)
	if err == nil && len(text) == 0 {
		log := strings.TrimSuffix(file, ".err") + ".log"
		if logged, err := logging.Tail(log, tailBytes); err == nil {
			return log, string(logged)
		}
	}
	if err != nil {
		return file, err.Error()
	}
	return file, string(text)
}

// begin starts a process in a session of its own, so that neither the end of
// the terminal nor an interrupt typed there reaches it, and writes it down.
func (s *starter) begin(role string, number int, arguments []string) (Process, error) {
	p := Process{Role: role, Number: number}
	out, err := os.Create(s.output(p))
	if err != nil {
		return p, fmt.Errorf("start %s %d: %w", role, number, err)
	}
	defer out.Close()
	cmd := exec.Command(s.Executable, append([]string{role}, arguments...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), NumberVariable+"="+strconv.Itoa(number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return p, &StartError{Process: fmt.Sprintf("%s %d", role, number), Reason: err.Error()}
	}
	p.PID = cmd.Process.Pid
	p.birth, err = birth(p.PID)
	s.began = append(s.began, p)
	if err == nil && p.birth != "" {
		err = p.record(s.run)
	}
	if err := cmd.Process.Release(); err != nil {
		return p, fmt.Errorf("start %s: %w", p, err)
	}
	return p, err
}
