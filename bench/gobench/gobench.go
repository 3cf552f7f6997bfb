// Package gobench runs the Go benchmarks of this module and reads what they
// print.
//
// It promises that the benchmarks are run in rounds, each once a round, so that a
// change of the machine's speed shows in the spread of all and not in the median
// of one.
package gobench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/weirstream/weir/bench/figure"
)

// A Suite is benchmarks of one package.
type Suite struct {
	Package string // as "./bench"
	Match   string // as -test.bench takes it
	Skip    string // as -test.skip takes it
	// Time is how long one benchmark runs in one round, as -test.benchtime takes
	// it.
	Time string
}

// Run runs the suites so often and adds every metric to values under
// "name metric", where the name is without "Benchmark" and processors.
func Run(ctx context.Context, suites []Suite, rounds int, values figure.Values, log io.Writer) error {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("build the benchmarks: %w", err)
	}
	defer os.RemoveAll(dir)
	binaries := make([]string, len(suites))
	for i, s := range suites {
		binaries[i] = filepath.Join(dir, strconv.Itoa(i)+".test")
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binaries[i], s.Package).CombinedOutput(); err != nil {
			return fmt.Errorf("build the benchmarks of %s: %w: %s", s.Package, err, out)
		}
	}
	var errs []error
	for round := range rounds {
		for i, s := range suites {
			fmt.Fprintf(log, "benchmarks of %s, round %d of %d\n", s.Package, round+1, rounds)
			cmd := exec.CommandContext(ctx, binaries[i], "-test.run=^$", "-test.bench="+s.Match, "-test.skip="+s.Skip, "-test.benchtime="+s.Time)
			cmd.Dir = s.Package
			out, err := cmd.CombinedOutput()
			if read := Read(bytes.NewReader(out), values); err == nil {
				err = read
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("benchmarks of %s: %w: %s", s.Package, err, out))
			}
		}
	}
	return errors.Join(errs...)
}

// processors is what the testing package puts behind a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// Read reads the output of benchmarks: lines "BenchmarkName-2 100 12.5 unit …".
func Read(r io.Reader, values figure.Values) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("read benchmark %s: metric %s: %w", name, fields[i+1], err)
			}
			values.Add(name+" "+fields[i+1], v)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read benchmarks: %w", err)
	}
	return nil
}
