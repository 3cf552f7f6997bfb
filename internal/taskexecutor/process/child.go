package process

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// maxPipe is the most that a pipe holds, unless whoever writes to it has rights.
const maxPipe = 1 << 20

// child is one worker process.
//
// Invariant: Exited is posted once, and the last thing that happens. The
// process may be signalled while pid is set, which is before it is waited for.
// mu is never held while something is done that may take long: Stop and Kill are
// called on the TaskExecutor's loop.
type child struct {
	launcher *Launcher
	number   int // counts the launcher's children, from 1
	job      *pb.Job
	id       ident.JobID
	cluster  ident.ClusterID
	token    string
	share    memory.Share // it was started with
	events   taskexecutor.WorkerEvents

	mu     sync.Mutex    // guards the fields below
	limit  memory.Size   // of the process now; 0: none
	placed bool          // limit and group are those of the process
	sooner memory.Size   // what Limit was called with before that; 0: it was not
	group  *controlGroup // while the process lives; nil: it has none
	pid    int           // of the process and its group; 0: none can be signalled
	stdin  io.Closer
	asked  bool // to end: its end is no failure
	killed bool
	over   bool // Exited was posted
	began  bool // run has begun, and will post Exited
}

// Stop closes the worker's standard input, at which it ends.
func (c *child) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = true
	if c.stdin != nil {
		_ = c.stdin.Close() // it is closed at most twice, and only the first counts
	}
	c.endEarly()
}

// Kill kills the worker and all processes it has started.
func (c *child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.killed = true, true
	if c.pid > 0 {
		killGroup(c.pid)
	}
	c.endEarly()
}

// endEarly ends a worker whose program has not come yet.
func (c *child) endEarly() {
	if !c.began && !c.over {
		c.over = true
		c.launcher.options.Loop.Post(func() { c.events.Exited(nil) })
	}
}

// begin reports whether the worker is still wanted, now that its program is here.
func (c *child) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = !c.over
	return c.began
}

func (c *child) post(f *status.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		c.launcher.options.Loop.Post(func() { c.events.Exited(f) })
	}
}

// run starts the program and stays with it to its end.
//
// It keeps its thread from start to end: on Linux the worker is killed when the
// thread that started it ends, which must not be before the TaskManager does.
func (c *child) run(path string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := c.launcher
	directory, err := l.makeDirectory()
	if err != nil {
		c.post(&status.Failure{Kind: status.FailureError, Message: err.Error(), Chain: []string{"make a directory for the worker of job " + c.job.JobId}})
		return
	}
	spare := l.makeSpare()
	told := l.assign(c, directory, spare)
	l.setHandoff(c, told.Handoff)
	failure := c.live(path, directory, told)
	l.dropHandoff(c)
	for _, path := range append(spare, directory) {
		if err := os.RemoveAll(path); err != nil {
			l.options.Logger.Warn("a worker's directory could not be removed", "job", c.job.JobId, "error", err)
		}
	}
	c.post(failure)
}

// live is the life of the process; nil: it ended as asked.
func (c *child) live(path, directory string, told assignment.Assignment) *status.Failure {
	l := c.launcher
	limit := memory.Size(0)
	if l.options.Limit {
		limit = c.share.Hard
	}
	group := l.groups.create(int64(limit), l.options.Logger.With("job", c.job.JobId))
	defer group.remove()
	cmd, pipes, err := c.start(path, directory, told, group)
	if err != nil {
		return explainStart(path, c.job.ArtifactName, err)
	}
	tail := &stderrTail{}
	group.add(cmd.Process.Pid)
	c.place(group, limit)
	var copying sync.WaitGroup
	copying.Go(func() { pump(pipes.stdout, l.options.Stdout) })
	copying.Go(func() { pump(pipes.stderr, io.MultiWriter(tail, l.options.Stderr)) })
	l.options.Logger.Info("worker started", "job", c.job.JobId, "pid", cmd.Process.Pid)
	if started := c.events.Started; started != nil {
		l.options.Loop.Post(started)
	}

	awaitExit(cmd.Process.Pid)
	c.mu.Lock()
	killGroup(cmd.Process.Pid) // what the worker has started must not outlive it
	c.pid, c.stdin, c.group = 0, nil, nil
	asked, limit := c.asked, c.limit
	c.mu.Unlock()
	waited := cmd.Wait()
	pipes.drain()
	copying.Wait()
	pipes.close()
	l.options.Logger.Info("worker ended", "job", c.job.JobId, "pid", cmd.Process.Pid, "state", cmd.ProcessState.String())
	if asked {
		return nil
	}
	if cmd.ProcessState == nil {
		return status.FailureOf(fmt.Errorf("wait for the worker of job %s: %w", c.job.JobId, waited))
	}
	return explainExit(c.job.Name, cmd.ProcessState, tail, limit, group.outOfMemory())
}

// place notes what limits the process, now that there is one. It may have got so far
// already that the limit was to change.
func (c *child) place(group *controlGroup, limit memory.Size) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.group, c.limit, c.placed = group, limit, true
	c.limitData()
	if c.sooner > 0 {
		c.change(c.sooner)
	}
}

// limitData bounds what the process maps, if it has no control group. The caller
// holds the mutex.
func (c *child) limitData() {
	if c.group != nil || c.limit <= 0 || c.pid <= 0 {
		return
	}
	if err := limitData(c.pid, int64(c.limit)); err != nil {
		c.launcher.options.Logger.Warn("a worker runs without a memory limit of the kernel's", "job", c.job.JobId, "pid", c.pid, "error", err)
	}
}

// Limit changes how much memory the process may use.
func (c *child) Limit(share memory.Share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.placed {
		c.sooner = share.Hard
		return
	}
	c.change(share.Hard)
}

// change changes the limit of a process that has one. The caller holds the mutex.
func (c *child) change(limit memory.Size) {
	if c.limit <= 0 || c.pid <= 0 {
		return
	}
	c.limit = limit
	if c.group == nil {
		c.limitData()
	} else if err := c.group.change(int64(c.limit)); err != nil {
		// The kernel of version 1 refuses less than is in use.
		c.launcher.options.Logger.Warn("a worker keeps its memory limit", "job", c.job.JobId, "error", err)
	}
}

// Condition says in which state the process is.
func (c *child) Condition() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid <= 0 {
		return ""
	}
	return condition(c.pid)
}

// start starts the process. A program that was just written may be busy for a
// moment: another process that is being started still holds the file open. How long
// that takes is no matter of time but of how busy the machine is.
func (c *child) start(path, directory string, told assignment.Assignment, group *controlGroup) (*exec.Cmd, *pipes, error) {
	for try := 1; ; try++ {
		cmd, pipes, err := c.command(path, directory, told)
		if err != nil {
			return nil, nil, err
		}
		group.prepare(cmd)
		if err = c.startCommand(cmd.Start, func() int { return cmd.Process.Pid }, pipes.stdin); err == nil {
			return cmd, pipes, nil
		}
		pipes.close()
		if !errors.Is(err, syscall.ETXTBSY) || try == 20 {
			return nil, nil, err
		}
		awaitStarts()
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

// awaitStarts waits until the processes that are being started here now run their own
// programs. Until then they have all files open that this process had.
func awaitStarts() {
	syscall.ForkLock.RLock()
	//lint:ignore SA2001 whoever has the lock is waited for, no more
	syscall.ForkLock.RUnlock()
}

// startCommand starts the process; what is asked of it meanwhile is done then. It
// takes as long as the disk with the program does.
func (c *child) startCommand(start func() error, pid func() int, stdin io.Closer) error {
	if err := start(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pid, c.stdin = pid(), stdin
	if c.killed {
		killGroup(c.pid)
	}
	if c.asked {
		_ = stdin.Close()
	}
	return nil
}

// command is the program with its arguments, environment and pipes.
func (c *child) command(path, directory string, told assignment.Assignment) (*exec.Cmd, *pipes, error) {
	cmd := exec.Command(path, c.job.Arguments...)
	if c.job.ArtifactName != "" {
		cmd.Args[0] = c.job.ArtifactName
	}
	cmd.Dir = directory
	// The job's configuration is what its graph was made with: without it the
	// program would build another one here.
	settings, err := json.Marshal(c.job.Configuration, json.Deterministic(true))
	if err != nil {
		return nil, nil, fmt.Errorf("write the job's configuration: %w", err)
	}
	cmd.Env = append(os.Environ(), assignment.WorkerVariable+"="+told.Encode(), assignment.SettingsVariable+"="+string(settings),
		"TMPDIR="+directory, "PWD="+directory)
	if len(c.job.Plan) > 0 {
		plan := filepath.Join(directory, "plan")
		if err := os.WriteFile(plan, c.job.Plan, 0o600); err != nil {
			return nil, nil, fmt.Errorf("write the job's plan: %w", err)
		}
		cmd.Env = append(cmd.Env, assignment.SQLVariable+"="+plan)
	}
	if c.share.Soft > 0 {
		cmd.Env = append(cmd.Env, "GOMEMLIMIT="+strconv.FormatInt(int64(c.share.Soft), 10)+"B", "GOGC=100")
	}
	cmd.SysProcAttr = attributes()
	p, err := openPipes(cmd)
	return cmd, p, err
}

// pipes are this side's ends of the process's standard streams.
type pipes struct {
	stdin          io.WriteCloser
	stdout, stderr *os.File
	theirs         []*os.File
}

func openPipes(cmd *exec.Cmd) (*pipes, error) {
	p := &pipes{}
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out := func(ours **os.File) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		*ours = r
		p.theirs = append(p.theirs, w)
		return w, nil
	}
	stdout, err := out(&p.stdout)
	if err != nil {
		p.close()
		return nil, err
	}
	stderr, err := out(&p.stderr)
	if err != nil {
		p.close()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return p, nil
}

// drain lets the readers come to their end, once the process has ended: what it wrote
// is in the pipes. They do not wait for what others write that have them open too.
func (p *pipes) drain() {
	for _, f := range p.theirs {
		f.Close()
	}
	p.theirs = nil
	_ = p.stdout.SetReadDeadline(past)
	_ = p.stderr.SetReadDeadline(past)
}

var past = time.Unix(1, 0)

func (p *pipes) close() {
	_ = p.stdin.Close()
	for _, f := range append(p.theirs, p.stdout, p.stderr) {
		if f != nil {
			f.Close()
		}
	}
	p.theirs = nil
}

// pump copies a stream to its end or, when its deadline has come, what is in it. A log
// that cannot be written loses text; it must not stop the worker.
func pump(r *os.File, w io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			_, _ = w.Write(buffer[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			scoop(r, w, buffer)
		}
		if err != nil {
			return
		}
	}
}

// scoop copies what is in a pipe, without waiting for more.
func scoop(r *os.File, w io.Writer, buffer []byte) {
	_ = r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	for left := maxPipe; left > 0; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buffer) // it does not block: the runtime waits for it
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = w.Write(buffer[:n])
		left -= n
	}
}
