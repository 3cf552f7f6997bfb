package stream_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/stream"
)

// factor is a broadcast record: numbers of a class are multiplied by it. Zero
// removes the class.
type factor struct {
	Class, Times int64
	Note         []string
}

// scaler multiplies numbers by the factor of their class.
type scaler struct {
	factors *stream.BroadcastState[int64, factor]
}

func (s *scaler) Open(c *stream.OpenContext) error {
	s.factors = stream.NewBroadcastState[int64, factor](c, "factors")
	return nil
}

func (s *scaler) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if f, ok := s.factors.Get(v % 3); ok {
		emit(v * f.Times)
	}
	return nil
}

func (s *scaler) ProcessBroadcast(f factor, c *stream.BroadcastContext, _ func(int64)) error {
	if f.Times == 0 {
		s.factors.Remove(c, f.Class)
	} else {
		s.factors.Put(c, f.Class, f)
	}
	return nil
}

// In batch mode all broadcast records come before the others, in every subtask.
func TestBroadcastComesFirstInBatchMode(t *testing.T) {
	for _, p := range []int{1, 3} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(p), stream.Mode(stream.Batch))
		factors := stream.FromSlice(env, []factor{{1, 10, nil}, {2, 100, nil}, {0, 5, nil}, {2, 1000, nil}, {0, 0, nil}})
		got := stream.Sequence(env, 1, 9).ConnectBroadcast(factors).
			Process(func() stream.BroadcastProcessFunction[int64, factor, int64] { return &scaler{} }).Collect()
		execute(t, env)
		all := got.Values()
		slices.Sort(all)
		if want := []int64{10, 40, 70, 2000, 5000, 8000}; !slices.Equal(all, want) {
			t.Errorf("parallelism %d: got %v, want %v", p, all, want)
		}
	}
}

// census counts numbers by class, and tells all counts when it is asked to by a
// broadcast record.
type census struct {
	n     *stream.ValueState[int64]
	asked *stream.BroadcastState[int64, int64]
}

func (s *census) Open(c *stream.OpenContext) error {
	s.n = stream.NewValueState[int64](c, "n")
	s.asked = stream.NewBroadcastState[int64, int64](c, "asked")
	return nil
}

func (s *census) Process(int64, *stream.KeyedContext[int64], func(string)) error {
	n, _ := s.n.Value()
	s.n.Update(n + 1)
	return nil
}

func (s *census) ProcessBroadcast(id int64, c *stream.KeyedBroadcastContext[int64], emit func(string)) error {
	s.asked.Put(c, id, id)
	return c.EachKey(s.n, func(key int64) error {
		n, _ := s.n.Value()
		emit(fmt.Sprintf("%d: %d in class %d", id, n, key))
		return nil
	})
}

func (s *census) Finish(emit func(string)) error {
	emit(fmt.Sprintf("asked %d times", s.asked.Len()))
	return nil
}

func TestBroadcastReachesEveryKey(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
	numbers := stream.Sequence(env, 1, 10)
	// What is asked comes behind the numbers in one stream, so their order is known.
	asked := stream.NewSideOutput[int64]("asked")
	both := numbers.Process(func() stream.ProcessFunction[int64, int64] { return &asker{to: asked} })
	got := both.KeyBy(func(v int64) int64 { return v % 3 }).ConnectBroadcast(both.SideOutput(asked)).
		Process(func() stream.KeyedBroadcastProcessFunction[int64, int64, int64, string] { return &census{} }).Collect()
	execute(t, env)
	all := got.Values()
	if len(all) == 0 || all[len(all)-1] != "asked 1 times" {
		t.Errorf("got %q", all)
	}
}

// asker asks a question when its input has ended.
type asker struct{ to stream.SideOutput[int64] }

func (a *asker) Process(v int64, c *stream.ProcessContext, emit func(int64)) error {
	emit(v)
	if v == 10 {
		c.SideOutput(a.to, 7)
	}
	return nil
}

// sneak writes broadcast state where it must not.
type sneak struct {
	scaler
	c *stream.BroadcastContext
}

func (s *sneak) Process(v int64, _ *stream.ProcessContext, _ func(int64)) error {
	s.factors.Put(s.c, v, factor{})
	return nil
}

func (s *sneak) ProcessBroadcast(_ factor, c *stream.BroadcastContext, _ func(int64)) error {
	s.c = c
	return nil
}

func TestBroadcastStateIsWrittenOnOneSideOnly(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Batch))
	stream.Sequence(env, 1, 2).ConnectBroadcast(stream.FromSlice(env, []factor{{}})).
		Process(func() stream.BroadcastProcessFunction[int64, factor, int64] { return &sneak{} }).Discard()
	if err := env.Execute(t.Context(), "sneak"); err == nil || !strings.Contains(err.Error(), "a BroadcastState is written when no broadcast record is being processed") {
		t.Errorf("got %v", err)
	}
}

// summing adds numbers up in a field of its own, which is kept in lists of both
// kinds; it fails some time after a checkpoint.
type summing struct {
	sum, since     int64
	subtask        int
	split          *stream.OperatorListState[int64]
	union          *stream.OperatorListState[stream.Pair[int, int64]]
	fails          *atomic.Int64
	factors        *stream.BroadcastState[string, []int64]
	restored       bool
	disagreements  *atomic.Int64
	broadcastsSeen *atomic.Int64
}

func (s *summing) Open(c *stream.OpenContext) error {
	s.subtask = c.Subtask
	s.split = stream.NewSplitListState[int64](c, "sum")
	s.union = stream.NewUnionListState[stream.Pair[int, int64]](c, "sums")
	s.factors = stream.NewBroadcastState[string, []int64](c, "factors")
	return nil
}

func (s *summing) Restored() error {
	for v := range s.split.All() {
		s.sum += v
	}
	for p := range s.union.All() {
		if s.restored = true; p.Key == s.subtask && p.Value != s.sum {
			s.disagreements.Add(1)
		}
	}
	if _, ok := s.factors.Get("f"); s.restored && s.broadcastsSeen.Load() > 0 && !ok {
		s.disagreements.Add(1)
	}
	return nil
}

func (s *summing) Snapshot(int64) error {
	s.split.Update([]int64{s.sum})
	s.union.Update([]stream.Pair[int, int64]{{Key: s.subtask, Value: s.sum}})
	if s.since = 0; s.factors.Len() > 0 {
		s.broadcastsSeen.Add(1)
	}
	return nil
}

func (s *summing) Process(v int64, _ *stream.ProcessContext, _ func(int64)) error {
	if s.since++; v%100 == 0 {
		time.Sleep(time.Millisecond)
	}
	if s.sum += v; s.broadcastsSeen.Load() > 1 && s.since == 150 && s.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	return nil
}

func (s *summing) ProcessBroadcast(v int64, c *stream.BroadcastContext, _ func(int64)) error {
	s.factors.Put(c, "f", []int64{v})
	return nil
}

func (s *summing) Finish(emit func(int64)) error {
	emit(s.sum)
	return nil
}

// Lists and broadcast state are there again after failures, exactly.
func TestOperatorStateGoesOnFromCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const last = 60_000
		var fails, disagreements, seen atomic.Int64
		fails.Store(3)
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
			stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
		sums := stream.Sequence(env, 1, last).ConnectBroadcast(stream.Sequence(env, 5, 5)).
			Process(func() stream.BroadcastProcessFunction[int64, int64, int64] {
				return &summing{fails: &fails, disagreements: &disagreements, broadcastsSeen: &seen}
			}).Collect()
		execute(t, env)
		total := int64(0)
		for _, s := range sums.Values() {
			total += s
		}
		if total != last*(last+1)/2 {
			t.Errorf("the sum is %d, want %d", total, last*(last+1)/2)
		}
		if n := disagreements.Load(); n != 0 {
			t.Errorf("%d states were not what they had been", n)
		}
		if fails.Load() >= 0 {
			t.Errorf("it failed %d times, want 3", 3-fails.Load())
		}
	})
}

// One name is one state, and a type that cannot be encoded is told.
func TestOperatorStateIsChecked(t *testing.T) {
	for _, test := range []struct {
		open func(c *stream.OpenContext)
		want string
	}{
		{func(c *stream.OpenContext) {
			stream.NewSplitListState[int64](c, "x")
			stream.NewBroadcastState[int64, int64](c, "x")
		}, `BroadcastState "x": a state of this name is open already`},
		{func(c *stream.OpenContext) { stream.NewUnionListState[chan int](c, "x") }, `OperatorListState "x": `},
		{func(c *stream.OpenContext) { stream.NewUnionListState[int](c, "") }, "the name is empty"},
		{func(c *stream.OpenContext) { stream.NewBroadcastState[[1]*int, int](c, "x") }, `BroadcastState "x": `},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
		stream.Sequence(env, 1, 2).Process(func() stream.ProcessFunction[int64, int64] { return opening(test.open) }).Discard()
		if err := env.Execute(t.Context(), "states"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// opening is a function that only opens states.
type opening func(c *stream.OpenContext)

func (o opening) Open(c *stream.OpenContext) error {
	o(c)
	return nil
}

func (opening) Process(int64, *stream.ProcessContext, func(int64)) error { return nil }
