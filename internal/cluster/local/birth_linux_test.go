package local

import (
	"os"
	"os/exec"
	"testing"

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
