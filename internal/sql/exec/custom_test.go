package exec

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/gofunc"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// gathered is an accumulator that grows.
type gathered struct{ All []string }

func gathering(t *testing.T) *expr.Function {
	t.Helper()
	f, err := gofunc.Aggregate("gathered", gofunc.Aggregator[string, gathered, string]{
		Create: func() gathered { return gathered{} },
		Add:    func(acc *gathered, v string) { acc.All = append(acc.All, v) },
		Merge:  func(acc *gathered, other gathered) { acc.All = append(acc.All, other.All...) },
		Result: func(acc *gathered) string { return strings.Join(slices.Sorted(slices.Values(acc.All)), "+") },
	}, gofunc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A user's aggregate gives the same in memory, on disk, and in two phases.
func TestCustomAggregates(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	schema := []types.Field{{Name: "k", Type: types.Of(types.BigInt)}, {Name: "v", Type: types.String()}}
	var rows [][]any
	want := map[int][]string{}
	for range 40_000 {
		k, v := r.IntN(10_000), fmt.Sprint(r.IntN(1000))
		rows = append(rows, []any{k, v})
		want[k] = append(want[k], v)
	}
	var expected []string
	for k, vs := range want {
		slices.Sort(vs)
		expected = append(expected, fmt.Sprintf("%d|%s", k, strings.Join(vs, "+")))
	}
	call := plan.AggregateCall{Function: "gathered", Custom: gathering(t).Aggregate, Args: []int{1}, ArgTypes: []types.Type{types.String()}, Filter: -1, Type: types.String().NotNull()}
	node := func(phase plan.Phase, in plan.Node, keys []int, out []types.Field) *plan.Aggregate {
		return &plan.Aggregate{Base: plan.Base{Inputs: []plan.Node{in}, Schema: out}, Phase: phase, Keys: keys, Calls: []plan.AggregateCall{call}}
	}
	result := []types.Field{schema[0], {Name: "g", Type: call.Type}}
	base := plan.Base{Schema: schema}
	batches := feeds(0, chop(r, base.Types(), rows))
	for _, memory := range []int64{0, little} {
		got, err := apply(t, node(plan.Complete, source(schema), []int{0}, result), memory, batches...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("with %d bytes", memory), got, expected)
	}
	states, err := StateSchema(schema[:1], []plan.AggregateCall{call})
	if err != nil {
		t.Fatal(err)
	}
	if got := states[1].Type.String(); got != "BYTES NOT NULL" {
		t.Errorf("a state is %s", got)
	}
}

// The rows of a table function are handed on as they come.
func TestTableFunctions(t *testing.T) {
	type numbered struct {
		Word string
		N    int64
	}
	f, err := gofunc.Table("words", func(line string) iter.Seq2[numbered, error] {
		return func(yield func(numbered, error) bool) {
			n := int64(0)
			for w := range strings.FieldsSeq(line) {
				if w == "bad" {
					yield(numbered{}, fmt.Errorf("a bad word"))
					return
				}
				if n++; !yield(numbered{w, n}, nil) {
					return
				}
			}
		}
	}, gofunc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schema := []types.Field{{Name: "line", Type: types.String()}}
	call, err := expr.NewRegistry().CallFunction(expr.UTC, f, expr.Text("").At, &expr.Input{T: types.String()})
	if err != nil {
		t.Fatal(err)
	}
	node := func(outer bool) *plan.Unnest {
		out := append(slices.Clone(schema), types.Field{Name: "word", Type: types.String()}, types.Field{Name: "n", Type: types.Of(types.BigInt)})
		return &plan.Unnest{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: out}, Collection: call, Outer: outer}
	}
	many := strings.Repeat("w ", 3*batch.MaxRows)
	lines := func(all ...any) feed {
		b := newBatch([]types.Type{types.String()})
		for _, l := range all {
			appendValue(b.Cols[0], l)
			b.N++
		}
		return feed{0, b}
	}
	got, err := apply(t, node(true), 0, lines("a b", nil, "", many))
	if err != nil || len(got) != 2+1+1+3*batch.MaxRows || !slices.Equal(got[:4], []string{"a b|a|1", "a b|b|2", "NULL|NULL|NULL", "|NULL|NULL"}) {
		t.Errorf("%d rows, the first %q, %v", len(got), got[:min(4, len(got))], err)
	}
	if got, err := apply(t, node(false), 0, lines("a", nil, "")); err != nil || !slices.Equal(got, []string{"a|a|1"}) {
		t.Error(got, err)
	}
	if _, err := apply(t, node(false), 0, lines("a", "bad")); err == nil || !strings.Contains(err.Error(), "function words: a bad word") {
		t.Error(err)
	}
}
