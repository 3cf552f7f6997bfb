package stream_test

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/stream"
)

// at says which subtask took a number.
type at struct {
	Subtask int
	Value   int64
}

// locate emits each record with the subtask it has come to.
type locate struct{ subtask int }

func (l *locate) Open(c *stream.OpenContext) error { l.subtask = c.Subtask; return nil }

func (l *locate) Process(v int64, _ *stream.ProcessContext, emit func(at)) error {
	emit(at{l.subtask, v})
	return nil
}

func newLocate() stream.ProcessFunction[int64, at] { return &locate{} }

// spread runs numbers from producers to consumers and gives what each consumer took.
func spread(t *testing.T, producers, consumers int, by func(stream.DataStream[int64]) stream.DataStream[int64]) map[int][]int64 {
	t.Helper()
	env := stream.NewEnv(quiet, stream.DefaultParallelism(producers))
	got := by(stream.Sequence(env, 0, 999)).Process(newLocate).Parallelism(consumers).Collect()
	execute(t, env)
	taken := map[int][]int64{}
	for _, v := range got.Values() {
		taken[v.Subtask] = append(taken[v.Subtask], v.Value)
	}
	for _, vals := range taken {
		slices.Sort(vals)
	}
	return taken
}

func count(taken map[int][]int64) (n int) {
	for _, vals := range taken {
		n += len(vals)
	}
	return n
}

func numbers(from, to int64) (all []int64) {
	for v := from; v <= to; v++ {
		all = append(all, v)
	}
	return all
}

func TestForwardKeepsTheSubtask(t *testing.T) {
	taken := spread(t, 2, 2, stream.DataStream[int64].Forward)
	if !slices.Equal(taken[0], numbers(0, 499)) || !slices.Equal(taken[1], numbers(500, 999)) {
		t.Errorf("taken %v", taken)
	}
}

func TestRebalanceGivesEachItsTurn(t *testing.T) {
	for consumer, vals := range spread(t, 2, 5, stream.DataStream[int64].Rebalance) {
		if len(vals) != 200 {
			t.Errorf("consumer %d took %d of 1000 records, want 200", consumer, len(vals))
		}
	}
}

// With 2 producers and 4 consumers each producer has two consumers of its own.
func TestRescaleKeepsToItsShare(t *testing.T) {
	taken := spread(t, 2, 4, stream.DataStream[int64].Rescale)
	for consumer, vals := range taken {
		low := consumer < 2
		if len(vals) != 250 || (vals[0] < 500) != low || (vals[249] < 500) != low {
			t.Errorf("consumer %d took %d records from %d to %d", consumer, len(vals), vals[0], vals[len(vals)-1])
		}
	}
	if count(taken) != 1000 {
		t.Errorf("taken %d of 1000", count(taken))
	}
	taken = spread(t, 4, 2, stream.DataStream[int64].Rescale)
	if !slices.Equal(taken[0], numbers(0, 499)) || !slices.Equal(taken[1], numbers(500, 999)) {
		t.Errorf("4 to 2: taken %v", taken)
	}
}

func TestShuffleReachesAll(t *testing.T) {
	taken := spread(t, 1, 3, stream.DataStream[int64].Shuffle)
	for consumer := range 3 {
		if n := len(taken[consumer]); n < 250 || n > 420 {
			t.Errorf("consumer %d took %d of 1000 records, want about a third", consumer, n)
		}
	}
	if count(taken) != 1000 {
		t.Errorf("taken %d of 1000", count(taken))
	}
}

func TestBroadcastReachesEverySubtask(t *testing.T) {
	taken := spread(t, 2, 3, stream.DataStream[int64].Broadcast)
	for consumer := range 3 {
		if !slices.Equal(taken[consumer], numbers(0, 999)) {
			t.Errorf("consumer %d took %d records, want all 1000", consumer, len(taken[consumer]))
		}
	}
}

func TestGlobalReachesTheFirstSubtask(t *testing.T) {
	if taken := spread(t, 3, 3, stream.DataStream[int64].Global); !slices.Equal(taken[0], numbers(0, 999)) || len(taken) != 1 {
		t.Errorf("taken %v", taken)
	}
}

func TestPartitionByGoesWhereItSays(t *testing.T) {
	taken := spread(t, 2, 4, func(s stream.DataStream[int64]) stream.DataStream[int64] {
		return s.PartitionBy(func(v int64, n int) int { return int(v) * n / 1000 })
	})
	for consumer := range 4 {
		if from := int64(consumer) * 250; !slices.Equal(taken[consumer], numbers(from, from+249)) {
			t.Errorf("consumer %d took %v", consumer, taken[consumer])
		}
	}
}

// Equal keys meet in one subtask, in the order they were sent.
func TestKeyByKeepsEqualKeysTogetherAndInOrder(t *testing.T) {
	for _, p := range []int{1, 2, 4, 7} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(p))
		got := stream.Sequence(env, 0, 9999).Parallelism(1).
			KeyBy(func(v int64) int64 { return v % 37 }).Process(onKeys[int64](newLocate)).Collect()
		execute(t, env)
		place, last := map[int64]int{}, map[int64]int64{}
		for _, v := range got.Values() {
			key := v.Value % 37
			if where, seen := place[key]; seen && (where != v.Subtask || v.Value <= last[key]) {
				t.Fatalf("parallelism %d: key %d: %d came to subtask %d after %d came to %d", p, key, v.Value, v.Subtask, last[key], where)
			}
			place[key], last[key] = v.Subtask, v.Value
		}
		if len(got.Values()) != 10000 {
			t.Errorf("parallelism %d: %d records of 10000", p, len(got.Values()))
		}
	}
}

// A stream used twice goes both ways; a union of a stream with itself has every
// record twice.
func TestAStreamUsedTwiceGoesBothWays(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(3))
	s := stream.Sequence(env, 1, 100)
	left, right := s.Collect(), s.Rebalance().Collect()
	twice := s.Union(s, s.Map(func(v int64) int64 { return -v })).Collect()
	execute(t, env)
	if len(left.Values()) != 100 || len(right.Values()) != 100 {
		t.Errorf("left %d, right %d, want 100 each", len(left.Values()), len(right.Values()))
	}
	sum := int64(0)
	for _, v := range twice.Values() {
		sum += v
	}
	if len(twice.Values()) != 300 || sum != 5050 {
		t.Errorf("union: %d records with sum %d, want 300 and 5050", len(twice.Values()), sum)
	}
}

// Collect runs in the subtasks of the operation before it, so the records of one
// subtask come in order whatever the default parallelism.
func TestCollectKeepsTheOrderOfASubtask(t *testing.T) {
	vals := numbers(1, 5000)
	for _, p := range []int{1, 4} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(p))
		slice := stream.FromSlice(env, vals).Collect()
		single := stream.Sequence(env, 1, 5000).Global().Map(stream.Self[int64]).Parallelism(1).Collect()
		execute(t, env)
		if !slices.Equal(slice.Values(), vals) {
			t.Errorf("parallelism %d: a slice came out of order", p)
		}
		if got := single.Values(); len(got) != 5000 {
			t.Errorf("parallelism %d: %d records", p, len(got))
		}
	}
}
