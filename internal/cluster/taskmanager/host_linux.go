package taskmanager

import "golang.org/x/sys/unix"

// physicalMemory is the memory of the host in bytes; 0: unknown.
func physicalMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // their types differ between architectures
}
