package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// birth names the process that has the id now, in a way that no process that
// gets the same id later shares: the boot of the machine and the clock tick of
// the process's start. It is "" when there is no such process, or it has ended
// and only waits to be taken note of.
func birth(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", nil //nolint:nilerr // the file goes with the process
	}
	// The name in parentheses may hold anything, also parentheses.
	_, rest, found := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const state, threads, start = 0, 17, 19 // the third, the 20th and the 22nd field of the whole line
	if !found || len(fields) <= start {
		return "", fmt.Errorf("read the start time of process %d: unexpected line %q", pid, stat)
	}
	// The state is that of the first thread, which can end before others do; until
	// they have ended too, the process has its files and locks.
	if fields[state] == "X" || fields[state] == "Z" && fields[threads] == "1" {
		return "", nil
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the start time of process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[start], nil
}
