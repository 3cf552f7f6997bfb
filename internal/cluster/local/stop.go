//go:build unix

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/addressfile"
	"github.com/weirstream/weir/internal/cluster/belongings"
)

// defaultGrace is how long a process may take to end by itself.
const defaultGrace = 10 * time.Second

// Stop ends the processes that Start began and that still run, and returns
// them: the JobManager first, so that its jobs are suspended rather than failed,
// then the TaskManagers. A process that does not end by itself is killed. When
// none runs there is nothing to do.
func Stop(o Options) ([]Process, error) {
	run := config.RunDir(o.Config)
	if _, err := os.Stat(run); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	unlock, err := lock(run)
	if err != nil {
		return nil, err
	}
	defer unlock()
	processes, err := recorded(run)
	if err != nil {
		return nil, err
	}
	var running []Process
	for _, p := range processes {
		if p.Runs() {
			running = append(running, p)
		}
	}
	grace := o.Patience
	if grace == 0 {
		grace = defaultGrace
	}
	return running, end(run, processes, grace)
}

// end stops processes, role by role in the order given, and forgets them, with
// what those have left behind that did not end by themselves.
func end(run string, processes []Process, grace time.Duration) error {
	var problems []error
	for _, role := range []string{JobManager, TaskManager} {
		var group []Process
		for _, p := range processes {
			if p.Role == role {
				group = append(group, p)
			}
		}
		problems = append(problems, endAll(group, grace))
	}
	for _, p := range processes {
		problems = append(problems, forget(run, p))
	}
	return errors.Join(append(problems, belongings.Sweep(run))...)
}

// endAll asks processes to end, waits, and kills those that do not.
func endAll(processes []Process, grace time.Duration) error {
	for _, p := range processes {
		p.signal(unix.SIGTERM)
	}
	if gone(processes, grace) {
		return nil
	}
	for _, p := range processes {
		p.signal(unix.SIGKILL)
	}
	// The system takes as long as it takes, however little patience the caller has.
	if gone(processes, defaultGrace) {
		return nil
	}
	for _, p := range processes {
		if p.Runs() {
			return fmt.Errorf("%s does not end, although it was killed", p)
		}
	}
	return nil
}

// signal sends a signal, if the process is still the one that was started. Its
// failure shows in the process's not ending.
func (p Process) signal(s unix.Signal) {
	if p.Runs() {
		_ = unix.Kill(p.PID, s)
	}
}

// gone waits until no process runs, but not longer than patience.
func gone(processes []Process, patience time.Duration) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		running := false
		for _, p := range processes {
			reap(p)
			running = running || p.Runs()
		}
		if !running {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// reap takes note of the end of a process that is a child of this one.
func reap(p Process) {
	var how unix.WaitStatus
	_, _ = unix.Wait4(p.PID, &how, unix.WNOHANG, nil)
}

// forget removes what is written down about a process.
func forget(run string, p Process) error {
	err := p.forget(run)
	if p.Role == JobManager {
		err = errors.Join(err, addressfile.Remove(addressfile.Path(run, p.PID)))
	}
	return err
}
