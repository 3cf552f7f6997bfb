// Package processes builds Weir's binaries and looks after the processes that
// run with one home directory, for tests of whole clusters.
//
// It promises to find every process of a home, whoever started it: by the
// environment that children inherit. It never ends a process; whoever started
// one ends it by its id.
package processes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Build builds programs of this module, named by their paths below it, into dir.
func Build(dir string, programs ...string) error {
	for _, program := range programs {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, filepath.Base(program)), "github.com/weirstream/weir/"+program)
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, text)
		}
	}
	return nil
}

// Home is where the processes of one cluster keep their files.
type Home struct {
	Dir string // WEIR_HOME of all its processes
	Bin string // where Build has put the programs
}

// Command gives the command weir with the home's environment, not started.
func (h Home) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(h.Bin, "weir"), args...)
	cmd.Env = append(os.Environ(), "WEIR_HOME="+h.Dir)
	return cmd
}

// Run runs weir to its end. An exit code other than 0 is no error.
func (h Home) Run(ctx context.Context, args ...string) (out, errOut string, code int, err error) {
	cmd := h.Command(ctx, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		return "", "", -1, fmt.Errorf("run weir %s: %w", strings.Join(args, " "), err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode(), nil
}

// Processes lists the processes of the home, each as "ID COMMAND".
func (h Home) Processes() []string {
	var found []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("WEIR_HOME="+h.Dir+"\x00")) {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if len(cmdline) > 0 {
			found = append(found, filepath.Base(filepath.Dir(path))+" "+string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// Workers lists the ids of the home's worker processes, which run jobs.
func (h Home) Workers() []int {
	var found []int
	for _, p := range h.Processes() {
		pid, command, _ := strings.Cut(p, " ")
		if n, err := strconv.Atoi(pid); err == nil && !strings.Contains(command, "/weir ") {
			found = append(found, n)
		}
	}
	return found
}

// Things lists what there is of the cluster besides its logs: its processes, the
// files of its home, and the control groups of the processes ever started. While
// the cluster runs it keeps programs that were uploaded or fetched: then they
// are left out.
func (h Home) Things(ever []int, running bool) []string {
	found := h.Processes()
	for _, dir := range []string{"run", "tmp", "blobs"} {
		filepath.WalkDir(filepath.Join(h.Dir, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && filepath.Dir(path) != h.Dir && d.Name() != "cluster.lock" && !(running && kept.MatchString(path)) {
				found = append(found, path)
			}
			return nil
		})
	}
	for _, pid := range ever {
		found = append(found, ControlGroups(pid)...)
	}
	slices.Sort(found)
	return found
}

// kept are the files of programs, uploaded and fetched.
var kept = regexp.MustCompile(`/weir-web-\w+/[0-9a-f-]{36}_[^/]+$|/programs/[0-9a-f]{64}$`)

// ControlGroups lists the control groups of the workers of a TaskManager.
func ControlGroups(manager int) (found []string) {
	places, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(places)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			for _, root := range []string{"", "memory"} {
				groups, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", root, parts[2], fmt.Sprintf("weir-%d-*", manager)))
				found = append(found, groups...)
			}
		}
	}
	return found
}

// Parent gives the process that started another.
func Parent(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the parent of process %d: %w", pid, err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	var state string
	var parent int
	if _, err := fmt.Sscan(after, &state, &parent); err != nil {
		return 0, fmt.Errorf("read the parent of process %d in %q: %w", pid, text, err)
	}
	return parent, nil
}

// Lines gives the lines of all files in a directory, hidden ones too, sorted and
// without empty ones.
func Lines(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	all = slices.DeleteFunc(all, func(line string) bool { return line == "" })
	slices.Sort(all)
	return all, nil
}
