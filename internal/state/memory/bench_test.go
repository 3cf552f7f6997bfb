package memory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Each benchmark makes one update (count) an iteration, of a table that is
// already full, with keys in batches of 1024.
const benchBatch = 1024

func benchTable[K comparable](b *testing.B, keys []K, encode func([]byte, *K) []byte) *Table[K, int64] {
	o := whole[K](128)
	o.EncodeKey = encode
	t, err := New[K, int64](o)
	if err != nil {
		b.Fatal(err)
	}
	t.UpsertBatch(keys, func(_ int, v *int64, _ bool) { *v = 1 })
	return t
}

// benchUpdates runs the three ways to update with the keys of stream, of which
// all holds each one once.
func benchUpdates[K comparable](b *testing.B, name string, all, stream []K) {
	table := benchTable(b, all, nil)
	b.Run(name+"/batch", func(b *testing.B) {
		b.ReportAllocs()
		for n, at := 0, 0; n < b.N; n += benchBatch {
			table.UpsertBatch(stream[at:at+benchBatch], func(_ int, v *int64, _ bool) { *v++ })
			if at += benchBatch; at+benchBatch > len(stream) {
				at = 0
			}
		}
	})
	b.Run(name+"/single", func(b *testing.B) {
		b.ReportAllocs()
		for n, at := 0, 0; n < b.N; n++ {
			*upsert(table, stream[at])++
			if at++; at == len(stream) {
				at = 0
			}
		}
	})
	m := make(map[K]*int64, len(all))
	for _, k := range all {
		m[k] = new(int64)
	}
	b.Run(name+"/gomap", func(b *testing.B) {
		for n, at := 0, 0; n < b.N; n++ {
			*m[stream[at]]++
			if at++; at == len(stream) {
				at = 0
			}
		}
	})
}

// uniform returns a stream of the keys in random order, each equally often.
func uniform[K any](random *rand.Rand, all []K) []K {
	stream := make([]K, max(1<<18, 2*len(all)))
	for i := range stream {
		stream[i] = all[random.IntN(len(all))]
	}
	return stream
}

func BenchmarkInt64(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		all := make([]int64, n)
		for i := range all {
			all[i] = random.Int64()
		}
		benchUpdates(b, fmt.Sprintf("keys=%d", n), all, uniform(random, all))
	}
}

// Keys of 19 to 24 bytes.
func BenchmarkString(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10_000, 1_000_000} {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("account-%011d%.*s", i, i%6, "abcde")
		}
		benchUpdates(b, fmt.Sprintf("keys=%d", n), all, fresh(uniform(random, all)))
	}
}

// fresh gives each string memory of its own, as a source or a decoder does.
// Strings that share theirs are equal without a look at their bytes.
func fresh(stream []string) []string {
	var copies slab
	for i, s := range stream {
		stream[i] = copies.clone(s)
	}
	return stream
}

// Words of 2 to 14 letters, 260 000 different ones, the i-th i times rarer than
// the first, as in text.
func BenchmarkWords(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	var all []string
	for len(all) < 260_000 {
		word := make([]byte, 2+random.IntN(7)+random.IntN(7))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		if !seen[string(word)] {
			seen[string(word)] = true
			all = append(all, string(word))
		}
	}
	stream := make([]string, 1<<21)
	for i := range stream {
		stream[i] = all[int(math.Pow(float64(len(all)), random.Float64()))-1]
	}
	benchUpdates(b, "keys=260000", all, fresh(stream))
}

// Building a table of a million keys; the longest batch of 1024 is reported.
func BenchmarkBuild(b *testing.B) {
	const n = 1_000_000
	ints := make([]int64, n)
	strs := make([]string, n)
	for i := range ints {
		ints[i] = int64(i) * 7919
		strs[i] = fmt.Sprintf("account-%011d", i)
	}
	b.Run("int64", func(b *testing.B) { benchBuild(b, ints) })
	b.Run("string", func(b *testing.B) { benchBuild(b, strs) })
}

func benchBuild[K comparable](b *testing.B, keys []K) {
	var worst time.Duration
	bytes := 0
	for range b.N {
		table := benchTable[K](b, nil, nil)
		for at := 0; at+benchBatch <= len(keys); at += benchBatch {
			start := time.Now()
			table.UpsertBatch(keys[at:at+benchBatch], func(_ int, v *int64, _ bool) { *v++ })
			worst = max(worst, time.Since(start))
		}
		bytes = table.Bytes()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
	b.ReportMetric(float64(worst.Microseconds()), "worst-µs/batch")
	b.ReportMetric(float64(bytes)/float64(len(keys)), "B/key")
}
