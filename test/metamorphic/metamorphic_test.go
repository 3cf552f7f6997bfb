package metamorphic

import (
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
)

var (
	programs = flag.Int("programs", 150, "random programs to run")
	seedFlag = flag.Uint64("seed", 0, "run the program of this seed only")
)

// setting is one way to run a program.
type setting struct {
	parallelism int
	unchained   bool
	buffer      time.Duration // -1: none, records wait until a batch is full
	// Of checkpoints; interval 0: none are taken, and nothing fails.
	interval time.Duration
	files    bool
	settings map[string]string
	segment  int // the size of network buffers, in kb
	failures int
	behind   int // failures come behind so many steps
}

func (s setting) String() string {
	return fmt.Sprintf("parallelism %d, unchained %t, buffers for %s, checkpoints every %s in files %t with %v, buffers of %d kb, %d failures behind step %d",
		s.parallelism, s.unchained, s.buffer, s.interval, s.files, s.settings, s.segment, s.failures, s.behind)
}

// kindsOfCheckpoint are the settings that a job can take checkpoints with.
var kindsOfCheckpoint = []map[string]string{
	{},
	{"execution.checkpointing.max-concurrent-checkpoints": "3"},
	{"execution.checkpointing.num-retained": "3"},
	{"execution.checkpointing.incremental": "true"},
	{"execution.checkpointing.incremental": "true", "execution.checkpointing.data-inline-threshold": "300"},
	{"execution.checkpointing.unaligned.enabled": "true"},
	{"execution.checkpointing.unaligned.enabled": "true", "execution.checkpointing.data-inline-threshold": "0"},
	{"execution.checkpointing.unaligned.enabled": "true", "execution.checkpointing.aligned-checkpoint-timeout": "5 ms"},
	{"state.backend.type": "rocksdb"},
	{"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true", "execution.checkpointing.unaligned.enabled": "true"},
}

// plainly is how a program is run to know what it writes.
var plainly = setting{parallelism: 1, segment: 32}

func newSetting(r *rand.Rand, steps int) setting {
	return setting{
		parallelism: 1 + r.IntN(4), unchained: r.IntN(3) == 0, buffer: []time.Duration{-1, 0, 5 * time.Millisecond}[r.IntN(3)],
		interval: time.Duration(10+r.IntN(40)) * time.Millisecond, files: r.IntN(2) == 0,
		settings: kindsOfCheckpoint[r.IntN(len(kindsOfCheckpoint))], segment: []int{4, 16, 32}[r.IntN(3)], failures: r.IntN(3), behind: r.IntN(steps + 1),
	}
}

// TestPrograms runs random programs in several ways.
func TestPrograms(t *testing.T) {
	first, last := uint64(1), uint64(*programs)
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	runs, failed := 0, 0
	for seed := first; seed <= last; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		p := newProgram(r)
		want, _ := run(t, p, plainly)
		for range 4 {
			how := newSetting(r, len(p.steps))
			got, met := run(t, p, how)
			runs, failed = runs+1, failed+met
			if what := difference(got, want); what != "" {
				t.Errorf("-seed %d: %s\nrun with %s:\n%s", seed, p, how, what)
			}
		}
	}
	fmt.Printf("metamorphic: %d programs in %d ways, %d failures on the way, the same records each time\n", last-first+1, runs, failed)
	if failed == 0 && last > first {
		t.Error("nothing has failed")
	}
}

// run runs a program and gives what it has written, sorted, and how often it
// failed.
func run(t *testing.T, p *program, how setting) (lines []string, failed int) {
	t.Helper()
	dir := t.TempDir()
	f := &failures{every: max(1, p.records/3)}
	f.left.Store(int64(how.failures))
	synctest.Test(t, func(t *testing.T) {
		env := stream.NewEnv(how.options(t, filepath.Join(dir, "checkpoints"))...)
		p.build(env, f, how.behind).
			WriteText(filepath.Join(dir, "out"), func(v item) string { return fmt.Sprint(v.Key, v.Val) })
		if err := env.Execute(t.Context(), "random"); err != nil {
			t.Fatalf("%s\nrun with %s: %v", p, how, err)
		}
	})
	return written(t, filepath.Join(dir, "out")), how.failures - int(max(0, f.left.Load()))
}

// slowly lets a thousand records a second pass, of virtual time.
func slowly(v int64) int64 {
	time.Sleep(time.Millisecond)
	return v
}

func (s setting) options(t *testing.T, checkpoints string) []stream.Option {
	text := []string{fmt.Sprintf(`"taskmanager.memory.segment-size": "%d kb"`, s.segment)}
	for key, value := range s.settings {
		text = append(text, fmt.Sprintf("%q: %q", key, value))
	}
	t.Setenv(assignment.SettingsVariable, "{"+strings.Join(text, ", ")+"}")
	options := []stream.Option{stream.Mode(stream.Streaming), stream.DefaultParallelism(s.parallelism), stream.BufferTimeout(s.buffer),
		stream.Logger(slog.New(slog.DiscardHandler)), stream.Restart(stream.FixedDelayRestart(20, 10*time.Millisecond))}
	if s.unchained {
		options = append(options, stream.DisableOperatorChaining())
	}
	if s.interval > 0 {
		options = append(options, stream.CheckpointInterval(s.interval))
	}
	if s.interval > 0 && s.files {
		options = append(options, stream.CheckpointDirectory(checkpoints))
	}
	return options
}

// written gives the lines of all files below a directory, sorted. None may be
// unfinished.
func written(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			t.Errorf("%s is left over", path)
		}
		text, err := os.ReadFile(path)
		lines = append(lines, strings.Fields(strings.ReplaceAll(string(text), " ", ","))...)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// difference names the first line at which two sorted lists differ; empty: they do
// not.
func difference(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	at := func(lines []string) string {
		if i < len(lines) {
			return lines[i]
		}
		return "nothing"
	}
	return fmt.Sprintf("%d lines, want %d; line %d is %s, want %s", len(got), len(want), i, at(got), at(want))
}
