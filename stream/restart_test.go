package stream_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/stream"
)

// failing is a function that fails in its first attempts, after some records.
type failing struct {
	attempt, subtask int
	attempts, after  int
	err              error
}

func (f *failing) Open(c *stream.OpenContext) error {
	f.attempt, f.subtask = c.Attempt, c.Subtask
	return nil
}

func (f *failing) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	emit(v)
	if f.after--; f.after == 0 && f.attempt < f.attempts && f.subtask == 0 {
		return f.err
	}
	return nil
}

// total counts what it is given, and tells when its input has ended.
type total struct {
	n      int64
	result *atomic.Int64
}

func (t *total) Process(c stream.Pair[int64, int64], _ *stream.ProcessContext, _ func(int64)) error {
	t.n += c.Value
	return nil
}

func (t *total) Finish(func(int64)) error {
	t.result.Store(t.n)
	return nil
}

// countRestarting counts 1000 numbers in a program of which a task fails in its first
// attempts.
func countRestarting(t *testing.T, restart stream.RestartStrategy, attempts int, failure error) (int64, error) {
	var result atomic.Int64
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Batch), stream.Restart(restart))
	stream.Sequence(env, 1, 1000).
		Rebalance().
		Process(func() stream.ProcessFunction[int64, int64] {
			return &failing{attempts: attempts, after: 100, err: failure}
		}).
		KeyBy(func(v int64) int64 { return v % 10 }).Count().
		Process(func() stream.ProcessFunction[stream.Pair[int64, int64], int64] { return &total{result: &result} }).Parallelism(1).
		Discard()
	err := env.Execute(t.Context(), "restarts")
	return result.Load(), err
}

func TestRestart(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name     string
		restart  stream.RestartStrategy
		attempts int
		failure  error
		want     string // of the error; empty: the job finishes
	}{
		{"restarts until it runs", stream.FixedDelayRestart(3, 0), 3, boom, ""},
		{"restarts after pauses", stream.ExponentialDelayRestart(time.Millisecond, 5*time.Millisecond), 3, boom, ""},
		{"fails seldom enough", stream.FailureRateRestart(3, time.Hour, 0), 3, boom, ""},
		{"fails once too often", stream.FixedDelayRestart(2, 0), 3, boom,
			"Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=2, backoffTimeMS=0): Process: boom"},
		{"fails too often", stream.FailureRateRestart(2, time.Hour, 0), 3, boom, "maxFailuresPerInterval=2): Process: boom"},
		{"may not restart", stream.NoRestart(), 1, boom, "boom"},
		{"a restart does not help", stream.FixedDelayRestart(9, 0), 3, fmt.Errorf("read the table: %w", stream.Fatal(boom)),
			"The failure is not recoverable: Process: read the table: boom"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, err := countRestarting(t, test.restart, test.attempts, test.failure)
			switch {
			case test.want == "" && (err != nil || n != 1000):
				t.Errorf("counted %d, %v", n, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
			if test.want == "" {
				return
			}
			if f, ok := errors.AsType[*status.Failure](err); !ok || f.Message != "boom" {
				t.Errorf("the innermost cause is lost: %#v", err)
			}
		})
	}
}

func TestWrongRestart(t *testing.T) {
	for _, test := range []struct {
		restart stream.RestartStrategy
		want    string
	}{
		{stream.FixedDelayRestart(-1, 0), "restart-strategy.fixed-delay.attempts"},
		{stream.FixedDelayRestart(1, -time.Second), "restart-strategy.fixed-delay.delay"},
		{stream.FailureRateRestart(0, time.Minute, 0), "max-failures-per-interval"},
		{stream.ExponentialDelayRestart(time.Minute, time.Second), "the first pause (1 min) is longer"},
	} {
		env := stream.NewEnv(quiet, stream.Restart(test.restart))
		stream.Sequence(env, 1, 2).Discard()
		if err := env.Execute(t.Context(), "wrong"); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "restart_test.go:") {
			t.Errorf("got %v, want %s and the line", err, test.want)
		}
	}
}

// TestFilesAreReadAgain fails tasks in the middle of files, and checks that each
// line is counted once in the end, however the job is laid out: as one region, or
// as regions of their own that restart alone.
func TestFilesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	for file := range 6 {
		var text strings.Builder
		for line := range 300 {
			fmt.Fprintf(&text, "line %d of file %d\n", line, file)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("in", file)), []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, connected := range []bool{true, false} {
		out := filepath.Join(t.TempDir(), "out")
		env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.Restart(stream.FixedDelayRestart(20, 0)))
		lines := stream.ReadText(env, filepath.Join(dir, "in*"))
		if connected {
			lines = lines.Rebalance()
		}
		lines.Process(func() stream.ProcessFunction[string, string] { return &stumble{} }).
			WriteText(out, func(line string) string { return line })
		if err := env.Execute(t.Context(), "read again"); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		parts, _ := filepath.Glob(filepath.Join(out, "part-*"))
		for _, part := range parts {
			text, err := os.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				seen[line]++
			}
		}
		for line, n := range seen {
			if n != 1 {
				t.Errorf("connected %v: %q was written %d times", connected, line, n)
				break
			}
		}
		if len(seen) != 6*300 {
			t.Errorf("connected %v: %d lines were written, want %d", connected, len(seen), 6*300)
		}
	}
}

// stumble fails in its first two attempts, sooner or later.
type stumble struct{ attempt, after int }

func (s *stumble) Open(c *stream.OpenContext) error {
	s.attempt, s.after = c.Attempt, 40*(1+c.Subtask)
	return nil
}

func (s *stumble) Process(line string, _ *stream.ProcessContext, emit func(string)) error {
	if s.after--; s.after == 0 && s.attempt < 2 {
		return errors.New("stumbled")
	}
	emit(line)
	return nil
}

// TestRecordIsNamed finds the line of a file by which a task failed.
func TestRecordIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("first\nsecond\n"+strings.Repeat("x", 300)+"\nlast\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fails string // the beginning of the line
		want  *status.Record
	}{
		{"second", &status.Record{Origin: path + ", byte 6", Value: "second"}},
		{"x", &status.Record{Origin: path + ", byte 13", Value: strings.Repeat("x", status.MaxRecordValue)}},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
		stream.ReadText(env, path).Map(func(line string) int {
			if strings.HasPrefix(line, test.fails) {
				panic("cannot be parsed")
			}
			return len(line)
		}).Discard()
		err := env.Execute(t.Context(), "record")
		f, ok := errors.AsType[*status.Failure](err)
		if !ok || f.Record == nil || *f.Record != *test.want {
			t.Errorf("%v: record %+v, want %+v", err, f.Record, test.want)
		}
	}
}
