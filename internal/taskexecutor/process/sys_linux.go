package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give the worker its own process group, and let the kernel kill it
// when the thread that starts it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process group. One that is gone already is no error.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// awaitExit returns when the process has ended. It is not waited for yet, so
// its number and its group's are still its own.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// dataSlack is what a Go program maps for its data from the start without using
// it: the heap grows by arenas of 64 MB, and the runtime's tables lie beside them.
const dataSlack = 128 << 20

// conditions are what the letters of /proc mean that tell why a process does not
// answer.
var conditions = map[byte]string{
	'T': "stopped (state T): a signal such as SIGSTOP holds it, and SIGCONT lets it go on",
	't': "stopped by a debugger (state t)", 'D': "waiting for a disk or another device (state D)",
	'Z': "dead already (state Z)", 'R': "running (state R)", 'S': "asleep (state S)",
}

// condition says in which state the kernel has a process; empty: it does not say.
func condition(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	after := bytes.LastIndex(text, []byte(") ")) // the name may hold anything
	if err != nil || after < 0 || len(text) < after+3 {
		return ""
	}
	letter := text[after+2]
	if known, ok := conditions[letter]; ok {
		return known
	}
	return fmt.Sprintf("in state %c", letter)
}

// limitData makes a process fail that maps much more memory for its data than
// limit: coarser than a control group, since what is mapped is not all in use,
// but it needs no rights.
func limitData(pid int, limit int64) error {
	size := uint64(limit) + uint64(limit)/4 + dataSlack
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &old); err != nil {
		return err
	}
	// The greater limit stays: without rights it could not be raised again.
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(size, old.Max), Max: old.Max}, nil)
}

// peakMemory is the most memory a process that has ended had used, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}

// exitSignal names the signal that killed a process; empty: none did.
func exitSignal(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return ""
}
