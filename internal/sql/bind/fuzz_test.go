package bind_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// openEnds is a connector whose tables are compiled into jobs that nobody runs.
type openEnds struct{}

func (openEnds) Declaration() connector.Declaration {
	return connector.Declaration{Source: true, Sink: true, Partitions: true, Overwrite: true, Optional: []string{"x"}}
}

func (openEnds) Source(*plan.Scan, *expr.Session) (exec.End, error) {
	return exec.End{Operator: operator.SourceFunc(nil)}, nil
}

func (openEnds) Sink(*plan.Write, *expr.Session) (exec.End, error) {
	return exec.End{Operator: operator.FactoryFunc(nil)}, nil
}

// looking is a runner that looks at jobs, and runs none.
type looking struct {
	t *testing.T
}

var errNotRun = errors.New("it is not run")

// Submit checks that workers get the plan that was made, and that the client gets rows of
// the columns that it was told.
func (l *looking) Submit(_ context.Context, c *exec.Compiled, schema []types.Field) (engine.Job, error) {
	j, err := plan.Decode(c.Graph.Plan, builtin.Registry())
	if err != nil {
		l.t.Errorf("the plan is not read again: %v", err)
		return nil, errNotRun
	}
	if !bytes.Equal(j.Encode(), c.Graph.Plan) {
		l.t.Error("the plan is another when it has been read")
	}
	if schema == nil {
		return nil, errNotRun
	}
	of := func(f types.Field) string { return f.Name + " " + f.Type.OrNull().String() } // what can be NULL, the planner knows more of
	var want, got []string
	for _, f := range schema {
		want = append(want, of(f))
	}
	for _, f := range j.Sinks[0].Common().Schema {
		got = append(got, of(f))
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("the plan gives %v, want %v", got, want)
	}
	return nil, errNotRun
}

// fuzzTables are what the queries of the corpus are over.
const fuzzTables = `
CREATE TABLE t (a INT, b STRING, c BIGINT, d DECIMAL(10, 2), e DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='open');
CREATE TABLE u (a INT NOT NULL, b STRING NOT NULL, f BOOLEAN, g DATE, h ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y ROW<z STRING>>, l TIMESTAMP_LTZ(3), PRIMARY KEY (a) NOT ENFORCED) WITH ('connector'='open');
CREATE TABLE p (k STRING, v INT, w AS v + 1, n AS PROCTIME()) PARTITIONED BY (k) WITH ('connector'='open');
CREATE VIEW x AS SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b`

// corpus are the queries of testdata.
func corpus(t testing.TB) (all []string) {
	text, err := os.ReadFile("testdata/queries.sql")
	if err != nil {
		t.Fatal(err)
	}
	for q := range strings.SplitSeq(string(text), ";\n") {
		all = append(all, strings.TrimSpace(q))
	}
	return all
}

// asking opens a session that has the tables, and gives what asks it a query or an INSERT:
// it is refused, or becomes a job that a worker can read and that gives what the client
// was told.
func asking(tb testing.TB) func(t *testing.T, source string) (planned bool) {
	runner := &looking{}
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: exec.Connectors{"open": openEnds{}}, Runner: runner,
		Settings: map[string]string{"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"},
		Now:      func() time.Time { return time.Unix(1_700_000_000, 0) }})
	s, err := e.Open(context.Background(), session.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	for _, statement := range strings.Split(fuzzTables, ";\n") {
		if _, err := s.Execute(context.Background(), statement, nil); err != nil {
			tb.Fatal(err)
		}
	}
	return func(t *testing.T, source string) bool {
		statement, err := parse.Statement(source)
		if err != nil {
			return false
		}
		switch statement.(type) {
		case *ast.Query, *ast.Insert:
		default:
			return false
		}
		runner.t = t
		r, err := s.Execute(t.Context(), source, nil)
		switch {
		case err == nil:
			t.Errorf("%s: there is a result", source)
			_ = r.Rows.Close()
		case strings.Contains(err.Error(), "the planner is broken"):
			t.Errorf("%s: %v", source, err)
		}
		return err != nil && strings.Contains(err.Error(), errNotRun.Error())
	}
}

func FuzzQuery(f *testing.F) {
	for _, q := range corpus(f) {
		f.Add(q)
	}
	ask := asking(f)
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) <= 1000 {
			ask(t, source)
		}
	})
}

// Queries that are put together of parts of the corpus are planned or refused, as those of
// the corpus are.
func TestSplicedQueries(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	ask := asking(t)
	type part struct{ start, end int }
	var texts []string
	var parts [][2][]part // of each text: expressions, and queries
	of := func(source string) (found [2][]part) {
		statement, err := parse.Statement(source)
		if err != nil {
			return found
		}
		ast.Walk(statement, func(n ast.Node) bool {
			at := part{n.Range().Start, n.Range().End}
			switch n.(type) {
			case *ast.Query:
				found[1] = append(found[1], at)
			case ast.Expr:
				found[0] = append(found[0], at)
			}
			return true
		})
		return found
	}
	known := 0
	for _, q := range corpus(t) {
		if ask(t, q) {
			known++
		}
		texts, parts = append(texts, q), append(parts, of(q))
	}
	if known < len(texts)*3/4 {
		t.Errorf("%d of %d queries of the corpus are planned", known, len(texts))
	}
	planned := 0
	for range 1000 {
		source := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(3) {
			kind := 0
			if r.IntN(4) == 0 {
				kind = 1
			}
			here, other := of(source)[kind], r.IntN(len(texts))
			there := parts[other][kind]
			if len(here) == 0 || len(there) == 0 {
				continue
			}
			to, from := here[r.IntN(len(here))], there[r.IntN(len(there))]
			source = source[:to.start] + "(" + texts[other][from.start:from.end] + ")" + source[to.end:]
		}
		if ask(t, source) {
			planned++
		}
		if t.Failed() {
			return
		}
	}
	if planned < 30 {
		t.Errorf("%d of 1000 queries are planned", planned)
	}
}
