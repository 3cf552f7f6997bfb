package connectors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/stream"
)

// linesOf gives the lines of all finished files below dir, sorted, and how many
// files there are, hidden ones included. While a job runs, its hidden directory comes
// and goes.
func linesOf(t *testing.T, dir string) (lines []string, all int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if path != dir && errors.Is(err, fs.ErrNotExist) {
			return nil // it went after its name was read
		}
		if err != nil || e.IsDir() {
			return err
		}
		all++
		if strings.Contains(path, "/.") {
			return nil
		}
		text, err := os.ReadFile(path)
		lines = append(lines, strings.Fields(string(text))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines, all
}

// slowly passes records on as a slow source would give them.
func slowly(v int64) int64 {
	if v%100 == 0 {
		time.Sleep(time.Millisecond)
	}
	return v
}

// stumbling fails now and then.
func stumbling(fails *atomic.Int64) func(int64) int64 {
	return func(v int64) int64 {
		if v%7919 == 0 && fails.Add(-1) >= 0 {
			panic(errors.New("it was to fail"))
		}
		return v
	}
}

// Whatever fails on the way, each record is in the finished files once.
func TestFilesAreWrittenOnce(t *testing.T) { synctest.Test(t, filesAreWrittenOnce) }

func filesAreWrittenOnce(t *testing.T) {
	const last = 40_000
	text := func(v int64) string { return strconv.FormatInt(v, 10) }
	partitioned := files.Sink[int64]{
		Format: format.Text[int64](text), Suffix: ".txt",
		Partition: func(v int64) string { return fmt.Sprint("last=", v%10) },
		Rolling:   files.Rolling{Size: 4 << 10, Interval: 100 * time.Millisecond},
	}
	for name, write := range map[string]func(s stream.DataStream[int64], dir string){
		"WriteText": func(s stream.DataStream[int64], dir string) { s.WriteText(dir, text) },
		"SinkTo": func(s stream.DataStream[int64], dir string) {
			to := partitioned
			to.Dir = dir
			s.SinkTo(to)
		},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		var fails atomic.Int64
		fails.Store(4)
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
			stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
		write(stream.Sequence(env, 1, last).Map(slowly).PartitionBy(func(v int64, n int) int { return int(v % int64(n)) }).Map(stumbling(&fails)), dir)
		execute(t, env)
		lines, all := linesOf(t, dir)
		if fails.Load() > 0 {
			t.Errorf("%s: it has still to fail %d times", name, fails.Load())
		}
		want := make([]string, last)
		for i := range want {
			want[i] = text(int64(i) + 1)
		}
		slices.Sort(want)
		if !slices.Equal(lines, want) {
			t.Errorf("%s: %d lines, of which %d differ; want each of %d once", name, len(lines), len(slices.Compact(slices.Clone(lines))), last)
		}
		t.Logf("%s: %d files", name, all)
		if found, _ := filepath.Glob(filepath.Join(dir, ".*")); len(found) > 0 {
			t.Errorf("%s: left over are %v", name, found)
		}
	}
}

// What is wrong with a sink is told before anything runs, with the line.
func TestSinksAreChecked(t *testing.T) {
	env := stream.NewEnv(quiet)
	stream.Sequence(env, 1, 2).SinkTo(files.Sink[int64]{Dir: t.TempDir()})
	err := env.Execute(t.Context(), "nothing")
	if err == nil || !strings.Contains(err.Error(), "Format is nil") || !strings.Contains(err.Error(), "sink_test.go:") {
		t.Errorf("got %v", err)
	}
}
