package process

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// controlGroups is where memory limits of workers are made: below this
// process's own control group, so that they never allow more than that does.
// A nil one makes none.
type controlGroups struct {
	parent  string
	version int // 1 or 2
	log     *slog.Logger
	made    atomic.Int64
}

// controlGroup is the group of one worker; a nil one limits nothing.
type controlGroup struct {
	path    string
	version int
	limit   int64
	dir     *os.File // version 2: the worker is started in it
	log     *slog.Logger
}

// memoryUse is what an out-of-memory kill looked like, in bytes.
type memoryUse struct{ limit, peak int64 }

const (
	groupRoot   = "/sys/fs/cgroup"
	groupPrefix = "weir-"
)

// findControlGroups looks for a place where groups with a memory limit can be
// made, tries it once and says in the log if there is none.
func findControlGroups(log *slog.Logger) *controlGroups {
	lines, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		for line := range strings.Lines(string(lines)) {
			g := placeOf(strings.TrimSpace(line), log)
			if g == nil {
				continue
			}
			g.sweep()
			var try *controlGroup
			if try, err = g.make(1 << 40); err == nil {
				try.remove()
				return g
			}
		}
	}
	log.Info("the memory of workers is limited by the garbage collector, and coarsely by the kernel: no control group can be made", "error", err)
	return nil
}

// placeOf reads one line of /proc/self/cgroup; nil: no memory limits there.
func placeOf(line string, log *slog.Logger) *controlGroups {
	parts := strings.SplitN(line, ":", 3)
	if len(parts) != 3 {
		return nil
	}
	g := &controlGroups{log: log}
	var root string
	switch {
	case parts[0] == "0" && parts[1] == "":
		g.version, root = 2, groupRoot
	case strings.Contains(","+parts[1]+",", ",memory,"):
		g.version, root = 1, filepath.Join(groupRoot, "memory")
	default:
		return nil
	}
	if g.parent = filepath.Join(root, parts[2]); !isDirectory(g.parent) {
		g.parent = root // a container sees its own group as the root
	}
	return g
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// pattern is what the paths of all groups begin with; empty: none are made.
func (g *controlGroups) pattern() string {
	if g == nil {
		return ""
	}
	return filepath.Join(g.parent, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
}

// sweep removes groups of TaskManagers that were killed.
func (g *controlGroups) sweep() {
	old, _ := filepath.Glob(filepath.Join(g.parent, groupPrefix+"*"))
	for _, path := range old {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && !isDirectory(fmt.Sprintf("/proc/%d", pid)) {
			_ = os.Remove(path) // fails if a process is still in it
		}
	}
}

// create makes the group of one worker, whose warnings go to log, or gives nil and
// says why there.
func (g *controlGroups) create(limit int64, log *slog.Logger) *controlGroup {
	if g == nil || limit <= 0 {
		return nil
	}
	g.sweep()
	c, err := g.make(limit)
	if err != nil {
		log.Warn("a worker runs without a memory limit of the kernel's", "error", err)
		return nil
	}
	c.log = log
	return c
}

func (g *controlGroups) make(limit int64) (*controlGroup, error) {
	c := &controlGroup{version: g.version, limit: limit, log: g.log}
	err := os.ErrExist
	for errors.Is(err, os.ErrExist) { // a process that had this one's id before and was killed has left some
		c.path = fmt.Sprintf("%s%d", g.pattern(), g.made.Add(1))
		err = os.Mkdir(c.path, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	if c.version == 1 {
		if err = c.write("memory.limit_in_bytes", limit); err == nil {
			_ = c.write("memory.memsw.limit_in_bytes", limit) // only where swap is counted
		}
	} else if err = c.write("memory.max", limit); err == nil {
		_ = c.write("memory.swap.max", 0)
		c.dir, err = os.Open(c.path)
	}
	if err != nil {
		c.remove()
		return nil, fmt.Errorf("limit memory by control group: %w", err)
	}
	return c, nil
}

// change changes the limit.
func (c *controlGroup) change(limit int64) error {
	var err error
	if c.version == 1 {
		swap := func() { _ = c.write("memory.memsw.limit_in_bytes", limit) } // never less than the other
		if limit > c.limit {
			swap()
		}
		err = c.write("memory.limit_in_bytes", limit)
		if limit < c.limit {
			swap()
		}
	} else {
		err = c.write("memory.max", limit)
	}
	if err != nil {
		return fmt.Errorf("limit memory by control group: %w", err)
	}
	c.limit = limit
	return nil
}

func (c *controlGroup) write(file string, value int64) error {
	// Without O_CREATE: a file that is not there must stay an error.
	f, err := os.OpenFile(filepath.Join(c.path, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(value, 10))
	return errors.Join(err, f.Close())
}

// prepare lets the process begin its life in the group, where that is possible.
func (c *controlGroup) prepare(cmd *exec.Cmd) {
	if c != nil && c.dir != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.dir.Fd())
	}
}

// add moves the process into the group, if it was not started there, and makes
// it the kernel's choice before the TaskManager when the machine is out of memory.
func (c *controlGroup) add(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0)
	if c == nil || c.dir != nil {
		return
	}
	if err := c.write("cgroup.procs", int64(pid)); err != nil {
		c.log.Warn("a worker runs without a memory limit of the kernel's", "pid", pid, "error", err)
	}
}

// outOfMemory tells whether the kernel killed a process of the group because
// the limit was reached; nil: it did not.
func (c *controlGroup) outOfMemory() *memoryUse {
	if c == nil {
		return nil
	}
	events, peak := "memory.oom_control", "memory.max_usage_in_bytes"
	if c.version == 2 {
		events, peak = "memory.events", "memory.peak"
	}
	if c.read(events, "oom_kill") == 0 {
		return nil
	}
	use := &memoryUse{limit: c.limit, peak: c.read(peak, "")}
	if use.peak == 0 {
		use.peak = c.limit // an older kernel does not tell
	}
	return use
}

// read gives the number after a key, or the only number of a file; zero: none.
func (c *controlGroup) read(file, key string) int64 {
	f, err := os.Open(filepath.Join(c.path, file))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if key == "" && len(words) == 1 || key != "" && len(words) == 2 && words[0] == key {
			n, _ := strconv.ParseInt(words[len(words)-1], 10, 64)
			return n
		}
	}
	return 0
}

// removeTries is how often a group is removed: after try n comes a pause of n
// milliseconds, so they take two seconds.
const removeTries = 64

// remove removes the group; its processes are killed, though each needs a turn of
// the processor to end.
func (c *controlGroup) remove() {
	if c == nil {
		return
	}
	if c.dir != nil {
		c.dir.Close()
	}
	var err error
	for try := range removeTries {
		if err = os.Remove(c.path); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	c.log.Warn("a worker's control group could not be removed", "error", err)
}
