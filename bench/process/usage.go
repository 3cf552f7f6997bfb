package process

import (
	"fmt"
	"os/exec"
	"time"
)

// Seconds is the processor time of the given processes and of all below them,
// those that have ended and were waited for included.
func Seconds(pids ...int) (float64, error) { return treeSeconds(pids) }

// Seconds is the processor time that the cluster's processes have used, workers
// included.
func (c *Cluster) Seconds() (float64, error) { return treeSeconds(c.pids()) }

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
