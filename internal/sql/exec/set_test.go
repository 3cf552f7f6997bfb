package exec

import (
	"fmt"
	"testing"

	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

func TestSetOperationsAgainstModel(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(bigint, types.String())
	random := func(rows, keys int) (all [][]any) {
		for range rows {
			row := []any{r.IntN(keys), fmt.Sprint(r.IntN(2))}
			if r.IntN(10) == 0 {
				row[0] = nil
			}
			all = append(all, row)
		}
		return all
	}
	for _, size := range []struct {
		rows, keys int
		memory     int64
	}{{0, 1, 0}, {200, 20, 0}, {20000, 15000, little}} {
		for _, n := range []plan.SetOperation{{}, {All: true}, {Except: true}, {Except: true, All: true}} {
			left, right := random(size.rows, size.keys), random(size.rows/2, size.keys)
			n.Base = plan.Base{Inputs: []plan.Node{source(schema), source(schema)}, Schema: schema}
			got, err := apply(t, &n, size.memory, append(feeds(0, chop(r, n.Types(), left)), feeds(1, chop(r, n.Types(), right))...)...)
			if err != nil {
				t.Fatal(err)
			}
			counts, rights := map[string]int{}, map[string]int{}
			for _, row := range left {
				counts[lineOf(row)]++
			}
			for _, row := range right {
				rights[lineOf(row)]++
			}
			var want []string
			for line, l := range counts { // order: rows are compared as a set
				times, both := l, rights[line]
				switch {
				case n.All && n.Except:
					times = l - both
				case n.All:
					times = min(l, both)
				case (both > 0) == n.Except:
					times = 0
				default:
					times = 1
				}
				for range times {
					want = append(want, line)
				}
			}
			same(t, fmt.Sprintf("except %v, all %v, %d rows", n.Except, n.All, size.rows), got, want)
		}
	}
}

func TestUnnest(t *testing.T) {
	list, dict, bag := types.ArrayOf(types.String()), types.MapOf(types.String(), bigint), types.MultisetOf(types.String())
	entry := types.RowOf(types.Field{Name: "x", Type: bigint}, types.Field{Name: "y", Type: types.String()})
	for _, test := range []struct {
		name       string
		collection types.Type
		rows       [][]any
		elements   []types.Type
		ordinality bool
		outer      bool
		want       []string
	}{
		{"array", list, [][]any{{1, []any{"x", nil}}, {2, []any{}}, {3, nil}}, []types.Type{types.String()}, false, false, []string{"1|x", "1|NULL"}},
		{"outer", list, [][]any{{1, []any{"x", nil}}, {2, []any{}}, {3, nil}}, []types.Type{types.String()}, false, true, []string{"1|x", "1|NULL", "2|NULL", "3|NULL"}},
		{"ordinality", list, [][]any{{1, []any{"x", "y"}}, {2, nil}}, []types.Type{types.String(), types.Of(types.Int)}, true, true, []string{"1|x|1", "1|y|2", "2|NULL|NULL"}},
		{"map", dict, [][]any{{1, []any{[2]any{"k", 7}, [2]any{"l", nil}}}}, []types.Type{types.String(), bigint}, false, false, []string{"1|k|7", "1|l|NULL"}},
		{"multiset", bag, [][]any{{1, []any{[2]any{"k", 2}, [2]any{"l", 1}}}}, []types.Type{types.String()}, false, false, []string{"1|k", "1|k", "1|l"}},
	} {
		schema := schemaOf(bigint, test.collection)
		out := append(schemaOf(bigint, test.collection), schemaOf(test.elements...)...)
		n := &plan.Unnest{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: out}, Collection: input(1, test.collection), Ordinality: test.ordinality, Outer: test.outer}
		var all []string
		rows, err := apply(t, n, 0, feed{0, batchOf([]types.Type{bigint, test.collection}, test.rows...)})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			all = append(all, withoutSecond(row))
		}
		same(t, test.name, all, test.want)
	}
	rows := types.ArrayOf(entry)
	schema := schemaOf(rows)
	b := newBatch([]types.Type{rows})
	element := b.Cols[0].Children[0]
	appendValue(element.Children[0], 5)
	appendValue(element.Children[1], "z")
	element.EndRow()
	element.AppendNull()
	b.Cols[0].EndCollection()
	b.N = 1
	n := &plan.Unnest{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: append(schemaOf(rows), schemaOf(bigint, types.String())...)}, Collection: input(0, rows)}
	got, err := apply(t, n, 0, feed{0, b})
	if err != nil || len(got) != 2 || got[0][len(got[0])-4:] != "|5|z" || got[1][len(got[1])-10:] != "|NULL|NULL" {
		t.Errorf("rows: got %q, %v", got, err)
	}
}

// withoutSecond leaves the second cell of a line out.
func withoutSecond(line string) string {
	var cells []string
	depth, from := 0, 0
	for i, r := range line + "|" {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '|' && depth == 0:
			cells, from = append(cells, (line + "|")[from:i]), i+1
		}
	}
	text := cells[0]
	for _, c := range cells[2:] {
		text += "|" + c
	}
	return text
}

func TestWindows(t *testing.T) {
	at := types.TimestampOf(3)
	const minute = 60_000
	for _, test := range []struct {
		name  string
		node  plan.Window
		times []any
		want  []string
	}{
		{"tumble", plan.Window{Kind: plan.Tumble, Size: 10}, []any{0, 9, 10, nil, -1}, []string{"0|0|10|9", "9|0|10|9", "10|10|20|19", "-1|-10|0|-1"}},
		{"tumble with offset", plan.Window{Kind: plan.Tumble, Size: 10 * minute, Offset: -16 * minute}, []any{4000}, []string{"4000|-360000|240000|239999"}},
		{"hop", plan.Window{Kind: plan.Hop, Size: 10, Slide: 5}, []any{7}, []string{"7|5|15|14", "7|0|10|9"}},
		{"hop with gaps", plan.Window{Kind: plan.Hop, Size: 5, Slide: 10}, []any{3, 7}, []string{"3|0|5|4"}},
		{"cumulate", plan.Window{Kind: plan.Cumulate, Size: 15, Slide: 5}, []any{7}, []string{"7|0|10|9", "7|0|15|14"}},
		{"session", plan.Window{Kind: plan.Session, Size: 10}, []any{25, 0, 9, 19, 40, nil}, []string{"0|0|35|34", "9|0|35|34", "19|0|35|34", "25|0|35|34", "40|40|50|49"}},
	} {
		n := test.node
		n.Base = plan.Base{Inputs: []plan.Node{source(schemaOf(at))}, Schema: schemaOf(at, at, at, at)}
		var rows [][]any
		for _, v := range test.times {
			rows = append(rows, []any{v})
		}
		got, err := apply(t, &n, 0, feed{0, batchOf([]types.Type{at}, rows...)})
		if err != nil {
			t.Fatal(err)
		}
		same(t, test.name, got, test.want)
	}
}

func TestSessionsOfKeys(t *testing.T) {
	at := types.TimestampOf(3)
	schema := schemaOf(bigint, at)
	n := &plan.Window{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: append(schemaOf(bigint, at), schemaOf(at, at, at)...)}, Kind: plan.Session, Time: 1, Size: 10, Keys: []int{0}}
	got, err := apply(t, n, 0, feed{0, batchOf(n.Types()[:2], []any{1, 0}, []any{2, 5}, []any{1, 8}, []any{nil, 3}, []any{2, 30})})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "sessions", got, []string{"1|0|0|18|17", "1|8|0|18|17", "2|5|5|15|14", "2|30|30|40|39", "NULL|3|3|13|12"})
}
