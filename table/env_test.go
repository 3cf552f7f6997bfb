package table_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/table"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newEnv(t *testing.T, opts ...table.Option) *table.Env {
	t.Helper()
	env := table.NewEnv(append([]table.Option{table.Set("table.local-time-zone", "UTC")}, opts...)...)
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	return env
}

// rows gives a query's rows as texts.
func rows(t *testing.T, env *table.Env, query string) []string {
	t.Helper()
	all, err := env.Collect[[]string](t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var lines []string
	for _, r := range all {
		lines = append(lines, strings.Join(r, " "))
	}
	return lines
}

func wantRows(t *testing.T, env *table.Env, query string, want ...string) {
	t.Helper()
	if got := rows(t, env, query); !slices.Equal(got, want) {
		t.Errorf("%s\ngives %q\nwant  %q", query, got, want)
	}
}

func wantFailure(t *testing.T, env *table.Env, query string, want ...string) {
	t.Helper()
	_, err := env.Collect[[]string](t.Context(), query)
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s\ngives %v\nwant  %q", query, err, w)
		}
	}
}

// words is an accumulator that points to something.
type words struct{ All []string }

func functions() []table.Function {
	return []table.Function{
		table.ScalarFunc("twice", func(n int64) int64 { return 2 * n }),
		table.ScalarFunc("ratio", func(a, b int64) int64 { return a / b }),
		table.ScalarFunc("join_all", func(sep string, parts ...string) string { return strings.Join(parts, sep) }),
		table.ScalarFunc("day", func(at time.Time) time.Time { return at }, table.Returns("DATE")),
		table.TableFunc("words", strings.FieldsSeq),
		table.TableFunc("range_of", func(in struct{ From, To int64 }) iter.Seq[struct {
			N    int64
			Even bool
		}] {
			return func(yield func(struct {
				N    int64
				Even bool
			}) bool) {
				for n := in.From; n < in.To; n++ {
					if !yield(struct {
						N    int64
						Even bool
					}{n, n%2 == 0}) {
						return
					}
				}
			}
		}),
		table.TableFuncErr("refuses", func(n int64) iter.Seq2[int64, error] {
			return func(yield func(int64, error) bool) { _ = yield(n, nil) && yield(0, errors.New("no more")) }
		}),
		table.AggregateFunc("gathered", stream.Aggregator[string, words, string]{
			Add:   func(acc *words, w string) { acc.All = append(acc.All, w) },
			Merge: func(acc *words, other words) { acc.All = append(acc.All, other.All...) },
			Result: func(acc *words) string {
				slices.Sort(acc.All)
				return strings.Join(acc.All, "+")
			},
		}),
	}
}

func TestFunctionsInQueries(t *testing.T) {
	env := newEnv(t)
	env.Register(functions()...)
	if err := env.Execute(t.Context(), "CREATE TEMPORARY VIEW t AS SELECT * FROM (VALUES (1, 'to be'), (2, 'or not'), (3, ''), (4, CAST(NULL AS STRING))) AS t(id, line)"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, env, "SELECT id, Twice(id) FROM t WHERE twice(id) > 4 ORDER BY id", "3 6", "4 8")
	wantRows(t, env, "SELECT join_all('-', 'a', 'b'), join_all('-'), join_all('-', 'a', CAST(NULL AS STRING))", "a-b  NULL")
	wantRows(t, env, "SELECT `day`(TIMESTAMP '2024-05-06 23:00:00')", "2024-05-06")
	wantRows(t, env, "SELECT id, word FROM t, LATERAL TABLE(words(line)) AS w(word) ORDER BY id, word", "1 be", "1 to", "2 not", "2 or")
	wantRows(t, env, "SELECT id, word FROM t LEFT JOIN LATERAL TABLE(words(line)) AS w(word) ON TRUE WHERE id > 2 ORDER BY id", "3 NULL", "4 NULL")
	wantRows(t, env, "SELECT n, even FROM TABLE(range_of(1, 4))", "1 FALSE", "2 TRUE", "3 FALSE")
	wantRows(t, env, "SELECT COUNT(*), SUM(n) FROM TABLE(range_of(0, 5000)) AS r", "5000 12497500")
	wantRows(t, env, "SELECT id > 2, gathered(word) FROM t, LATERAL TABLE(words(line)) AS w(word) GROUP BY id > 2", "FALSE be+not+or+to")
	wantRows(t, env, "SELECT gathered(line) FROM t WHERE id > 9", "")
	wantRows(t, env, "SELECT gathered(DISTINCT word) FILTER (WHERE word <> 'or') FROM t, LATERAL TABLE(words(line || ' to')) AS w(word)", "be+not+to")
	wantRows(t, env, "SELECT id, gathered(line) OVER (ORDER BY id) FROM t WHERE id < 3 ORDER BY id", "1 to be", "2 or not+to be")
	wantRows(t, env, "SELECT SUM(twice(id)) FROM t GROUP BY MOD(twice(id), 4) ORDER BY 1", "8", "12")
	if err := env.Execute(t.Context(), "CREATE TEMPORARY VIEW v AS SELECT twice(id) AS d, word FROM t, LATERAL TABLE(words(line)) AS w(word)"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, env, "SELECT MAX(d), gathered(word) FROM v", "4 be+not+or+to")
}

func TestAggregatesOfManyGroups(t *testing.T) {
	env := newEnv(t)
	env.Register(functions()...)
	n := make([]int64, 50_000)
	for i := range n {
		n[i] = int64(i)
	}
	env.FromSlice("n", n)
	wantRows(t, env, "SELECT COUNT(*), MIN(g), MAX(g) FROM (SELECT gathered(CAST(`value` AS STRING)) AS g FROM n GROUP BY MOD(`value`, 25000)) AS x", "25000 0+25000 34999+9999")
}

func TestFailuresOfFunctions(t *testing.T) {
	env := newEnv(t)
	env.Register(functions()...)
	file := filepath.Join(t.TempDir(), "n.csv")
	if err := os.WriteFile(file, []byte("4,2\n6,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := env.Execute(t.Context(), fmt.Sprintf("CREATE TABLE n (a BIGINT, b BIGINT) WITH ('connector'='filesystem','format'='csv','path'='%s')", file)); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, env, "SELECT\n  ratio(a, b) FROM n", "line 2, column 3: ratio(a, b)", "function ratio panicked: runtime error: integer divide by zero (", "env_test.go:", "n.csv", "line 2")
	wantFailure(t, env, "SELECT m FROM n, LATERAL TABLE(refuses(a)) AS r(m)", "function refuses: no more", "line 1, column 32: refuses(a)")
	wantFailure(t, env, "SELECT twise(a) FROM n", "did you mean 'twice'?")
	wantFailure(t, env, "SELECT * FROM n, LATERAL TABLE(word(a)) AS r(m)", "did you mean 'words'?")
	wantFailure(t, env, "SELECT twice('a') FROM n", "twice cannot be applied to (CHAR(1)); supported: twice(BIGINT)")
	wantFailure(t, env, "SELECT words('a') FROM n", "words gives a table: it stands in FROM")
	wantFailure(t, env, "SELECT twice(1.5) FROM n", "supported: twice(BIGINT)")
}

func TestFunctionsAreShown(t *testing.T) {
	env := newEnv(t)
	env.Register(table.ScalarFunc("mask", strings.ToUpper, table.NonDeterministic(), table.Doc("Nothing.")))
	wantRows(t, env, "SHOW USER FUNCTIONS", "mask")
	wantRows(t, env, "DESCRIBE FUNCTION EXTENDED mask", "is system function true", "is temporary true", "class name mask", "function language GO", "resource uris []",
		"kind SCALAR", "requirements []", "is deterministic false", "supports constant folding false", "signature default_catalog.default_database.mask(STRING)")
	plan := strings.Join(rows(t, env, "EXPLAIN SELECT mask(a) AS m FROM (VALUES ('x')) AS t(a)"), "\n")
	if !strings.Contains(plan, "mask(") {
		t.Errorf("the plan does not name the function:\n%s", plan)
	}
	if err := env.Execute(t.Context(), "CREATE FUNCTION hide AS 'mask' LANGUAGE GO"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, env, "SELECT default_catalog.default_database.hide('a'), hide('b')", "A B")
}

func TestMistakesOfTheProgram(t *testing.T) {
	env := newEnv(t)
	env.Register(
		table.ScalarFunc("a", func(chan int) int { return 0 }),
		table.ScalarFunc("upper", strings.ToUpper),
		table.ScalarFunc("b c", strings.ToUpper),
		table.ScalarFunc("d", strings.ToUpper), table.ScalarFunc("D", strings.ToUpper),
		table.ScalarFunc("e", strings.ToUpper, table.Returns("INT")),
		table.ScalarFunc("f", strings.ToUpper, table.Returns("NONSENSE")),
		table.TableFunc[string, string]("g", nil),
		table.AggregateFunc("h", stream.Aggregator[string, string, string]{}),
	)
	env.FromSlice("i", []any{1})
	_, err := env.Collect[string](t.Context(), "SELECT 1")
	for _, want := range []string{"function a: parameter 1: the Go type chan int", "function upper: a function of this name is built in", "function b c: a name has letters",
		"function D: the name is registered already", "function e: results of the Go type string cannot be INT", "function f: Returns(", "function g: the func is nil",
		"function h: its aggregator needs", "table i: the Go type interface {}", "env_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %q", err, want)
		}
	}
}

func TestStatements(t *testing.T) {
	env := newEnv(t)
	dir := t.TempDir()
	ctx := t.Context()
	err := env.Execute(ctx, fmt.Sprintf(`CREATE TABLE o (a INT, b STRING) WITH ('connector'='filesystem','format'='csv','path'='%s');
		INSERT INTO o VALUES (1, 'x;y'), (2, NULL);`, filepath.Join(dir, "out")))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		A int32
		B *string
	}
	got, err := env.Collect[row](ctx, "SELECT * FROM o ORDER BY a")
	if err != nil || len(got) != 2 || got[0].A != 1 || *got[0].B != "x;y" || got[1].B == nil || *got[1].B != "" {
		t.Errorf("%v %v", got, err)
	}
	wantRows(t, env, "SHOW TABLES", "o")
	if err := env.Execute(ctx, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "Query") {
		t.Error(err)
	}
	if err := env.Execute(ctx, "USE default_catalog.default_database;\nCREATE TABLE x (a INT) WITH ('connector'='print');\nCREATE TABLE x (a INT)"); err == nil || !strings.Contains(err.Error(), "the statement at line 3: ") {
		t.Error(err)
	}
	for v, err := range env.Query[int64](ctx, "SELECT CAST(1 AS BIGINT) UNION ALL SELECT 2 UNION ALL SELECT 3") {
		if err != nil || v == 0 {
			t.Error(v, err)
		}
		break // the rest is not wanted
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := env.Collect[int64](canceled, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if err := env.Execute(ctx, "SHOW TABLES"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

func TestTablesOfValues(t *testing.T) {
	env := newEnv(t)
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	type order struct {
		UserID int
		At     time.Time
		Tags   []string
		Note   *string `sql:"remark"`
	}
	note := "n"
	env.FromSlice("orders", []order{{1, at, []string{"a", "b"}, nil}, {2, at, nil, &note}})
	wantRows(t, env, "SELECT remark, user_id, CARDINALITY(tags), HOUR(`at`) FROM orders ORDER BY user_id DESC", "n 2 0 7", "NULL 1 2 7")
	got, err := env.Collect[order](t.Context(), "SELECT * FROM orders WHERE user_id = 1")
	if err != nil || len(got) != 1 || !got[0].At.Equal(at) || !slices.Equal(got[0].Tags, []string{"a", "b"}) {
		t.Error(got, err)
	}
	if err := env.Execute(t.Context(), "INSERT INTO orders SELECT * FROM orders"); err == nil || !strings.Contains(err.Error(), "can only be used as a source") {
		t.Error(err)
	}
}

// A program that describes its job to a cluster gives no rows to itself.
func TestQueriesAreRefusedOnACluster(t *testing.T) {
	t.Setenv(assignment.PlanVariable, filepath.Join(t.TempDir(), "graph"))
	env := newEnv(t)
	wantFailure(t, env, "SELECT 1", "INSERT INTO a table")
	if err := env.Execute(t.Context(), "CREATE TABLE o (a INT) WITH ('connector'='filesystem','format'='csv','path'='here'); INSERT INTO o VALUES (1)"); err == nil || !strings.Contains(err.Error(), `"here" is relative`) {
		t.Error(err)
	}
}
