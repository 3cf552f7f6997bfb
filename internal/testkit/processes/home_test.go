package processes

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"part-0": "b\na\n", "part-1": "", ".part-2": "\nc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Lines(dir); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFreePorts(t *testing.T) {
	ports, err := FreePorts(5)
	if err != nil || len(ports) != 5 {
		t.Fatalf("got %q, %v", ports, err)
	}
	slices.Sort(ports)
	if len(slices.Compact(ports)) != 5 {
		t.Errorf("a port is given twice: %q", ports)
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", "localhost:"+port)
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
}

func TestParent(t *testing.T) {
	if got, err := Parent(os.Getpid()); err != nil || got != os.Getppid() {
		t.Errorf("got %d, %v, want %d", got, err, os.Getppid())
	}
	if _, err := Parent(-1); err == nil {
		t.Error("no process has the id -1")
	}
}

func TestThings(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	for _, name := range []string{"run/cluster.lock", "run/left", "log/kept", "tmp/programs/" + checksum()} {
		path := filepath.Join(h.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	left, directory := filepath.Join(h.Dir, "run/left"), filepath.Join(h.Dir, "tmp/programs")
	program := filepath.Join(directory, checksum())
	for _, row := range []struct {
		running bool
		want    []string
	}{{true, []string{left, directory}}, {false, []string{left, directory, program}}} {
		if got := h.Things(nil, row.running); !slices.Equal(got, row.want) {
			t.Errorf("running %t: got %q, want %q", row.running, got, row.want)
		}
	}
}

// checksum is the name of a program that was fetched: its checksum.
func checksum() string { return strings.Repeat("a", 64) }
