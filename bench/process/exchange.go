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

// exchangeRuns is how often the jobs with a blocking exchange are run.
const exchangeRuns = 9

// exchange counts words in batch mode in two jobs, one of which sends every word
// through a blocking exchange before it is counted. The processor time by which
// it needs more than the other is what the exchange of so many bytes costs:
// encoded, sorted, written, read, checked and decoded. The counts must be those
// of a pipelined run.
func (m *Measurement) exchange(ctx context.Context, p Programs, text string) error {
	_, _, want, err := words(ctx, p, text, "ALL_EXCHANGES_PIPELINED", true)
	if err != nil {
		return err
	}
	for range exchangeRuns {
		_, without, counts, err := words(ctx, p, text, "ALL_EXCHANGES_BLOCKING", false)
		if err != nil {
			return err
		}
		bytes, with, again, err := words(ctx, p, text, "ALL_EXCHANGES_BLOCKING", true)
		if err != nil {
			return err
		}
		if counts != want || again != want {
			return errors.New("the counts differ from those of the pipelined run")
		}
		m.Add("blocking exchange", float64(bytes)/1e9/max(with-without, 0.01))
		m.Add("blocking exchange bytes", float64(bytes)/1e6)
	}
	return nil
}

// words counts the words of a text on a new cluster. It gives the bytes that the
// first vertex has written, the processor seconds of all processes, and the sum
// of the sorted lines of the result.
func words(ctx context.Context, p Programs, text, mode string, apart bool) (bytes int64, cpu float64, sum string, err error) {
	c, err := Start(ctx, p.Weir, 1, 2)
	if err != nil {
		return 0, 0, "", err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	directory := filepath.Join(c.Home, "counts")
	_, cpu, err = c.RunToEnd(ctx, p.Job, client.RunRequest{
		Arguments:     []string{"words", "input=" + text, "output=" + directory, fmt.Sprintf("apart=%t", apart)},
		Parallelism:   2,
		Configuration: map[string]string{"execution.batch-shuffle-mode": mode},
	})
	if err != nil {
		return 0, 0, "", err
	}
	all, err := c.Jobs(ctx)
	if err != nil {
		return 0, 0, "", fmt.Errorf("list jobs: %w", err)
	}
	d, err := c.Job(ctx, all[0].ID)
	if err != nil {
		return 0, 0, "", fmt.Errorf("look at a job: %w", err)
	}
	subtasks, err := c.subtasks(ctx, d.ID, d.Vertices[0].ID)
	if err != nil {
		return 0, 0, "", err
	}
	for _, s := range subtasks {
		bytes += s.Metrics.WriteBytes
	}
	sum, err = sumOfLines(directory)
	return bytes, cpu, sum, err
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
