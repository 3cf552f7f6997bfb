package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticks is how many units of /proc's processor times a second has; Linux shows
// 100 to user programs, whatever it counts in.
const ticks = 100

// stat is what is used of /proc/PID/stat.
type stat struct {
	pid, parent int
	seconds     float64 // user and system, of all threads and of children that were waited for
}

// readStat reads a line of /proc/PID/stat.
func readStat(line []byte) (stat, error) {
	end := bytes.LastIndexByte(line, ')') // the name may hold anything
	pid, _, named := bytes.Cut(line, []byte(" ("))
	if !named || end < 0 {
		return stat{}, fmt.Errorf("read the state of a process: %q", line)
	}
	fields := strings.Fields(string(line[end+1:]))
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("read the state of a process: %d fields after its name, want at least 15", len(fields))
	}
	var s stat
	var err error
	if s.pid, err = strconv.Atoi(string(pid)); err != nil {
		return stat{}, fmt.Errorf("read the state of a process: %w", err)
	}
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return stat{}, fmt.Errorf("read the state of process %d: %w", s.pid, err)
	}
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("read the state of process %d: %w", s.pid, err)
		}
		s.seconds += float64(n) / ticks
	}
	return s, nil
}

// tree is the processes there are now.
type tree struct {
	children map[int][]int
	seconds  map[int]float64 // processor time of each, without its living children's
}

func readTree() (tree, error) {
	t := tree{map[int][]int{}, map[int]float64{}}
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		return t, fmt.Errorf("list processes: nothing at /proc")
	}
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		s, err := readStat(line)
		if err != nil {
			return t, err
		}
		t.children[s.parent] = append(t.children[s.parent], s.pid)
		t.seconds[s.pid] = s.seconds
	}
	return t, nil
}

// treeSeconds is the processor time of the given processes and of all below
// them, those that have ended included.
func treeSeconds(roots []int) (float64, error) {
	t, err := readTree()
	if err != nil {
		return 0, err
	}
	var sum func(pid int) float64
	sum = func(pid int) float64 {
		total := t.seconds[pid]
		for _, child := range t.children[pid] {
			total += sum(child)
		}
		return total
	}
	var total float64
	for _, root := range roots {
		if _, lives := t.seconds[root]; !lives {
			return 0, fmt.Errorf("process %d has ended", root)
		}
		total += sum(root)
	}
	return total, nil
}

// childCount is how many children a process has.
func childCount(pid int) (int, error) {
	t, err := readTree()
	return len(t.children[pid]), err
}

// memoryField reads a line "Name:  123 kB" of a file of /proc/PID, in bytes. Pss
// of smaps_rollup are a process's own pages and its share of those that others
// map too; VmRSS of status are all it has in memory.
func memoryField(pid int, file, name string) (int64, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, name); is {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("read the memory of a process: no line %q in %s", name, path)
}
