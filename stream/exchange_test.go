package stream_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirstream/weir/stream"
)

// exchanges are the ways in which the tasks of a batch job may exchange records,
// and be sized: WEIR_SETTINGS of each.
var exchanges = map[string]string{
	"pipelined":          `{"execution.batch-shuffle-mode":"ALL_EXCHANGES_PIPELINED"}`,
	"blocking, as given": `{"execution.batch.adaptive.auto-parallelism.enabled":"false"}`,
	"sized":              `{}`,
	"sized, small tasks": `{"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task":"100 bytes"}`,
	"sized, at least two": `{"execution.batch.adaptive.auto-parallelism.min-parallelism":"2",
		"execution.batch.adaptive.auto-parallelism.max-parallelism":"9",
		"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task":"300 bytes"}`,
}

// However records are exchanged, and however many tasks that makes, a batch
// program gives what plain Go gives.
func TestExchangesGiveEqualResults(t *testing.T) {
	seeds, first := uint64(12), uint64(1000)
	if *seedFlag != 0 {
		seeds, first = 1, *seedFlag
	}
	for _, name := range slices.Sorted(maps.Keys(exchanges)) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WEIR_SETTINGS", exchanges[name])
			for seed := first; seed < first+seeds; seed++ {
				p := newProgram(rand.New(rand.NewPCG(seed, 1)))
				want, _ := p.plain(true)
				for _, parallelism := range []int{1, 2, 4, 7} {
					how := setting{parallelism: parallelism, unchained: seed%3 == 0, buffer: -1, mode: stream.Batch}
					got := p.run(t, how)
					slices.SortFunc(got, compareItems)
					if !slices.Equal(got, want) {
						t.Fatalf("-seed %d (%v; %+v):\n got %v\nwant %v", seed, p, how, got, want)
					}
				}
			}
		})
	}
}

// widest notes the greatest parallelism with which an operation is opened.
type widest struct{ seen *atomic.Int64 }

func (w widest) Open(o *stream.OpenContext) error {
	w.seen.Store(max(w.seen.Load(), int64(o.Parallelism)))
	return nil
}

func (w widest) Process(v string, _ *stream.ProcessContext, emit func(string)) error {
	emit(v)
	return nil
}

// A source is sized by its files and what reads it by what it has produced: both
// have as many tasks as the volume asks for, and no more than are allowed.
func TestTasksFollowTheVolume(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	const lines, keys = 600_000, 5000
	for i := range lines {
		fmt.Fprintf(&text, "%04d a line of text\n", i%keys)
	}
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, settings string
		source, reader int64
	}{
		{"one task each", `{}`, 1, 1},
		{"three splits, and many tasks behind them", `{"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task":"20 kb"}`, 3, 7},
		{"fewer for the source", `{"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task":"20 kb",
			"execution.batch.adaptive.auto-parallelism.default-source-parallelism":"2"}`, 2, 7},
		{"as given", `{"execution.batch.adaptive.auto-parallelism.enabled":"false"}`, 7, 7},
		{"at least", `{"execution.batch.adaptive.auto-parallelism.min-parallelism":"4"}`, 4, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("WEIR_SETTINGS", test.settings)
			env := stream.NewEnv(quiet, stream.Mode(stream.Batch), stream.DefaultParallelism(7))
			var source, reader atomic.Int64
			see := func(seen *atomic.Int64) func() stream.ProcessFunction[string, string] {
				return func() stream.ProcessFunction[string, string] { return widest{seen} }
			}
			counts := stream.ReadText(env, filepath.Join(dir, "in")).Process(see(&source)).
				KeyBy(func(line string) string { return line[:4] }).Count().
				Map(func(c stream.Pair[string, int64]) string { return fmt.Sprint(c.Key, " ", c.Value) }).
				Process(see(&reader)).Collect()
			execute(t, env)
			if source.Load() != test.source || reader.Load() != test.reader {
				t.Errorf("%d and %d tasks, want %d and %d", source.Load(), reader.Load(), test.source, test.reader)
			}
			got := counts.Values()
			slices.Sort(got)
			if len(got) != keys || got[0] != "0000 120" || got[keys-1] != "4999 120" {
				t.Errorf("%d counts, from %q to %q", len(got), got[0], got[len(got)-1])
			}
		})
	}
}
