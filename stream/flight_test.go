package stream_test

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// numbered is a record of a key: it is the n-th one, and sum is that of all so far.
type numbered struct{ Key, N, Sum int64 }

// numberer numbers the records of each key.
type numberer struct{ state *stream.ValueState[numbered] }

func (n *numberer) Open(o *stream.OpenContext) error {
	n.state = stream.NewValueState[numbered](o, "number")
	return nil
}

func (n *numberer) Process(v int64, k *stream.KeyedContext[int64], emit func(numbered)) error {
	last, _ := n.state.Value()
	next := numbered{k.Key(), last.N + 1, last.Sum + v}
	n.state.Update(next)
	emit(next)
	return nil
}

// inOrder takes the records of each key in the order of their numbers, slowly, and
// fails when one is missing, comes twice or too early. It fails as well when due says so.
type inOrder struct {
	seen  *stream.ValueState[int64]
	taken int
	due   func() bool
}

func (o *inOrder) Open(c *stream.OpenContext) error {
	o.seen = stream.NewValueState[int64](c, "seen")
	return nil
}

var errDue = errors.New("it was to fail")

func (o *inOrder) Process(v numbered, k *stream.KeyedContext[int64], emit func(numbered)) error {
	n, _ := o.seen.Value()
	if v.N != n+1 {
		return fmt.Errorf("key %d: record %d comes after %d", v.Key, v.N, n)
	}
	o.seen.Update(v.N)
	emit(v)
	if o.taken++; o.taken%10 == 0 {
		time.Sleep(time.Millisecond)
	}
	if o.taken%200 == 0 && o.due() {
		return errDue
	}
	return nil
}

// placed fails when a record has come to another subtask than its partitioner chooses.
type placed struct{ subtask, of int }

func (p *placed) Open(c *stream.OpenContext) error {
	p.subtask, p.of = c.Subtask, c.Parallelism
	return nil
}

func (p *placed) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if chosen := choose(v, p.of); chosen != p.subtask {
		return fmt.Errorf("record %d is in subtask %d of %d, want %d", v, p.subtask, p.of, chosen)
	}
	emit(v)
	return nil
}

func choose(v int64, n int) int { return int(v / 7 % int64(n)) }

// flying is a job whose records are on their way by every kind of exchange that
// barriers overtake on, and whose last task is slow.
type flying struct {
	last, keys int64

	mu   sync.Mutex
	ends map[int64]numbered // by key: the record with the greatest number that came out
}

func (f *flying) build(env *stream.Env, due func() bool) {
	stream.Sequence(env, 1, f.last).UID("source").
		Rebalance().Map(unhurried).UID("spread").
		PartitionBy(choose).Process(func() stream.ProcessFunction[int64, int64] { return &placed{} }).UID("placed").
		KeyBy(func(v int64) int64 { return v % f.keys }).
		Process(func() stream.KeyedProcessFunction[int64, int64, numbered] { return &numberer{} }).UID("numberer").
		KeyBy(func(v numbered) int64 { return v.Key }).
		Process(func() stream.KeyedProcessFunction[int64, numbered, numbered] { return &inOrder{due: due} }).UID("in order").
		Shuffle().Map(func(v numbered) numbered {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.ends[v.Key].N < v.N {
			f.ends[v.Key] = v
		}
		return v
	}).UID("end").Discard()
}

// check compares with what each key must have come to.
func (f *flying) check(t *testing.T) {
	t.Helper()
	want := map[int64]numbered{}
	for v := int64(1); v <= f.last; v++ {
		w := want[v%f.keys]
		want[v%f.keys] = numbered{v % f.keys, w.N + 1, w.Sum + v}
	}
	for key, w := range want {
		if f.ends[key] != w {
			t.Errorf("key %d came to %+v, want %+v", key, f.ends[key], w)
		}
	}
}

// inFlight is how many buffers a checkpoint has with records in flight.
func inFlight(t *testing.T, dir string) (buffers int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "_metadata"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := snapshot.Decode(data, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Operators {
		for _, s := range o.Subtasks {
			for _, all := range [][]snapshot.ChannelState{s.Inputs, s.Outputs} {
				for _, c := range all {
					buffers += len(c.Buffers)
				}
			}
		}
	}
	return buffers
}

// A job under back-pressure, whose source has far more than fits between its tasks, goes on from unaligned checkpoints at one parallelism after
// another: each record counts once, and those of a key stay in order.
func TestRecordsInFlightAreRescaled(t *testing.T) {
	seed := rand.Uint64()
	for i := range 4 {
		t.Run(fmt.Sprintf("seed %d-%d", seed, i), func(t *testing.T) { rescaleInFlight(t, rand.New(rand.NewPCG(seed, uint64(i))), i == 0) })
	}
}

func rescaleInFlight(t *testing.T, r *rand.Rand, usual bool) {
	lives := []int{1, 3, 2}
	if !usual {
		lives = []int{1 + r.IntN(4), 1 + r.IntN(4), 1 + r.IntN(4), 1 + r.IntN(4)}
	}
	settings := map[string]string{
		"execution.checkpointing.unaligned.enabled": "true", "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
		"taskmanager.memory.segment-size": "4 kb", "execution.checkpointing.data-inline-threshold": []string{"0", "20 kb"}[r.IntN(2)],
		"execution.checkpointing.aligned-checkpoint-timeout": []string{"0 ms", "5 ms"}[r.IntN(2)],
	}
	t.Logf("parallelisms %v, %v", lives, settings)
	f := &flying{last: 200_000, keys: 37, ends: map[int64]numbered{}}
	flown, ended := 0, false
	for i := 0; i < len(lives) && !ended; i++ { // it may end before its time
		parallelism := lives[i]
		text, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(assignment.SettingsVariable, string(text))
		dir, want := t.TempDir(), 2+r.IntN(3)
		var first atomic.Int64
		var log strings.Builder
		synctest.Test(t, func(t *testing.T) {
			env := stream.NewEnv(stream.Logger(slog.New(slog.NewTextHandler(&log, nil))), stream.DefaultParallelism(parallelism), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
				stream.CheckpointDirectory(dir), stream.Restart(stream.NoRestart()))
			f.build(env, func() bool { return i < len(lives)-1 && taken(dir, &first) >= want })
			err := env.Execute(t.Context(), "flying")
			if ended = err == nil; !ended && !errors.Is(err, errDue) {
				t.Fatalf("life %d, at parallelism %d: %v\n%s", i, parallelism, err, log.String())
			}
		})
		if t.Failed() {
			return
		}
		if !ended {
			all := complete(dir)
			newest := all[len(all)-1]
			flown += inFlight(t, newest)
			settings["execution.state-recovery.path"] = "file:" + newest
		}
	}
	f.check(t)
	if flown == 0 {
		t.Error("no checkpoint had records in flight")
	}
}

// taken is how many checkpoints of a job, whose first one it notes, have been completed
// below dir, as far as the newest one tells.
func taken(dir string, first *atomic.Int64) int {
	all := complete(dir)
	if len(all) == 0 {
		return 0
	}
	var id int64
	fmt.Sscanf(filepath.Base(all[len(all)-1]), "chk-%d", &id)
	first.CompareAndSwap(0, id)
	return int(id - first.Load() + 1)
}

// A job whose parallelism follows the slots is rescaled from unaligned checkpoints
// while it is under back-pressure.
func TestRescaledWithRecordsInFlight(t *testing.T) {
	adaptive(t, "execution.checkpointing.unaligned.enabled=true", "taskmanager.memory.segment-size=4 kb")
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		reached := 0
		most, last := countingWith(t, func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
			return &slowCounter{counter{fails: &fails}, 0}
		}, func(r *rescaler) {
			r.until(3)
			for _, n := range []int{1, 3, 2} {
				time.Sleep(50 * time.Millisecond)
				r.require(n)
				if !r.until(n) {
					return
				}
				reached++
			}
		})
		exactly(t, most)
		if reached != 3 || last.Adaptive.Rescaled != 3 || len(last.Failures) != 0 {
			t.Errorf("rescaled %d times, %d counted, failures %s", reached, last.Adaptive.Rescaled, failuresOf(last.Failures))
		}
	})
}

// slowCounter is a counter that takes its time.
type slowCounter struct {
	counter
	taken int
}

func (s *slowCounter) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	if s.taken++; s.taken%20 == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.counter.Process(v, k, emit)
}

func failuresOf[F any](all []F) string {
	var texts []string
	for _, f := range all {
		texts = append(texts, fmt.Sprint(f))
	}
	return strings.Join(texts, "; ")
}
