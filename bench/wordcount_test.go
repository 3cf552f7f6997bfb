package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weirstream/weir/bench/jobs"
	"github.com/weirstream/weir/stream"
)

// BenchmarkWordCount counts the words of Go's own source tree in an embedded
// cluster, as examples/wordcount does, and drops the counts. One op is the whole
// job: finding about 8,000 files and reading about 90 MB.
func BenchmarkWordCount(b *testing.B) {
	out, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatalf("find Go's source tree: %v", err)
	}
	glob := filepath.Join(strings.TrimSpace(string(out)), "src", "**", "*.go")
	for _, parallelism := range []int{1, 2} {
		b.Run(fmt.Sprintf("p=%d", parallelism), func(b *testing.B) {
			var words int64
			runtime.GC()
			cpu := cpuTime()
			for b.Loop() {
				words = countWords(b, parallelism, glob)
			}
			used := (cpuTime() - cpu).Seconds()
			b.ReportMetric(used/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(words)*float64(b.N)/used/1e6, "Mrec/cpu-s")
		})
	}
}

func countWords(b *testing.B, parallelism int, glob string) (words int64) {
	var total *stream.Collected[int64]
	execute(b, parallelism, stream.Automatic, func(e *stream.Env) {
		total = stream.ReadText(e, glob).
			FlatMap(jobs.WordsOf).
			KeyBy(stream.Self[string]).
			Count().
			Map(func(c stream.Pair[string, int64]) int64 { return c.Value }).
			Collect()
	})
	for _, n := range total.Values() {
		words += n
	}
	return words
}
