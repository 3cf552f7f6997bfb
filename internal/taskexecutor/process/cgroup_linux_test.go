package process

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/status"
)

// allocator builds the program that allocates without end.
func allocator(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "allocate")
	if text, err := exec.Command("go", "build", "-o", path, "./testdata/allocate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// Where no control group can be made, the kernel still stops a program that
// allocates without end, and its failure says so.
func TestOutOfMemoryWithoutControlGroups(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.Limit = true }, allocator(t))
	p.share = shareOf(64 * memory.MB)
	p.launcher.groups = nil
	p.launch("allocate")
	f := p.exit()
	if f == nil || f.Kind != status.FailureMemory || !strings.Contains(f.Message, "the process of job Word Count used more memory than it may: its limit is 64 mb, its peak was ") {
		t.Errorf("%+v", f)
	}
}

func TestOutOfMemory(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.Limit = true }, allocator(t))
	p.share = shareOf(64 * memory.MB)
	if p.launcher.groups == nil {
		t.Skip("control groups cannot be written here")
	}
	p.launch("allocate")
	f := p.exit()
	if f == nil || f.Kind != status.FailureMemory || !strings.Contains(f.Message, "the process of job Word Count used more memory than it may: its limit is 64 mb, its peak was 6") ||
		!strings.Contains(f.Message, "; taskmanager.memory.process.size raises the limit") {
		t.Errorf("%+v", f)
	}
	if left, _ := filepath.Glob(filepath.Join(p.launcher.groups.parent, fmt.Sprintf("%s%d-*", groupPrefix, os.Getpid()))); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A worker that is up before its launcher has noted what limits it, and has got more
// memory by then, is limited by that.
func TestALimitThatChangesAtOnceIsKept(t *testing.T) {
	cmd := exec.Command("sleep", "1h")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{launcher: New(Options{}), pid: cmd.Process.Pid}
	c.Limit(shareOf(512 * memory.MB))
	c.place(nil, 256*memory.MB)
	if c.limit != 512*memory.MB {
		t.Errorf("the limit is %s", c.limit)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", c.pid))
	if want := fmt.Sprintf("Max data size             %d ", 512<<20+128<<20+dataSlack); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%q is not in %s, %v", want, text, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
}

// The limit follows the slots of the job.
func TestLimitChanges(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.Limit = true }, "")
	if p.launcher.groups == nil {
		t.Skip("control groups cannot be written here")
	}
	p.share = shareOf(256 * memory.MB)
	w := p.launch("wait")
	p.stdout.await("token", t)
	c := w.(*child)
	file := map[int]string{1: "memory.limit_in_bytes", 2: "memory.max"}[c.group.version]
	for _, want := range []memory.Size{512 * memory.MB, 128 * memory.MB} {
		w.Limit(shareOf(want))
		if got := c.group.read(file, ""); got != int64(want) || c.group.limit != got {
			t.Errorf("the limit is %d, want %d", got, want)
		}
	}
	if err := syscall.Kill(c.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !strings.HasPrefix(w.Condition(), "stopped (state T)") {
		runtime.Gosched() // the signal is on its way
	}
	w.Kill()
	p.exit()
	if got := w.Condition(); got != "" {
		t.Errorf("a process that is gone is %s", got)
	}
}

// What a TaskManager with the same process id has left is in nobody's way.
func TestGroupsOfAnEarlierProcessAreNoHindrance(t *testing.T) {
	g := &controlGroups{parent: t.TempDir(), version: 1, log: slog.New(slog.DiscardHandler)}
	for n := range 3 {
		if err := os.Mkdir(fmt.Sprintf("%s%d", g.pattern(), n+1), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The group is made; only a directory of the kernel's has the file with the limit.
	if _, err := g.make(1 << 40); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d-4/memory.limit_in_bytes", os.Getpid())) {
		t.Errorf("got %v", err)
	}
}
