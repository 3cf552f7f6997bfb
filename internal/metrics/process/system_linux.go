package process

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// openDescriptors counts the open files; 0: unknown. The one it opens for that
// is not counted.
func openDescriptors() int64 {
	fd, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var buffer [4096]byte
	count := int64(0)
	for {
		n, err := unix.ReadDirent(fd, buffer[:])
		if err != nil || n <= 0 {
			return max(0, count-1)
		}
		_, found, _ := unix.ParseDirent(buffer[:n], -1, nil) // without . and ..
		count += int64(found)
	}
}

// programSize is what is in memory of the program's file: code and constants; 0:
// unknown.
func programSize() int64 {
	fd, err := unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var buffer [256]byte
	n, err := unix.Read(fd, buffer[:])
	if err != nil {
		return 0
	}
	return sharedPages(buffer[:n]) * int64(unix.Getpagesize())
}

// sharedPages reads the third number of statm: the pages in memory that belong
// to files.
func sharedPages(statm []byte) int64 {
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil || pages < 0 {
		return 0
	}
	return pages
}
