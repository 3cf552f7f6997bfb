//go:build unix

package local

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The roles of processes, which are also the verbs that start them.
const (
	JobManager  = "jobmanager"
	TaskManager = "taskmanager"
)

// A Process is one that Start began.
type Process struct {
	Role   string `json:"role"`
	Number int    `json:"number"` // counts the processes of a role, from 1
	PID    int    `json:"pid"`
	birth  string
}

// String is how people read it: "taskmanager 2 (pid 4711)".
func (p Process) String() string { return fmt.Sprintf("%s %d (pid %d)", p.Role, p.Number, p.PID) }

// Runs reports whether the process has not ended.
func (p Process) Runs() bool {
	now, err := birth(p.PID)
	return err == nil && now != "" && now == p.birth
}

func (p Process) pidFile(run string) string {
	return filepath.Join(run, fmt.Sprintf("%s-%d.pid", p.Role, p.Number))
}

// record writes the process down. The file appears complete or not at all.
func (p Process) record(run string) error {
	text := fmt.Sprintf("%d\n%s\n", p.PID, p.birth)
	path := p.pidFile(run)
	draft := path + ".new"
	if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the pid file of %s: %w", p, err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("write the pid file of %s: %w", p, err)
	}
	return nil
}

// forget removes the pid file.
func (p Process) forget(run string) error {
	if err := os.Remove(p.pidFile(run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the pid file of %s: %w", p, err)
	}
	return nil
}

// recorded lists the processes that are written down, running or not, the
// JobManager first.
func recorded(run string) ([]Process, error) {
	entries, err := os.ReadDir(run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the pid files: %w", err)
	}
	var all []Process
	for _, entry := range entries {
		p, ours := parseName(entry.Name())
		if !ours {
			continue
		}
		text, err := os.ReadFile(filepath.Join(run, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the cluster was stopped just now
		}
		if err != nil {
			return nil, fmt.Errorf("read a pid file: %w", err)
		}
		if p.PID, p.birth, err = parsePID(string(text)); err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Join(run, entry.Name()), err)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(x, y Process) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.Number, y.Number))
	})
	return all, nil
}

// parseName reads role and number from the name of a pid file.
func parseName(name string) (Process, bool) {
	base, isPID := strings.CutSuffix(name, ".pid")
	role, text, found := strings.Cut(base, "-")
	number, err := strconv.Atoi(text)
	if !isPID || !found || err != nil || number < 1 || strconv.Itoa(number) != text || role != JobManager && role != TaskManager {
		return Process{}, false
	}
	return Process{Role: role, Number: number}, true
}

// parsePID reads the content of a pid file.
func parsePID(text string) (pid int, birth string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	birth, _, ended := strings.Cut(rest, "\n")
	pid, err = strconv.Atoi(first)
	if err != nil || pid < 1 || birth == "" || !ended {
		return 0, "", fmt.Errorf("want a process id and its birth on two lines, got %q; remove the file if no such process runs", text[:min(len(text), 80)])
	}
	return pid, birth, nil
}
