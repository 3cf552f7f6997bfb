package stream_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// consistent keeps the same in several kinds of state, fails now and then, and notices
// when a part of it comes back and another does not.
type consistent struct {
	n     *stream.ValueState[int64]
	text  *stream.ValueState[string]
	seen  *stream.MapState[int64, int64]
	all   *stream.ListState[int64]
	fails *atomic.Int64
	taken int
	look  func()
}

func (c *consistent) Open(o *stream.OpenContext) error {
	c.n = stream.NewValueState[int64](o, "n")
	c.text = stream.NewValueState[string](o, "text")
	c.seen = stream.NewMapState[int64, int64](o, "seen")
	c.all = stream.NewListState[int64](o, "all")
	return nil
}

func (c *consistent) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	n, _ := c.n.Value()
	text, _ := c.text.Value()
	entries := int64(0)
	for uk, uv := range c.seen.All() {
		if uk != entries || uv != -uk {
			return fmt.Errorf("key %d: entry %d of its map is %d, %d", k.Key(), entries, uk, uv)
		}
		entries++
	}
	list := c.all.Get()
	if entries != n || int64(len(list)) != n || n > 0 && (text != fmt.Sprint(n) || list[n-1] != n-1) {
		return fmt.Errorf("key %d: counted %d, %q, with %d entries and %d elements", k.Key(), n, text, entries, len(list))
	}
	if c.taken++; c.taken > 2000 && c.taken%500 == 0 && c.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	if c.taken%200 == 0 {
		c.look()
	}
	c.n.Update(n + 1)
	c.text.Update(fmt.Sprint(n + 1))
	c.seen.Put(n, -n)
	c.all.Add(n)
	if n == 39 {
		c.n.Clear()
		c.text.Clear()
		c.seen.Clear()
		c.all.Clear()
	}
	emit(stream.Pair[int64, int64]{Key: k.Key(), Value: 1})
	return nil
}

// An incremental checkpoint holds what a full one does, through failures, and nothing
// of it is left when the job has finished.
// With some of its pieces in the metadata it is the same.
func TestIncrementalCheckpoints(t *testing.T) {
	for threshold, least := range map[string]int64{"0": 6, "4kb": 1, "1mb": 0} { // order: each stands by itself
		t.Run(threshold, func(t *testing.T) {
			t.Setenv(assignment.SettingsVariable, fmt.Sprintf(`{"execution.checkpointing.data-inline-threshold": %q}`, threshold))
			synctest.Test(t, func(t *testing.T) { incrementalCheckpoints(t, least) })
		})
	}
}

// incrementalCheckpoints wants at least so many files of keyed state at once, of several
// checkpoints; 0: none ever.
func incrementalCheckpoints(t *testing.T, least int64) {
	const last, keys = 60_000, 1000
	dir := t.TempDir()
	var fails atomic.Int64
	fails.Store(4)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.Mode(stream.Streaming), stream.CheckpointInterval(15*time.Millisecond),
		stream.CheckpointDirectory(dir), stream.IncrementalCheckpoints(), stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
	var files atomic.Int64
	look := func() {
		shared, _ := filepath.Glob(filepath.Join(dir, "*", "shared", "*"))
		files.Store(max(files.Load(), int64(len(shared))))
	}
	stream.Sequence(env, 1, last).Map(func(v int64) int64 {
		if v%20 == 0 {
			time.Sleep(time.Millisecond)
		}
		return v
	}).KeyBy(func(v int64) int64 { // a few keys are most of the records
		if v%50 > 0 {
			return v % 20
		}
		return v / 50 % keys
	}).
		Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
			return &consistent{fails: &fails, look: look}
		}).Discard()
	execute(t, env)
	if fails.Load() >= 0 {
		t.Errorf("it failed %d times, want 4", 4-fails.Load())
	}
	if n := files.Load(); n < least || least == 0 && n > 0 {
		t.Errorf("%d files of keyed state were there at once, want %d, of several checkpoints", n, least)
	}
	var left []string
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, path)
		}
		return err
	}); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", slices.Sorted(slices.Values(left)), err)
	}
}
