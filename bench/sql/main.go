// Sql measures SQL: the 22 queries of TPC-H beside DuckDB and a genuine Flink,
// scans of CSV, JSON and Parquet files, planning, the first answer of a process,
// and an aggregation that does not fit into its memory. It prints the figures and
// writes them to bench/results/DATE-sql.md. It is started in the root of the
// module; see bench/README.md.
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/gobench"
	"github.com/weirstream/weir/bench/machine"
	"github.com/weirstream/weir/bench/process"
	"github.com/weirstream/weir/bench/tpch"
)

type options struct {
	scale, data, results, note string
	flink, duckdb              string
	size                       int64
	rounds                     int
	only                       []string
	queries                    []int
	kept                       bool
}

// parts are what can be measured alone.
var parts = []string{"tpch", "scan", "plan", "first"}

func main() {
	o, err := readOptions(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = run(ctx, o, os.Stderr)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-sql: %v\n", err)
		os.Exit(1)
	}
}

func readOptions(arguments []string) (options, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	home := os.Getenv("PEER_HOME")
	if home == "" {
		home = filepath.Join(cache, "weir-peer", "flink")
	}
	var o options
	var size, only, queries string
	flags := flag.NewFlagSet("bench-sql", flag.ExitOnError)
	flags.StringVar(&o.scale, "sf", "1", "scale `factor` of TPC-H: a whole number, or a fraction from 0.001")
	flags.StringVar(&size, "size", "1GB", "`bytes` of the file that is scanned, as 1GB or 200MB")
	flags.StringVar(&o.data, "data", filepath.Join(cache, "weir-bench"), "`directory` where generated files are kept")
	flags.StringVar(&o.flink, "flink", home, "`directory` of a distribution of Flink 2.3; empty: it is left out")
	flags.StringVar(&o.duckdb, "duckdb", filepath.Join(cache, "weir-peer", "duckdb"), "`directory` of a Python environment with DuckDB, which is made if there is none; empty: it is left out")
	flags.StringVar(&o.results, "results", "bench/results", "`directory` the figures are written to; empty: they are only printed")
	flags.StringVar(&o.note, "note", "", "`text` to write below the machine's description")
	flags.StringVar(&only, "only", "", "comma-separated `names` of what to measure: "+strings.Join(parts, ", "))
	flags.StringVar(&queries, "queries", "", "comma-separated `numbers` of TPC-H's queries to ask; empty: all")
	flags.BoolVar(&o.kept, "kept", false, "take Flink's answers and costs from an earlier run with this scale factor, which has kept them, because they take long")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each scan is measured")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.size, err = bytesOf(size); err != nil {
		return o, err
	}
	o.only = parts
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(parts, name) {
			return o, fmt.Errorf("-only has %q; allowed are %s", name, strings.Join(parts, ", "))
		}
	}
	o.queries, err = queryNumbers(queries)
	return o, err
}

// bytesOf reads a size such as 1GB, 200MB or 5000.
func bytesOf(text string) (int64, error) {
	number, unit := text, int64(1)
	for suffix, bytes := range map[string]int64{"GB": 1e9, "MB": 1e6, "KB": 1e3} {
		if before, is := strings.CutSuffix(text, suffix); is {
			number, unit = before, bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("-size is %q; it has to be a whole number of bytes, KB, MB or GB", text)
	}
	return n * unit, nil
}

func queryNumbers(text string) (all []int, err error) {
	if text == "" {
		for i := range tpch.Queries {
			all = append(all, i+1)
		}
		return all, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > tpch.Queries {
			return nil, fmt.Errorf("-queries has %q; allowed are the numbers from 1 to %d", field, tpch.Queries)
		}
		all = append(all, n)
	}
	return all, nil
}

// A page is what is written.
type page struct {
	values   figure.Values
	failures map[string]error
	tables   string // below the figures
}

func run(ctx context.Context, o options, log io.Writer) error {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("build weir: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(log, "building weir")
	programs, err := process.Build(ctx, dir)
	if err != nil {
		return err
	}
	began, load, meter := time.Now(), machine.Load(), machine.NewMeter()
	p := &page{values: figure.Values{}, failures: map[string]error{}}
	for _, name := range parts {
		if !slices.Contains(o.only, name) {
			continue
		}
		fmt.Fprintf(log, "== %s\n", name)
		if err := p.measure(ctx, name, o, programs.Weir, log); err != nil {
			fmt.Fprintf(log, "%s: %v\n", name, err)
			p.tables += fmt.Sprintf("\n* Not measured: %s: %s.\n", name, strings.Join(strings.Fields(err.Error()), " "))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	text := p.text(o, began, load, meter)
	fmt.Print(text)
	if o.results == "" {
		return nil
	}
	path := filepath.Join(o.results, began.UTC().Format(time.DateOnly)+"-sql.md")
	if err := errors.Join(os.MkdirAll(o.results, 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintf(log, "written to %s\n", path)
	return nil
}

func (p *page) measure(ctx context.Context, part string, o options, weir string, log io.Writer) error {
	s := scans{weir: weir, dir: filepath.Join(o.data, "rows-"+strconv.FormatInt(o.size, 10)), size: o.size, rounds: o.rounds, log: log, values: p.values, failures: p.failures}
	switch part {
	case "tpch":
		return p.tpch(ctx, o, weir, log)
	case "scan":
		s.measure(ctx)
		return nil
	case "plan":
		return gobench.Run(ctx, []gobench.Suite{{Package: "./bench", Match: "Plan", Time: "200x"}}, o.rounds, p.values, log)
	case "first":
		return s.first(ctx)
	}
	return fmt.Errorf("there is no part %q", part)
}

// tpch asks all contenders that there are.
func (p *page) tpch(ctx context.Context, o options, weir string, log io.Writer) error {
	dir, err := filepath.Abs(filepath.Join(o.data, "tpch-"+o.scale))
	if err == nil {
		err = generateTPCH(ctx, dir, o.scale, log)
	}
	if err != nil {
		return err
	}
	all, about := contenders(ctx, o, weir, dir, log)
	ask(ctx, all, o.queries, log)
	tpchFigures(all, o.queries, p.values, p.failures)
	p.tables += "\n## TPC-H, scale factor " + o.scale + ", processor seconds of each query\n\n" + tpchTable(all, o.queries) + "\n" + about
	for _, c := range all {
		if c.engine != nil {
			err = errors.Join(err, c.engine.close())
		}
	}
	return err
}

// slots is how many cores everybody may use.
const slots = 2

// contenders starts everybody, in the order of their places, and tells what
// starting them and asking for nothing costs.
func contenders(ctx context.Context, o options, weir, dir string, log io.Writer) (all []*contender, about string) {
	tables := declare(dir)
	var b strings.Builder
	start := func(name string, open func() (engine, error)) {
		fmt.Fprintf(log, "starting %s\n", name)
		c := &contender{name: name}
		if c.engine, c.err = open(); c.err != nil {
			c.engine = nil
			fmt.Fprintf(&b, "* Not measured: %s: %s.\n", name, strings.Join(strings.Fields(c.err.Error()), " "))
		} else if spent, err := idle(ctx, c.engine); err == nil {
			fmt.Fprintf(&b, "* %s: `SELECT 1` takes %.2f CPU-s, %.2f s", name, spent.cpu, spent.wall)
			if spent.client > 0 {
				fmt.Fprintf(&b, "; %.2f CPU-s of it are the client's", spent.client)
			}
			b.WriteString(".\n")
		}
		all = append(all, c)
	}
	for _, threads := range []int{slots, 1} {
		start(fmt.Sprintf("DuckDB, %d threads", threads), func() (engine, error) {
			if o.duckdb == "" {
				return nil, errors.New("it was left out")
			}
			python, err := installDuckDB(ctx, o.duckdb, log)
			if err != nil {
				return nil, err
			}
			d, err := openDuckDB(ctx, python, threads, dir)
			if err == nil && threads == slots {
				fmt.Fprintf(&b, "* DuckDB is version %s from PyPI, in one Python process; what is counted is from the statement to its rows.\n", d.version)
			}
			return d, err
		})
	}
	start("Weir, embedded", func() (engine, error) { return openEmbedded(weir, tables) })
	start("Weir, cluster", func() (engine, error) {
		return openClustered(ctx, weir, tables, slots, "taskmanager.memory.process.size="+flinkMemory)
	})
	start("Flink, cluster", func() (engine, error) {
		e, told, err := startFlink(ctx, o, filepath.Join(dir, "flink.json"), tables)
		b.WriteString(told)
		return e, err
	})
	return all, b.String()
}

// startFlink starts a cluster of Flink's, or brings out what an earlier run has
// kept of one in a file, and tells about it.
func startFlink(ctx context.Context, o options, kept, tables string) (e engine, told string, err error) {
	if o.flink == "" {
		return nil, "", errors.New("it was left out")
	}
	r, err := readRecord(kept)
	if err != nil {
		return nil, "", err
	}
	if o.kept {
		if len(r.Answers) == 0 {
			return nil, "", fmt.Errorf("no earlier run has kept anything in %s", kept)
		}
		e, told = &replayed{r}, fmt.Sprintf("* Flink was measured in an earlier run on this machine, which ended %s with a load average of %s.\n", r.When, r.Load)
	} else {
		f, err := openFlink(ctx, o.flink, tables, slots)
		if err != nil {
			return nil, "", err
		}
		r.Started = keptCost{Wall: f.started.wall, CPU: f.started.cpu}
		now := func() (string, string) { return time.Now().UTC().Format("2006-01-02 15:04 MST"), machine.Load() }
		e = &keeping{f, kept, now, r}
	}
	return e, told + fmt.Sprintf("* Flink is version %s, with %s for the TaskManager.\n", flinkVersion(o.flink), flinkMemory) + fmt.Sprintf("* Flink: starting JobManager and TaskManager takes %.1f CPU-s, %.1f s, which no query is charged with.\n", r.Started.CPU, r.Started.Wall), nil
}

func (p *page) text(o options, began time.Time, load string, meter *machine.Meter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Figures of SQL, %s\n\n%s", began.UTC().Format("2006-01-02 15:04 MST"), machine.Description())
	if commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		fmt.Fprintf(&b, "* Weir: commit %s\n", strings.TrimSpace(string(commit)))
	}
	fmt.Fprintf(&b, "* load average before and after: %s; %s\n", load, machine.Load())
	others := meter.Others()
	fmt.Fprintf(&b, "* cores used by other programs meanwhile: %.2f\n* took: %s\n", others, time.Since(began).Round(time.Second))
	fmt.Fprintf(&b, "* scale factor of TPC-H: %s; files that are scanned: %d MB\n", o.scale, o.size/1e6)
	if o.note != "" {
		fmt.Fprintf(&b, "\n%s\n", o.note)
	}
	return b.String() + "\n" + figure.Table(figuresOf(o.only), p.values, p.failures, others) + p.tables
}
