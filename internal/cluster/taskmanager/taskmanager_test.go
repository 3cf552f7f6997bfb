//go:build unix

package taskmanager

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/belongings"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func load(t *testing.T, dynamic ...string) *config.Config {
	t.Helper()
	t.Setenv(config.HomeVariable, t.TempDir())
	cfg, err := config.Load("", append([]string{"taskmanager.memory.process.size=1728m"}, dynamic...))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A TaskManager that finds no master can be closed, and leaves nothing.
func TestStartAndClose(t *testing.T) {
	cfg := load(t, "jobmanager.rpc.port=1", "taskmanager.numberOfTaskSlots=3")
	tm, err := Start(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(tm.ID()), "127.0.0.1:") || tm.Memory().Process == 0 || tm.AgentMemory() == 0 {
		t.Errorf("started as %s with %+v", tm.ID(), tm.Memory())
	}
	if err := tm.Close(t.Context(), "the test is over"); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"run", "tmp"} {
		left, err := os.ReadDir(filepath.Join(config.Home(), dir))
		if len(left) > 0 || err != nil {
			t.Errorf("%s holds %v, error %v", dir, left, err)
		}
	}
}

func TestTheNameOfTheHostIsAdvertised(t *testing.T) {
	tm, err := Start(load(t, "taskmanager.host=localhost", "taskmanager.bind-host=0.0.0.0"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(tm.system.Self(), "localhost:") || !strings.HasPrefix(tm.port.TCP(), "localhost:") {
		t.Errorf("advertised as %s and %s", tm.system.Self(), tm.port.TCP())
	}
	if err := tm.Close(t.Context(), "the test is over"); err != nil {
		t.Error(err)
	}
}

func TestPortsInUseAreNamed(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, key := range []string{"taskmanager.rpc.port", "taskmanager.rpc.bind-port", "taskmanager.data.port", "taskmanager.data.bind-port"} {
		_, err := Start(load(t, key+"="+port), Options{})
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), port) {
			t.Errorf("%s: %v", key, err)
		}
		for _, dir := range []string{"run", "tmp"} {
			if left, _ := os.ReadDir(filepath.Join(config.Home(), dir)); len(left) > 0 {
				t.Errorf("%s: %s holds %v", key, dir, left)
			}
		}
	}
}

func TestAllProblemsAreListed(t *testing.T) {
	cfg := load(t, "cluster.id=mine", "taskmanager.bind-host=0.0.0.0", "jobmanager.rpc.port=0", "taskmanager.memory.process.size=1m",
		"taskmanager.resource-id="+strings.Repeat("x", 300))
	_, err := Start(cfg, Options{})
	var refused *config.Error
	if !errors.As(err, &refused) || len(refused.Problems) != 5 {
		t.Errorf("got %v", err)
	}
}

func TestALongPathGetsAnotherSocket(t *testing.T) {
	short := t.TempDir()
	register, err := belongings.Open(short, "tm-00ff00")
	if err != nil {
		t.Fatal(err)
	}
	path, err := socketPath(short, "00ff00", register)
	if err != nil || path != filepath.Join(short, "tm-00ff00.sock") {
		t.Errorf("path %s, error %v", path, err)
	}
	path, err = socketPath(filepath.Join(short, strings.Repeat("long/", 20)), "00ff00", register)
	if err != nil || len(path) > maxSocketPath {
		t.Errorf("path %s, error %v", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := register.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the directory of the socket: %v", err)
	}
}

// A TaskManager that was killed leaves files; the next one removes them.
func TestWhatAKilledOneLeftIsRemoved(t *testing.T) {
	cfg := load(t, "jobmanager.rpc.port=1")
	run, left := config.RunDir(cfg), filepath.Join(config.TempDirs(cfg)[0], "tm-dead")
	if err := errors.Join(os.MkdirAll(run, 0o700), os.MkdirAll(filepath.Join(left, "workers"), 0o700),
		os.WriteFile(filepath.Join(run, "tm-dead.belongings"), []byte(left+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	tm, err := Start(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was left: %v", err)
	}
	if err := tm.Close(t.Context(), "the test is over"); err != nil {
		t.Error(err)
	}
}

// What workers have in other places, where paths are shorter, is written down as well.
func TestWhatIsElsewhereIsWrittenDown(t *testing.T) {
	tm, err := Start(load(t, "jobmanager.rpc.port=1", "io.tmp.dirs="+filepath.Join(t.TempDir(), strings.Repeat("long", 25))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	left := tm.launcher.Elsewhere() + "7"
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tm.Close(t.Context(), "the test is over"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a worker had elsewhere: %v", err)
	}
}
