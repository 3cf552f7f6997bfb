// Package process takes the figures of the process it runs in: memory,
// goroutines, garbage collection, processor time, open files.
//
// It promises that asking for the figures costs a load from memory, since a
// goroutine of its own takes them once a second, and that what the system does
// not tell stays zero, which means unknown. It never stops the world.
package process

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/internal/status"
)

// interval lies between two samples.
const interval = time.Second

// A Sampler takes the figures of its process until it is closed.
type Sampler struct {
	latest atomic.Pointer[status.ProcessFigures]
	stop   chan struct{}
	ended  sync.WaitGroup
}

// Start begins to take figures. The first ones are there when it returns.
func Start() *Sampler {
	s := &Sampler{stop: make(chan struct{})}
	t := newTaker(time.Now())
	s.latest.Store(t.take(time.Now()))
	s.ended.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-s.stop:
				return
			case now := <-ticker.C:
				s.latest.Store(t.take(now))
			}
		}
	})
	return s
}

// Latest are the newest figures; never to be written. From any goroutine.
func (s *Sampler) Latest() *status.ProcessFigures { return s.latest.Load() }

// Close ends the sampler; the last figures stay.
func (s *Sampler) Close() {
	close(s.stop)
	s.ended.Wait()
}

// The figures of the Go runtime, by their place in taker.samples.
const (
	heapObjects = iota
	heapUnused
	heapFree
	heapStacks
	metaCacheUsed
	metaCacheFree
	metaSpanUsed
	metaSpanFree
	metaOther
	other
	profiling
	osStacks
	cycles
	collecting
	collectingIdle
	goroutines
	threads
)

var names = []string{
	heapObjects: "/memory/classes/heap/objects:bytes", heapUnused: "/memory/classes/heap/unused:bytes",
	heapFree: "/memory/classes/heap/free:bytes", heapStacks: "/memory/classes/heap/stacks:bytes",
	metaCacheUsed: "/memory/classes/metadata/mcache/inuse:bytes", metaCacheFree: "/memory/classes/metadata/mcache/free:bytes",
	metaSpanUsed: "/memory/classes/metadata/mspan/inuse:bytes", metaSpanFree: "/memory/classes/metadata/mspan/free:bytes",
	metaOther: "/memory/classes/metadata/other:bytes", other: "/memory/classes/other:bytes",
	profiling: "/memory/classes/profiling/buckets:bytes", osStacks: "/memory/classes/os-stacks:bytes",
	cycles: "/gc/cycles/total:gc-cycles", collecting: "/cpu/classes/gc/total:cpu-seconds", collectingIdle: "/cpu/classes/gc/mark/idle:cpu-seconds",
	goroutines: "/sched/goroutines:goroutines", threads: "/sched/threads/total:threads",
}

// taker takes figures one after the other. It belongs to one goroutine.
type taker struct {
	samples []metrics.Sample
	rates   *rates
}

func newTaker(now time.Time) *taker {
	t := &taker{samples: make([]metrics.Sample, len(names)), rates: newRates(now)}
	for i, name := range names {
		t.samples[i].Name = name
	}
	return t
}

// take reads the runtime and the system.
func (t *taker) take(now time.Time) *status.ProcessFigures {
	metrics.Read(t.samples)
	sum := func(places ...int) (n int64) {
		for _, i := range places {
			if t.samples[i].Value.Kind() == metrics.KindUint64 {
				n += int64(t.samples[i].Value.Uint64())
			}
		}
		return n
	}
	seconds := func(i int) float64 {
		if t.samples[i].Value.Kind() == metrics.KindFloat64 {
			return t.samples[i].Value.Float64()
		}
		return 0
	}
	f := &status.ProcessFigures{
		HeapUsed: sum(heapObjects), HeapCommitted: sum(heapObjects, heapUnused, heapFree),
		NonHeapUsed:      sum(heapStacks, metaCacheUsed, metaSpanUsed, metaOther, other, profiling, osStacks),
		NonHeapCommitted: sum(heapStacks, metaCacheUsed, metaCacheFree, metaSpanUsed, metaSpanFree, metaOther, other, profiling, osStacks),
		Goroutines:       sum(goroutines), Threads: sum(threads), Collections: sum(cycles),
	}
	// What the collector does on processors that have nothing else to do costs
	// nobody anything.
	busy := max(0, seconds(collecting)-seconds(collectingIdle))
	f.CollectionTime = time.Duration(busy / float64(runtime.GOMAXPROCS(0)) * float64(time.Second))
	ask(f)
	t.rates.read(now, f)
	return f
}
