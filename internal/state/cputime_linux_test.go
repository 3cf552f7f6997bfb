package state

import (
	"syscall"
	"time"
	"unsafe"
)

// The clocks of Linux that count CPU time, so that what other processes take of a
// busy machine does not count.
const (
	processClock = 2
	threadClock  = 3
)

func cpuTime(clock uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}

func processTime() time.Duration { return cpuTime(processClock) }

func threadTime() time.Duration { return cpuTime(threadClock) }
