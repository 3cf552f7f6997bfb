package bench

import (
	"strconv"
	"testing"

	"github.com/weirstream/weir/stream"
)

// pair is the record of the chained and the keyed job; it has the size of the
// tuples that the same jobs use in the peer's harness.
type pair struct{ Key, Value int64 }

// event is the record of the jobs with string keys.
type event struct {
	Name  string
	Value int64
	Seq   int64
}

// names are the string keys.
var names = func() []string {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = "sensor-" + strconv.Itoa(10_000+i)
	}
	return names
}()

// mix spreads consecutive numbers evenly: the first half of MurmurHash3's
// finalizer, as in the peer's harness.
func mix(x int64) int64 {
	h := uint64(x)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return int64(h &^ (1 << 63))
}

func toEvent(x int64) event {
	h := mix(x)
	return event{Name: names[uint64(h)%uint64(len(names))], Value: h & 1023, Seq: x}
}

// environment is an embedded cluster of one parallelism.
func environment(parallelism int, mode stream.RuntimeMode) *stream.Env {
	return stream.NewEnv(stream.DefaultParallelism(parallelism), stream.Mode(mode))
}

func execute(b *testing.B, e *stream.Env) {
	b.Helper()
	if err := e.Execute(b.Context(), b.Name()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChain is sequence → map → filter (7 of 8 pass) → map → discard, in one
// chain without an exchange.
func BenchmarkChain(b *testing.B) {
	measure(b, func(n int64) {
		e := environment(1, stream.Streaming)
		stream.Sequence(e, 0, n-1).
			Map(func(x int64) pair { return pair{x, x * 7} }).
			Filter(func(p pair) bool { return p.Key&7 != 0 }).
			Map(func(p pair) pair { return pair{p.Key, p.Value + 1} }).
			Discard()
		execute(b, e)
	})
}

// BenchmarkFused is source → map → filter → keyBy → count over 10,000 string keys
// in one chain: in batch mode the count runs before the exchange, which carries
// one record a key at the end.
func BenchmarkFused(b *testing.B) { measure(b, func(n int64) { countNames(b, n, 1, stream.Batch) }) }

// BenchmarkLocalShuffle is the same in streaming mode: every record crosses the
// exchange by reference and every record has a result.
func BenchmarkLocalShuffle(b *testing.B) {
	measure(b, func(n int64) { countNames(b, n, 2, stream.Streaming) })
}

func countNames(b *testing.B, n int64, parallelism int, mode stream.RuntimeMode) {
	e := environment(parallelism, mode)
	stream.Sequence(e, 0, n-1).
		Map(toEvent).
		Filter(func(v event) bool { return v.Value != 0 }).
		KeyBy(func(v event) string { return v.Name }).
		Count().
		Discard()
	execute(b, e)
}

// BenchmarkExtraOperator runs a chain of 4 and a chain of 16 map operators over
// the same records; the difference is what 12 operators cost.
func BenchmarkExtraOperator(b *testing.B) {
	n := int64(b.N) * recordsPerOp
	run := func(maps int) (ns, objects float64) {
		e := environment(1, stream.Streaming)
		s := stream.Sequence(e, 0, n-1).Map(toEvent)
		for range maps {
			s = s.Map(func(v event) event { v.Value++; return v })
		}
		s.Discard()
		allocated, cpu := mallocs(), cpuTime()
		execute(b, e)
		return float64(cpuTime() - cpu), float64(mallocs() - allocated)
	}
	few, fewObjects := run(4)
	many, manyObjects := run(16)
	b.ReportMetric((many-few)/float64(n)/12, "ns/operator")
	b.ReportMetric(max(0, manyObjects-fewObjects)/float64(n)/12, "allocs/operator")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkKeyed is sequence → map → keyBy 1,000,000 keys → reduce → discard with
// parallelism 2: a hash exchange, a state access and a result for each record.
func BenchmarkKeyed(b *testing.B) {
	const keys = 1_000_000
	measure(b, func(n int64) {
		e := environment(2, stream.Streaming)
		stream.Sequence(e, 0, n-1).
			Map(func(x int64) pair { return pair{mix(x) % keys, 1} }).
			KeyBy(func(p pair) int64 { return p.Key }).
			Reduce(func(a, b pair) pair { return pair{a.Key, a.Value + b.Value} }).
			Discard()
		execute(b, e)
	})
}
