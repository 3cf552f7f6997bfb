package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/weirstream/weir/bench/process"
	"github.com/weirstream/weir/client"
)

// A line is one thing that is told of both sides.
type line struct {
	name, unit string
	// row is Flink's in the harness's table, times scale; sum adds further rows.
	row   string
	sum   string
	scale float64
	// less says that less is better.
	less bool
}

// A pair is a measurement that is made of Flink and of Weir in turn.
type pair struct {
	name  string
	lines []line
	// flink are the arguments of the harness.
	flink []string
	// weir gives a value for each line.
	weir func(ctx context.Context, p process.Programs) ([]float64, error)
	// once says that it is made once and not several times, because it takes long
	// and hardly varies.
	once bool
}

// The sizes of Weir's jobs: some seconds of processor time each. Flink's run until
// the harness has seen enough.
const (
	chainRecords = 500_000_000
	keyedRecords = 50_000_000
	stateRecords = 100_000_000 // some ten checkpoints
)

// pairs are all comparisons; text is a directory of Go files. Flink reuses objects
// where a job is measured by its records, and is warmed up first: a job with a
// hash exchange needs about 100 CPU-seconds before it no longer gets faster.
func pairs(text string) []pair {
	return []pair{
		{
			name:  "startup",
			flink: []string{"startup", "--runs", "1"},
			lines: []line{
				{name: "master ready", unit: "ms", row: "JobManager ready, s", scale: 1000, less: true},
				{name: "TaskManager registered", unit: "ms", row: "TaskManager registered, s", scale: 1000, less: true},
			},
			weir: weirStartup,
		},
		{
			name: "memory", once: true,
			flink: []string{"memory", "--runs", "1"},
			lines: []line{{name: "resident memory when idle for 30 s, master and TaskManager", unit: "MiB",
				row: "JobManager RSS, MiB", sum: "TaskManager RSS, MiB", scale: 1, less: true}},
			weir: weirMemory,
		},
		{
			name:  "chain",
			flink: []string{"throughput", "chain-tuple", "--reuse", "--warmup", "30", "--segments", "4", "--seconds", "5"},
			lines: []line{{name: "sequence → map → filter → map → discard, p=1", unit: "M records/CPU-s",
				row: "M events per TM CPU-second", scale: 1}},
			weir: throughput("chain", chainRecords, 1),
		},
		{
			name:  "keyed",
			flink: []string{"throughput", "keyed", "--reuse", "--parallelism", "2", "--warmup", "100", "--segments", "6", "--seconds", "10"},
			lines: []line{{name: "sequence → keyBy 1 M keys → reduce → discard, p=2, one TaskManager", unit: "M records/CPU-s",
				row: "M events per TM CPU-second", scale: 1}},
			weir: throughput("keyed", keyedRecords, 2),
		},
		checkpointed("hashmap"),
		checkpointed("rocksdb", "--incremental"),
		{
			name:  "submit",
			flink: []string{"submit", "--runs", "3"},
			lines: []line{{name: "command line runs a job of 1,000 records, attached, warm cluster", unit: "ms",
				row: "flink run, wall s", scale: 1000, less: true}},
			weir: weirSubmit,
		},
		{
			name:  "wordcount",
			flink: []string{"wordcount", text, "--suffix", ".go", "--mode", "BATCH", "--parallelism", "2", "--runs", "1"},
			lines: []line{
				{name: "word count of Go's source tree, p=2, submission to FINISHED", unit: "s",
					row: "wall, s (REST submit to FINISHED)", scale: 1, less: true},
				{name: "the same, all processes", unit: "CPU-s", row: "TM CPU, s", sum: "JM CPU, s", scale: 1, less: true},
			},
			weir: func(ctx context.Context, p process.Programs) ([]float64, error) {
				wall, cpu, err := process.WordCount(ctx, p, filepath.Join(text, "**", "*.go"), 2)
				return []float64{wall, cpu}, err
			},
		},
	}
}

// checkpointed is the keyed job with a checkpoint each second.
func checkpointed(backend string, more ...string) pair {
	return pair{
		name: backend,
		flink: append([]string{"throughput", "keyed", "--reuse", "--parallelism", "2", "--taskmanagers", "2", "--warmup", "100", "--segments", "4", "--seconds", "10",
			"--checkpoint", "1s", "--backend", backend}, more...),
		lines: []line{{name: "sequence → keyBy 1 M keys → reduce → discard, p=2, two TaskManagers, checkpoint each second, `" + backend + "`", unit: "M records/CPU-s",
			row: "M events per TM CPU-second", scale: 1}},
		weir: func(ctx context.Context, p process.Programs) ([]float64, error) {
			rate, err := process.KeyedWithCheckpoints(ctx, p, backend, stateRecords)
			return []float64{rate}, err
		},
	}
}

func weirStartup(ctx context.Context, p process.Programs) ([]float64, error) {
	c, master, taskManager, err := process.StartTimed(ctx, p.Weir)
	if err != nil {
		return nil, err
	}
	return []float64{master, taskManager}, c.Stop()
}

func weirMemory(ctx context.Context, p process.Programs) (values []float64, err error) {
	err = onCluster(ctx, p, 1, func(c *process.Cluster) error {
		if err := c.Rest(ctx, 30*time.Second); err != nil {
			return err
		}
		bytes, err := c.Resident()
		values = []float64{float64(bytes) / (1 << 20)}
		return err
	})
	return values, err
}

// throughput runs a job of so many records from its submission to its end; unlike
// Flink's, its figure has the start of the job in it.
func throughput(job string, records int64, parallelism int) func(context.Context, process.Programs) ([]float64, error) {
	return func(ctx context.Context, p process.Programs) (values []float64, err error) {
		err = onCluster(ctx, p, parallelism, func(c *process.Cluster) error {
			request := client.RunRequest{Arguments: []string{job, fmt.Sprintf("n=%d", records)}, Parallelism: parallelism}
			_, cpu, err := c.RunToEnd(ctx, p.Job, request)
			values = []float64{float64(records) / cpu / 1e6}
			return err
		})
		return values, err
	}
}

// weirSubmit takes the last of several runs: the first has to send the program.
func weirSubmit(ctx context.Context, p process.Programs) (values []float64, err error) {
	err = onCluster(ctx, p, 1, func(c *process.Cluster) error {
		for range 3 {
			took, err := c.RunAttached(p.Job, "keyed", "n=1000")
			if err != nil {
				return err
			}
			values = []float64{took}
		}
		return nil
	})
	return values, err
}

// onCluster gives f a new cluster with one TaskManager.
func onCluster(ctx context.Context, p process.Programs, slots int, f func(*process.Cluster) error) error {
	c, err := process.Start(ctx, p.Weir, 1, slots)
	if err != nil {
		return err
	}
	err = f(c)
	if stopped := c.Stop(); err == nil {
		err = stopped
	}
	return err
}
