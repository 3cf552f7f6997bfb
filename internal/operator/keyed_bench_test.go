package operator

import (
	"fmt"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// kept is a stage whose operators keep state.
type kept struct{ *stage }

func (kept) Now() int64                  { return 0 }
func (kept) Keep(ident.OperatorID, Kept) {}

// BenchmarkKeyedProcess counts records by key, one by one in a function, with a
// million keys.
func BenchmarkKeyedProcess(b *testing.B) {
	b.Run("int64", func(b *testing.B) { benchmarkKeyedProcess(b, func(n uint64) int64 { return int64(n) }) })
	b.Run("string", func(b *testing.B) {
		benchmarkKeyedProcess(b, func(n uint64) string { return fmt.Sprintf("customer-%010d", n) })
	})
}

func benchmarkKeyedProcess[K comparable](b *testing.B, key func(uint64) K) {
	const keys = 1 << 20
	all := make([]K, keys)
	for i := range all {
		all[i] = key(uint64(i))
	}
	s := kept{&stage{}}
	c := s.context(nil, 1<<30)
	c.Runtime, c.Batch = s, false
	sum := int64(0)
	out := &Receiver[int64]{Push: func(n, _ int64) { sum += n }}
	in := KeyedProcess(func(k K) K { return k }, func(m *KeyedMoment[K]) (KeyedProcessor[K, K, int64], error) {
		count, err := state.NewValue[int64](m.State.Backend, "count")
		return KeyedProcessor[K, K, int64]{Processor: Processor[K, int64]{Process: func(_ K, emit func(int64)) error {
			n, _ := count.Get()
			count.Set(n + 1)
			emit(n)
			return nil
		}}}, err
	}).Build(c, out).(*Receiver[K])
	push := in.PushBatch
	if push == nil {
		push = func(rows *batch.Rows[K]) { pushEach(in.Push, rows, c.Signal) }
	}
	rows := &batch.Rows[K]{}
	fill := func(from int, at func(i int) uint64) {
		rows.Vals = rows.Vals[:0]
		for i := range batch.MaxRows {
			rows.Vals = append(rows.Vals, all[at(from+i)%keys])
		}
	}
	for i := 0; i < keys; i += batch.MaxRows {
		fill(i, func(i int) uint64 { return uint64(i) })
		push(rows)
	}
	used, records := 0.0, 0
	for b.Loop() {
		fill(records, func(i int) uint64 { return keygroup.HashInt(uint64(i)) })
		before := processTime()
		push(rows)
		used += processTime() - before
		records += len(rows.Vals)
	}
	b.ReportMetric(used*1e9/float64(records), "cpu-ns/record")
	s.close(false)
}
