// Compare runs the same jobs on a genuine Flink and on Weir, in turn (Flink, Weir,
// Flink, Weir …), prints the ratios and writes them to
// bench/results/DATE-compare.md. It is started in the root of the module, and
// refuses when the harness that measures Flink, Java or Maven is missing; see
// bench/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/machine"
	"github.com/weirstream/weir/bench/process"
)

type options struct {
	peer, results, note string
	only                []string
	rounds              int
}

func main() {
	var o options
	only := ""
	flag.StringVar(&o.peer, "peer", "../shared/peer", "`directory` of the harness that measures Flink")
	flag.StringVar(&o.results, "results", "bench/results", "`directory` the table is written to; empty: it is only printed")
	flag.StringVar(&o.note, "note", "", "`text` to write below the machine's description")
	flag.StringVar(&only, "only", "", "comma-separated `names` of what to compare: startup, memory, chain, keyed, hashmap, rocksdb, submit, wordcount")
	flag.IntVar(&o.rounds, "rounds", 2, "how often each pair is measured")
	flag.Parse()
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "bench-compare: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	flink, err := openPeer(ctx, o.peer, os.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("build the measured programs: %w", err)
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
	began, load, meter := time.Now(), machine.Load(), machine.NewMeter()
	var table, failures strings.Builder
	var errs []error
	for _, p := range pairs(filepath.Join(strings.TrimSpace(string(root)), "src")) {
		if len(o.only) > 0 && !slices.Contains(o.only, p.name) {
			continue
		}
		sides, err := p.measure(ctx, flink, programs, o.rounds)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
			fmt.Fprintf(&failures, "* Not compared: %s: %s.\n", p.name, strings.Join(strings.Fields(err.Error()), " "))
			continue
		}
		table.WriteString(p.rows(sides))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Flink 2.3.0 and Weir, %s\n\n%s", began.UTC().Format("2006-01-02 15:04 MST"), machine.Description())
	fmt.Fprintf(&b, "* load average before and after: %s; %s\n", load, machine.Load())
	fmt.Fprintf(&b, "* cores used by other programs meanwhile: %.2f\n", meter.Others())
	if o.note != "" {
		fmt.Fprintf(&b, "\n%s\n", o.note)
	}
	b.WriteString("\n| figure | unit | Flink | Weir | Weir is better by [min..max] |\n|---|---|---|---|---|\n" + table.String())
	if failures.Len() > 0 {
		b.WriteString("\n" + failures.String())
	}
	fmt.Print(b.String())
	if o.results != "" {
		path := filepath.Join(o.results, began.UTC().Format(time.DateOnly)+"-compare.md")
		err := os.MkdirAll(o.results, 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(b.String()), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the comparison: %w", err)
		}
		fmt.Fprintf(os.Stderr, "written to %s\n", path)
	}
	return errors.Join(errs...)
}

// sides are the values of both, by line and round.
type sides struct{ flink, weir [][]float64 }

// measure makes a pair so often.
func (p *pair) measure(ctx context.Context, flink *peer, programs process.Programs, rounds int) (sides, error) {
	if p.once {
		rounds = 1
	}
	s := sides{make([][]float64, len(p.lines)), make([][]float64, len(p.lines))}
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "%s, round %d of %d: Flink\n", p.name, round+1, rounds)
		rows, err := flink.measure(ctx, p.flink...)
		if err != nil {
			return s, err
		}
		for i, l := range p.lines {
			v, err := l.of(rows)
			if err != nil {
				return s, err
			}
			s.flink[i] = append(s.flink[i], v)
		}
		fmt.Fprintf(os.Stderr, "%s, round %d of %d: Weir\n", p.name, round+1, rounds)
		values, err := p.weir(ctx, programs)
		if err != nil {
			return s, err
		}
		for i, v := range values {
			s.weir[i] = append(s.weir[i], v)
		}
	}
	return s, nil
}

// of takes a line's value out of the harness's table.
func (l *line) of(rows map[string]float64) (float64, error) {
	v, err := row(rows, l.row)
	if err != nil || l.sum == "" {
		return v * l.scale, err
	}
	more, err := row(rows, l.sum)
	return (v + more) * l.scale, err
}

// rows gives the lines of the table. The ratio is taken of neighbours in time.
func (p *pair) rows(s sides) string {
	var b strings.Builder
	for i, l := range p.lines {
		var ratios []float64
		for round, flink := range s.flink[i] {
			if l.less {
				ratios = append(ratios, flink/s.weir[i][round])
			} else {
				ratios = append(ratios, s.weir[i][round]/flink)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | × %s |\n", l.name, l.unit,
			figure.Summarize(s.flink[i]), figure.Summarize(s.weir[i]), figure.Summarize(ratios))
	}
	return b.String()
}
