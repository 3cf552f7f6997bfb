package local

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and only waits to be taken
// note of: SZOMB of sys/proc.h.
const zombie = 5

// birth names the process that has the id now, in a way that no process that
// gets the same id later shares: the time of its start. It is "" when there is
// no such process.
func birth(pid int) (string, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the start time of process %d: %w", pid, err)
	}
	if int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return "", nil
	}
	start := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", start.Sec, start.Usec), nil
}
