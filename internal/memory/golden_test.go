package memory_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/memory"
)

// reference opens a file of the reference folder, which lies beside the
// module. A checkout without that folder skips the test.
func reference(t *testing.T, path string) *os.File {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = parent
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(shared); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the folder ../shared with the reference results is not there")
	}
	f, err := os.Open(filepath.Join(shared, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// source is settings by key.
type source map[string]string

func (s source) Get(key string) (string, bool) { v, ok := s[key]; return v, ok }

func parse(prefix, text string) source {
	s := source{}
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		s[prefix+key] = value
	}
	return s
}

func line(m memory.TaskManagerMemory) string {
	return fmt.Sprintf("process=%d flink=%d fwHeap=%d fwOff=%d taskHeap=%d taskOff=%d network=%d managed=%d metaspace=%d overhead=%d",
		m.Process, m.Flink, m.FrameworkHeap, m.FrameworkOffHeap, m.TaskHeap, m.TaskOffHeap, m.Network, m.Managed, m.Metaspace, m.Overhead)
}

// TestTaskManagerEqualsFlink compares with what Flink computed for 2,000
// random configurations, to the byte.
func TestTaskManagerEqualsFlink(t *testing.T) {
	rows, valid, refused := bufio.NewScanner(reference(t, "reference/config/memory_golden.tsv")), 0, 0
	for rows.Scan() {
		config, want, _ := strings.Cut(rows.Text(), "\t")
		m, err := memory.TaskManager(parse("taskmanager.memory.", config))
		got := "ERR"
		if err == nil {
			got = line(m)
			valid++
			if len(m.From) != 10 {
				t.Errorf("%s: where the parts come from is told of %d of 10: %v", config, len(m.From), m.From)
			}
		} else {
			refused++
		}
		if got != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", config, got, err, want)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if valid != 1619 || refused != 381 {
		t.Errorf("%d valid and %d refused; the reference has 1619 and 381", valid, refused)
	}
}
