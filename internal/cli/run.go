package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
)

// runOptions are the flags of `run` that mean something here.
type runOptions struct {
	detached        bool
	parallelism     string
	cancelOnExit    bool
	savepoint       string
	allowNonRestore bool
	claimMode       string
	class           string
}

// run is Flink's `run`: it submits a program and, unless detached, follows it to
// its end.
func (p *invocation) run() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use: "run [OPTIONS] PROGRAM [ARGUMENTS]", Short: "Run a program on the cluster",
		Long: "PROGRAM is a Go job binary, or a directory with its package main, which is built first.\n" +
			"What follows it are the program's own arguments; a -- between them is optional.",
		RunE: func(cmd *cobra.Command, args []string) error { return p.submit(cmd.Context(), o, args) },
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.BoolVarP(&o.detached, "detached", "d", false, "return when the job is submitted")
	f.StringVarP(&o.parallelism, "parallelism", "p", "", "default `parallelism` of the program")
	f.BoolVar(&o.cancelOnExit, "shutdownOnAttachedExit", false, "attached: cancel the job when interrupted (-sae)")
	f.StringVarP(&o.savepoint, "fromSavepoint", "s", "", "`path` of a savepoint or retained checkpoint to start from")
	f.BoolVarP(&o.allowNonRestore, "allowNonRestoredState", "n", false, "allow savepoint state that no operator takes")
	f.StringVar(&o.claimMode, "claimMode", "", "who owns the savepoint from then on: `no_claim`, you, or claim, the job (-cm)")
	f.StringVar(&o.claimMode, "restoreMode", "", "old name of --claimMode (-rm)")
	f.StringVarP(&o.class, "class", "c", "", "has no meaning for a Go program")
	return c
}

// request makes what the cluster is asked for, or says which option cannot be
// honoured.
func (p *invocation) request(o runOptions, arguments []string) (client.RunRequest, error) {
	mode := strings.ToUpper(o.claimMode)
	r := client.RunRequest{Arguments: arguments, Savepoint: absolute(o.savepoint), AllowNonRestored: o.allowNonRestore, ClaimMode: mode, Configuration: map[string]string{}}
	switch {
	case mode != "" && mode != "CLAIM" && mode != "NO_CLAIM":
		return r, usage("run: claim mode %q: allowed are no_claim, the savepoint stays yours, and claim, the job deletes it when it needs it no more", o.claimMode)
	case o.class != "":
		return r, usage("run: -c names a Java class; a Go program has one main: leave it out")
	}
	if o.parallelism != "" {
		n, err := strconv.Atoi(o.parallelism)
		if err != nil || n < 1 {
			return r, usage("The parallelism must be a positive number: %s"+helpHint, o.parallelism)
		}
		r.Parallelism = n
	}
	cfg, err := p.config()
	if err != nil {
		return r, err
	}
	r.Configuration = cfg.JobSettings()
	for _, d := range p.dynamic {
		key, value, ok := strings.Cut(d, "=")
		if !ok {
			return r, usage("-D %s: want key=value", d)
		}
		r.Configuration[key] = value
	}
	return r, nil
}

// absolute gives a path as other processes find it; URLs stay as they are.
func absolute(path string) string {
	if path == "" || strings.Contains(path, ":/") {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (p *invocation) submit(ctx context.Context, o runOptions, args []string) error {
	binary, arguments, cleanUp, err := programArgument(ctx, args)
	if err != nil {
		return err
	}
	defer cleanUp()
	request, err := p.request(o, arguments)
	if err != nil {
		return err
	}
	c, err := p.client()
	if err != nil {
		return err
	}
	defer c.Close()
	job, err := p.runProgram(ctx, c, args[0], binary, request)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "Job has been submitted with JobID %s\n", job)
	if o.detached {
		return nil
	}
	return p.follow(ctx, c, job, o.cancelOnExit)
}

// runProgram uploads a program, unless it is there, runs it and takes away what it
// has uploaded: the job keeps the program as long as it needs it.
func (p *invocation) runProgram(ctx context.Context, c *client.Client, named, binary string, request client.RunRequest) (job string, err error) {
	for known := true; ; known = false {
		id, stored, uploaded, err := upload(ctx, c, binary, known)
		if err != nil {
			return "", renamed(action("Could not upload "+named+".", err), stored, filepath.Base(binary))
		}
		job, err := c.Run(ctx, id, request)
		var refused *client.Error
		if !uploaded && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			continue // another run, which had uploaded it, has taken it away
		}
		if uploaded {
			// Also after an interrupt; the job runs in any case.
			if left := c.Delete(context.WithoutCancel(ctx), id); left != nil {
				fmt.Fprintf(p.err, "The uploaded program %s stays at the cluster: %v\n", id, left)
			}
		}
		if err != nil {
			return "", renamed(action("Could not run "+named+".", err), stored, filepath.Base(binary))
		}
		return job, nil
	}
}

// programArgument gives the binary that the first argument names, built if it is
// a directory, and the program's arguments.
func programArgument(ctx context.Context, args []string) (binary string, arguments []string, cleanUp func(), err error) {
	if len(args) == 0 {
		return "", nil, nil, usage("run: no program given: name a Go job binary or a directory with package main" + helpHint)
	}
	arguments = args[1:]
	if len(arguments) > 0 && arguments[0] == "--" {
		arguments = arguments[1:]
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return "", nil, nil, usage("Could not get the program: file does not exist: %s"+helpHint, args[0])
	}
	if !info.IsDir() {
		return args[0], arguments, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "weir-build-")
	if err != nil {
		return "", nil, nil, err
	}
	cleanUp = func() { os.RemoveAll(dir) }
	binary = filepath.Join(dir, buildName(args[0]))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary)
	if !strings.Contains(os.Getenv("GOFLAGS"), "-tags") {
		build.Args = append(build.Args, "-tags=pebblegozstd") // C that nothing uses takes minutes to compile
	}
	build.Args = append(build.Args, ".")
	build.Dir = args[0]
	if text, err := build.CombinedOutput(); err != nil {
		cleanUp()
		return "", nil, nil, ends(exitFailure, "Could not build %s.\n%s\ngo build: %w", args[0], strings.TrimSpace(string(text)), err)
	}
	return binary, arguments, cleanUp, nil
}

func buildName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "program"
	}
	return filepath.Base(abs)
}

// upload gives the id and the name of the program at the cluster, sending it only
// if it is not known to be there already: its name there ends in its hash.
func upload(ctx context.Context, c *client.Client, path string, known bool) (id, name string, uploaded bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", false, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", "", false, err
	}
	name = filepath.Base(path) + "-" + hex.EncodeToString(sum.Sum(nil))[:16]
	if known {
		programs, err := c.Programs(ctx)
		if err != nil {
			return "", name, false, err
		}
		for _, p := range programs {
			if p.Name == name {
				return p.ID, name, false, nil
			}
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", name, false, err
	}
	id, err = c.Upload(ctx, name, f)
	return id, name, true, err
}

// follow shows the job's progress until it has ended and prints how.
func (p *invocation) follow(ctx context.Context, c *client.Client, job string, cancelOnExit bool) error {
	progress := newProgress(p.err, func(ctx context.Context) (client.Detail, error) { return c.Job(ctx, job) })
	state, err := c.Wait(ctx, job, func(string) { progress.show(ctx) })
	progress.clear()
	if err != nil && ctx.Err() != nil {
		return p.interrupted(c, job, cancelOnExit)
	}
	if err != nil {
		return action("Lost sight of job "+job+".", err)
	}
	detail, err := c.Job(ctx, job)
	if err != nil {
		return action("Lost sight of job "+job+".", err)
	}
	if state != "FINISHED" {
		cause := firstCause(ctx, c, job)
		if state == "SUSPENDED" {
			cause = "Its JobManager was told to end."
		}
		return failed(job, state, cause, c.Address())
	}
	fmt.Fprintf(p.out, "Program execution finished\nJob with JobID %s has finished.\nJob Runtime: %d ms\n\n", job, detail.Duration)
	return nil
}

// interrupted leaves the job running, or cancels it when asked to with -sae.
func (p *invocation) interrupted(c *client.Client, job string, cancelJob bool) error {
	if !cancelJob {
		return ends(exitInterrupted, "Interrupted. Job %s goes on; `weir cancel %s` ends it.", job, job)
	}
	ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
	defer stop()
	if err := c.Cancel(ctx, job); err != nil {
		return action("Interrupted. Could not cancel job "+job+".", err)
	}
	if _, err := c.Wait(ctx, job, nil); err != nil {
		return action("Interrupted. Job "+job+" is being cancelled.", err)
	}
	return ends(exitInterrupted, "Interrupted. Cancelled job %s.", job)
}

const cancelTimeout = 30 * time.Second

// firstCause is the sentence a person wants first.
func firstCause(ctx context.Context, c *client.Client, job string) string {
	history, err := c.Exceptions(ctx, job)
	if err != nil || len(history) == 0 {
		return "The cluster keeps no cause."
	}
	first := history[0]
	if first.Task == "" && len(first.Concurrent) > 0 {
		first = first.Concurrent[0]
	}
	cause := first.Cause
	if cause == "" {
		cause, _, _ = strings.Cut(first.StackTrace, "\n")
	}
	if first.Task == "" {
		return cause
	}
	return fmt.Sprintf("%s: %s", first.Task, cause)
}
