package process

import (
	"log/slog"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give the worker its own process group. It ends with its
// TaskManager because its standard input does.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process group. One that is gone already is no error.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// awaitExit returns when the process has ended and is not yet waited for.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	watch := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{watch}, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return
		}
	}
}

// peakMemory is the most memory a process that has ended had used, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
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

// limitData does nothing here.
func limitData(int, int64) error { return nil }

// condition is not known here.
func condition(int) string { return "" }

// There are no control groups here: the garbage collector's limit is the only one.
type (
	controlGroups struct{}
	controlGroup  struct{}
	memoryUse     struct{ limit, peak int64 }
)

func findControlGroups(*slog.Logger) *controlGroups { return nil }

func (*controlGroups) pattern() string                          { return "" }
func (*controlGroups) create(int64, *slog.Logger) *controlGroup { return nil }
func (*controlGroup) prepare(*exec.Cmd)                         {}
func (*controlGroup) change(int64) error                        { return nil }
func (*controlGroup) add(int)                                   {}
func (*controlGroup) outOfMemory() *memoryUse                   { return nil }
func (*controlGroup) remove()                                   {}
