package state

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/state/disk"
	"github.com/weirstream/weir/internal/state/pebble"
)

// benchKeyed returns a backend whose clock stands.
func benchKeyed[K comparable](b *testing.B) *Keyed[K] {
	k, err := NewKeyed[K](Options{Operator: "bench", Last: 127, Max: 128, Clock: func() int64 { return 0 }})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

const benchBatch = 1024

// stream returns all keys in random order, more than once.
func stream[K any](all []K) []K {
	random := rand.New(rand.NewPCG(1, 1))
	keys := make([]K, max(1<<18, 2*len(all))/benchBatch*benchBatch)
	for i := range keys {
		keys[i] = all[random.IntN(len(all))]
	}
	return keys
}

func intKeys(n int) []int64 {
	random := rand.New(rand.NewPCG(2, 2))
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = random.Int64()
	}
	return keys
}

func textKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("account-%011d", i)
	}
	return keys
}

// BenchmarkUpdate adds to the reduction of a key, one key at a time and by batch.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		benchUpdate(b, fmt.Sprintf("int64/keys=%d", n), intKeys(n))
		benchUpdate(b, fmt.Sprintf("string/keys=%d", n), textKeys(n))
	}
}

// perOperation reports the CPU time of the process for each operation.
func perOperation(b *testing.B) (report func()) {
	start := processTime()
	return func() { b.ReportMetric(float64((processTime()-start).Nanoseconds())/float64(b.N), "CPU-ns/op") }
}

func benchUpdate[K comparable](b *testing.B, name string, all []K) {
	k := benchKeyed[K](b)
	sum, err := NewReducing(k.Backend, "sum", func(a, b int64) int64 { return a + b })
	if err != nil {
		b.Fatal(err)
	}
	ones := make([]int64, benchBatch)
	for i := range ones {
		ones[i] = 1
	}
	AddBatch(k, sum, all, make([]int64, len(all)), nil)
	keys := stream(all)
	b.Run(name+"/batch", func(b *testing.B) {
		b.ReportAllocs()
		defer perOperation(b)()
		for n, at := 0, 0; n < b.N; n += benchBatch {
			AddBatch(k, sum, keys[at:at+benchBatch], ones, nil)
			if at += benchBatch; at == len(keys) {
				at = 0
			}
		}
	})
	b.Run(name+"/ready", func(b *testing.B) {
		b.ReportAllocs()
		defer perOperation(b)()
		for n, at := 0, 0; n < b.N; n++ {
			if at%64 == 0 {
				k.Ready(keys[at : at+64])
			}
			k.Use(at % 64)
			sum.Add(1)
			if at++; at == len(keys) {
				at = 0
			}
		}
	})
	b.Run(name+"/single", func(b *testing.B) {
		b.ReportAllocs()
		defer perOperation(b)()
		for n, at := 0, 0; n < b.N; n++ {
			k.SetKey(keys[at], k.Hash(keys[at]))
			sum.Add(1)
			if at++; at == len(keys) {
				at = 0
			}
		}
	})
}

// BenchmarkKinds makes one update of each kind of state, of 100 000 keys.
func BenchmarkKinds(b *testing.B) {
	k := benchKeyed[int64](b)
	ns, _ := NewNamespace[int64](k.Backend)
	inPlace, _ := NewValue[int64](k.Backend, "in place")
	timed, _ := NewValue[int64](k.Backend, "timed", WithTTL(TTL{Duration: time.Hour}))
	encoded, _ := NewValue[string](k.Backend, "encoded")
	list, _ := NewList[int64](k.Backend, "list")
	m, _ := NewMap[int64, int64](k.Backend, "map")
	within, _ := NewReducing(k.Backend, "within", func(a, b int64) int64 { return a + b }, In(ns))
	sliced, _ := NewSliced[int64](k.Backend, "sliced")
	timers, err := NewTimers[int64](k, "timers", ns)
	if err != nil {
		b.Fatal(err)
	}
	keys := stream(intKeys(100_000))
	for name, f := range map[string]func(i int){
		"value":  func(int) { v, _ := inPlace.Get(); inPlace.Set(v + 1) },
		"ttl":    func(int) { v, _ := timed.Get(); timed.Set(v + 1) },
		"string": func(int) { v, _ := encoded.Get(); _ = v; encoded.Set("a value of some bytes") },
		"list":   func(i int) { list.Add(int64(i)) },
		"map":    func(i int) { m.Put(int64(i%3), int64(i)) },
		"within": func(i int) { ns.Set(int64(i % 2)); within.Add(1) },
		"sliced": func(i int) { v, _ := sliced.Ref(int64(i / 1000)); *v++ },
		"timer":  func(i int) { timers.RegisterEventTime(int64(i / 100_000)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			defer perOperation(b)()
			for i := range b.N {
				key := keys[i%len(keys)]
				k.SetKey(key, k.Hash(key))
				f(i)
			}
			for _, slice := range append([]int64(nil), sliced.Slices()...) {
				sliced.Drop(slice)
			}
		})
	}
}

// large returns a backend with about 256 MB of state, and its keys.
func large(b *testing.B) (*Keyed[int64], *Value[[2]int64], []int64) {
	k := benchKeyed[int64](b)
	v, err := NewValue[[2]int64](k.Backend, "v")
	if err != nil {
		b.Fatal(err)
	}
	keys := intKeys(7_000_000)
	UpsertBatch(k, v, keys, func(i int, v *[2]int64, _ bool) { *v = [2]int64{int64(i), 1} })
	return k, v, keys
}

// BenchmarkFreeze freezes some 256 MB while keys spread over all of it are updated,
// and another goroutine writes what was frozen. It reports how long the freeze stops
// the task, and the longest batch until all is written, next to the longest without
// a snapshot, all in CPU time of the task's thread.
func BenchmarkFreeze(b *testing.B) {
	b.Run("int64", func(b *testing.B) {
		k, v, all := large(b)
		benchFreeze(b, k, stream(all), func(keys []int64) {
			UpsertBatch(k, v, keys, func(_ int, v *[2]int64, _ bool) { v[1]++ })
		})
	})
	b.Run("string", func(b *testing.B) {
		k := benchKeyed[string](b)
		v := must(NewValue[string](k.Backend, "v"))
		all := textKeys(2_000_000)
		set := func(keys []string) {
			for _, key := range keys {
				k.SetKey(key, k.Hash(key))
				v.Set("a value of forty bytes or so, and a few more")
			}
		}
		set(all)
		benchFreeze(b, k, stream(all), set)
	})
}

func benchFreeze[K comparable](b *testing.B, k *Keyed[K], keys []K, update func(keys []K)) {
	at := 0
	batch := func() time.Duration {
		start := threadTime()
		update(keys[at : at+benchBatch])
		if at += benchBatch; at == len(keys) {
			at = 0
		}
		return threadTime() - start
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stop, worst, usual, writing time.Duration
	batches := 0
	for b.Loop() {
		for range 300 {
			usual = max(usual, batch())
		}
		start := threadTime()
		snapshot := k.Freeze()
		stop = max(stop, threadTime()-start)
		var done atomic.Bool
		go func() {
			if _, err := snapshot.Write(io.Discard, "file", nil); err != nil {
				b.Error(err)
			}
			done.Store(true)
		}()
		for !done.Load() {
			worst = max(worst, batch())
			batches++
		}
		writing += threadTime() - start
	}
	b.ReportMetric(float64(k.Bytes())/1e6, "MB")
	b.ReportMetric(float64(stop.Microseconds()), "stop-µs")
	b.ReportMetric(float64(worst.Microseconds())/1e3, "worst-ms/batch")
	b.ReportMetric(float64(usual.Microseconds())/1e3, "usual-worst-ms/batch")
	b.ReportMetric(float64(batches)*benchBatch/1e6/writing.Seconds(), "M-updates/CPU-s-meanwhile")
}

// BenchmarkWrite writes and restores 256 MB of integers, and of text.
func BenchmarkWrite(b *testing.B) {
	ints, _, _ := large(b)
	benchWrite(b, "int64", ints, func() *Backend {
		k := benchKeyed[int64](b)
		must(NewValue[[2]int64](k.Backend, "v"))
		return k.Backend
	})
	open := func() (*Keyed[string], *Value[string]) {
		k := benchKeyed[string](b)
		return k, must(NewValue[string](k.Backend, "v"))
	}
	texts, v := open()
	for i, key := range textKeys(1_500_000) {
		texts.SetKey(key, texts.Hash(key))
		v.Set(fmt.Sprintf("a value of forty bytes or so, number %d", i))
	}
	benchWrite(b, "string", texts, func() *Backend { k, _ := open(); return k.Backend })
}

// perCPUSecond reports bytes for each second of CPU time that the process took.
func perCPUSecond(b *testing.B, bytes func() int64) (report func()) {
	start := processTime()
	return func() {
		b.ReportMetric(float64(bytes())*float64(b.N)/1e6/(processTime()-start).Seconds(), "MB/CPU-s")
	}
}

func benchWrite[K comparable](b *testing.B, name string, k *Keyed[K], fresh func() *Backend) {
	b.Run(name+"/write", func(b *testing.B) {
		var bytes int64
		defer perCPUSecond(b, func() int64 { return bytes })()
		for b.Loop() {
			w, err := k.Freeze().Write(io.Discard, "file", nil)
			if err != nil {
				b.Fatal(err)
			}
			bytes = w.Bytes
		}
		b.SetBytes(bytes)
	})
	var file bytes.Buffer
	must(k.Freeze().Write(&file, "file", nil))
	b.Run(name+"/restore", func(b *testing.B) {
		b.SetBytes(int64(file.Len()))
		defer perCPUSecond(b, func() int64 { return int64(file.Len()) })()
		for b.Loop() {
			f := must(OpenFile("file", bytes.NewReader(file.Bytes()), int64(file.Len())))
			to := fresh()
			for _, l := range f.Locations() {
				must(0, to.Restore(f, l))
			}
		}
	})
}

// BenchmarkCollector reports which part of the CPU the garbage collector takes with
// 5 million keys of text and values of text, while records are allocated.
func BenchmarkCollector(b *testing.B) {
	k := benchKeyed[string](b)
	v := must(NewValue[string](k.Backend, "v"))
	keys := textKeys(5_000_000)
	for _, key := range keys {
		k.SetKey(key, k.Hash(key))
		v.Set("a value")
	}
	few := append([]string(nil), keys[:100_000]...)
	for i := range few {
		few[i] = string([]byte(few[i]))
	}
	keys = nil
	runtime.GC()
	start := time.Now()
	runtime.GC()
	cycle := time.Since(start)
	read := func() (gc, total float64) {
		samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
		metrics.Read(samples)
		return samples[0].Value.Float64(), samples[1].Value.Float64() - samples[2].Value.Float64()
	}
	gc, total := read()
	n := 0
	for b.Loop() {
		for range 10_000 {
			key := few[n%len(few)]
			n++
			record := make([]byte, 200)
			k.SetKey(key, k.Hash(key))
			v.Set(text(append(record[:0], "another value"...)))
		}
	}
	runtime.GC()
	gcEnd, totalEnd := read()
	b.ReportMetric((gcEnd-gc)/(totalEnd-total)*100, "%-of-CPU")
	b.ReportMetric(float64(cycle.Microseconds())/1e3, "cycle-ms")
	b.ReportMetric(float64(k.Bytes())/1e6, "MB")
}

// BenchmarkOnDisk reads and writes the value of one key at a time, of half a million of
// 64 bytes, with room in memory for an eighth of them: drawn evenly, and four in five
// from a hundredth of them. It is in CPU time, with that of the disk's own goroutines.
func BenchmarkOnDisk(b *testing.B) {
	const n = 500_000
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%064d", i)
	}
	for name, draw := range map[string]func(r *rand.Rand) int{
		"even": func(r *rand.Rand) int { return r.IntN(n) },
		"skewed": func(r *rand.Rand) int {
			if r.IntN(5) > 0 {
				return r.IntN(n/100) * 100
			}
			return r.IntN(n)
		},
	} {
		b.Run(name, func(b *testing.B) {
			shared := pebble.NewShared(9 << 19)
			o := Options{Operator: "bench", Last: 127, Max: 128, Room: 6 << 20}
			o.Disk = func() (disk.Store, error) { return shared.Open(b.TempDir()+"/state", 3<<19) }
			k := must(NewKeyed[string](o))
			v := must(NewValue[[4]int64](k.Backend, "v"))
			loading := processTime()
			for _, key := range all {
				k.SetKey(key, k.Hash(key))
				v.Set([4]int64{1})
			}
			random := rand.New(rand.NewPCG(1, 1))
			loading = processTime() - loading
			b.ResetTimer()
			report := perOperation(b)
			for range b.N {
				key := all[draw(random)]
				k.SetKey(key, k.Hash(key))
				x, _ := v.Get()
				x[0]++
				v.Set(x)
			}
			report()
			b.ReportMetric(float64(loading)/n, "CPU-ns/new-key")
			b.ReportMetric(float64(k.Bytes())/1e6, "MB-in-memory")
			b.ReportMetric(float64(v.cold.len())/1e6, "M-on-disk")
			must(0, k.Close())
			shared.Close()
		})
	}
}
