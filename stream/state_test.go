package stream_test

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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/stream"
)

// keeper uses every kind of state, and timers of event time.
type keeper struct {
	count *stream.ValueState[int64]
	all   *stream.ListState[string]
	seen  *stream.MapState[int64, string]
	sum   *stream.ReducingState[int64]
	mean  *stream.AggregatingState[int64, stream.Moments, float64]
}

func (k *keeper) Open(c *stream.OpenContext) error {
	k.count = stream.NewValueState[int64](c, "count")
	k.all = stream.NewListState[string](c, "all", stream.TTL(time.Hour))
	k.seen = stream.NewMapState[int64, string](c, "seen")
	k.sum = stream.NewReducingState(c, "sum", func(a, b int64) int64 { return a + b })
	k.mean = stream.NewAggregatingState(c, "mean", stream.Mean(func(v int64) int64 { return v }))
	return nil
}

func (k *keeper) Process(v gauge, c *stream.KeyedContext[string], emit func(string)) error {
	n, _ := k.count.Value()
	k.count.Update(n + 1)
	k.all.Add(fmt.Sprint(v.Value))
	k.seen.Put(v.Value, fmt.Sprint("at ", v.At))
	k.sum.Add(v.Value)
	k.mean.Add(v.Value)
	c.RegisterEventTimer(v.time().Truncate(20 * time.Second).Add(20 * time.Second))
	return nil
}

func (k *keeper) OnTimer(t stream.Timer, c *stream.KeyedContext[string], emit func(string)) error {
	n, _ := k.count.Value()
	sum, _ := k.sum.Get()
	mean, _ := k.mean.Get()
	var seen []string
	for v, at := range k.seen.All() {
		seen = append(seen, fmt.Sprint(v, " ", at))
	}
	emit(fmt.Sprintf("%s at %d: %d records, %s, sum %d, mean %.1f, %s", c.Key(), t.At.Unix(), n, strings.Join(k.all.Get(), "+"), sum, mean, strings.Join(seen, ", ")))
	return nil
}

func TestStateAndTimers(t *testing.T) {
	got := windowed(t, gauges, time.Hour, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
		return s.Process(func() stream.KeyedProcessFunction[string, gauge, string] { return &keeper{} })
	})
	slices.Sort(got)
	if len(got) != 4 || got[0] != "a at 20: 6 records, 1+2+4+8+100+16, sum 131, mean 21.8, 1 at 1, 2 at 4, 4 at 12, 8 at 9, 100 at 3, 16 at 33" ||
		!strings.HasPrefix(got[3], "b at 40: 2 records, 10+20, sum 30, mean 15.0") {
		t.Errorf("got %q", got)
	}
}

// A state that cannot be opened is told with its name.
func TestStateNeedsAKey(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
	stream.Sequence(env, 1, 2).Process(func() stream.ProcessFunction[int64, int64] { return &homeless{} }).Discard()
	err := env.Execute(t.Context(), "homeless")
	if err == nil || !strings.Contains(err.Error(), `ValueState "count": keyed state needs a keyed stream`) {
		t.Errorf("got %v", err)
	}
}

type homeless struct{}

func (homeless) Open(c *stream.OpenContext) error {
	stream.NewValueState[int64](c, "count")
	return nil
}

func (homeless) Process(int64, *stream.ProcessContext, func(int64)) error { return nil }

// counter counts records by key, and fails some time after a checkpoint.
type counter struct {
	n     *stream.ValueState[int64]
	fails *atomic.Int64
}

func (c *counter) Open(o *stream.OpenContext) error {
	c.n = stream.NewValueState[int64](o, "n")
	return nil
}

func (c *counter) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	n, _ := c.n.Value()
	c.n.Update(n + 1)
	if n > 0 && n%500 == 0 && k.Key() == 3 && c.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	emit(stream.Pair[int64, int64]{Key: k.Key(), Value: n + 1})
	if v%100 == 0 {
		time.Sleep(time.Millisecond) // records come as a source would give them
	}
	return nil
}

// A job with checkpoints goes on after failures from what it had, and counts each
// record once, in memory and in files.
func TestJobsGoOnFromCheckpoints(t *testing.T) { synctest.Test(t, jobsGoOnFromCheckpoints) }

func jobsGoOnFromCheckpoints(t *testing.T) {
	dir, unaligned := stream.CheckpointDirectory(t.TempDir()), stream.UnalignedCheckpoints(0)
	for _, c := range []struct {
		name    string
		slow    bool // the source is, so that nothing waits: barriers would not get through
		options []stream.Option
	}{
		{"in memory", true, nil},
		{"in files", true, []stream.Option{dir}},
		{"in memory, unaligned", false, []stream.Option{unaligned}},
		{"in files, unaligned", false, []stream.Option{dir, unaligned}},
		{"in files, unaligned after a while", false, []stream.Option{dir, stream.UnalignedCheckpoints(30 * time.Millisecond)}},
		{"in files, unaligned and incremental", false, []stream.Option{dir, unaligned, stream.IncrementalCheckpoints()}},
	} {
		const last, keys = 60_000, 10
		var fails atomic.Int64
		fails.Store(3)
		var log lines
		env := stream.NewEnv(append(c.options, stream.Logger(slog.New(slog.NewTextHandler(&log, nil))), stream.DefaultParallelism(2), stream.Mode(stream.Streaming),
			stream.CheckpointInterval(20*time.Millisecond), stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))...)
		counts := stream.Sequence(env, 1, last).
			Map(func(v int64) int64 {
				if c.slow && v%50 == 0 {
					time.Sleep(time.Millisecond)
				}
				return v
			}).
			KeyBy(func(v int64) int64 { return v % (keys / 2) }).
			Process(func() stream.KeyedProcessFunction[int64, int64, int64] { return &passing{} }).
			KeyBy(func(v int64) int64 { return v % keys }).
			Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
				return &counter{fails: &fails}
			}).
			Collect()
		began := time.Now()
		execute(t, env)
		most := map[int64]int64{}
		for _, p := range counts.Values() {
			most[p.Key] = max(most[p.Key], p.Value)
		}
		for k := range int64(keys) {
			if most[k] != last/keys {
				t.Errorf("%s: key %d was counted to %d, want %d", c.name, k, most[k], last/keys)
			}
		}
		t.Logf("%s: %d results of %d records, %d checkpoints in %s", c.name, len(counts.Values()), last, log.count("checkpoint completed"), time.Since(began))
		if fails.Load() >= 0 || log.count("checkpoint completed") == 0 {
			t.Errorf("%s: it failed %d times, want 3, and completed %d checkpoints, want some", c.name, 3-fails.Load(), log.count("checkpoint completed"))
		}
	}
}

// passing gives what it is given, and counts it.
type passing struct{ n *stream.ValueState[int64] }

func (p *passing) Open(o *stream.OpenContext) error {
	p.n = stream.NewValueState[int64](o, "n")
	return nil
}

func (p *passing) Process(v int64, _ *stream.KeyedContext[int64], emit func(int64)) error {
	n, _ := p.n.Value()
	p.n.Update(n + 1)
	emit(v)
	return nil
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// At least once, no record is lost.
func TestAtLeastOnce(t *testing.T) { synctest.Test(t, atLeastOnce) }

func atLeastOnce(t *testing.T) {
	const last, keys = 60_000, 10
	var fails atomic.Int64
	fails.Store(3)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
		stream.AtLeastOnce(), stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
	counts := stream.Sequence(env, 1, last).KeyBy(func(v int64) int64 { return v % keys }).
		Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
			return &counter{fails: &fails}
		}).Collect()
	execute(t, env)
	most := map[int64]int64{}
	for _, p := range counts.Values() {
		most[p.Key] = max(most[p.Key], p.Value)
	}
	for k := range int64(keys) {
		if most[k] < last/keys {
			t.Errorf("key %d was counted to %d, want at least %d", k, most[k], last/keys)
		}
	}
	if fails.Load() >= 0 {
		t.Errorf("it failed %d times, want 3", 3-fails.Load())
	}
}

// tally counts lines by their text, slowly, and fails now and then.
type tally struct {
	n     *stream.ValueState[int64]
	fails *atomic.Int64
	seen  int
}

func (c *tally) Open(o *stream.OpenContext) error {
	c.n = stream.NewValueState[int64](o, "n")
	return nil
}

func (c *tally) Process(line string, k *stream.KeyedContext[string], emit func(stream.Pair[string, int64])) error {
	if c.seen++; c.seen%100 == 0 {
		time.Sleep(time.Millisecond)
	}
	if c.seen == 8000 && c.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	n, _ := c.n.Value()
	c.n.Update(n + 1)
	emit(stream.Pair[string, int64]{Key: line, Value: n + 1})
	return nil
}

// Files are read once, and keyed aggregates go on, whatever fails on the way.
func TestFilesAreReadOnceFromCheckpoints(t *testing.T) {
	synctest.Test(t, filesAreReadOnceFromCheckpoints)
}

func filesAreReadOnceFromCheckpoints(t *testing.T) {
	dir := t.TempDir()
	const files, lines = 20, 2000
	for i := range files {
		text := strings.Repeat("x\ny\n", lines/2)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var fails atomic.Int64
	fails.Store(2)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
		stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
	all := stream.ReadText(env, dir)
	counted := all.KeyBy(stream.Self[string]).
		Process(func() stream.KeyedProcessFunction[string, string, stream.Pair[string, int64]] {
			return &tally{fails: &fails}
		}).
		Collect()
	aggregated := all.KeyBy(stream.Self[string]).Count().Collect()
	execute(t, env)
	for name, c := range map[string]*stream.Collected[stream.Pair[string, int64]]{"function": counted, "aggregate": aggregated} {
		most := map[string]int64{}
		for _, p := range c.Values() {
			most[p.Key] = max(most[p.Key], p.Value)
		}
		if most["x"] != files*lines/2 || most["y"] != files*lines/2 {
			t.Errorf("%s: counted %v, want %d each", name, most, files*lines/2)
		}
	}
	if fails.Load() >= 0 {
		t.Errorf("it failed %d times, want 2", 2-fails.Load())
	}
}

// last keeps the greatest number that it was given in a field, and puts it aside for
// checkpoints.
type last struct {
	greatest int64
	kept     *stream.OperatorListState[int64]
	fails    *atomic.Int64
	wrong    *atomic.Int64
}

func (l *last) Open(c *stream.OpenContext) error {
	l.kept = stream.NewSplitListState[int64](c, "greatest")
	return nil
}

func (l *last) Restored() error {
	for v := range l.kept.All() {
		l.greatest = v
	}
	return nil
}

func (l *last) Snapshot(int64) error {
	l.kept.Update([]int64{l.greatest})
	return nil
}

func (l *last) Process(p stream.Pair[int64, int64], _ *stream.ProcessContext, _ func(int64)) error {
	if p.Value != l.greatest+1 {
		l.wrong.Add(1)
	}
	if l.greatest = p.Value; l.greatest%7000 == 0 && l.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	return nil
}

// Before a checkpoint an asynchronous operation hands on what has come back, and the
// function behind it in the chain sees that before it puts aside what it has.
func TestSnapshotComesBehindWhatIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails, wrong atomic.Int64
		fails.Store(3)
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming), stream.CheckpointInterval(10*time.Millisecond),
			stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
		stream.Sequence(env, 1, 30_000).
			AsyncOrdered(stream.AsyncCall(func(_ context.Context, v int64) ([]stream.Pair[int64, int64], error) {
				if v%50 == 0 {
					time.Sleep(time.Millisecond)
				}
				return []stream.Pair[int64, int64]{{Value: v}}, nil
			}), stream.AsyncOptions{Capacity: 7}).
			Process(func() stream.ProcessFunction[stream.Pair[int64, int64], int64] {
				return &last{fails: &fails, wrong: &wrong}
			}).
			Discard()
		execute(t, env)
		if n := wrong.Load(); n != 0 {
			t.Errorf("%d numbers did not follow the one before", n)
		}
		if fails.Load() >= 0 {
			t.Errorf("it failed %d times, want 3", 3-fails.Load())
		}
	})
}
