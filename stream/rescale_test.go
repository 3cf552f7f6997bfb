package stream_test

import (
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// adaptive lets the parallelism of the jobs of a test follow the slots there are.
func adaptive(t *testing.T, more ...string) {
	settings := map[string]string{"jobmanager.scheduler": "adaptive", "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": "0 ms"}
	for _, s := range more {
		key, value, _ := strings.Cut(s, "=")
		settings[key] = value
	}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(assignment.SettingsVariable, string(text))
}

// rescaler changes the parallelism of a job while it runs.
type rescaler struct {
	t   *testing.T
	job *embedded.Job
}

func (r *rescaler) view() execgraph.View {
	v, err := r.job.View(r.t.Context())
	if err != nil {
		r.t.Error(err)
	}
	return v
}

// require wants each vertex to be so parallel.
func (r *rescaler) require(n int) {
	wish := map[ident.VertexID]execgraph.Bounds{}
	for _, vertex := range r.view().Vertices {
		wish[vertex.ID] = execgraph.Bounds{Lower: 1, Upper: n}
	}
	if err := r.job.Require(r.t.Context(), wish); err != nil {
		r.t.Errorf("require %d: %v", n, err)
	}
}

// until waits for all tasks of the job to run, so many of each vertex; false: it has
// ended before.
func (r *rescaler) until(n int) bool {
	for {
		v := r.view()
		if v.State.Terminal() {
			return false
		}
		there := v.State == status.JobRunning
		for _, vertex := range v.Vertices {
			there = there && len(vertex.Subtasks) == n && vertex.Tasks[status.Running]+vertex.Tasks[status.Finished] == n
		}
		if there {
			return true
		}
		time.Sleep(time.Millisecond)
	}
}

// counting is a job of 60,000 records that counts them by ten keys, and what it
// counted.
func counting(t *testing.T, fails *atomic.Int64, drive func(*rescaler)) (most map[int64]int64, last execgraph.View) {
	return countingWith(t, func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
		return &counter{fails: fails}
	}, drive)
}

func countingWith(t *testing.T, count func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]], drive func(*rescaler)) (most map[int64]int64, last execgraph.View) {
	r := &rescaler{t: t}
	ended := make(chan struct{})
	env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
		stream.Restart(stream.FixedDelayRestart(100, 10*time.Millisecond)),
		stream.Begun(func(job *embedded.Job) {
			r.job = job
			go func() {
				defer close(ended)
				drive(r)
				last = r.view()
			}()
		}))
	counts := stream.Sequence(env, 1, 60_000).Rebalance().KeyBy(func(v int64) int64 { return v % 10 }).
		Process(count).Collect()
	execute(t, env)
	<-ended
	most = map[int64]int64{}
	for _, p := range counts.Values() {
		most[p.Key] = max(most[p.Key], p.Value)
	}
	return most, last
}

func exactly(t *testing.T, most map[int64]int64) {
	t.Helper()
	for k := range int64(10) {
		if most[k] != 6000 {
			t.Errorf("key %d was counted to %d, want 6000", k, most[k])
		}
	}
}

// A job is rescaled while records flow, and counts each of them once.
func TestRescaledWhileItRuns(t *testing.T) {
	adaptive(t)
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		reached := 0
		most, last := counting(t, &fails, func(r *rescaler) {
			r.until(3)
			for _, n := range []int{1, 3, 2, 1, 2, 3} {
				r.require(n)
				if !r.until(n) {
					return
				}
				reached++
				time.Sleep(15 * time.Millisecond)
			}
		})
		exactly(t, most)
		if reached != 6 || last.Adaptive.Rescaled != 6 || len(last.Failures) != 0 {
			t.Errorf("rescaled %d times, %d counted, %d failures", reached, last.Adaptive.Rescaled, len(last.Failures))
		}
		if _, stopped := last.Adaptive.Last.Outage(); !stopped || last.Adaptive.Last.Changes() == "" {
			t.Errorf("the last rescale: %+v", last.Adaptive.Last)
		}
	})
}

// Tasks fail before, while and after a job is rescaled.
func TestFailuresWhileItIsRescaled(t *testing.T) {
	adaptive(t)
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		fails.Store(4)
		most, last := counting(t, &fails, func(r *rescaler) {
			r.until(3)
			for i := range 12 {
				r.require(1 + i%3) // two wishes, one quickly after the other
				r.require(1 + (i+1)%3)
				if !r.until(1 + (i+1)%3) {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
		exactly(t, most)
		if fails.Load() >= 0 || len(last.Failures) == 0 {
			t.Errorf("it failed %d times, %d failures are known", 4-fails.Load(), len(last.Failures))
		}
		t.Logf("%d rescales, %d completed, %d failed, %d ignored, %d failures", last.Adaptive.Rescaled, last.Adaptive.Completed, last.Adaptive.Failed, last.Adaptive.Ignored, len(last.Failures))
	})
}

// What a source has still to read goes with its splits to other subtasks.
func TestFilesAreReadOnceWhileItIsRescaled(t *testing.T) {
	adaptive(t)
	dir := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txt", i)), []byte(strings.Repeat("a\nb\nc\n", 500)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		r, ended := &rescaler{t: t}, make(chan struct{})
		env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
			stream.Begun(func(job *embedded.Job) {
				r.job = job
				go func() {
					defer close(ended)
					r.until(3)
					for _, n := range []int{1, 2, 3, 1, 3} {
						r.require(n)
						if !r.until(n) {
							t.Errorf("the job has ended before it was rescaled to %d", n)
							return
						}
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}))
		counts := stream.ReadText(env, filepath.Join(dir, "*.txt")).KeyBy(stream.Self[string]).
			Process(func() stream.KeyedProcessFunction[string, string, stream.Pair[string, int64]] {
				return &tally{fails: &fails}
			}).Collect()
		execute(t, env)
		<-ended
		most := map[string]int64{}
		for _, p := range counts.Values() {
			most[p.Key] = max(most[p.Key], p.Value)
		}
		for _, k := range []string{"a", "b", "c"} {
			if most[k] != 15_000 {
				t.Errorf("%s was counted to %d, want 15000", k, most[k])
			}
		}
	})
}

// stuck counts, and takes long for it while it is stuck.
type stuck struct {
	counter
	is *atomic.Bool
}

func (s *stuck) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	if s.is.Load() {
		time.Sleep(100 * time.Millisecond)
	}
	return s.counter.Process(v, k, emit)
}

// Checkpoints fail while a rescale waits for one: it is done without, after some, and
// nothing is lost.
func TestCheckpointsFailWhileItIsRescaled(t *testing.T) {
	adaptive(t, "execution.checkpointing.timeout=15 ms", "execution.checkpointing.tolerable-failed-checkpoints=1000")
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Int64
		var is atomic.Bool
		most, last := countingWith(t, func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
			return &stuck{counter{fails: &fails}, &is}
		}, func(r *rescaler) {
			r.until(3)
			time.Sleep(30 * time.Millisecond)
			is.Store(true)
			r.require(1)
			r.until(1)
			is.Store(false)
			time.Sleep(20 * time.Millisecond)
			r.require(3)
			r.until(3)
		})
		exactly(t, most)
		if last.Adaptive.Rescaled != 2 || last.Checkpoints.Counts.Failed < 2 {
			t.Errorf("rescaled %d times, %d checkpoints failed", last.Adaptive.Rescaled, last.Checkpoints.Counts.Failed)
		}
	})
}
