package taskmanager

import "golang.org/x/sys/unix"

// physicalMemory is the memory of the host in bytes; 0: unknown.
func physicalMemory() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(size)
}
