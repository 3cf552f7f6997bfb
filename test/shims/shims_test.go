// Package shims_test runs the scripts of bin that bear the names of Flink's.
package shims_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/cli"
	"github.com/weirstream/weir/internal/cluster/local"
	"github.com/weirstream/weir/internal/testkit/processes"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// The binary of this test is also the weir that lies beside the scripts, and every process
// that it starts.
func TestMain(m *testing.M) {
	verb := ""
	if len(os.Args) > 1 {
		verb = os.Args[1]
	}
	if filepath.Base(os.Args[0]) == "weir" || verb == local.JobManager || verb == local.TaskManager || os.Getenv(assignment.WorkerVariable) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A place is a directory with the scripts and a weir, and a home of its own.
type place struct {
	t   *testing.T
	bin string
	env []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	scripts, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "weir bin") // a space must do no harm
	home := t.TempDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(scripts, "*.sh"))
	for _, f := range append(files, filepath.Join(scripts, "flink")) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "weir")); err != nil {
		t.Fatal(err)
	}
	return &place{t, dir, append(os.Environ(), "WEIR_HOME="+home, "WEIR_PROPERTIES=")}
}

// run runs a script and wants it to end with the code.
func (p *place) run(code int, stdin, script string, args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.bin, script), args...)
	c.Env, c.Stdin = p.env, strings.NewReader(stdin)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		p.t.Errorf("%s %v: %v, want code %d\n%s", script, args, err, code, out)
	}
	return string(out)
}

func (p *place) want(text, part string) {
	p.t.Helper()
	if !regexp.MustCompile(part).MatchString(text) {
		p.t.Errorf("%q is not in %s", part, text)
	}
}

// until asks until the answer is true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2400 {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(what)
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("not within two minutes: %s", what)
}

func TestAClusterIsStartedAndStopped(t *testing.T) {
	p := newPlace(t)
	out := p.run(0, "", "start-cluster.sh", "-D", "rest.port=0", "-D", "jobmanager.rpc.port=0")
	defer p.run(0, "", "stop-cluster.sh")
	p.want(out, `Starting cluster\.\n(?s:.*)REST: http://localhost:\d+`)
	address := regexp.MustCompile(`localhost:\d+`).FindString(out)
	p.want(p.run(0, "", "flink", "list", "-m", address), "No running jobs.")
	_, port, _ := strings.Cut(address, ":")
	out = p.run(0, "SELECT a, COUNT(*) AS c FROM (VALUES (1),(2),(2)) AS t(a) GROUP BY a ORDER BY a;", "sql-client.sh", "-Dexecution.runtime-mode=batch", "-Drest.port="+port, "-Dexecution.target=remote")
	p.want(out, `\|\s+2 \| 2 \|`)
	p.want(p.run(0, "", "flink", "list", "-a", "-m", address), "FINISHED")
}

func TestProcessesAreStartedOneByOne(t *testing.T) {
	p := newPlace(t)
	free, err := processes.FreePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"-D", "rest.port=" + free[0], "-D", "jobmanager.rpc.port=" + free[1]}
	for _, script := range []string{"jobmanager.sh", "taskmanager.sh", "sql-gateway.sh"} {
		p.want(p.run(1, "", script), "Usage: ")
		p.want(p.run(1, "", script, "frobnicate"), "Unknown action frobnicate")
		p.want(p.run(0, "", script, "stop"), "No .* daemon to stop on host")
	}
	p.want(p.run(0, "", "jobmanager.sh", append([]string{"start", "localhost", free[0]}, settings[2:]...)...), "Starting standalonesession daemon on host")
	defer p.run(0, "", "jobmanager.sh", "stop-all")
	p.run(0, "", "taskmanager.sh", append([]string{"start"}, settings...)...)
	p.want(p.run(0, "", "taskmanager.sh", append([]string{"start"}, settings...)...), "1 instance\\(s\\) of taskexecutor are already running")
	defer p.run(0, "", "taskmanager.sh", "stop-all")
	c := client.New("localhost:" + free[0])
	defer c.Close()
	registered := func(n int) func() bool {
		return func() bool {
			o, err := c.Overview(t.Context())
			return err == nil && o.TaskManagers == n
		}
	}
	until(t, "two TaskManagers have registered", registered(2))
	p.want(p.run(0, "", "taskmanager.sh", "stop"), "Stopping taskexecutor daemon \\(pid: \\d+\\)")
	until(t, "one TaskManager is left", registered(1))

	p.run(0, "", "sql-gateway.sh", append([]string{"start", "-Dsql-gateway.endpoint.rest.port=" + free[2]}, settings...)...)
	defer p.run(0, "", "sql-gateway.sh", "stop")
	until(t, "the SQL gateway answers", func() bool {
		conn, err := net.Dial("tcp", "localhost:"+free[2])
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	out := p.run(0, "SHOW CATALOGS;", "sql-client.sh", "gateway", "-e", "localhost:"+free[2])
	p.want(out, `\| default_catalog \|`)
	if strings.Contains(out, "\x1b") {
		t.Errorf("escape codes where there is no terminal: %q", out)
	}
}

// sleeping makes the weir of a place one that only sleeps.
func (p *place) sleeping() {
	p.t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		p.t.Fatal(err)
	}
	weir := filepath.Join(p.bin, "weir")
	if err := errors.Join(os.Remove(weir), os.Symlink(sleep, weir+"-sleep"),
		os.WriteFile(weir, []byte("#!/bin/sh\nexec \"$0-sleep\" 1000\n"), 0o700)); err != nil {
		p.t.Fatal(err)
	}
}

// stopped wants so many processes to be found when all are to end.
func (p *place) stopped(n int) {
	p.t.Helper()
	if got := strings.Count(p.run(0, "", "taskmanager.sh", "stop-all"), "Stopping taskexecutor daemon (pid: "); got != n {
		p.t.Errorf("%d of %d processes were stopped", got, n)
	}
}

// Each of those that start at the same moment has a number of its own, and is found when it
// is to end.
func TestProcessesAreStartedAtOnce(t *testing.T) {
	p := newPlace(t)
	p.sleeping()
	const n = 4
	var starting sync.WaitGroup
	for range n {
		starting.Go(func() { p.want(p.run(0, "", "taskmanager.sh", "start"), "Starting taskexecutor daemon on host") })
	}
	starting.Wait()
	p.stopped(n)
}

// Two find what a process has left that is gone. The second one to go on does not take the
// number away from the first, whose process runs by then.
func TestProcessesAreStartedAtOnceAfterOneThatIsGone(t *testing.T) {
	p := newPlace(t)
	p.sleeping()
	home := t.TempDir()
	left := filepath.Join(home, "run", "daemon-taskmanager-1.pid")
	gone := exec.Command(filepath.Join(p.bin, "weir-sleep"), "0")
	if err := errors.Join(gone.Run(), os.Mkdir(filepath.Dir(left), 0o700), os.WriteFile(left, fmt.Append(nil, gone.Process.Pid, "\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	// Whoever is the first to remove or move a file does so when it may.
	gate := t.TempDir()
	for _, name := range []string{"rm", "mv"} {
		real, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("#!/bin/sh\nif mkdir %s/waits 2>/dev/null; then until [ -e %s/goes ]; do sleep 0.01; done; fi\nexec %s \"$@\"\n", gate, gate, real)
		if err := os.WriteFile(filepath.Join(gate, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "WEIR_HOME="+home, "PATH="+gate+string(os.PathListSeparator)+os.Getenv("PATH"))
	var starting sync.WaitGroup
	starting.Go(func() { p.want(p.run(0, "", "taskmanager.sh", "start"), "Starting taskexecutor daemon on host") })
	until(t, "the first one waits", func() bool {
		_, err := os.Stat(filepath.Join(gate, "waits"))
		return err == nil
	})
	p.run(0, "", "taskmanager.sh", "start")
	if err := os.WriteFile(filepath.Join(gate, "goes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	starting.Wait()
	p.stopped(2)
}

func TestAMissingBinaryIsNamed(t *testing.T) {
	p := newPlace(t)
	if err := os.Remove(filepath.Join(p.bin, "weir")); err != nil {
		t.Fatal(err)
	}
	p.want(p.run(1, "", "taskmanager.sh", "start"), "weir is missing. `make build` makes it.")
}
