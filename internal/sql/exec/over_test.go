package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// overRow is a row of the model: a partition, a sort key (nil is NULL) and a value.
type overRow struct {
	part int
	key  any
	val  any
	line string
}

// inFrame reports whether row k of sorted rows is in the frame of row i.
func inFrame(rows []overRow, i, k int, c plan.OverCall, descending bool) bool {
	if c.Unit == plan.Rows {
		at := func(b plan.Bound) int {
			switch b.Kind {
			case plan.UnboundedPreceding:
				return -1 << 30
			case plan.Preceding:
				return i - int(b.Offset)
			case plan.Following:
				return i + int(b.Offset)
			case plan.UnboundedFollowing:
				return 1 << 30
			}
			return i
		}
		return k >= at(c.Start) && k <= at(c.End)
	}
	after := func(b plan.Bound) bool { // row k is at or after the bound
		switch b.Kind {
		case plan.UnboundedPreceding:
			return true
		case plan.UnboundedFollowing:
			return false
		}
		if rows[k].key == nil || rows[i].key == nil {
			return rows[k].key == rows[i].key || rows[i].key == nil // NULLs come first
		}
		d := 0
		if b.Kind == plan.Preceding {
			d = -int(b.Offset)
		} else if b.Kind == plan.Following {
			d = int(b.Offset)
		}
		x, y := rows[k].key.(int), rows[i].key.(int)
		if descending {
			x, y = -x, -y
		}
		return x >= y+d
	}
	before := func(b plan.Bound) bool {
		switch b.Kind {
		case plan.UnboundedPreceding:
			return false
		case plan.UnboundedFollowing:
			return true
		}
		if rows[k].key == nil || rows[i].key == nil {
			return rows[k].key == nil
		}
		d := 0
		if b.Kind == plan.Preceding {
			d = -int(b.Offset)
		} else if b.Kind == plan.Following {
			d = int(b.Offset)
		}
		x, y := rows[k].key.(int), rows[i].key.(int)
		if descending {
			x, y = -x, -y
		}
		return x <= y+d
	}
	return after(c.Start) && before(c.End)
}

func TestFramesAgainstModel(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(bigint, bigint, bigint)
	sum := func(unit plan.FrameUnit, start, end plan.Bound) plan.OverCall {
		return plan.OverCall{AggregateCall: plan.AggregateCall{Function: "SUM", Args: []int{2}, ArgTypes: []types.Type{bigint}, Filter: -1, Type: bigint}, Unit: unit, Start: start, End: end}
	}
	b := func(k plan.BoundKind, n int64) plan.Bound { return plan.Bound{Kind: k, Offset: n} }
	calls := []plan.OverCall{
		sum(plan.Rows, b(plan.UnboundedPreceding, 0), b(plan.CurrentRow, 0)), sum(plan.Rows, b(plan.Preceding, 2), b(plan.Following, 1)),
		sum(plan.Rows, b(plan.Following, 1), b(plan.Following, 3)), sum(plan.Rows, b(plan.Preceding, 3), b(plan.Preceding, 2)),
		sum(plan.Rows, b(plan.CurrentRow, 0), b(plan.UnboundedFollowing, 0)), sum(plan.Range, b(plan.UnboundedPreceding, 0), b(plan.CurrentRow, 0)),
		sum(plan.Range, b(plan.UnboundedPreceding, 0), b(plan.UnboundedFollowing, 0)), sum(plan.Range, b(plan.Preceding, 2), b(plan.CurrentRow, 0)),
		sum(plan.Range, b(plan.Preceding, 3), b(plan.Preceding, 1)), sum(plan.Range, b(plan.Following, 1), b(plan.Following, 4)),
		sum(plan.Range, b(plan.CurrentRow, 0), b(plan.Following, 2)), sum(plan.Range, b(plan.Preceding, 1), b(plan.UnboundedFollowing, 0)),
	}
	for _, test := range []struct {
		rows, parts int
		descending  bool
		memory      int64
	}{{400, 12, false, 0}, {400, 1, true, 0}, {20000, 4000, false, 1 << 20}} {
		var rows [][]any
		var model []overRow
		for id := range test.rows {
			row := []any{r.IntN(test.parts), r.IntN(20), 1 << (id % 50)}
			for i := 1; i < 3; i++ {
				if r.IntN(8) == 0 {
					row[i] = nil
				}
			}
			rows = append(rows, row)
			model = append(model, overRow{row[0].(int), row[1], row[2], lineOf(row)})
		}
		slices.SortStableFunc(model, func(a, b overRow) int {
			if a.part != b.part {
				return cmp.Compare(a.part, b.part)
			}
			if a.key == nil || b.key == nil {
				return cmp.Compare(boolInt(a.key != nil), boolInt(b.key != nil))
			}
			order := cmp.Compare(a.key.(int), b.key.(int))
			if test.descending {
				order = -order
			}
			return order
		})
		var want []string
		for from := 0; from < len(model); {
			to := from
			for to < len(model) && model[to].part == model[from].part {
				to++
			}
			p := model[from:to]
			for i := range p {
				line := p[i].line
				for _, c := range calls {
					total, some := 0, false
					for k := range p {
						if v, ok := p[k].val.(int); ok && inFrame(p, i, k, c, test.descending) {
							total += v
							some = true
						}
					}
					if some {
						line += fmt.Sprintf("|%d", total)
					} else {
						line += "|NULL"
					}
				}
				want = append(want, line)
			}
			from = to
		}
		n := &plan.Over{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: slices.Clone(schema)}, Partition: []int{0}, Order: []plan.SortKey{by(1, test.descending, false)}, Calls: calls}
		for range calls {
			n.Schema = append(n.Schema, types.Field{Name: "s", Type: bigint})
		}
		got, err := apply(t, n, test.memory, feeds(0, chop(r, n.Inputs[0].Common().Types(), rows))...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%+v", test), got, want)
	}
}

// TestLongPartitions has partitions that do not fit into memory, over which calls go
// onward, and refuses one over which they do not.
func TestLongPartitions(t *testing.T) {
	schema := schemaOf(bigint, bigint)
	call := func(f string, unit plan.FrameUnit, args ...int) plan.OverCall {
		c := plan.OverCall{AggregateCall: plan.AggregateCall{Function: f, Args: args, Filter: -1, Type: bigint}, Unit: unit, End: plan.Bound{Kind: plan.CurrentRow}}
		for range args {
			c.ArgTypes = append(c.ArgTypes, bigint)
		}
		return c
	}
	var rows [][]any
	for i := range 40_000 {
		part := 0
		if i >= 39_000 {
			part = 1 + i%2
		}
		rows = append(rows, []any{part, i / 3})
	}
	n := &plan.Over{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: schemaOf(bigint, bigint, bigint, bigint, bigint, bigint, bigint)}, Partition: []int{0},
		Order: []plan.SortKey{by(1, false, false)}, Calls: []plan.OverCall{call("ROW_NUMBER", plan.Rows), call("RANK", plan.Rows), call("DENSE_RANK", plan.Rows),
			call("SUM", plan.Range, 1), call("COUNT", plan.Rows)}}
	r := seeded(t)
	shuffled := slices.Clone(rows)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	got, err := apply(t, n, little, feeds(0, chop(r, []types.Type{bigint, bigint}, shuffled))...)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	type total struct{ count, rank, dense, sum, last int }
	totals := map[int]*total{}
	for i, row := range rows {
		part, v := row[0].(int), row[1].(int)
		s := totals[part]
		if s == nil {
			s = &total{last: -1}
			totals[part] = s
		}
		s.count++
		if v != s.last {
			s.rank, s.dense, s.last = s.count, s.dense+1, v
			s.sum += v
			for k := i + 1; k < len(rows) && k < i+3; k++ {
				if rows[k][0] == part && rows[k][1] == v {
					s.sum += v
				}
			}
		}
		want = append(want, fmt.Sprintf("%d|%d|%d|%d|%d|%d|%d", part, v, s.count, s.rank, s.dense, s.sum, s.count))
	}
	same(t, "long partitions", got, want)
	n.Calls = []plan.OverCall{call("LAG", plan.Rows, 1)}
	n.Schema = schemaOf(bigint, bigint, bigint)
	if _, err := apply(t, n, little, feeds(0, chop(r, []types.Type{bigint, bigint}, rows))...); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("a partition that is too large: got %v", err)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestRankingFunctions(t *testing.T) {
	schema := schemaOf(bigint, types.String())
	call := func(f string, result types.Type, args ...int) plan.OverCall {
		c := plan.OverCall{AggregateCall: plan.AggregateCall{Function: f, Args: args, Filter: -1, Type: result}, Unit: plan.Range, End: plan.Bound{Kind: plan.UnboundedFollowing}}
		for _, a := range args {
			c.ArgTypes = append(c.ArgTypes, schema[a].Type)
		}
		return c
	}
	double := types.Of(types.Double)
	n := &plan.Over{Base: plan.Base{Inputs: []plan.Node{source(schema)}, Schema: slices.Clone(schema)}, Order: []plan.SortKey{by(0, false, false)}, Calls: []plan.OverCall{
		call("ROW_NUMBER", bigint), call("RANK", bigint), call("DENSE_RANK", bigint), call("PERCENT_RANK", double), call("CUME_DIST", double),
		call("NTILE", bigint, 0), call("LAG", types.String(), 1), call("LEAD", types.String(), 1, 0), call("FIRST_VALUE", types.String(), 1),
		call("LAST_VALUE", types.String(), 1), call("NTH_VALUE", types.String(), 1, 0)}}
	for _, c := range n.Calls {
		n.Schema = append(n.Schema, types.Field{Name: c.Function, Type: c.Type})
	}
	got, err := apply(t, n, 0, feed{0, batchOf([]types.Type{bigint, types.String()}, []any{2, "b"}, []any{1, nil}, []any{2, "c"}, []any{3, "d"}, []any{9, nil})})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1|NULL|1|1|1|0|0.2|1|NULL|b|b|d|NULL", "2|b|2|2|2|0.25|0.6|1|NULL|d|b|d|b", "2|c|3|2|2|0.25|0.6|1|b|NULL|b|d|b",
		"3|d|4|4|3|0.75|0.8|2|c|NULL|b|d|c", "9|NULL|5|5|4|1|1|5|d|NULL|b|d|NULL",
	}
	same(t, "ranking", got, want)
	bad := *n
	bad.Calls = []plan.OverCall{call("NTILE", bigint, 0)}
	bad.Schema = append(slices.Clone(schema), types.Field{Type: bigint})
	if _, err := apply(t, &bad, 0, feed{0, batchOf([]types.Type{bigint, types.String()}, []any{0, "b"})}); err == nil {
		t.Error("NTILE of 0 buckets is accepted")
	}
}
