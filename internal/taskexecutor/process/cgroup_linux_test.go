package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	p := newPlace(t, func(o *Options) { o.Memory = 64 * memory.MB }, allocator(t))
	p.launcher.groups = nil
	p.launch("allocate")
	f := p.exit()
	if f == nil || f.Kind != status.FailureMemory || !strings.Contains(f.Message, "used more memory than it may: its limit is 64 mb; taskmanager.memory.process.size raises") {
		t.Errorf("%+v", f)
	}
}

func TestOutOfMemory(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.Memory = 64 * memory.MB }, allocator(t))
	if p.launcher.groups == nil {
		t.Skip("control groups cannot be written here")
	}
	p.launch("allocate")
	f := p.exit()
	if f == nil || f.Kind != status.FailureMemory || !strings.Contains(f.Message, "its limit is 64 mb, its peak was 6") {
		t.Errorf("%+v", f)
	}
	if left, _ := filepath.Glob(filepath.Join(p.launcher.groups.parent, fmt.Sprintf("%s%d-*", groupPrefix, os.Getpid()))); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
