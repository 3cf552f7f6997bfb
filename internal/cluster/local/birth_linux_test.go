package local

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAProcessThatWaitsForItsParentHasEnded(t *testing.T) {
	child := exec.Command(os.Args[0], JobManager)
	child.Env = append(os.Environ(), faultVariable+"="+JobManager+" dies")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// It has ended then, and is not taken note of.
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Error(err)
	}
	if born, err := birth(child.Process.Pid); born != "" || err != nil {
		t.Errorf("the birth of a process that has ended: %q, error %v", born, err)
	}
	child.Wait()
}

// firstThreadEnds is the fault of a process whose first thread ends before the others.
const firstThreadEnds = "the first thread ends"

func init() {
	if os.Getenv(faultVariable) != firstThreadEnds {
		return
	}
	runtime.LockOSThread() // what initializes is the first thread
	go func() { select {} }()
	_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
}

// Whoever takes it for gone would sweep up while it still has its files and locks.
func TestAProcessOutlivesItsFirstThread(t *testing.T) {
	child := exec.Command(os.Args[0], JobManager)
	child.Env = append(os.Environ(), faultVariable+"="+firstThreadEnds)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		child.Process.Kill()
		child.Wait()
	}()
	for limit := time.Now().Add(time.Minute); ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.Process.Pid))
		if err != nil || time.Now().After(limit) {
			t.Fatalf("the first thread has not ended: %s, error %v", stat, err)
		}
		if strings.Contains(string(stat), ") Z ") {
			break
		}
	}
	if born, err := birth(child.Process.Pid); born == "" || err != nil {
		t.Errorf("the birth of a process of which a thread has ended: %q, error %v", born, err)
	}
}
