package exec

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// orders has a key of BIGINT and one of STRING, an INT, a DOUBLE, a DECIMAL and a
// BOOLEAN.
var orders = []types.Type{bigint, types.String(), types.Of(types.Int), types.Of(types.Double), types.DecimalOf(10, 2), boolean}

func randomOrders(r *rand.Rand, rows, keys int) [][]any {
	var all [][]any
	maybe := func(v any) any {
		if r.IntN(10) == 0 {
			return nil
		}
		return v
	}
	for range rows {
		all = append(all, []any{maybe(r.IntN(keys)), maybe(strings.Repeat("k", r.IntN(3)) + fmt.Sprint(r.IntN(3))),
			maybe(r.IntN(50)), maybe(float64(r.IntN(16)) / 4), maybe(r.IntN(1000)), maybe(r.IntN(2) == 0)})
	}
	return all
}

// calls are those of the random test: COUNT(*), COUNT(c), SUM(c), AVG(c), MIN(b), MAX(d),
// SUM(e), SUM(d) FILTER (WHERE f), COUNT(DISTINCT c).
func calls() []plan.AggregateCall {
	arg := func(i int) ([]int, []types.Type) { return []int{i}, []types.Type{orders[i]} }
	call := func(f string, i int, t types.Type) plan.AggregateCall {
		c := plan.AggregateCall{Function: f, Filter: -1, Type: t}
		if i >= 0 {
			c.Args, c.ArgTypes = arg(i)
		}
		return c
	}
	filtered := call("SUM", 3, orders[3])
	filtered.Filter = 5
	return []plan.AggregateCall{call("COUNT", -1, bigint), call("COUNT", 2, bigint), call("SUM", 2, orders[2]), call("AVG", 2, orders[2]),
		call("MIN", 1, orders[1]), call("MAX", 3, orders[3]), call("SUM", 4, types.DecimalOf(38, 2)), filtered}
}

func distinctCalls() []plan.AggregateCall {
	all := calls()
	d := all[1]
	d.Distinct = true
	s := all[2]
	s.Distinct = true
	return append(all, d, s)
}

// modelled are the rows that grouping by some keys gives, in a naive way.
func modelled(rows [][]any, keys []int, distinct bool) []string {
	type state struct {
		count, n, sum, dec, decs int
		fsum                     float64
		fn                       int
		low                      any
		high                     any
		seen                     map[int]bool
		dsum                     int
	}
	groups, order := map[string]*state{}, []string{}
	if len(keys) == 0 {
		groups[""] = &state{seen: map[int]bool{}}
		order = append(order, "")
	}
	for _, row := range rows {
		key := ""
		for _, k := range keys {
			key += text(row[k]) + "|"
		}
		s := groups[key]
		if s == nil {
			s = &state{seen: map[int]bool{}}
			groups[key], order = s, append(order, key)
		}
		s.count++
		if v, ok := row[2].(int); ok {
			s.n++
			s.sum += v
			if !s.seen[v] {
				s.seen[v] = true
				s.dsum += v
			}
		}
		if v, ok := row[1].(string); ok && (s.low == nil || v < s.low.(string)) {
			s.low = v
		}
		if v, ok := row[3].(float64); ok {
			if s.high == nil || v > s.high.(float64) {
				s.high = v
			}
			if row[5] == true {
				s.fsum += v
				s.fn++
			}
		}
		if v, ok := row[4].(int); ok {
			s.dec += v
			s.decs++
		}
	}
	var all []string
	orNull := func(v any, n int) string {
		if n == 0 {
			return "NULL"
		}
		return text(v)
	}
	for _, key := range order {
		s := groups[key]
		average := 0
		if s.n > 0 {
			average = s.sum / s.n
		}
		line := key + strings.Join([]string{text(s.count), text(s.n), orNull(s.sum, s.n), orNull(average, s.n), text(s.low), text(s.high),
			orNull(s.dec, s.decs), orNull(s.fsum, s.fn)}, "|")
		if distinct {
			line += "|" + text(len(s.seen)) + "|" + orNull(s.dsum, len(s.seen))
		}
		all = append(all, line)
	}
	return all
}

func aggregateOf(phase plan.Phase, in plan.Node, keys []int, calls []plan.AggregateCall) *plan.Aggregate {
	n := &plan.Aggregate{Base: plan.Base{Inputs: []plan.Node{in}}, Phase: phase, Keys: keys, Calls: calls}
	for _, k := range keys {
		n.Schema = append(n.Schema, in.Common().Schema[k])
	}
	if phase == plan.Local {
		var err error
		if n.Schema, err = StateSchema(n.Schema, calls); err != nil {
			panic(err)
		}
		return n
	}
	for _, c := range calls {
		n.Schema = append(n.Schema, types.Field{Name: c.Function, Type: c.Type})
	}
	return n
}

func TestAggregateAgainstModel(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	for _, test := range []struct {
		name       string
		rows, keys int
		by         []int
		memory     int64
	}{
		{"few groups", 3000, 10, []int{0}, 0},
		{"by text", 3000, 10, []int{1}, 0},
		{"by both", 3000, 30, []int{1, 0}, 0},
		{"all rows", 1000, 10, nil, 0},
		{"no rows", 0, 10, nil, 0},
		{"no rows by key", 0, 10, []int{0}, 0},
		{"little memory", 40000, 20000, []int{0}, little},
		{"little memory, texts", 40000, 5000, []int{0, 1}, little},
	} {
		rows := randomOrders(r, test.rows, test.keys)
		for _, distinct := range []bool{false, true} {
			c := calls()
			if distinct {
				c = distinctCalls()
			}
			got, err := apply(t, aggregateOf(plan.Complete, source(schema), test.by, c), test.memory, feeds(0, chop(r, orders, rows))...)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			same(t, fmt.Sprintf("%s, distinct %v", test.name, distinct), got, modelled(rows, test.by, distinct))
		}
	}
}

// TestLocalAndGlobal runs both phases in a cluster.
func TestLocalAndGlobal(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	rows := randomOrders(r, 5000, 300)
	in := &plan.Values{Base: plan.Base{Schema: schema}, Rows: chop(r, orders, rows)}
	spread := &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{in}, Schema: schema}, Distribution: plan.Rebalance}
	local := aggregateOf(plan.Local, spread, []int{0, 1}, calls())
	exchange := &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{local}, Schema: local.Schema}, Distribution: plan.Hash, Keys: []int{0, 1}}
	global := aggregateOf(plan.Global, exchange, []int{0, 1}, calls())
	for _, settings := range []map[string]string{nil, {"parallelism.default": "3"}, {"parallelism.default": "2", "execution.batch-shuffle-mode": "ALL_EXCHANGES_PIPELINED"}} {
		got, err := execute(t, global, settings)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint(settings), got, modelled(rows, []int{0, 1}, false))
	}
}

// TestScatteredGroups has so many groups that the first phase is of no use.
func TestScatteredGroups(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	rows := randomOrders(r, 80_000, 1<<40)
	local := aggregateOf(plan.Local, source(schema), []int{0}, calls())
	var states []*batch.Columns
	e := &environment{session: expr.UTC}
	factory, err := e.factory(local)
	if err != nil {
		t.Fatal(err)
	}
	c := &operator.Context{Runtime: &host{}, Signal: operator.NewSignal(func() {}), Operator: "Op", Parallelism: 1, MaxParallelism: 128, Logger: slog.New(slog.DiscardHandler)}
	in := operator.Output[*batch.Columns](factory.Build(c, &operator.Receiver[*batch.Columns]{
		Push: func(b *batch.Columns, _ int64) { states = append(states, b.Compact()) }, Finish: func() {}}))
	for _, b := range chop(r, orders, rows) {
		in.Push(b, batch.NoTimestamp)
	}
	in.Finish()
	got, err := apply(t, aggregateOf(plan.Global, local, []int{0}, calls()), 0, feeds(0, states)...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "scattered", got, modelled(rows, []int{0}, false))
	alone := 0
	for _, b := range states[len(states)-10:] {
		alone += b.N
	}
	if alone == 0 || len(states) < 100 {
		t.Errorf("%d batches of states: rows were not passed on one by one", len(states))
	}
}

func TestSortedAggregate(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	var rows [][]any
	for key := range 4000 {
		for range r.IntN(4) {
			row := randomOrders(r, 1, 1)[0]
			row[0] = key
			rows = append(rows, row)
		}
	}
	for _, by := range [][]int{{0}, nil} {
		n := aggregateOf(plan.Complete, source(schema), by, distinctCalls())
		n.Sorted = true
		got, err := apply(t, n, 0, feeds(0, chop(r, orders, rows))...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint(by), got, modelled(rows, by, true))
	}
}

func TestAggregateFunctions(t *testing.T) {
	text := types.String()
	for _, test := range []struct {
		function string
		arg      types.Type
		result   types.Type
		values   []any
		want     string
	}{
		{"COLLECT", bigint, types.MultisetOf(bigint), []any{}, "layout 11"},
		{"ARRAY_AGG", bigint, types.ArrayOf(bigint), []any{1, nil, 1}, "[1 NULL 1]"},
		{"ARRAY_AGG", bigint, types.ArrayOf(bigint), []any{}, "NULL"},
		{"LISTAGG", text, text, []any{"a", nil, "b"}, "a,b"},
		{"LISTAGG", text, text, []any{nil}, "NULL"},
		{"FIRST_VALUE", text, text, []any{nil, "a", "b"}, "a"},
		{"LAST_VALUE", text, text, []any{"a", "b", nil}, "b"},
		{"$SUM0", bigint, bigint, []any{nil}, "0"},
		{"VAR_POP", types.Of(types.Double), types.Of(types.Double), []any{1.0, 3.0}, "1"},
		{"STDDEV_SAMP", types.Of(types.Double), types.Of(types.Double), []any{1.0, 3.0, nil}, "1.4142135623730951"},
		{"VAR_SAMP", types.Of(types.Double), types.Of(types.Double), []any{1.0}, "NULL"},
		{"SINGLE_VALUE", bigint, bigint, []any{7}, "7"},
		{"SINGLE_VALUE", bigint, bigint, []any{}, "NULL"},
		{"AVG", types.DecimalOf(5, 1), types.DecimalOf(38, 6), []any{10, 15}, "1250000"},
		{"SUM", types.DecimalOf(38, 0), types.DecimalOf(38, 0), []any{5, -7}, "-2"},
	} {
		schema := schemaOf(test.arg)
		call := plan.AggregateCall{Function: test.function, Args: []int{0}, ArgTypes: []types.Type{test.arg}, Filter: -1, Type: test.result}
		var rows [][]any
		for _, v := range test.values {
			rows = append(rows, []any{v})
		}
		got, err := apply(t, aggregateOf(plan.Complete, source(schema), nil, []plan.AggregateCall{call}), 0, feed{0, batchOf([]types.Type{test.arg}, rows...)})
		if err != nil || len(got) != 1 || got[0] != test.want {
			t.Errorf("%s of %v: got %q, %v, want %q", test.function, test.values, got, err, test.want)
		}
	}
	twice := plan.AggregateCall{Function: "SINGLE_VALUE", Args: []int{0}, ArgTypes: []types.Type{bigint}, Filter: -1, Type: bigint}
	if _, err := apply(t, aggregateOf(plan.Complete, source(schemaOf(bigint)), nil, []plan.AggregateCall{twice}), 0, feed{0, batchOf([]types.Type{bigint}, []any{1}, []any{1})}); err == nil {
		t.Error("a scalar sub-query of two rows is accepted")
	}
	twice.Function = "NOSUCH"
	if _, err := apply(t, aggregateOf(plan.Complete, source(schemaOf(bigint)), nil, []plan.AggregateCall{twice}), 0); err == nil || !strings.Contains(err.Error(), "NOSUCH") {
		t.Errorf("an unknown function: got %v", err)
	}
}
