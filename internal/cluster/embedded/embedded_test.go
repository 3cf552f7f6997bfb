package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/stream"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestAJobRunsToItsEnd(t *testing.T) {
	env := stream.NewEnv(stream.DefaultParallelism(2))
	got := stream.Sequence(env, 1, 100).Map(func(n int64) int64 { return 2 * n }).Collect()
	if err := env.Execute(t.Context(), "double"); err != nil {
		t.Fatal(err)
	}
	values := got.Values()
	slices.Sort(values)
	if len(values) != 100 || values[0] != 2 || values[99] != 200 {
		t.Errorf("got %d values: %v", len(values), values)
	}
}

func TestWordsAreCounted(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		text := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 50)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txt", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := stream.NewEnv(stream.DefaultParallelism(4))
	got := stream.ReadText(env, filepath.Join(dir, "*.txt")).
		FlatMap(strings.FieldsSeq).KeyBy(stream.Self[string]).Count().Collect()
	if err := env.Execute(t.Context(), "word count"); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, p := range got.Values() {
		counts[p.Key] += p.Value
	}
	if len(counts) != 8 || counts["the"] != 2000 || counts["dog"] != 1000 {
		t.Errorf("counted %v", counts)
	}
}

// The first cause is named with its task, whatever it tears down with it.
func TestAFailureNamesTheTask(t *testing.T) {
	boom := errors.New("the 50th is too much")
	for _, way := range []string{"error", "panic"} {
		env := stream.NewEnv(stream.DefaultParallelism(3))
		stream.Sequence(env, 1, 1000).Name("numbers").Rebalance().ForEach(func(n int64) error {
			switch {
			case n != 50:
				return nil
			case way == "panic":
				panic(boom)
			}
			return boom
		}).Name("picky")
		err := env.Execute(t.Context(), "fails")
		var failure *status.Failure
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), "picky") || !strings.Contains(err.Error(), "the 50th is too much") {
			t.Errorf("%s: got %v", way, err)
		}
		if !errors.Is(err, boom) {
			t.Errorf("%s: the error of the program is not found in %v", way, err)
		}
	}
}

func TestAFailureOfNoTaskIsNamed(t *testing.T) {
	env := stream.NewEnv()
	stream.ReadText(env, filepath.Join(t.TempDir(), "*.txt")).Discard()
	err := env.Execute(t.Context(), "nothing there")
	if err == nil || !strings.HasPrefix(err.Error(), `job "nothing there" failed: coordinator of operator`) || !strings.Contains(err.Error(), "no file matches") {
		t.Errorf("got %v", err)
	}
}

func TestCancellationEndsTheJob(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var once sync.Once
	env := stream.NewEnv(stream.DefaultParallelism(2))
	stream.Sequence(env, 1, 1<<62).KeyBy(func(n int64) int64 { return n % 7 }).Count().ForEach(func(stream.Pair[int64, int64]) error {
		once.Do(func() { cancel(enough) })
		return nil
	})
	env2 := stream.NewEnv(stream.Mode(stream.Streaming), stream.DefaultParallelism(2))
	stream.Sequence(env2, 1, 1<<62).ForEach(func(int64) error {
		once.Do(func() { cancel(enough) })
		return nil
	})
	if err := env2.Execute(ctx, "endless"); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if err := env.Execute(ctx, "too late"); !errors.Is(err, enough) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestManyJobsAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			env := stream.NewEnv(stream.DefaultParallelism(2))
			got := stream.Sequence(env, 1, 10).Rebalance().Collect()
			if err := env.Execute(t.Context(), "one of many"); err != nil || len(got.Values()) != 10 {
				t.Errorf("got %v, error %v", got.Values(), err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkTrivialJob(b *testing.B) {
	for b.Loop() {
		env := stream.NewEnv(stream.DefaultParallelism(1))
		stream.Sequence(env, 1, 1).Discard()
		if err := env.Execute(b.Context(), "trivial"); err != nil {
			b.Fatal(err)
		}
	}
}

// A function that does not return when its task is canceled is given up after
// task.cancellation.timeout, and the job ends nevertheless.
func TestAHungTaskIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		enough := errors.New("enough")
		release := make(chan struct{})
		defer close(release) // what was left behind ends with the test
		env := stream.NewEnv(stream.Logger(slog.New(slog.DiscardHandler)))
		stream.Sequence(env, 1, 1).ForEach(func(int64) error {
			cancel(enough)
			<-release
			return nil
		})
		began := time.Now()
		if err := env.Execute(ctx, "hangs"); !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != config.TaskCancellationTimeout.Default+5*time.Second {
			t.Errorf("given up after %s", took)
		}
	})
}

// pausing is a log that holds up the cluster's loop for ten minutes when its worker is
// ready: so the whole program stands still in a debugger, or when it is stopped and let go
// on from a terminal.
type pausing struct{ slog.Handler }

func (p pausing) Enabled(context.Context, slog.Level) bool { return true }
func (p pausing) WithAttrs([]slog.Attr) slog.Handler       { return p }

func (p pausing) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "worker ready" {
		time.Sleep(10 * time.Minute)
	}
	return nil
}

func TestAProgramThatStoodStillGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := stream.NewEnv(stream.DefaultParallelism(2), stream.Logger(slog.New(pausing{slog.DiscardHandler})))
		got := stream.Sequence(env, 1, 100).Rebalance().Collect()
		began := time.Now()
		if err := env.Execute(t.Context(), "stops"); err != nil || len(got.Values()) != 100 {
			t.Errorf("got %d values, error %v", len(got.Values()), err)
		}
		if time.Since(began) < 10*time.Minute {
			t.Error("it has not stood still")
		}
	})
}

func TestTooFewSlotsAreRefused(t *testing.T) {
	env := &streamgraph.Compiled{Graph: &jobgraph.Graph{Name: "wide", Vertices: []*jobgraph.Vertex{
		{SlotSharingGroup: "a", Parallelism: 3}, {SlotSharingGroup: "b", Parallelism: 2}, {SlotSharingGroup: "a", Parallelism: 4},
	}}}
	err := embedded.Run(t.Context(), embedded.Options{Compiled: env, Slots: 5})
	if err == nil || !strings.Contains(err.Error(), "needs 6 slots, the embedded cluster has 5") {
		t.Errorf("got %v", err)
	}
}
