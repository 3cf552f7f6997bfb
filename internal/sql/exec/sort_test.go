package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weirstream/weir/internal/sql/plan"
)

func TestSortAgainstModel(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	less := func(k plan.SortKey, a, b any) int {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil || b == nil:
			if (a == nil) == k.NullsLast {
				return 1
			}
			return -1
		}
		order := 0
		switch x := a.(type) {
		case int:
			order = x - b.(int)
		case float64:
			order = int(4 * (x - b.(float64)))
		case string:
			order = compareText(x, b.(string))
		case bool:
			order = compareBools(x, b.(bool))
		}
		if k.Descending {
			return -order
		}
		return order
	}
	for _, test := range []struct {
		rows          int
		keys          []plan.SortKey
		offset, fetch int64
		memory        int64
	}{
		{500, []plan.SortKey{by(0, false, false)}, 0, -1, 0},
		{3000, []plan.SortKey{by(0, true, true), by(2, false, true)}, 0, -1, 0},
		{3000, []plan.SortKey{by(1, true, false), by(3, true, true), by(5, false, false)}, 10, -1, 0},
		{3000, []plan.SortKey{by(3, false, true), by(4, true, false)}, 5, 20, 0},
		{20000, []plan.SortKey{by(5, true, true), by(4, false, false)}, 100, 900, 0},
		{100, []plan.SortKey{by(0, false, false)}, 0, 0, 0},
		{30000, []plan.SortKey{by(1, false, false), by(0, true, false)}, 3, -1, little},
		{30000, []plan.SortKey{by(4, false, false)}, 0, 200_000, little},
		{0, []plan.SortKey{by(4, false, false)}, 0, -1, 0},
	} {
		rows := randomOrders(r, test.rows, 300)
		n := &plan.Sort{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: schema}, Keys: test.keys, Offset: test.offset, Fetch: test.fetch}
		got, err := apply(t, n, test.memory, feeds(0, chop(r, orders, rows))...)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(rows, func(a, b []any) int {
			for _, k := range test.keys {
				if order := less(k, a[k.Column], b[k.Column]); order != 0 {
					return order
				}
			}
			return 0
		})
		last := len(rows)
		if test.fetch >= 0 {
			last = min(last, int(test.offset+test.fetch))
		}
		var want []string
		for _, row := range rows[min(len(rows), int(test.offset)):last] {
			want = append(want, lineOf(row))
		}
		if !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%+v: got %d rows, want %d; row %d: got %s, want %s", test, len(got), len(want), i, rowAt(got, i), rowAt(want, i))
		}
	}
}

func by(column int, descending, nullsLast bool) plan.SortKey {
	return plan.SortKey{Column: column, Descending: descending, NullsLast: nullsLast}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// lineOf writes a row as texts does.
func lineOf(row []any) string {
	line := ""
	for i, v := range row {
		if i > 0 {
			line += "|"
		}
		line += text(v)
	}
	return line
}

func TestSortInAClusterKeepsItsOrder(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(bigint)
	var rows [][]any
	for i := range 5000 {
		rows = append(rows, []any{i})
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	in := &plan.Values{Base: plan.Base{Schema: schema}}
	in.Rows = chop(r, in.Types(), rows)
	base := func(n plan.Node) plan.Base { return plan.Base{Inputs: []plan.Node{n}, Schema: schema} }
	spread := &plan.Calc{Base: base(&plan.Exchange{Base: base(in), Distribution: plan.Rebalance})}
	sorted := &plan.Sort{Base: base(&plan.Exchange{Base: base(spread), Distribution: plan.Single}), Keys: []plan.SortKey{{Column: 0}}, Fetch: -1}
	after := &plan.Limit{Base: base(&plan.Calc{Base: base(sorted)}), Offset: 7, Fetch: 4000}
	got, err := execute(t, after, map[string]string{"parallelism.default": "3"})
	if err != nil || len(got) != 4000 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, row := range got {
		if row != fmt.Sprint(i+7) {
			t.Fatalf("row %d is %s", i, row)
		}
	}
}
