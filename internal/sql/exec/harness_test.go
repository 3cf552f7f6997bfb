package exec

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// host is the runtime of one operator under test.
type host struct{ closers []func(bool) }

func (h *host) Wake()                                             {}
func (h *host) Mail(func())                                       {}
func (h *host) Ask(ident.OperatorID, []byte, func([]byte, error)) {}
func (h *host) Call(ident.OperatorID, []byte) ([]byte, error)     { return nil, nil }
func (h *host) OnFlush(func())                                    {}
func (h *host) OnClose(f func(failed bool))                       { h.closers = append(h.closers, f) }
func (h *host) Done() <-chan struct{}                             { return nil }
func (h *host) Now() int64                                        { return 0 }
func (h *host) At(int64, func()) (stop func())                    { return func() {} }
func (h *host) Keep(ident.OperatorID, operator.Kept)              {}
func (h *host) Hold(func() bool)                                  {}
func (h *host) CountIn(int)                                       {}
func (h *host) CountOut(int)                                      {}

// feed is a batch for one input of an operator.
type feed struct {
	input int
	rows  *batch.Columns
}

// little is memory that is not enough for any test that asks for it.
const little = 256 << 10

// apply builds the operator of a node, gives it batches, and tells what came out and how
// much managed memory it had (0: plenty).
func apply(t *testing.T, n plan.Node, memory int64, feeds ...feed) (rows []string, err error) {
	t.Helper()
	e := &environment{session: expr.UTC, waits: true}
	factory, err := e.factory(n)
	if err != nil {
		return nil, err
	}
	h := &host{}
	space := scratch.In(t.TempDir())
	var log strings.Builder
	c := &operator.Context{Runtime: h, Signal: operator.NewSignal(func() {}), Operator: "Op", Vertex: "Op", Parallelism: 1, MaxParallelism: 128,
		ManagedBytes: memory, Scratch: space, Logger: slog.New(slog.NewTextHandler(&log, nil)), Batch: true}
	out := &operator.Receiver[*batch.Columns]{
		Push: func(b *batch.Columns, _ int64) {
			for i, col := range b.Cols {
				if col.Len < b.N || col.Layout != batch.LayoutOf(n.Common().Schema[i].Type) && col.Layout != batch.Nothing {
					t.Errorf("column %d has %d values of layout %d; the batch has %d rows, its type is %s", i, col.Len, col.Layout, b.N, n.Common().Schema[i].Type)
				}
			}
			rows = append(rows, texts(n.Common().Schema, b)...)
		},
		Watermark: func(int64) {}, Idle: func(bool) {}, Finish: func() {},
	}
	err = operator.Guard(func() {
		in := factory.Build(c, out)
		for _, f := range feeds {
			operator.Output[*batch.Columns](operator.Input(in, f.input)).Push(f.rows, batch.NoTimestamp)
		}
		operator.Output[*batch.Columns](operator.Input(in, 0)).Finish()
	})
	for _, f := range h.closers {
		f(err != nil)
	}
	if memory == little && err == nil && len(rows) > 0 && !strings.Contains(log.String(), "rows are put on disk") {
		t.Errorf("an operator with %d bytes gave %d rows without a file", memory, len(rows))
	}
	if closing := space.Close(); closing != nil {
		t.Error(closing)
	}
	return rows, err
}

// source stands in for an input with this schema.
func source(schema []types.Field) plan.Node { return &plan.Values{Base: plan.Base{Schema: schema}} }

// chop makes batches of rows, of random sizes and with rows that do not count.
func chop(r *rand.Rand, schema []types.Type, rows [][]any) []*batch.Columns {
	var all []*batch.Columns
	for len(rows) > 0 {
		n := min(len(rows), 1+r.IntN(100))
		b := newBatch(schema)
		if r.IntN(2) == 0 {
			b.Sel = []int32{}
		}
		for _, row := range rows[:n] {
			for b.Sel != nil && r.IntN(3) == 0 { // one that does not count
				for i := range schema {
					appendValue(b.Cols[i], row[i])
				}
				b.N++
			}
			for i, v := range row {
				appendValue(b.Cols[i], v)
			}
			if b.Sel != nil {
				b.Sel = append(b.Sel, int32(b.N))
			}
			b.N++
		}
		all, rows = append(all, b), rows[n:]
	}
	return all
}

func feeds(input int, batches []*batch.Columns) []feed {
	var all []feed
	for _, b := range batches {
		all = append(all, feed{input, b})
	}
	return all
}

// same compares rows that may come in any order.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: got %d rows, want %d; sorted row %d: got %q, want %q", what, len(got), len(want), i, rowAt(got, i), rowAt(want, i))
			return
		}
	}
}

func rowAt(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}

// text writes a value as display does.
func text(v any) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprint(v)
}

func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 9))
}
