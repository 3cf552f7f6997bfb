package memory_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// The forms of Flink's refusals, of which the reference says only that there is
// one; the texts of each are tested with the model.
const amount = `\((\d+ bytes|[0-9.]+[kmgt]b \(\d+ bytes\))\)`

var refusals = []*regexp.Regexp{
	regexp.MustCompile(`^Sum of configured Framework Heap Memory A, Framework Off-Heap Memory A, Task Off-Heap Memory A, Managed Memory A and Network Memory A exceed configured Total Flink Memory A\.$`),
	regexp.MustCompile(`^Sum of configured Framework Heap Memory A, Framework Off-Heap Memory A, Task Heap Memory A, Task Off-Heap Memory A and Managed Memory A exceed configured Total Flink Memory A\.$`),
	regexp.MustCompile(`^Sum of configured JVM Metaspace A and JVM Overhead A exceed configured Total Process Memory A\.$`),
	regexp.MustCompile(`^The configured Total Process Memory size A is less than the sum of the derived Total Flink Memory size A and the configured or default JVM Metaspace size  A\.$`),
	regexp.MustCompile(`^Derived JVM Overhead size A is not in configured JVM Overhead range \[.*\]\.$`),
	regexp.MustCompile(`^If Total Flink, Task Heap and \(or\) Managed Memory sizes are explicitly configured then the Network Memory size is the rest of the Total Flink memory after subtracting all other configured types of memory, but the derived Network Memory is inconsistent with its configuration\. Caused by: Derived Network Memory size A is not in configured Network Memory range \[.*\]\.$`),
	regexp.MustCompile(`^Inconsistently configured Key: '.*' , default: .* and its min A, max A value\. Caused by: (fraction must be in range \[0, 1\)|min value must be less or equal to max value)$`),
	regexp.MustCompile(`^Either required fine-grained memory .* need to be configured explicitly\.$`),
}

// forms lists the forms that a refusal has.
func forms(text string) (is []int) {
	text, ours := strings.CutPrefix(text, "TaskManager memory configuration failed: ")
	text = regexp.MustCompile(amount).ReplaceAllString(text, "A")
	for i, form := range refusals {
		if ours && form.MatchString(text) {
			is = append(is, i)
		}
	}
	return is
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
			if n := len(forms(err.Error())); n != 1 {
				t.Errorf("%s: the refusal is %d of Flink's: %v", config, n, err)
			}
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
