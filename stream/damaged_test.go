package stream_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

// saboteur counts records by key. Once, when enough checkpoints are there, it damages
// the newest ones and fails.
type saboteur struct {
	n    *stream.ValueState[int64]
	dir  string
	keep int // how many of the oldest are left as they are
	done *atomic.Bool
}

func (s *saboteur) Open(o *stream.OpenContext) error {
	s.n = stream.NewValueState[int64](o, "n")
	return nil
}

func (s *saboteur) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	n, _ := s.n.Value()
	s.n.Update(n + 1)
	emit(stream.Pair[int64, int64]{Key: k.Key(), Value: n + 1})
	time.Sleep(10 * time.Microsecond)
	if !s.done.Load() && v%1000 == 0 {
		if all := complete(s.dir); len(all) > s.keep {
			s.done.Store(true)
			return errors.Join(damage(all[s.keep:]), errors.New("it was to fail"))
		}
	}
	return nil
}

// complete gives the directories of the checkpoints below dir that have metadata,
// oldest first.
func complete(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "*", "chk-*", "_metadata"))
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	number := func(dir string) (n int) {
		fmt.Sscanf(filepath.Base(dir), "chk-%d", &n)
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return number(a) - number(b) })
	return found
}

// damage changes the middle byte of every file of these checkpoints but the
// metadata, of
// which keyed state has one.
func damage(dirs []string) error {
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name())
			data, err := os.ReadFile(path)
			if err != nil || f.Name() == "_metadata" || len(data) == 0 {
				continue
			}
			data[len(data)/2] ^= 0x40
			if err := os.WriteFile(path, data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// sabotaged runs a job whose checkpoints are damaged but for the oldest keep, and
// gives its log, the counts, and how it ended.
func sabotaged(t *testing.T, retained, keep int) (log string, counts map[int64]int64, err error) {
	t.Setenv(assignment.SettingsVariable, fmt.Sprintf(`{"execution.checkpointing.num-retained": "%d", "execution.checkpointing.data-inline-threshold": "100"}`, retained))
	dir := t.TempDir()
	var text strings.Builder
	var done atomic.Bool
	env := stream.NewEnv(stream.Logger(slog.New(slog.NewTextHandler(&text, nil))), stream.DefaultParallelism(1), stream.Mode(stream.Streaming),
		stream.CheckpointInterval(20*time.Millisecond), stream.CheckpointDirectory(dir),
		stream.Restart(stream.FixedDelayRestart(20, time.Second)))
	collected := stream.Sequence(env, 1, 100_000).
		KeyBy(func(v int64) int64 { return v % 10 }).
		Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
			return &saboteur{dir: dir, keep: keep, done: &done}
		}).
		Collect()
	err = env.Execute(t.Context(), "sabotaged")
	counts = map[int64]int64{}
	for _, p := range collected.Values() {
		counts[p.Key] = max(counts[p.Key], p.Value)
	}
	return text.String(), counts, err
}

// Checkpoints that were damaged are passed over, loudly, for the newest one that
// was not, and every record is counted once.
func TestADamagedCheckpointIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, counts, err := sabotaged(t, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		for k := range int64(10) {
			if counts[k] != 10_000 {
				t.Errorf("key %d was counted to %d, want 10000", k, counts[k])
			}
		}
		if n := strings.Count(log, "a completed checkpoint is damaged"); n == 0 {
			t.Errorf("the log does not tell of it:\n%s", log)
		}
	})
}

// A job whose every checkpoint is damaged ends, names the file and the place in it,
// and does not begin anew.
func TestAJobWithoutAnIntactCheckpointEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := sabotaged(t, 1, 0)
		if err == nil || !strings.Contains(err.Error(), "chk-") || !strings.Contains(err.Error(), "at offset") {
			t.Errorf("got %v, want the file and the place in it", err)
		}
	})
}

// State below execution.checkpointing.data-inline-threshold lies in the metadata of the
// checkpoint: there is no file but that, and a job that fails goes on from it.
func TestSmallStateLiesInTheMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var files, failed atomic.Int64
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
			stream.CheckpointDirectory(dir), stream.Restart(stream.FixedDelayRestart(2, time.Millisecond)))
		collected := stream.Sequence(env, 1, 100_000).
			KeyBy(func(v int64) int64 { return v % 10 }).
			Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
				return &onlooker{dir: dir, files: &files, failed: &failed}
			}).
			Collect()
		execute(t, env)
		counts := map[int64]int64{}
		for _, p := range collected.Values() {
			counts[p.Key] = max(counts[p.Key], p.Value)
		}
		for k := range int64(10) {
			if counts[k] != 10_000 {
				t.Errorf("key %d was counted to %d, want 10000", k, counts[k])
			}
		}
		if failed.Load() != 1 || files.Load() != 0 {
			t.Errorf("it failed %d times, and checkpoints had %d files beside their metadata", failed.Load(), files.Load())
		}
	})
}

// onlooker counts records by key and the files of checkpoints, and fails once when
// some checkpoint is complete.
type onlooker struct {
	n             *stream.ValueState[int64]
	dir           string
	files, failed *atomic.Int64
}

func (o *onlooker) Open(c *stream.OpenContext) error {
	o.n = stream.NewValueState[int64](c, "n")
	return nil
}

func (o *onlooker) Process(v int64, k *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	n, _ := o.n.Value()
	o.n.Update(n + 1)
	emit(stream.Pair[int64, int64]{Key: k.Key(), Value: n + 1})
	time.Sleep(10 * time.Microsecond)
	if v%500 != 0 {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(o.dir, "*", "*", "*"))
	for _, path := range all {
		if filepath.Base(path) != "_metadata" {
			o.files.Add(1)
		}
	}
	if len(complete(o.dir)) > 0 && o.failed.CompareAndSwap(0, 1) {
		return errors.New("it was to fail")
	}
	return nil
}
