package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// joinModel joins in a naive way. The condition is the right row's column f.
func joinModel(n *plan.Join, left, right [][]any) []string {
	match := func(l, r []any) (is, unknown bool) {
		is = true
		for i := range n.LeftKeys {
			a, b := l[n.LeftKeys[i]], r[n.RightKeys[i]]
			safe := i < len(n.NullSafe) && n.NullSafe[i]
			switch {
			case a == nil && b == nil && safe:
			case a == nil || b == nil:
				is = false
				unknown = unknown || !safe
			case a != b:
				return false, false
			}
		}
		if n.Condition != nil {
			switch r[5] {
			case nil:
				is, unknown = false, true
			case false:
				return false, false
			}
		}
		return is, unknown && !is
	}
	nulls := func(n int) []any { return make([]any, n) }
	var all []string
	matchedRight := make([]bool, len(right))
	for _, l := range left {
		any, anyUnknown := false, false
		for k, r := range right {
			is, unknown := match(l, r)
			anyUnknown = anyUnknown || unknown
			if !is {
				continue
			}
			any, matchedRight[k] = true, true
			if n.Kind != plan.Semi && n.Kind != plan.Anti {
				all = append(all, lineOf(slices.Concat(l, r)))
			}
		}
		switch n.Kind {
		case plan.LeftOuter, plan.FullOuter:
			if !any {
				all = append(all, lineOf(slices.Concat(l, nulls(6))))
			}
		case plan.Semi:
			if any {
				all = append(all, lineOf(l))
			}
		case plan.Anti:
			if !any && !(n.NullAware && anyUnknown) {
				all = append(all, lineOf(l))
			}
		}
	}
	if n.Kind == plan.RightOuter || n.Kind == plan.FullOuter {
		for k, r := range right {
			if !matchedRight[k] {
				all = append(all, lineOf(slices.Concat(nulls(6), r)))
			}
		}
	}
	return all
}

func TestJoinsAgainstModel(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	one := func(n *plan.Join, rows, keys int, memory int64) {
		t.Helper()
		others := r.IntN(rows + 1)
		if memory == little {
			others = rows
		}
		left, right := randomOrders(r, rows, keys), randomOrders(r, others, keys)
		n.Inputs = []plan.Node{source(schema), source(schema)}
		n.Schema = schema
		if n.Kind != plan.Semi && n.Kind != plan.Anti {
			n.Schema = append(slices.Clone(schema), schema...)
		}
		build, probe := right, left
		first := 1
		if n.BuildLeft {
			build, probe, first = left, right, 0
		}
		all := append(feeds(first, chop(r, orders, build)), feeds(1-first, chop(r, orders, probe))...)
		got, err := apply(t, n, memory, all...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("kind %d, strategy %d, keys %v, null-safe %v, condition %v, null-aware %v, build left %v, memory %d",
			n.Kind, n.Strategy, n.LeftKeys, n.NullSafe, n.Condition != nil, n.NullAware, n.BuildLeft, memory), got, joinModel(n, left, right))
	}
	condition := func() expr.Expr { return &expr.Input{Index: 11, Name: "f", T: boolean} }
	for kind := plan.Inner; kind <= plan.Anti; kind++ {
		for _, buildLeft := range []bool{false, true} {
			for _, keys := range [][]int{{0}, {1}, {0, 1}} {
				for _, test := range []plan.Join{{}, {NullSafe: []bool{true, true}}, {Condition: condition()}} {
					test.Kind, test.BuildLeft, test.LeftKeys, test.RightKeys = kind, buildLeft, keys, keys
					one(&test, 300, 60, 0)
				}
			}
			one(&plan.Join{Kind: kind, BuildLeft: buildLeft, Strategy: plan.NestedLoop, Condition: condition()}, 60, 10, 0)
			one(&plan.Join{Kind: kind, BuildLeft: buildLeft, Strategy: plan.NestedLoop}, 40, 10, 0)
			for _, test := range []plan.Join{{}, {NullSafe: []bool{true, true}}, {Condition: condition()}} {
				test.Kind, test.BuildLeft, test.Strategy, test.LeftKeys, test.RightKeys = kind, buildLeft, plan.MergeJoin, []int{1, 0}, []int{1, 0}
				one(&test, 300, 40, 0)
			}
			one(&plan.Join{Kind: kind, BuildLeft: buildLeft, LeftKeys: []int{0}, RightKeys: []int{0}}, 4000, 3000, little)
		}
	}
	for _, rows := range []int{0, 1, 3, 20} {
		for range 10 {
			one(&plan.Join{Kind: plan.Anti, NullAware: true, LeftKeys: []int{0}, RightKeys: []int{0}}, rows, 10, 0)
			one(&plan.Join{Kind: plan.Anti, NullAware: true, Strategy: plan.NestedLoop, Condition: condition()}, rows, 10, 0)
		}
	}
	one(&plan.Join{Kind: plan.Anti, NullAware: true, LeftKeys: []int{4}, RightKeys: []int{4}}, 4000, 3000, little)
}

// TestJoinOfDoubles holds = to IEEE, whatever the strategy: 0.0 is -0.0, and what is no number equals nothing.
func TestJoinOfDoubles(t *testing.T) {
	double := types.Of(types.Double)
	schema := schemaOf(double)
	n := &plan.Join{Base: plan.Base{Inputs: []plan.Node{source(schema), source(schema)}, Schema: schemaOf(double, double)}, LeftKeys: []int{0}, RightKeys: []int{0}}
	zero := 0.0
	nan := zero / zero
	rows := batchOf([]types.Type{double}, []any{0.0}, []any{-1 / (1 / zero)}, []any{nan}, []any{1.5})
	for _, n.Strategy = range []plan.Strategy{plan.HashJoin, plan.MergeJoin} {
		got, err := apply(t, n, 0, feed{1, rows}, feed{0, rows})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "joined", got, []string{"0|0", "0|-0", "-0|0", "-0|-0", "1.5|1.5"})
	}
}

func TestJoinsInACluster(t *testing.T) {
	r := seeded(t)
	schema := schemaOf(orders...)
	left, right := randomOrders(r, 2000, 500), randomOrders(r, 1000, 500)
	values := func(rows [][]any) plan.Node {
		return &plan.Values{Base: plan.Base{Schema: schema}, Rows: chop(r, orders, rows)}
	}
	hashed := func(n plan.Node) plan.Node {
		return &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{n}, Schema: schema}, Distribution: plan.Hash, Keys: []int{0}}
	}
	n := &plan.Join{Base: plan.Base{Inputs: []plan.Node{hashed(values(left)), hashed(values(right))}, Schema: append(slices.Clone(schema), schema...)},
		Kind: plan.FullOuter, LeftKeys: []int{0}, RightKeys: []int{0}}
	for _, settings := range []map[string]string{nil, {"parallelism.default": "3"}, {"parallelism.default": "2", "execution.batch-shuffle-mode": "ALL_EXCHANGES_PIPELINED"}} {
		for _, n.BuildLeft = range []bool{false, true} {
			got, err := execute(t, n, settings)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprint(settings, n.BuildLeft), got, joinModel(n, left, right))
		}
	}
	cross := &plan.Join{Base: plan.Base{Inputs: []plan.Node{values(left[:50]), &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{values(right[:40])}, Schema: schema},
		Distribution: plan.Broadcast}}, Schema: n.Schema}, Strategy: plan.NestedLoop}
	got, err := execute(t, cross, nil)
	if err != nil || len(got) != 2000 {
		t.Errorf("cross join: %d rows, %v", len(got), err)
	}
}
