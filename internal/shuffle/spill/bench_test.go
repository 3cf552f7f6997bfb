package spill_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
	"github.com/weirstream/weir/internal/shuffle/spill"
)

// order is a record of 100 encoded bytes.
type order struct {
	ID, Customer, Cents, At int64
	Note                    string // 64 bytes, and 4 for where it ends
}

const orderBytes = 100

// processTime is what the process has used of its processors, in seconds.
func processTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkExchange writes 256 MiB of records with one task and reads them with
// one consumer a subpartition, two at a time: encoded, sorted, written, read,
// checked and decoded. GB/cpu-s counts the bytes once.
func BenchmarkExchange(b *testing.B) {
	for _, subs := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("subpartitions=%d", subs), func(b *testing.B) { benchmarkExchange(b, subs) })
	}
}

const exchangeRecords = 256 << 20 / orderBytes

func benchmarkExchange(b *testing.B, subs int) {
	space := scratch.In(b.TempDir())
	store := spill.NewStore(spill.Settings{Space: space, FrameBytes: 32 << 10, ReadBytes: 32 << 20})
	stream := operator.NewStream[order]()
	pool := batch.NewPool[order](64, batch.MaxRows, false)
	note := strings.Repeat("a note of an order, ", 4)[:64]
	var writing, reading float64
	b.SetBytes(exchangeRecords * orderBytes)
	for range b.N {
		registry := local.NewRegistry(local.Settings{Depth: 8, FrameBytes: 32 << 10, Wait: time.Minute})
		before := processTime()
		p, err := store.Create(ident.PartitionID{}, subs, 16<<20, stream.Serializer, nil, nil)
		if err == nil {
			err = registry.Add(p, true)
		}
		if err != nil {
			b.Fatal(err)
		}
		for i, sub := 0, 0; i < exchangeRecords; sub = (sub + 1) % subs {
			r := pool.Get()
			for range min(p.Rows(), exchangeRecords-i) {
				r.Vals = append(r.Vals, order{int64(i), int64(i % 1000), int64(i % 77), int64(i), note})
				i++
			}
			if err := p.Emit(sub, r); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Finish(); err != nil {
			b.Fatal(err)
		}
		middle := processTime()
		readAll(b, registry, subs)
		writing, reading = writing+middle-before, reading+processTime()-middle
		registry.Close()
	}
	store.Close()
	if err := space.Close(); err != nil {
		b.Error(err)
	}
	gigabytes := float64(b.N) * exchangeRecords * orderBytes / 1e9
	b.ReportMetric(gigabytes/writing, "GB/cpu-s-written")
	b.ReportMetric(gigabytes/reading, "GB/cpu-s-read")
	b.ReportMetric(gigabytes/(writing+reading), "GB/cpu-s")
}

// readAll reads every subpartition, two at a time.
func readAll(b *testing.B, registry *local.Registry, subs int) {
	var group sync.WaitGroup
	var next, records atomic.Int64
	for range 2 {
		group.Go(func() {
			for {
				sub := int(next.Add(1) - 1)
				if sub >= subs {
					return
				}
				n, err := read(registry, sub)
				if err != nil {
					b.Error(err)
				}
				records.Add(n)
			}
		})
	}
	group.Wait()
	if records.Load() != exchangeRecords {
		b.Errorf("%d records read, want %d", records.Load(), exchangeRecords)
	}
}

// read is a consumer's task.
func read(registry *local.Registry, sub int) (records int64, err error) {
	woken := make(chan struct{}, 1)
	g := local.NewGate(1, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}, nil)
	defer g.Close()
	g.Connect(0, registry, ident.PartitionID{}, shuffle.One(sub))
	for {
		_, e, ok, err := g.Poll()
		switch {
		case err != nil:
			return records, err
		case !ok:
			<-woken
		case e.Kind == element.EndOfPartition:
			return records, nil
		case e.Kind == element.Data:
			records += int64(e.Batch.Len())
			e.Batch.Release()
		}
	}
}
