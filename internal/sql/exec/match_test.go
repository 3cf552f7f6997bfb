package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// matchNode finds A+ B in rows of a partition, a time and a value: A rises, as far as
// rising says so, and stays below 90; B is less than A's average where falling says so.
func matchNode(t testing.TB, rising, falling bool, skip pattern.SkipKind) *plan.Match {
	input := []types.Field{{Name: "k", Type: bigint}, {Name: "at", Type: types.TimestampOf(3)}, {Name: "v", Type: bigint}}
	n := &plan.Match{Partition: []int{0}, Order: []plan.SortKey{{Column: 1}, {Column: 2}}, Elements: []pattern.Element{{Min: 1, Max: -1}, pattern.One},
		Variables: []string{"A", "B"}, Skip: pattern.Skip{Kind: skip}}
	n.Inputs = []plan.Node{source(input)}
	sum := plan.AggregateCall{Function: "SUM", Args: []int{0}, ArgTypes: []types.Type{bigint}, Filter: -1, Type: bigint}
	avg := sum
	avg.Function = "AVG"
	v := &expr.Input{Index: 2, Name: "v", T: bigint}
	n.Values = []plan.MatchValue{
		{Elements: []int{0}, Column: 2, Type: bigint},
		{Elements: []int{0}, Column: 2, Offset: 1, Type: bigint},
		{Elements: []int{1}, Column: 2, Type: bigint},
		{Elements: []int{0}, Column: 2, First: true, Type: bigint},
		{Elements: []int{0}, Call: avg, Args: []expr.Expr{v}, Type: bigint},
		{Elements: []int{0, 1}, Call: sum, Args: []expr.Expr{call(t, "+", v, literal(1))}, Type: bigint},
		{Elements: []int{0, 1}, Time: true, Type: types.TimestampOf(3)},
	}
	value := func(i int) expr.Expr { return &expr.Input{Index: i, T: n.Values[i].Type} }
	a, b := call(t, "<", value(0), literal(90)), call(t, ">=", value(2), literal(10))
	if rising {
		a = call(t, "AND", a, call(t, "OR", call(t, "IS NULL", value(1)), call(t, ">=", value(0), value(1))))
	}
	if falling {
		b = call(t, "<", value(2), value(4))
	}
	n.Conditions = []expr.Expr{a, b}
	n.Measures = []expr.Expr{value(3), value(0), value(2), value(5), value(6)}
	n.Schema = schemaOf(bigint, bigint, bigint, bigint, bigint, types.TimestampOf(3))
	return n
}

func call(t testing.TB, name string, args ...expr.Expr) expr.Expr {
	e, err := expr.NewRegistry().Call(expr.UTC, name, ast.Span{}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func literal(v int) expr.Expr {
	return &expr.Literal{T: bigint.NotNull(), Value: &batch.Column{Layout: batch.Int64s, Len: 1, I64: []int64{int64(v)}}, Text: fmt.Sprint(v)}
}

// matchModel finds the same in the rows of one partition, one beginning after the other.
func matchModel(rows [][]any, rising, falling bool, skip pattern.SkipKind) []string {
	var found []string
	for start := 0; start < len(rows); start++ {
		sum, end := 0, start
		value := func(i int) int { return rows[i][2].(int) }
		isA := func(i int) bool {
			return value(i) < 90 && (!rising || i == start || value(i) >= value(i-1))
		}
		for ; end < len(rows) && isA(end); end++ {
			sum += value(end)
		}
		if end == start || end == len(rows) {
			continue
		}
		if n := end - start; falling && value(end) >= sum/n || !falling && value(end) < 10 {
			continue
		}
		found = append(found, fmt.Sprintf("%d|%d|%d|%d|%d|%d", rows[start][0], value(start), value(end-1), value(end), sum+value(end)+end-start+1, rows[end][1]))
		if skip == pattern.PastLastRow {
			start = end
		}
	}
	return found
}

func TestMatchesDoNotDependOnMemoryOrBatches(t *testing.T) {
	r := seeded(t)
	for round := range 8 {
		rising, falling, skip := round&1 > 0, round&2 > 0, pattern.SkipKind(round>>2&1)
		n := matchNode(t, rising, falling, skip)
		var rows [][]any
		var want []string
		for k := range 5 {
			var partition [][]any
			for at := range 800 + r.IntN(400) {
				partition = append(partition, []any{k, at, r.IntN(100)})
			}
			want = append(want, matchModel(partition, rising, falling, skip)...)
			rows = append(rows, partition...)
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, memory := range []int64{0, little} {
			got, err := apply(t, n, memory, feeds(0, chop(r, n.Inputs[0].Common().Types(), rows))...)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("rising %t, falling %t, skip %d, memory %d", rising, falling, skip, memory), got, want)
		}
	}
}

func TestMatchForgetsRows(t *testing.T) {
	n := matchNode(t, true, false, pattern.PastLastRow)
	var rows [][]any
	for i := range 60_000 { // of one partition, more than there is memory for
		v := i % 60
		if v == 0 {
			v = 95 // it is behind the others of the same time, and no A
		}
		rows = append(rows, []any{1, i / 60, v})
	}
	got, err := apply(t, n, little, feeds(0, chop(seeded(t), n.Inputs[0].Common().Types(), rows))...)
	if err != nil || len(got) != 1000 {
		t.Errorf("%d matches, want 1000: %v", len(got), err)
	}
}

func TestMatchThatOutgrowsMemory(t *testing.T) {
	n := matchNode(t, false, false, pattern.PastLastRow)
	var rows [][]any
	for at := range 20_000 {
		rows = append(rows, []any{1, at, 5})
	}
	_, err := apply(t, n, little, feeds(0, chop(seeded(t), n.Inputs[0].Common().Types(), rows))...)
	if err == nil || !strings.Contains(err.Error(), "bound them by WITHIN or by conditions") {
		t.Errorf("a match without an end gives %v", err)
	}
}

func TestMatchConditionsThatFail(t *testing.T) {
	n := matchNode(t, false, false, pattern.PastLastRow)
	n.Conditions[1] = call(t, ">", call(t, "/", literal(10), &expr.Input{Index: 2, T: bigint}), literal(0))
	n.Conditions[0] = call(t, ">", &expr.Input{Index: 0, T: bigint}, literal(5))
	schema := n.Inputs[0].Common().Types()
	got, err := apply(t, n, 0, feed{0, batchOf(schema, []any{1, 1, 0}, []any{1, 2, 7}, []any{1, 3, 5}, []any{1, 4, 0})})
	if err != nil || !slices.Equal(got, []string{"1|7|7|5|14|3"}) {
		t.Errorf("a row that no run asks about: %v, %v", got, err)
	}
	if _, err := apply(t, n, 0, feed{0, batchOf(schema, []any{1, 2, 7}, []any{1, 3, 0})}); err == nil {
		t.Error("a condition that fails does not fail")
	}
}

func BenchmarkMatch(b *testing.B) {
	n := matchNode(b, false, false, pattern.PastLastRow)
	look := matchNode(b, true, false, pattern.PastLastRow)
	r := benchRows(64, 1000)
	var all []feed
	for i, rows := range r {
		in := newBatch(n.Inputs[0].Common().Types())
		for k, v := range rows.Cols[0].I64 {
			batch.Append(in.Cols[0], v)
			in.Cols[1].AppendMoment(int64(i*len(rows.Cols[0].I64)+k), 0)
			batch.Append(in.Cols[2], int64(rows.Cols[2].F64[k]*100))
		}
		in.N = rows.N
		all = append(all, feed{0, in})
	}
	b.Run("rows", func(b *testing.B) { benchmark(b, n, all...) })
	b.Run("runs", func(b *testing.B) { benchmark(b, look, all...) })
}
