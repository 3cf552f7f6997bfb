package program

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryInterval is the time between two looks at a program's memory: short
// enough that it cannot fill a machine between them.
const memoryInterval = 50 * time.Millisecond

// watchMemory calls exceeded, once, when the process holds more than limit
// bytes, and returns when it has or when ended is closed. Where the system has
// no /proc it only waits.
func watchMemory(pid int, limit int64, ended <-chan struct{}, exceeded func()) {
	ticks := time.NewTicker(memoryInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticks.C:
			if resident(pid) > limit {
				exceeded()
				return
			}
		}
	}
}

// resident is the resident memory of a process in bytes; 0 when unknown.
func resident(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
