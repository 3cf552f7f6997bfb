// Jobs is a program whose results are known beforehand, for runs in which its
// processes are killed, stopped and cut off.
//
//	jobs sums N DIR        sums of 1..N by remainder modulo 64
//	jobs words N DIR GLOB  counts of the words of the files
//	jobs stages N DIR      sums of 1..N by remainder modulo 8, in three stages
//	jobs lines N DIR       the numbers 1..N, each subtask on its own
//	jobs endless           counts that never end
//
// All of them give the same results in streaming and in batch mode. Each source
// emits about a thousand records a second, so that faults meet a job
// at work.
package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

// buckets is how many sums there are.
const buckets = 64

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("jobs: name a job")
	}
	env := stream.NewEnv()
	kind, arguments := os.Args[1], os.Args[2:]
	want := map[string]int{"sums": 2, "words": 3, "stages": 2, "lines": 2, "endless": 0}
	if n, known := want[kind]; !known || len(arguments) != n {
		log.Fatalf("jobs: %s with %d arguments; allowed: sums N DIR, words N DIR GLOB, stages N DIR, lines N DIR, endless", kind, len(arguments))
	}
	if kind == "endless" {
		remainders(stream.Sequence(env, 1, 1<<40).Map(slowly[int64])).Discard()
	} else {
		n, err := strconv.ParseInt(arguments[0], 10, 64)
		if err != nil {
			log.Fatalf("jobs: N: %v", err)
		}
		bounded(env, kind, n, arguments[1:])
	}
	if err := env.Execute(context.Background(), kind); err != nil {
		log.Fatal(err)
	}
}

// remainders adds numbers up by their remainder.
func remainders(in stream.DataStream[int64]) stream.DataStream[stream.Pair[int64, int64]] {
	return in.KeyBy(func(v int64) int64 { return v % buckets }).Sum(func(v int64) int64 { return v })
}

type total = stream.Pair[int64, int64]

func bounded(env *stream.Env, kind string, n int64, arguments []string) {
	dir := arguments[0]
	text := func(p total) string { return fmt.Sprintf("%d %d", p.Key, p.Value) }
	switch kind {
	case "sums":
		last(remainders(stream.Sequence(env, 1, n).Map(slowly[int64]))).WriteText(dir, text)
	case "words":
		counts := stream.ReadText(env, arguments[1]).Map(slowly[string]).
			FlatMap(func(line string) iter.Seq[string] { return slices.Values(strings.Fields(line)) }).
			KeyBy(stream.Self[string]).Count()
		last(counts).WriteText(dir, func(p stream.Pair[string, int64]) string { return fmt.Sprintf("%s %d", p.Key, p.Value) })
	case "stages":
		sums := last(remainders(stream.Sequence(env, 1, n).Map(slowly[int64]).Rebalance().Map(slowly[int64])))
		last(sums.KeyBy(func(p total) int64 { return p.Key % 8 }).Sum(func(p total) int64 { return p.Value })).WriteText(dir, text)
	case "lines":
		stream.Sequence(env, 1, n).Map(slowly[int64]).WriteText(dir, func(v int64) string { return strconv.FormatInt(v, 10) })
	}
}

// last passes on the last result of each key, when all have come: in streaming
// mode there is one for every record.
func last[K cmp.Ordered](in stream.DataStream[stream.Pair[K, int64]]) stream.DataStream[stream.Pair[K, int64]] {
	return in.Process(func() stream.ProcessFunction[stream.Pair[K, int64], stream.Pair[K, int64]] {
		return &keeper[K]{results: map[K]int64{}}
	})
}

type keeper[K cmp.Ordered] struct{ results map[K]int64 }

func (k *keeper[K]) Process(p stream.Pair[K, int64], _ *stream.ProcessContext, _ func(stream.Pair[K, int64])) error {
	k.results[p.Key] = p.Value
	return nil
}

func (k *keeper[K]) Finish(emit func(stream.Pair[K, int64])) error {
	for _, key := range slices.Sorted(maps.Keys(k.results)) {
		emit(stream.Pair[K, int64]{Key: key, Value: k.results[key]})
	}
	return nil
}

// slowly lets about a thousand records a second pass.
func slowly[T any](v T) T {
	time.Sleep(time.Millisecond)
	return v
}
