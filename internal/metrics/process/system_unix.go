//go:build unix

package process

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirstream/weir/internal/status"
)

// ask asks the system for what it knows of the process.
func ask(f *status.ProcessFigures) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		f.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		f.DescriptorsMax = int64(min(limit.Cur, 1<<62))
	}
	f.DescriptorsOpen, f.Program = openDescriptors(), programSize()
}
