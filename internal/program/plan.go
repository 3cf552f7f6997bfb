package program

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// The limits of Plan where a Planner names none.
const (
	DefaultTimeout = 60 * time.Second
	DefaultMemory  = 1 << 30
	maxGraphBytes  = 64 << 20
	// pipeDelay is how long a program's children may hold its output open
	// after its end.
	pipeDelay = time.Second
)

// A Planner asks programs for the jobs they describe. Several goroutines may
// use it.
type Planner struct {
	Store *Store
	// Timeout bounds the time a program may take to reach Execute. Zero:
	// DefaultTimeout.
	Timeout time.Duration
	// Preview says that the job is only looked at, not about to be submitted.
	Preview bool
	// Memory bounds the resident memory of the program meanwhile, in bytes,
	// where the system tells it. Zero: DefaultMemory.
	Memory int64
}

// Plan runs the program until it has described its job. The settings, by
// Flink's keys, are what its environment starts with. The JobGraph has no job
// id; its Artifact names the program and args. Plan fails with a *PlanError
// when the program is at fault, and with the cause of ctx when that ends first.
func (p *Planner) Plan(ctx context.Context, of Program, args []string, settings map[string]string) (*jobgraph.Graph, error) {
	graph, _, err := p.planned(ctx, of, args, settings, false)
	return graph, err
}

// PlanStates is Plan, and gives what the program's operators keep as well, for
// which it has them opened.
func (p *Planner) PlanStates(ctx context.Context, of Program, args []string, settings map[string]string) (*jobgraph.Graph, []snapshot.Declaration, error) {
	return p.planned(ctx, of, args, settings, true)
}

func (p *Planner) planned(ctx context.Context, of Program, args []string, settings map[string]string, states bool) (*jobgraph.Graph, []snapshot.Declaration, error) {
	select {
	case p.Store.planning <- struct{}{}:
		defer func() { <-p.Store.planning }()
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("plan %s: %w", of.Name, context.Cause(ctx))
	}
	sum, err := p.Store.Sum(of)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(p.Store.Dir(), scratch)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", of.Name, err)
	}
	graph, declared, err := p.plan(ctx, of, dir, args, settings, states)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, nil, err
	}
	graph.Artifact = jobgraph.Artifact{SHA256: sum, Name: of.Name, Size: of.Size, Arguments: slices.Clone(args)}
	return graph, declared, nil
}

func (p *Planner) plan(ctx context.Context, of Program, dir string, args []string, settings map[string]string, states bool) (*jobgraph.Graph, []snapshot.Declaration, error) {
	path := filepath.Join(dir, "graph")
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", of.Name, err)
	}
	env, err := environment(path, settings, p.Preview)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", of.Name, err)
	}
	said := filepath.Join(dir, "states")
	if states {
		env = append(env, assignment.StatesVariable+"="+said)
	}
	output := &tail{}
	if err := p.run(ctx, of, work, args, env, output); err != nil {
		return nil, nil, err
	}
	failed := func(cause error) error { return &PlanError{Program: of.Name, Cause: cause, Output: output.String()} }
	text, err := readGraph(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, failed(ErrNoJob)
	}
	if err != nil {
		return nil, nil, failed(err)
	}
	graph, err := jobgraph.Decode(text)
	if err != nil {
		return nil, nil, failed(fmt.Errorf("the job it described cannot be read; it may be built with another version of Weir: %w", err))
	}
	if !states {
		return graph, nil, nil
	}
	var declared []snapshot.Declaration
	if text, err = readGraph(said); err == nil {
		err = json.Unmarshal(text, &declared)
	}
	if err != nil {
		return nil, nil, failed(fmt.Errorf("what its operators keep cannot be read; it may be built with another version of Weir: %w", err))
	}
	return graph, declared, nil
}

// environment is this process's own, with what tells the program to describe
// its job in place of what told this process its part.
func environment(path string, settings map[string]string, preview bool) ([]string, error) {
	text, err := json.Marshal(settings, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the settings: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, assignment.PlanVariable+"=") || strings.HasPrefix(e, assignment.WorkerVariable+"=") ||
			strings.HasPrefix(e, assignment.SettingsVariable+"=") || strings.HasPrefix(e, assignment.StatesVariable+"=") || strings.HasPrefix(e, assignment.PreviewVariable+"=")
	})
	if preview {
		env = append(env, assignment.PreviewVariable+"=1")
	}
	return append(env, assignment.PlanVariable+"="+path, assignment.SettingsVariable+"="+string(text)), nil
}

var (
	errTimeout = errors.New("time is up")
	errMemory  = errors.New("too much memory")
)

// run runs the program to its end, within the limits. Nothing of its process
// group is left when run returns.
func (p *Planner) run(ctx context.Context, of Program, dir string, args, env []string, output *tail) error {
	timeout, memory := p.Timeout, p.Memory
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	if memory <= 0 {
		memory = DefaultMemory
	}
	bounded, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, release := context.WithTimeoutCause(bounded, timeout, errTimeout)
	defer release()

	cmd, err := start(timed, of.Path, args, func(cmd *exec.Cmd) {
		cmd.Args[0] = of.Name // what it calls itself in its messages
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, output, output
	})
	if err != nil {
		if timed.Err() != nil { // before it was started
			return p.verdict(ctx, timed, of, err, output, timeout, memory)
		}
		return &PlanError{Program: of.Name, Cause: fmt.Errorf("cannot be started: %w", err)}
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchMemory(cmd.Process.Pid, memory, ended, func() { stop(errMemory) })
	}()
	err = cmd.Wait()
	// Children that outlived the program keep its group's number from being
	// given away, so this reaches them and nobody else.
	_ = killGroup(cmd) // there is usually nobody left to kill
	close(ended)
	<-watched
	return p.verdict(ctx, timed, of, err, output, timeout, memory)
}

// start starts a program in a process group of its own; fill sets the rest.
//
// A process that is started elsewhere in this one at the moment when an upload
// is written holds the file open for an instant, and what is open for writing
// cannot be executed: so it waits for what is being started, and tries a few times.
func start(ctx context.Context, path string, args []string, fill func(*exec.Cmd)) (*exec.Cmd, error) {
	const attempts, pause = 20, 10 * time.Millisecond
	for attempt := 1; ; attempt++ {
		cmd := exec.CommandContext(ctx, path, args...)
		fill(cmd)
		ownGroup(cmd)
		cmd.WaitDelay = pipeDelay
		cmd.Cancel = func() error { return killGroup(cmd) }
		err := cmd.Start()
		if err == nil || !errors.Is(err, syscall.ETXTBSY) || attempt == attempts {
			return cmd, err
		}
		// The lock is held until what is being started runs its own program.
		syscall.ForkLock.RLock()
		//lint:ignore SA2001 whoever has the lock is waited for, no more
		syscall.ForkLock.RUnlock()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// verdict says what the end of a program means; nil: it ended well.
func (p *Planner) verdict(ctx, timed context.Context, of Program, err error, output *tail, timeout time.Duration, memory int64) error {
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && timed.Err() == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("plan %s: %w", of.Name, context.Cause(ctx))
	}
	cause := err
	switch {
	case context.Cause(timed) == errTimeout:
		cause = fmt.Errorf("did not describe its job within %v and was killed: is there a loop before Execute?", timeout)
	case context.Cause(timed) == errMemory:
		cause = fmt.Errorf("used more than %d MiB before it described its job and was killed", memory>>20)
	default:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			cause = ending(exit, output)
		}
	}
	return &PlanError{Program: of.Name, Cause: cause, Output: output.String()}
}

// ending says in one line how a program died by itself.
func ending(exit *exec.ExitError, output *tail) error {
	if line := output.death(); line != "" {
		return fmt.Errorf("ended before it described its job: %s", line)
	}
	how := exit.String() // "exit status 3", "signal: killed"
	if line := output.last(); line != "" {
		return fmt.Errorf("ended before it described its job: %s (%s)", line, how)
	}
	return fmt.Errorf("ended before it described its job: %s", how)
}

func readGraph(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxGraphBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the job it described: %w", err)
	}
	if len(text) > maxGraphBytes {
		return nil, fmt.Errorf("the job it described is larger than %d MiB", maxGraphBytes>>20)
	}
	return text, nil
}
