package operator

import (
	"cmp"
	"fmt"
	"log/slog"
	"syscall"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// processTime is what the process has used of its processors, in seconds.
func processTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkAggregate counts 4 million records of a million keys, in memory and
// with less than a tenth of the memory that needs.
func BenchmarkAggregate(b *testing.B) {
	for _, managed := range []int64{1 << 30, 4 << 20} {
		b.Run(fmt.Sprintf("int/managed=%dMiB", managed>>20), func(b *testing.B) {
			benchmarkAggregate(b, managed, func(n uint64) int64 { return int64(n) })
		})
		b.Run(fmt.Sprintf("string/managed=%dMiB", managed>>20), func(b *testing.B) {
			benchmarkAggregate(b, managed, func(n uint64) string { return fmt.Sprintf("customer-%010d", n) })
		})
	}
}

func benchmarkAggregate[K comparable](b *testing.B, managed int64, key func(uint64) K) {
	const records, keys = 4 << 20, 1 << 20
	all := make([]K, keys)
	for i := range all {
		all[i] = key(uint64(i))
	}
	a := Aggregate[K, K, int64, int64]{
		Key: func(k K) K { return k }, Add: func(n *int64, _ bool, _ K) { *n++ },
		Merge: func(n *int64, _ bool, other int64) { *n += other }, Result: func(_ K, n int64) int64 { return n },
	}
	space := scratch.In(b.TempDir())
	rows := &batch.Rows[K]{}
	used := 0.0
	for range b.N {
		s := &stage{}
		c := s.context(space, managed)
		c.Logger = slog.New(slog.DiscardHandler)
		results, sum := 0, int64(0)
		in := Keyed(a).Build(c, &Receiver[int64]{Push: func(n, _ int64) { results, sum = results+1, sum+n }, Finish: func() {}}).(*Receiver[K])
		before := processTime()
		for i := 0; i < records; {
			rows.Vals = rows.Vals[:0]
			for range batch.MaxRows {
				rows.Vals = append(rows.Vals, all[keygroup.HashInt(uint64(i))%keys])
				i++
			}
			in.PushBatch(rows)
		}
		in.Finish()
		used += processTime() - before
		s.close(false)
		if sum != records {
			b.Fatalf("%d records in %d results, want %d", sum, results, records)
		}
	}
	b.ReportMetric(used*1e9/float64(b.N)/records, "cpu-ns/record")
	if err := space.Close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkSorted sorts a million records of about 60 bytes, in memory and with
// a small part of the memory that needs.
func BenchmarkSorted(b *testing.B) {
	for _, managed := range []int64{1 << 30, 8 << 20} {
		b.Run(fmt.Sprintf("managed=%dMiB", managed>>20), func(b *testing.B) {
			const records = 1 << 20
			space := scratch.In(b.TempDir())
			used := 0.0
			for range b.N {
				s := &stage{}
				n := 0
				in := Sorted(func(x, y sale) int { return cmp.Compare(x.Customer, y.Customer) }).Build(s.context(space, managed),
					&Receiver[sale]{Push: func(sale, int64) { n++ }, Watermark: func(int64) {}, Finish: func() {}}).(*Receiver[sale])
				before := processTime()
				for i := range records {
					in.Push(sale{fmt.Sprintf("customer-%030d", keygroup.HashInt(uint64(i))), i}, batch.NoTimestamp)
				}
				in.Finish()
				used += processTime() - before
				if n != records {
					b.Fatalf("%d records, want %d", n, records)
				}
				s.close(false)
			}
			b.ReportMetric(used*1e9/float64(b.N)/records, "cpu-ns/record")
			if err := space.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
