package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/tpch"
)

// scripted answers what it is told to.
type scripted struct {
	rows map[string][][]string
	cost cost
}

func (s *scripted) query(_ context.Context, sql string) (answer, cost, error) {
	rows, is := s.rows[sql]
	if !is {
		return answer{}, cost{}, errors.New("no such query")
	}
	return answer{rows: rows}, s.cost, nil
}

func (s *scripted) close() error { return nil }

func TestQueriesArePutToAllAndTheirCostsCompared(t *testing.T) {
	one, two := tpch.Query(1), tpch.Query(2)
	right := map[string][][]string{one: {{"1"}}, two: {{"2"}}}
	all := []*contender{
		duckdbTwo:     {name: "two", engine: &scripted{right, cost{wall: 1, cpu: 2}}},
		duckdbOne:     {name: "one", err: errors.New("it was left out")},
		weirEmbedded:  {name: "embedded", engine: &scripted{right, cost{wall: 1, cpu: 3}}},
		weirClustered: {name: "cluster", engine: &scripted{map[string][][]string{one: {{"1"}}, two: {{"3"}}}, cost{wall: 1, cpu: 5, client: 1}}},
		flinkCluster:  {name: "flink", engine: &scripted{map[string][][]string{one: {{"1"}}}, cost{wall: 9, cpu: 50, client: 10}}},
	}
	ask(t.Context(), all, []int{1, 2}, io.Discard)
	values, failures := figure.Values{}, map[string]error{}
	tpchFigures(all, []int{1, 2}, values, failures)
	for key, want := range map[string]float64{"tpch right": 1, "tpch embedded/duckdb": 1.5, "tpch cluster/duckdb": 2.5, "tpch duckdb CPU": 4, "tpch cluster CPU": 8} {
		if got := values[key]; !slices.Equal(got, []float64{want}) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	for key, want := range map[string]string{
		"tpch flink/cluster": "both have answered 1 of 2 queries", "tpch embedded/duckdb one thread": "it was left out", "tpch flink CPU": "1 of 2 queries were answered",
	} {
		if got := failures[key]; got == nil || got.Error() != want {
			t.Errorf("%s: %v, want %q", key, got, want)
		}
	}
	table := tpchTable(all, []int{1, 2})
	for _, want := range []string{
		"| q1 | 2.00 | | 3.00 | 4.00 + 1.00 | 40.00 + 10.00 | 1.5 | 10.0 | equal |\n",
		"| q2 | 2.00 | | 3.00 | 4.00 + 1.00 | failed | 1.5 | – | **see below** |\n",
		"* q2, cluster: row 1, column 1 is \"3\" instead of \"2\"\n",
		"* q2, flink: no such query\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no line %q in\n%s", want, table)
		}
	}
}

func TestAnswersAreKeptForALaterRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	r, err := readRecord(path)
	if err != nil || len(r.Answers) > 0 {
		t.Fatalf("nothing was kept yet: %v, %v", r, err)
	}
	r.Started = keptCost{CPU: 7}
	k := &keeping{&scripted{map[string][][]string{"q": {{"a", null}}}, cost{wall: 3, cpu: 2, client: 1}}, path, func() (string, string) { return "noon", "0.1" }, r}
	for _, sql := range []string{"q", "unknown"} {
		_, _, _ = k.query(t.Context(), sql)
	}
	r, err = readRecord(path)
	if err != nil || r.When != "noon" || r.Load != "0.1" || r.Started.CPU != 7 {
		t.Fatalf("kept: %+v, %v", r, err)
	}
	a, spent, err := (&replayed{r}).query(t.Context(), "q")
	if err != nil || spent != (cost{wall: 3, cpu: 2, client: 1}) || !slices.Equal(a.rows[0], []string{"a", null}) {
		t.Errorf("replayed: %v, %v, %v", a, spent, err)
	}
	if _, _, err := (&replayed{r}).query(t.Context(), "unknown"); err == nil {
		t.Error("a query that failed has an answer")
	}
}

func TestOptions(t *testing.T) {
	o, err := readOptions([]string{"-size", "200MB", "-only", "scan,first", "-queries", "3,22"})
	if err != nil || o.size != 200_000_000 || !slices.Equal(o.only, []string{"scan", "first"}) || !slices.Equal(o.queries, []int{3, 22}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = readOptions(nil); err != nil || o.size != 1_000_000_000 || len(o.queries) != 22 || len(o.only) != len(parts) {
		t.Errorf("without options: %+v, %v", o, err)
	}
	for _, bad := range [][]string{{"-size", "1TB"}, {"-size", "0"}, {"-only", "tpcds"}, {"-queries", "23"}, {"-queries", "x"}} {
		if _, err := readOptions(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestEveryGoalHasAKeyAndAPart(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range goals {
		if seen[g.Key] || !slices.Contains(parts, g.part) {
			t.Errorf("%s: key %q, part %q", g.Name, g.Key, g.part)
		}
		seen[g.Key] = true
	}
	if got := len(figuresOf([]string{"plan"})); got != 2 {
		t.Errorf("%d figures of planning, want 2", got)
	}
}
