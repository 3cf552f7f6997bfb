package exec

import (
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// benchRows are batches of a BIGINT key below keys, a short text of it and a DOUBLE.
func benchRows(batches, keys int) []*batch.Columns {
	r := rand.New(rand.NewPCG(1, 2))
	var all []*batch.Columns
	for range batches {
		b := newBatch([]types.Type{bigint, types.String(), types.Of(types.Double)})
		for range batch.MaxRows {
			k := r.IntN(keys)
			batch.Append(b.Cols[0], int64(k))
			b.Cols[1].AppendBytes([]byte{byte(k), byte(k >> 8), 'k', 'e', 'y'})
			batch.Append(b.Cols[2], r.Float64())
		}
		b.N = batch.MaxRows
		all = append(all, b)
	}
	return all
}

// benchmark feeds batches to the inputs of a node's operator, build side first.
func benchmark(b *testing.B, n plan.Node, feeds ...feed) {
	rows := 0
	for _, f := range feeds {
		rows += f.rows.N
	}
	b.ReportAllocs()
	for b.Loop() {
		e := &environment{session: expr.UTC, waits: true}
		factory, err := e.factory(n)
		if err != nil {
			b.Fatal(err)
		}
		c := &operator.Context{Runtime: &host{}, Signal: operator.NewSignal(func() {}), Operator: "Op", Parallelism: 1, MaxParallelism: 128,
			ManagedBytes: 1 << 30, Logger: slog.New(slog.DiscardHandler), Batch: true}
		out := &operator.Receiver[*batch.Columns]{Push: func(*batch.Columns, int64) {}, Watermark: func(int64) {}, Idle: func(bool) {}, Finish: func() {}}
		in := factory.Build(c, out)
		for _, f := range feeds {
			operator.Output[*batch.Columns](operator.Input(in, f.input)).Push(f.rows, batch.NoTimestamp)
		}
		operator.Output[*batch.Columns](operator.Input(in, 0)).Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkAggregate(b *testing.B) {
	schema := schemaOf(bigint, types.String(), types.Of(types.Double))
	double := types.Of(types.Double)
	calls := []plan.AggregateCall{{Function: "COUNT", Filter: -1, Type: bigint},
		{Function: "SUM", Args: []int{2}, ArgTypes: []types.Type{double}, Filter: -1, Type: double}}
	for _, bench := range []struct {
		name string
		by   []int
		keys int
	}{{"int-1k", []int{0}, 1000}, {"int-200k", []int{0}, 200_000}, {"text-1k", []int{1}, 1000}, {"all", nil, 1}} {
		b.Run(bench.name, func(b *testing.B) {
			benchmark(b, aggregateOf(plan.Complete, source(schema), bench.by, calls), feeds(0, benchRows(256, bench.keys))...)
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	schema := schemaOf(bigint, types.String(), types.Of(types.Double))
	for _, bench := range []struct {
		name string
		kind plan.JoinKind
		keys int
	}{{"inner", plan.Inner, 100_000}, {"semi", plan.Semi, 100_000}} {
		b.Run(bench.name, func(b *testing.B) {
			n := &plan.Join{Base: plan.Base{Inputs: []plan.Node{source(schema), source(schema)}, Schema: schema}, Kind: bench.kind, LeftKeys: []int{0}, RightKeys: []int{0}}
			if bench.kind == plan.Inner {
				n.Schema = append(n.Schema[:3:3], schema...)
			}
			benchmark(b, n, append(feeds(1, benchRows(64, bench.keys)), feeds(0, benchRows(256, bench.keys))...)...)
		})
	}
}

func BenchmarkSort(b *testing.B) {
	schema := schemaOf(bigint, types.String(), types.Of(types.Double))
	for _, bench := range []struct {
		name  string
		fetch int64
	}{{"all", -1}, {"top-100", 100}} {
		b.Run(bench.name, func(b *testing.B) {
			n := &plan.Sort{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: schema}, Keys: []plan.SortKey{by(2, true, true), by(0, false, false)}, Fetch: bench.fetch}
			benchmark(b, n, feeds(0, benchRows(256, 1000))...)
		})
	}
}
