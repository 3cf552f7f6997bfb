package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// peer is the harness that measures a genuine Flink.
type peer struct {
	dir string
	log io.Writer
}

// openPeer says what is missing, or makes sure that Flink and its jobs are there.
func openPeer(ctx context.Context, dir string, log io.Writer) (*peer, error) {
	var missing []error
	for _, file := range []string{"setup.sh", "measure.py"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			missing = append(missing, fmt.Errorf("the harness that measures Flink is not at %s: %s is missing; -peer names another directory", dir, file))
			break
		}
	}
	for _, need := range [][2]string{{"java", "Java 17"}, {"mvn", "Maven"}, {"python3", "Python 3.9"}} {
		if _, err := exec.LookPath(need[0]); err != nil {
			missing = append(missing, fmt.Errorf("%s is not installed: there is no %s on the path", need[1], need[0]))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, fmt.Errorf("cannot compare with Flink:\n%w", err)
	}
	cmd := exec.CommandContext(ctx, "bash", "setup.sh")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("assemble Flink with %s: %w", filepath.Join(dir, "setup.sh"), err)
	}
	return &peer{dir, log}, nil
}

// measure runs one command of the harness and gives the medians of its rows by
// name; a row that comes twice is given its last.
func (p *peer) measure(ctx context.Context, arguments ...string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, "python3", append([]string{"measure.py"}, arguments...)...)
	cmd.Dir, cmd.Stderr = p.dir, p.log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measure Flink: %s: %w", strings.Join(arguments, " "), err)
	}
	rows, err := readRows(out)
	if err != nil {
		return nil, fmt.Errorf("measure Flink: %s: %w", strings.Join(arguments, " "), err)
	}
	return rows, nil
}

// readRows reads lines of what, conditions, median, min and max.
func readRows(text []byte) (map[string]float64, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, 5
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the harness's table: %w", err)
	}
	rows := map[string]float64{}
	for _, line := range lines {
		v, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			return nil, fmt.Errorf("read the harness's table: %s: %w", line[0], err)
		}
		rows[line[0]] = v
	}
	return rows, nil
}

// row gives one of the rows, or says that it is missing.
func row(rows map[string]float64, name string) (float64, error) {
	v, ok := rows[name]
	if !ok {
		return 0, fmt.Errorf("the harness's table has no row %q", name)
	}
	return v, nil
}
