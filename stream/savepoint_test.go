package stream_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/stream"
)

// unhurried lets records come as a source would give them: a thousand in ten
// milliseconds.
func unhurried(v int64) int64 {
	if v%100 == 0 {
		time.Sleep(time.Millisecond)
	}
	return v
}

// ledger counts by key, emits each count, and by a timer of event time how many there
// were of each hundred thousand.
type ledger struct {
	n *stream.ValueState[int64]
}

func (f *ledger) Open(c *stream.OpenContext) error {
	f.n = stream.NewValueState[int64](c, "n")
	return nil
}

func (f *ledger) Process(v int64, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := f.n.Value()
	f.n.Update(n + 1)
	emit(fmt.Sprint(c.Key(), ":", n+1))
	c.RegisterEventTimer(time.UnixMilli(v/10_000*10_000 + 10_000))
	return nil
}

func (f *ledger) OnTimer(t stream.Timer, c *stream.KeyedContext[int64], emit func(string)) error {
	emit(fmt.Sprint("timer of ", c.Key(), " at ", t.At.UnixMilli()))
	return nil
}

// tallying is one life of the tally's job.
type tallying struct {
	last        int64 // the numbers are 1 to last
	parallelism int
	options     []stream.Option
	uid         string // of what keeps the state; empty: ledger
	// during is called beside the job, once it runs.
	during func(*embedded.Job)
}

// outcome is what a life has emitted, each line with how often, and how it ended.
func (r tallying) outcome(t *testing.T) (map[string]int, error) {
	t.Helper()
	var wait sync.WaitGroup
	options := append([]stream.Option{quiet, stream.DefaultParallelism(r.parallelism), stream.Mode(stream.Streaming), stream.Restart(stream.NoRestart())}, r.options...)
	if r.during != nil {
		options = append(options, stream.Begun(func(j *embedded.Job) { wait.Go(func() { r.during(j) }) }))
	}
	env := stream.NewEnv(options...)
	got := stream.Sequence(env, 1, r.last).Map(unhurried).
		Watermarks(stream.BoundedOutOfOrderness(time.Minute, func(v int64) time.Time { return time.UnixMilli(v) })).
		KeyBy(func(v int64) int64 { return v % 7 }).
		Process(func() stream.KeyedProcessFunction[int64, int64, string] { return &ledger{} }).UID(cmp.Or(r.uid, "ledger")).
		Collect()
	err := env.Execute(t.Context(), "tally")
	wait.Wait()
	lines := map[string]int{}
	for _, line := range got.Values() {
		lines[line]++
	}
	return lines, err
}

// stopping stops a job by a savepoint some time after it has begun.
func stopping(t *testing.T, after time.Duration, stop checkpoint.Stop, dir string, at *fs.Location) func(*embedded.Job) {
	return func(j *embedded.Job) {
		time.Sleep(after)
		var err error
		if *at, err = j.Savepoint(context.Background(), jobmaster.Savepoint{Target: fs.Location("file:" + dir), Stop: stop}); err != nil {
			t.Errorf("stop the job: %v", err)
		}
	}
}

func from(at fs.Location) []stream.Option {
	return []stream.Option{stream.Setting("execution.state-recovery.path", at.String())}
}

// A job that is stopped by a savepoint and begun again with it, at other
// parallelisms, emits in all its lives what one that is not disturbed emits.
func TestStopAndGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const last = 60_000
		want, err := tallying{last: last, parallelism: 2}.outcome(t)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var at fs.Location
		got := map[string]int{}
		lives := []tallying{
			{last: last, parallelism: 1, during: stopping(t, 150*time.Millisecond, checkpoint.Suspend, dir, &at)},
			{last: last, parallelism: 3, during: stopping(t, 100*time.Millisecond, checkpoint.Suspend, dir, &at)},
			{last: last, parallelism: 2},
		}
		for i, l := range lives {
			if i > 0 {
				l.options = from(at)
			}
			lines, err := l.outcome(t)
			if err != nil {
				t.Fatalf("life %d: %v", i, err)
			}
			if len(lines) == 0 {
				t.Errorf("life %d emitted nothing", i)
			}
			for line, n := range lines {
				got[line] += n
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d lines, want %d; e.g. %s", len(got), len(want), firstDifference(got, want))
		}
	})
}

func firstDifference(got, want map[string]int) string {
	for line, n := range want {
		if got[line] != n {
			return fmt.Sprintf("%q %d times, want %d", line, got[line], n)
		}
	}
	for line, n := range got {
		if want[line] != n {
			return fmt.Sprintf("%q %d times, want %d", line, n, want[line])
		}
	}
	return "none"
}

// A job that is drained fires all its timers before it ends; one that is suspended
// keeps them.
func TestDrain(t *testing.T) {
	for _, stop := range []checkpoint.Stop{checkpoint.Suspend, checkpoint.Drain} {
		synctest.Test(t, func(t *testing.T) {
			var at fs.Location
			lines, err := tallying{last: 1 << 40, parallelism: 2, during: stopping(t, 100*time.Millisecond, stop, t.TempDir(), &at)}.outcome(t)
			timers := 0
			for line := range lines {
				if strings.HasPrefix(line, "timer") {
					timers++
				}
			}
			if err != nil || len(lines) < 100 || (timers > 0) != (stop == checkpoint.Drain) {
				t.Errorf("stop %d: %d lines, %d of timers, %v", stop, len(lines), timers, err)
			}
		})
	}
}

// A savepoint of a job that has no checkpoints does not disturb it, and the job may
// be canceled by it.
func TestSavepointOfARunningJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var first, second fs.Location
		_, err := tallying{last: 1 << 40, parallelism: 2, during: func(j *embedded.Job) {
			stopping(t, 50*time.Millisecond, checkpoint.KeepRunning, dir, &first)(j)
			if id, err := j.Checkpoint(context.Background(), true); err != nil || id != 2 {
				t.Errorf("checkpoint %d, %v", id, err)
			}
			stopping(t, 50*time.Millisecond, checkpoint.Cancel, dir, &second)(j)
		}}.outcome(t)
		if err == nil || !strings.Contains(err.Error(), "ended as CANCELED") {
			t.Errorf("the job: %v", err)
		}
		for _, at := range []fs.Location{first, second} {
			if rest, below := at.Under(fs.Location("file:" + dir)); !below || !strings.HasPrefix(rest, "savepoint-") {
				t.Errorf("savepoint at %s", at)
			}
			var stopped fs.Location
			lines, err := tallying{last: 1 << 40, parallelism: 3, options: from(at), during: stopping(t, 20*time.Millisecond, checkpoint.Suspend, dir, &stopped)}.outcome(t)
			if err != nil || lines["1:1"] > 0 || len(lines) == 0 {
				t.Errorf("from %s: %d lines, with the first one %d times, %v", at, len(lines), lines["1:1"], err)
			}
		}
	})
}

// A savepoint that cannot be written is told so, and the job goes on.
func TestSavepointIntoNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at fs.Location
		_, err := tallying{last: 1 << 40, parallelism: 1, during: func(j *embedded.Job) {
			time.Sleep(20 * time.Millisecond)
			for target, want := range map[fs.Location]string{"file:/proc/nope": "failed to create savepoint directory at file:/proc/nope", "foo://x/y": "foo"} {
				_, err := j.Savepoint(context.Background(), jobmaster.Savepoint{Target: target})
				if e, ok := errors.AsType[*checkpoint.Error](err); !ok || e.Reason != checkpoint.IOProblem || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", target, err)
				}
			}
			stopping(t, 0, checkpoint.Suspend, t.TempDir(), &at)(j)
		}}.outcome(t)
		if err != nil {
			t.Errorf("the job: %v", err)
		}
	})
}

// A program that leaves the maximum parallelism open takes over that of the state;
// one that sets another is refused, and so are more subtasks than there are key
// groups.
func TestMaxParallelismOfASavepoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const last = 30_000
		want, err := tallying{last: last, parallelism: 2}.outcome(t)
		if err != nil {
			t.Fatal(err)
		}
		var at, again fs.Location
		dir := t.TempDir()
		got, err := tallying{last: last, parallelism: 2, options: []stream.Option{stream.DefaultMaxParallelism(6)}, during: stopping(t, 50*time.Millisecond, checkpoint.Suspend, dir, &at)}.outcome(t)
		if err != nil {
			t.Fatal(err)
		}
		for refusal, l := range map[string]tallying{
			"Max parallelism mismatch between checkpoint/savepoint state and new program.":                    {parallelism: 2, options: []stream.Option{stream.DefaultMaxParallelism(4)}},
			"The maximum parallelism (6) of the restored state is lower than the configured parallelism (7).": {parallelism: 7},
		} {
			l.last, l.options = last, append(l.options, from(at)...)
			if lines, err := l.outcome(t); err == nil || !strings.Contains(err.Error(), refusal) || len(lines) > 0 {
				t.Errorf("%d lines, %v, want %s", len(lines), err, refusal)
			}
		}
		for _, l := range []tallying{{parallelism: 3, options: from(at), during: stopping(t, 20*time.Millisecond, checkpoint.Suspend, dir, &again)}, {parallelism: 5}} {
			l.last = last
			if l.options == nil {
				l.options = from(again)
			}
			lines, err := l.outcome(t)
			if err != nil {
				t.Fatal(err)
			}
			for line, n := range lines {
				got[line] += n
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d lines, want %d; e.g. %s", len(got), len(want), firstDifference(got, want))
		}
	})
}

// State whose operator is gone is not dropped unless that is allowed, and a path that
// is none is refused: a job never begins empty.
func TestSavepointsThatDoNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at fs.Location
		if _, err := (tallying{last: 1 << 40, parallelism: 1, during: stopping(t, 20*time.Millisecond, checkpoint.Suspend, t.TempDir(), &at)}).outcome(t); err != nil {
			t.Fatal(err)
		}
		lines, err := tallying{last: 10, parallelism: 1, uid: "other", options: from(at)}.outcome(t)
		if err == nil || !strings.Contains(err.Error(), "because the operator is not available in the new program. If you want to allow to skip this, you can set the --allowNonRestoredState option") || len(lines) > 0 {
			t.Errorf("an operator that is gone: %d lines, %v", len(lines), err)
		}
		allowed := append(from(at), stream.Setting("execution.state-recovery.ignore-unclaimed-state", "true"))
		var again fs.Location // the source reads on, and the counts begin anew
		lines, err = tallying{last: 1 << 40, parallelism: 1, uid: "other", options: allowed, during: stopping(t, 20*time.Millisecond, checkpoint.Suspend, t.TempDir(), &again)}.outcome(t)
		if err != nil || len(lines) == 0 {
			t.Errorf("allowed to be gone: %d lines, %v", len(lines), err)
		}
		none := from("file:/no/such/savepoint")
		if lines, err := (tallying{last: 10, parallelism: 1, options: none}).outcome(t); err == nil || !strings.Contains(err.Error(), "Cannot find checkpoint or savepoint file/directory 'file:/no/such/savepoint' on file system 'file'.") || len(lines) > 0 {
			t.Errorf("no savepoint: %d lines, %v", len(lines), err)
		}
		batch := append(from(at), stream.Mode(stream.Batch))
		if _, err := (tallying{last: 10, parallelism: 1, options: batch}).outcome(t); err == nil || !strings.Contains(err.Error(), "the job is a batch job, which has no state to begin with") {
			t.Errorf("a batch job: %v", err)
		}
	})
}

// A checkpoint that is retained when its job is canceled is something to begin with,
// named by its directory or its metadata.
func TestBeginsWithARetainedCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var unused fs.Location
		options := []stream.Option{stream.CheckpointInterval(20 * time.Millisecond), stream.CheckpointDirectory(dir),
			stream.Setting("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION")}
		if _, err := (tallying{last: 1 << 40, parallelism: 2, options: options, during: stopping(t, 100*time.Millisecond, checkpoint.Cancel, t.TempDir(), &unused)}).outcome(t); err == nil {
			t.Fatal("it was not canceled")
		}
		kept, err := filepath.Glob(filepath.Join(dir, "*", "chk-*", "_metadata"))
		if err != nil || len(kept) != 1 {
			t.Fatalf("kept are %v, %v", kept, err)
		}
		for _, path := range []string{kept[0], filepath.Dir(kept[0])} {
			lines, err := tallying{last: 1 << 40, parallelism: 3, options: from(fs.Location("file:" + path)), during: stopping(t, 20*time.Millisecond, checkpoint.Suspend, t.TempDir(), &unused)}.outcome(t)
			if err != nil || lines["1:1"] > 0 || len(lines) == 0 {
				t.Errorf("from %s: %d lines, with the first one %d times, %v", path, len(lines), lines["1:1"], err)
			}
		}
	})
}

// A source that has read all its input is not read again by a job that begins with
// what was saved later.
func TestFinishedSourcesAreNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at fs.Location
		dir := t.TempDir()
		life := func(parallelism int, options []stream.Option, during func(*embedded.Job)) map[string]int {
			var wait sync.WaitGroup
			env := stream.NewEnv(append(options, quiet, stream.DefaultParallelism(parallelism), stream.Mode(stream.Streaming), stream.Restart(stream.NoRestart()),
				stream.Begun(func(j *embedded.Job) { wait.Go(func() { during(j) }) }))...)
			tag := func(what string) func(int64) string { return func(v int64) string { return fmt.Sprint(what, v) } }
			short := stream.Sequence(env, 1, 100).UID("short").Map(tag("short "))
			long := stream.Sequence(env, 1, 1<<40).UID("long").Map(unhurried).Map(tag("long "))
			got := short.Rebalance().Map(strings.ToUpper).UID("upper").Union(long.Rebalance()).Collect()
			if err := env.Execute(t.Context(), "two sources"); err != nil {
				t.Error(err)
			}
			wait.Wait()
			lines := map[string]int{}
			for _, line := range got.Values() {
				lines[line]++
			}
			return lines
		}
		all := life(2, nil, stopping(t, 50*time.Millisecond, checkpoint.Suspend, dir, &at))
		for _, parallelism := range []int{2, 3} {
			again := life(parallelism, from(at), stopping(t, 30*time.Millisecond, checkpoint.Suspend, dir, &at))
			if len(again) == 0 {
				t.Error("nothing was read")
			}
			for line, n := range again {
				all[line] += n
			}
		}
		for line, n := range all {
			if n != 1 {
				t.Errorf("%q came %d times", line, n)
				break
			}
		}
		if all["SHORT 100"] != 1 || len(all) < 1000 {
			t.Errorf("%d lines", len(all))
		}
	})
}
