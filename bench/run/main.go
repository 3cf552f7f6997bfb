// Run measures all figures, prints the table and writes it, with the machine's
// description, to bench/results/DATE.md; with -failover those of failures, to
// DATE-failover.md, and with -state those of state, to DATE-state.md. It is started in the root of the module, and builds what it
// measures; see bench/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
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

// stateSuites are those of keyed state.
var stateSuites = []gobench.Suite{
	{Package: "./internal/state", Match: "Update//keys=1000000", Time: "3000000x"},
	{Package: "./internal/state", Match: "Freeze/int64", Time: "2x"},
	{Package: "./internal/state", Match: "Write/int64", Time: "2x"},
	{Package: "./internal/state", Match: "Collector", Time: "20x"},
	{Package: "./internal/state", Match: "OnDisk", Time: "200000x"},
	{Package: "./internal/operator", Match: "KeyedProcess", Time: "2000x"},
	{Package: "./bench", Match: "(Tumbling|Sliding)/rate=1$", Time: "5000x"},
	{Package: "./bench", Match: "(Tumbling|Sliding)/rate=100$", Time: "20000x"},
}

func main() {
	rounds := flag.Int("rounds", 5, "how often each Go benchmark is run; 0 leaves them out")
	processes := flag.Bool("processes", true, "measure the processes of a cluster, too")
	results := flag.String("results", "bench/results", "`directory` the table is written to; empty: it is only printed")
	failover := flag.Bool("failover", false, "measure failures and blocking exchanges, and nothing else")
	keyed := flag.Bool("state", false, "measure keyed state and checkpoints, and nothing else")
	note := flag.String("note", "", "`text` to write below the machine's description")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	measure := func(r *report) error { return everything(ctx, r, *rounds, *processes) }
	r := &report{figures: figure.All, values: figure.Values{}}
	if *failover {
		r.suffix, r.figures = "-failover", figure.Failover
		measure = func(r *report) error { return r.processes(ctx, process.MeasureFailover) }
	}
	if *keyed {
		r.suffix, r.figures = "-state", figure.State
		measure = func(r *report) error {
			err := gobench.Run(ctx, stateSuites, min(*rounds, 2), r.values, os.Stderr)
			if *processes {
				err = errors.Join(err, r.processes(ctx, process.MeasureState))
			}
			return err
		}
	}
	if err := r.make(ctx, measure, *results, *note); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// A report is a table on its way to its file.
type report struct {
	suffix   string // of the file's name
	figures  []figure.Figure
	values   figure.Values
	failures map[string]error
}

// everything measures all that the first table shows. What Go's benchmarks could
// not do does not keep the rest from being measured.
func everything(ctx context.Context, r *report, rounds int, processes bool) error {
	err := gobench.Run(ctx, suites, rounds, r.values, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if processes {
		err = errors.Join(err, r.processes(ctx, process.Measure))
	}
	return err
}

// make measures, prints the table and writes it.
func (r *report) make(ctx context.Context, measure func(*report) error, results, note string) error {
	began, load, meter := time.Now(), machine.Load(), machine.NewMeter()
	failed := measure(r)
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
	fmt.Fprintf(&b, "\n%s", figure.Table(r.figures, r.values, r.failures, others))
	fmt.Print(b.String())
	if results == "" {
		return failed
	}
	path := filepath.Join(results, began.UTC().Format(time.DateOnly)+r.suffix+".md")
	err := os.MkdirAll(results, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(b.String()), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintf(os.Stderr, "written to %s\n", path)
	return failed
}

// processes builds what make build builds, and measures it.
func (r *report) processes(ctx context.Context, measure func(context.Context, process.Programs, string, io.Writer) process.Measurement) error {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("build the measured job: %w", err)
	}
	defer os.RemoveAll(dir)
	programs, err := process.Build(ctx, dir)
	if err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find Go's source tree: %w", err)
	}
	m := measure(ctx, programs, filepath.Join(strings.TrimSpace(string(root)), "src", "**", "*.go"), os.Stderr)
	maps.Copy(r.values, m.Values)
	r.failures = m.Failures
	return nil
}
