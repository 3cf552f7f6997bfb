package process

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// TestMain makes the test binary the program that the tests start: with an
// assignment in its environment it does what its first argument says.
func TestMain(m *testing.M) {
	if text := os.Getenv(assignment.WorkerVariable); text != "" {
		program(text, os.Args[1:])
		return
	}
	leaks.Main(m)
}

func program(text string, args []string) {
	switch args[0] {
	case "exit":
		fmt.Fprintln(os.Stderr, "about to exit")
		os.Exit(3)
	case "return":
	case "panic":
		var wait sync.WaitGroup
		for range 200 { // so that the report is longer than the tail
			wait.Go(func() { select {} })
		}
		fmt.Fprintln(os.Stderr, "panic: not this one")
		panic("boom " + args[1])
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "print":
		line := bytes.Repeat([]byte("all work and no play\n"), 1000)
		for {
			_, _ = os.Stdout.Write(line)
		}
	case "wait": // for its parent
		a, err := assignment.Decode(text)
		dir, _ := os.Getwd()
		fmt.Printf("job %s, token %s, listens on %s, at %s, %s %s, %v\n", a.Job, a.Token, a.Listen, dir, os.Getenv("GOMEMLIMIT"), os.Getenv("GOGC"), err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	case "family": // leaves a process behind that ignores everything
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Printf("child %d\n", cmd.Process.Pid)
		os.Exit(4)
	case "launch": // is a TaskManager that dies while its worker runs
		p := &place{stdout: &buffer{}, directory: args[1]}
		p.open(nil, "")
		p.launch("wait")
		fmt.Print(p.stdout.await("listens on", nil))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(0)
}

// buffer collects what is written, and lets a reader wait for it.
type buffer struct {
	mu   sync.Mutex // guards the fields below
	text []byte
	news chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
	return len(p), nil
}

// await gives the text once it holds a whole line with want.
func (b *buffer) await(want string, t *testing.T) string {
	for {
		b.mu.Lock()
		text := string(b.text)
		if b.news == nil {
			b.news = make(chan struct{})
		}
		news := b.news
		b.mu.Unlock()
		if i := strings.Index(text, want); i >= 0 && strings.Contains(text[i:], "\n") {
			return text
		}
		<-news
	}
}

// place is a TaskManager's surroundings, as far as a launcher needs them.
type place struct {
	loop           *actor.Real
	launcher       *Launcher
	stdout, stderr *buffer
	directory      string
	exits          chan *status.Failure
	share          memory.Share
}

func (p *place) open(change func(*Options), programPath string) {
	if programPath == "" {
		programPath, _ = os.Executable()
	}
	p.loop = actor.Start("taskexecutor")
	p.exits = make(chan *status.Failure, 10)
	o := Options{Loop: p.loop, Directory: p.directory, TaskExecutor: "unix:te.sock", Resource: "te-1", Stdout: p.stdout, Stderr: p.stderr,
		Fetch: func(h blob.Hash, then func(string, error)) {
			if h == (blob.Hash{0xff}) {
				p.loop.Post(func() { then("", errors.New("the blob server has no such blob")) })
				return
			}
			p.loop.Post(func() { then(programPath, nil) })
		}}
	if change != nil {
		change(&o)
	}
	p.launcher = New(o)
}

func newPlace(t *testing.T, change func(*Options), programPath string) *place {
	p := &place{stdout: &buffer{}, stderr: &buffer{}, directory: t.TempDir()}
	p.open(change, programPath)
	t.Cleanup(func() {
		p.launcher.Close()
		p.loop.Close()
		if left, _ := os.ReadDir(p.directory); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return p
}

var jobID = ident.JobID{ID: ident.ID{7}}

// shareOf is the share of a TaskManager's only slot.
func shareOf(size memory.Size) memory.Share {
	return memory.TaskManagerMemory{Process: size}.Share(1, 1)
}

func (p *place) launch(args ...string) taskexecutor.Worker {
	job := &pb.Job{Name: "Word Count", JobId: jobID.String(), Artifact: blob.Hash{1}.String(), ArtifactName: "wordcount", Arguments: args}
	return p.launchJob(job)
}

func (p *place) launchJob(job *pb.Job) taskexecutor.Worker {
	return p.launcher.Launch(job, "secret", p.share, taskexecutor.WorkerEvents{Exited: func(f *status.Failure) { p.exits <- f }})
}

func (p *place) exit() *status.Failure { return <-p.exits }

func TestExitCode(t *testing.T) {
	p := newPlace(t, nil, "")
	p.launch("exit")
	f := p.exit()
	if f == nil || f.Kind != status.FailureExit || f.Exit != 3 || f.Stderr != "about to exit" || f.Message != "the job's process ended by itself with exit code 3" {
		t.Errorf("%+v", f)
	}
	p.launch("return")
	if f = p.exit(); f == nil || f.Kind != status.FailureExit || f.Exit != 0 {
		t.Errorf("%+v", f)
	}
}

func TestPanic(t *testing.T) {
	p := newPlace(t, nil, "")
	p.launch("panic", "here")
	f := p.exit()
	if f == nil || f.Kind != status.FailurePanic || f.Message != "panic: boom here" || f.Exit != 2 ||
		!strings.HasPrefix(f.Stack, "panic: boom here\n") || !strings.Contains(f.Stack, "process.program(") || len(f.Stderr) > tailSize {
		t.Errorf("%+v", f)
	}
}

// A crash of the Go runtime itself in a process that has more memory than it may is for
// want of it.
func TestCrashForWantOfMemory(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exit 2")
	_ = cmd.Run() // it fails, as it should
	said := &stderrTail{}
	_, _ = said.Write([]byte("SIGSEGV: segmentation violation\nPC=0x42c13c m=3 sigcode=1 addr=0x0\n"))
	for limit, want := range map[memory.Size]status.FailureKind{1 << 10: status.FailureMemory, 1 << 40: status.FailurePanic, 0: status.FailurePanic} {
		f := explainExit("Word Count", cmd.ProcessState, said, limit, nil)
		if f.Kind != want || !strings.Contains(f.Message, "SIGSEGV: segmentation violation") || f.Exit != 2 {
			t.Errorf("limit %s: %+v, want the kind %s", limit, f, want)
		}
	}
}

func TestSignal(t *testing.T) {
	p := newPlace(t, nil, "")
	p.launch("kill")
	f := p.exit()
	if f == nil || f.Kind != status.FailureSignal || f.Signal != "SIGKILL" {
		t.Errorf("%+v", f)
	}
}

func TestWorkerIsToldAndEndsAsAsked(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.Limit = true }, "")
	p.share = shareOf(256 * memory.MB)
	w := p.launch("wait")
	out := p.stdout.await("token", t)
	for _, want := range []string{"job " + jobID.String(), "token secret", "listens on unix:" + p.directory, "at " + p.directory, "B 100, <nil>"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %q", want, out)
		}
	}
	if path, ok := p.launcher.Handoff(jobID); !ok || !strings.HasPrefix(path, p.directory) {
		t.Errorf("handoff %q %v", path, ok)
	}
	p.loop.Post(w.Stop)
	if f := p.exit(); f != nil {
		t.Errorf("%+v", f)
	}
	if path, ok := p.launcher.Handoff(jobID); ok {
		t.Errorf("handoff %q of a worker that is gone", path)
	}
	w.Stop()
	w.Kill()
}

func TestKill(t *testing.T) {
	p := newPlace(t, nil, "")
	w := p.launch("wait")
	p.stdout.await("token", t)
	p.loop.Post(w.Kill)
	if f := p.exit(); f != nil {
		t.Errorf("%+v", f)
	}
	// Before the program has come.
	p.loop.Post(func() { p.launch("wait").Kill() })
	if f := p.exit(); f != nil {
		t.Errorf("%+v", f)
	}
}

func TestNothingOfItsGroupIsLeft(t *testing.T) {
	p := newPlace(t, nil, "")
	p.launch("family")
	if f := p.exit(); f == nil || f.Exit != 4 {
		t.Errorf("%+v", f)
	}
	_, rest, _ := strings.Cut(p.stdout.await("child", t), "child ")
	pid, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("process %d is left", pid)
	}
}

// gone waits until a process is dead; it was killed, which takes a moment.
func gone(pid int) bool {
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return true
		}
	}
	return false
}

func TestWorkerDoesNotOutliveItsTaskManager(t *testing.T) {
	self, _ := os.Executable()
	cmd := exec.Command(self, "launch", t.TempDir())
	cmd.Env = append(os.Environ(), assignment.WorkerVariable+"={}")
	out, err := cmd.Output()
	if !strings.Contains(string(out), "token secret") || err == nil {
		t.Fatalf("%s: %v", out, err)
	}
	// Its directory is named in what it printed; no process may be in it.
	_, rest, _ := strings.Cut(string(out), ", at ")
	dir, _, _ := strings.Cut(rest, ",")
	deadline := time.Now().Add(10 * time.Second)
	for found := true; found; {
		if found = false; time.Now().After(deadline) {
			t.Fatal("the worker is still there")
		}
		cwds, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, cwd := range cwds {
			if target, _ := os.Readlink(cwd); target == dir {
				found = true
			}
		}
	}
}

// What a process has written is read also by a reader whose turn comes only after
// the deadline, and one that somebody keeps open is not waited for.
func TestLastWordsAreReadAfterTheDeadline(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	said := bytes.Repeat([]byte("panic: boom\n"), 5000)
	if _, err := w.Write(said); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	got := &buffer{}
	pump(r, got)
	if !bytes.Equal(got.text, said) {
		t.Errorf("%d of %d bytes were read", len(got.text), len(said))
	}
}

func TestEndlessOutputIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "taskmanager.out")
	const limit = 1 << 20
	log, err := OpenOutLog(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, nil, "")
	counted := &counter{w: log, enough: 5 * limit, reached: make(chan struct{})}
	p.launcher.options.Stdout = counted
	w := p.launch("print")
	<-counted.reached
	p.loop.Post(w.Kill)
	if f := p.exit(); f != nil {
		t.Errorf("%+v", f)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > limit || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := log.Write([]byte("late")); err == nil {
		t.Error("a closed log takes text")
	}
}

type counter struct {
	w       io.Writer
	n       int
	enough  int
	reached chan struct{}
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n < c.enough && c.n+len(p) >= c.enough {
		close(c.reached)
	}
	c.n += len(p)
	return c.w.Write(p)
}

func TestWhatCannotBeStarted(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	foreign := bytes.Clone(self[:1<<16])
	binary.LittleEndian.PutUint16(foreign[18:], uint16(elf.EM_S390))
	for name, test := range map[string]struct {
		content []byte
		mode    os.FileMode
		want    string
	}{
		"other CPU":       {foreign, 0o700, "its header says EM_S390"},
		"jar":             {[]byte("PK\x03\x04…"), 0o700, "it is an archive, such as a jar"},
		"empty":           {nil, 0o700, "it is empty"},
		"text":            {[]byte("hello"), 0o700, "it is no program"},
		"for Windows":     {[]byte("MZ\x90\x00"), 0o700, "a program for Windows"},
		"not executable":  {self, 0o600, "may not be executed"},
		"no interpreter":  {[]byte("#!/no/such/thing\n"), 0o700, "is not on this machine"},
		"cut off too far": {self[:100], 0o700, "its header says EM_"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, test.content, test.mode); err != nil {
				t.Fatal(err)
			}
			p := newPlace(t, nil, path)
			p.launch("wait")
			f := p.exit()
			if f == nil || !strings.Contains(f.Message, test.want) || f.Error() != "start the program wordcount: "+f.Message {
				t.Errorf("got %+v, want %q", f, test.want)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	p := newPlace(t, nil, "")
	for _, test := range []struct {
		job  *pb.Job
		want string
	}{
		{&pb.Job{JobId: "nonsense"}, "32 hexadecimal digits"},
		{&pb.Job{JobId: jobID.String()}, "has no program of its own"},
		{&pb.Job{JobId: jobID.String(), Artifact: "../../x"}, "blob name"},
		{&pb.Job{JobId: jobID.String(), Artifact: blob.Hash{0xff}.String()}, "the blob server has no such blob"},
	} {
		p.loop.Post(func() { p.launchJob(test.job) })
		if f := p.exit(); f == nil || !strings.Contains(f.Error(), test.want) {
			t.Errorf("got %+v, want %q", f, test.want)
		}
	}
}

func TestLongDirectoryGetsShortSockets(t *testing.T) {
	p := newPlace(t, func(o *Options) {
		o.Directory = filepath.Join(o.Directory, strings.Repeat("long", 30))
		if err := os.Mkdir(o.Directory, 0o700); err != nil {
			t.Fatal(err)
		}
	}, "")
	w := p.launch("wait")
	p.stdout.await("token", t)
	path, ok := p.launcher.Handoff(jobID)
	if !ok || len(path) >= 104 || !strings.HasPrefix(path, p.launcher.Elsewhere()) {
		t.Errorf("handoff %q %v, directories elsewhere begin with %q", path, ok, p.launcher.Elsewhere())
	}
	p.loop.Post(w.Stop)
	p.exit()
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the directory elsewhere is left: %v", err)
	}
	if err := os.Remove(p.launcher.options.Directory); err != nil {
		t.Error(err)
	}
}

// A worker that is given up before its directory is made, on a disk that hangs, may make it
// after the job's next worker is there: connections go to the latter.
func TestAWorkerThatIsLateIsNotGivenConnections(t *testing.T) {
	p := newPlace(t, nil, "")
	late, next := &child{launcher: p.launcher, number: 1, id: jobID}, &child{launcher: p.launcher, number: 2, id: jobID}
	p.launcher.setHandoff(next, "next")
	p.launcher.setHandoff(late, "late")
	if path, ok := p.launcher.Handoff(jobID); !ok || path != "next" {
		t.Errorf("connections go to %q, %t", path, ok)
	}
	p.launcher.dropHandoff(late)
	if path, ok := p.launcher.Handoff(jobID); !ok || path != "next" {
		t.Errorf("after the end of the late one connections go to %q, %t", path, ok)
	}
	p.launcher.dropHandoff(next)
	if path, ok := p.launcher.Handoff(jobID); ok {
		t.Errorf("after the end of both connections go to %q", path)
	}
}

func FuzzStderrTail(f *testing.F) {
	f.Add([]byte("panic: a\ngoroutine 1\n"), 3)
	f.Add([]byte("x\nfatal error: all goroutines are asleep\n\npanic: b"), 1)
	f.Add([]byte("SIGQUIT: quit\nSIGNALS\n"), 7)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		whole, pieces := &stderrTail{}, &stderrTail{}
		_, _ = whole.Write(text)
		size = max(1, size&0xff)
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, _ = pieces.Write(rest[:min(size, len(rest))])
		}
		if !bytes.Equal(whole.tail, pieces.tail) || !bytes.Equal(whole.crash, pieces.crash) {
			t.Errorf("in one piece %q %q, in pieces of %d %q %q", whole.tail, whole.crash, size, pieces.tail, pieces.crash)
		}
		if len(whole.tail) > tailSize || len(whole.crash) > crashSize || !bytes.HasSuffix(text, whole.tail) {
			t.Errorf("tail %q, crash %q", whole.tail, whole.crash)
		}
	})
}
