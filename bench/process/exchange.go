package process

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirstream/weir/client"
)

// The job is run exchangeRuns times each way; all words go through so many
// exchanges that their cost shows beside the rest.
const (
	exchangeRuns = 5
	exchanges    = 4
)

// exchange counts words in batch mode, in one worker, with pipelined exchanges and
// with blocking ones. Pipelined, batches go from task to task by reference. So the
// processor time by which the job needs more with blocking exchanges is what these
// cost: the words encoded, sorted, written, read, checked and decoded. The counts
// must be the same.
func (m *Measurement) exchange(ctx context.Context, p Programs, text string) error {
	for range exchangeRuns {
		by, err := words(ctx, p, text, "ALL_EXCHANGES_PIPELINED")
		if err != nil {
			return err
		}
		through, err := words(ctx, p, text, "ALL_EXCHANGES_BLOCKING")
		if err != nil {
			return err
		}
		if by.counts != through.counts {
			return errors.New("the counts differ from those of the pipelined run")
		}
		cpu := through.cpu - by.cpu
		if cpu <= 0 {
			return fmt.Errorf("the job with blocking exchanges needed %.2f CPU-s less: the machine is too busy to tell", -cpu)
		}
		m.Add("blocking exchange", float64(through.bytes)/1e9/cpu)
		m.Add("blocking exchange bytes", float64(through.bytes)/1e6)
		m.Add("blocking exchange job", through.cpu)
		m.Add("pipelined exchange job", by.cpu)
	}
	return nil
}

// counted is what counting the words of a text came to.
type counted struct {
	bytes  int64   // that all vertices have encoded for others
	cpu    float64 // seconds of all processes
	counts string  // checksum of the sorted lines of the result
}

// words counts the words of a text on a new cluster.
func words(ctx context.Context, p Programs, text, mode string) (r counted, err error) {
	c, err := Start(ctx, p.Weir, 1, 2)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	directory := filepath.Join(c.Home, "counts")
	_, r.cpu, err = c.RunToEnd(ctx, p.Job, client.RunRequest{
		Arguments:     []string{"words", "input=" + text, "output=" + directory, fmt.Sprintf("exchanges=%d", exchanges)},
		Parallelism:   2,
		Configuration: map[string]string{"execution.batch-shuffle-mode": mode, "execution.batch.adaptive.auto-parallelism.enabled": "false"},
	})
	if err != nil {
		return r, err
	}
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return r, fmt.Errorf("list jobs: %w", err)
	}
	d, err := c.Job(ctx, jobs[0].ID)
	if err != nil {
		return r, fmt.Errorf("look at a job: %w", err)
	}
	for _, v := range d.Vertices {
		subtasks, err := c.subtasks(ctx, d.ID, v.ID)
		if err != nil {
			return r, err
		}
		for _, s := range subtasks {
			r.bytes += s.Metrics.WriteBytes
		}
	}
	r.counts, err = sumOfLines(directory)
	return r, err
}

// sumOfLines gives the checksum of the sorted lines of all files of a directory.
func sumOfLines(directory string) (string, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("read the result in %s: no files, %w", directory, err)
	}
	var lines []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("read the result: %w", err)
		}
		lines = slices.AppendSeq(lines, strings.Lines(string(text)))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "")))), nil
}
