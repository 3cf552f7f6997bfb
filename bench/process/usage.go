package process

import (
	"fmt"
	"os/exec"
	"time"
)

// Seconds is the processor time of the given processes and of all below them,
// those that have ended and were waited for included. It waits until they have
// come to rest: while a child ends, its time is for a moment neither its own nor
// its parent's.
func Seconds(pids ...int) (float64, error) {
	last, err := treeSeconds(pids)
	for range restReads {
		if err != nil {
			break
		}
		time.Sleep(restEvery)
		before := last
		if last, err = treeSeconds(pids); last >= before && last-before <= resting {
			break
		}
	}
	return last, err
}

// Processes are at rest that use less than a fiftieth of a second in a twentieth,
// or after a second are still busy with something of their own.
const (
	restReads = 20
	restEvery = 50 * time.Millisecond
	resting   = 0.02
)

// Seconds is the processor time that the cluster's processes have used, workers
// included, when they have come to rest.
func (c *Cluster) Seconds() (float64, error) { return Seconds(c.pids()...) }

// Command is weir with the cluster's home, where it finds no configuration but
// what is put into the directory conf there.
func (c *Cluster) Command(arguments ...string) *exec.Cmd { return c.command(arguments...) }

// Usage is what a program took from its start to its end.
type Usage struct {
	Wall, CPU float64 // seconds
}

// Run runs a program to its end and gives its standard output. An error of the
// program has what it wrote to standard error.
func Run(cmd *exec.Cmd) (out []byte, u Usage, err error) {
	begin := time.Now()
	out, err = cmd.Output()
	u.Wall = time.Since(begin).Seconds()
	if cmd.ProcessState != nil {
		u.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	if failed, is := err.(*exec.ExitError); is {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return out, u, err
}
