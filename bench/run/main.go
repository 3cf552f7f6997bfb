// Run measures all figures, prints the table and writes it, with the machine's
// description, to bench/results/DATE.md. It is started in the root of the module,
// and builds what it measures; see bench/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/gobench"
	"github.com/weirstream/weir/bench/machine"
	"github.com/weirstream/weir/bench/process"
)

// suites are the benchmarks that figures are made of. The job with a million keys
// runs over a fixed number of records, so that building its table is always the
// same small share.
var suites = []gobench.Suite{
	{Package: "./bench", Match: ".", Skip: "Keyed$", Time: "0.5s"},
	{Package: "./bench", Match: "Keyed$", Time: "20000x"},
	{Package: "./internal/shuffle/network", Match: "Network/(tcp|unix)/channels=(8|64)$", Time: "0.5s"},
	{Package: "./internal/jobmaster", Match: "Deploy", Time: "1x"},
}

func main() {
	rounds := flag.Int("rounds", 5, "how often each Go benchmark is run; 0 leaves them out")
	processes := flag.Bool("processes", true, "measure the processes of a cluster, too")
	results := flag.String("results", "bench/results", "`directory` the table is written to; empty: it is only printed")
	note := flag.String("note", "", "`text` to write below the machine's description")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds, *processes, *results, *note); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, processes bool, results, note string) error {
	began, load, meter := time.Now(), machine.Load(), machine.NewMeter()
	values, failures := figure.Values{}, map[string]error{}
	goErr := gobench.Run(ctx, suites, rounds, values, os.Stderr)
	if goErr != nil {
		fmt.Fprintln(os.Stderr, goErr)
	}
	if processes {
		m, err := measureProcesses(ctx, os.Stderr)
		if err != nil {
			return err
		}
		for key, all := range m.Values {
			values[key] = all
		}
		failures = m.Failures
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Figures of %s\n\n%s", began.UTC().Format("2006-01-02 15:04 MST"), machine.Description())
	fmt.Fprintf(&b, "* load average before and after: %s; %s\n", load, machine.Load())
	others := meter.Others()
	fmt.Fprintf(&b, "* cores used by other programs meanwhile: %.2f\n* took: %s\n", others, time.Since(began).Round(time.Second))
	if note != "" {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	fmt.Fprintf(&b, "\n%s", figure.Table(figure.All, values, failures, others))
	fmt.Print(b.String())
	if results == "" {
		return goErr
	}
	path := filepath.Join(results, began.UTC().Format(time.DateOnly)+".md")
	err := os.MkdirAll(results, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(b.String()), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintf(os.Stderr, "written to %s\n", path)
	return goErr
}

// measureProcesses builds what make build builds and measures it.
func measureProcesses(ctx context.Context, log io.Writer) (process.Measurement, error) {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return process.Measurement{}, fmt.Errorf("build the measured job: %w", err)
	}
	defer os.RemoveAll(dir)
	programs, err := process.Build(ctx, dir)
	if err != nil {
		return process.Measurement{}, err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return process.Measurement{}, errors.Join(errors.New("find Go's source tree"), err)
	}
	text := filepath.Join(strings.TrimSpace(string(root)), "src", "**", "*.go")
	return process.Measure(ctx, programs, text, log), nil
}
