package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirstream/weir/bench/jobs"
	"github.com/weirstream/weir/stream"
)

// execute runs a job on an embedded cluster.
func execute(b *testing.B, parallelism int, mode stream.RuntimeMode, build func(e *stream.Env)) {
	b.Helper()
	e := stream.NewEnv(stream.DefaultParallelism(parallelism), stream.Mode(mode))
	build(e)
	if err := e.Execute(b.Context(), b.Name()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChain is jobs.Chain.
func BenchmarkChain(b *testing.B) {
	measure(b, func(n int64) {
		execute(b, 1, stream.Streaming, func(e *stream.Env) { jobs.Chain(e, n) })
	})
}

// BenchmarkFused is jobs.Count in batch mode, in one chain: the count runs before
// the exchange, which carries one record a key at the end.
func BenchmarkFused(b *testing.B) {
	measure(b, func(n int64) {
		execute(b, 1, stream.Batch, func(e *stream.Env) { jobs.Count(e, n) })
	})
}

// BenchmarkLocalShuffle is jobs.Count in streaming mode: every record crosses the
// exchange by reference and has a result.
func BenchmarkLocalShuffle(b *testing.B) {
	measure(b, func(n int64) {
		execute(b, 2, stream.Streaming, func(e *stream.Env) { jobs.Count(e, n) })
	})
}

// BenchmarkExtraOperator runs chains of 4, 8 and 16 map operators over the same
// records; the slope between the first and the last is what an operator costs.
func BenchmarkExtraOperator(b *testing.B) {
	n := int64(b.N) * recordsPerOp
	run := func(maps int) (ns, objects float64) {
		allocated, cpu := mallocs(), cpuTime()
		execute(b, 1, stream.Streaming, func(e *stream.Env) { jobs.Maps(e, n, maps) })
		return float64(cpuTime()-cpu) / float64(n), float64(mallocs()-allocated) / float64(n)
	}
	few, fewObjects := run(4)
	some, _ := run(8)
	many, manyObjects := run(16)
	b.ReportMetric((many-few)/12, "ns/operator")
	b.ReportMetric((some-few)/4, "ns/operator-of-4")
	b.ReportMetric(max(0, manyObjects-fewObjects)/12, "allocs/operator")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkKeyed is jobs.Keyed with 1,000,000 keys and parallelism 2.
func BenchmarkKeyed(b *testing.B) {
	measure(b, func(n int64) {
		execute(b, 2, stream.Streaming, func(e *stream.Env) { jobs.Keyed(e, n, 1_000_000) })
	})
}

// BenchmarkTumbling is jobs.Windows with windows of 10 s of event time.
func BenchmarkTumbling(b *testing.B) { windows(b, stream.Tumbling(10*time.Second)) }

// BenchmarkSliding is jobs.Windows with windows of a minute, one each second.
func BenchmarkSliding(b *testing.B) { windows(b, stream.Sliding(time.Minute, time.Second)) }

// windows runs jobs.Windows with few records to a millisecond of event time, where
// results are most of the work, and with as many as the job window of the genuine Flink
// that Weir is compared with.
func windows(b *testing.B, w stream.Windows) {
	for _, rate := range []int64{1, 100} {
		b.Run(fmt.Sprint("rate=", rate), func(b *testing.B) {
			measure(b, func(n int64) {
				execute(b, 1, stream.Streaming, func(e *stream.Env) { jobs.Windows(e, n, rate, w) })
			})
		})
	}
}
