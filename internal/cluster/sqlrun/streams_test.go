package sqlrun_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/session"
)

// Queries that keep no rows run as streams, whether what they read ends or not.
func TestStreams(t *testing.T) {
	s := open(t)
	table(t, s, "f", "a INT, b STRING", "", "1,x\n2,y\n", "3,\n")
	run(t, s, "SET 'execution.runtime-mode' = 'streaming'",
		"CREATE TABLE few (n INT) WITH ('connector'='datagen', 'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='3')",
		"CREATE TABLE more (n INT) WITH ('connector'='datagen')",
		"CREATE VIEW v AS SELECT a, ARRAY[a, a + 1] AS l FROM f")
	for query, want := range map[string]string{
		"SELECT 1":                              "1",
		"SELECT a, UPPER(b) FROM f WHERE a < 3": "1 | X, 2 | Y",
		"SELECT a FROM f UNION ALL SELECT n * 10 FROM few UNION ALL VALUES 7": "1, 10, 2, 20, 3, 30, 7",
		"SELECT a, e FROM v CROSS JOIN UNNEST(l) AS u (e) WHERE a = 2":        "2 | 2, 2 | 3",
		"SELECT x FROM (VALUES (1), (2), (3)) AS t (x) LIMIT 2":               "1, 2",
		"SELECT 'twice' || CAST(1 AS STRING) FROM more LIMIT 2":               "twice1, twice1",
	} {
		_, rows, _ := strings.Cut(answer(t.Context(), s, query), "\n")
		got := strings.Split(strings.TrimSpace(rows), "\n")
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s gives %q, want %s", query, got, want)
		}
	}
	if got := answer(t.Context(), s, "EXPLAIN SELECT a FROM f"); !strings.Contains(got, "== Optimized Execution Plan ==\nCollect(") {
		t.Error(got)
	}
	if got := answer(t.Context(), s, "EXPLAIN SELECT a FROM f ORDER BY a"); strings.Contains(got, "== Optimized Execution Plan ==") {
		t.Error(got)
	}
}

// changelog is a query's rows with their kinds, in the order in which they come.
func changelog(t *testing.T, s session.Session, query string) string {
	t.Helper()
	r, err := s.Execute(t.Context(), query, nil)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Rows.Close()
	var rows []string
	for {
		b, err := r.Rows.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return strings.Join(rows, ", ")
		}
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		b = b.Compact()
		for i := range b.N {
			row := "+I"
			if len(b.Kind) > 0 {
				row = map[batch.RowKind]string{batch.Insert: "+I", batch.UpdateBefore: "-U", batch.UpdateAfter: "+U", batch.Delete: "-D"}[b.Kind[i]]
			}
			for k, c := range b.Cols {
				if c.IsNull(i) {
					row += " NULL"
				} else {
					row += " " + r.Show(r.Schema[k].Type, c, i)
				}
			}
			rows = append(rows, row)
		}
	}
}

// The rows of a query are aggregated as a stream: what was given is taken back when it
// changes.
func TestStreamsOfChanges(t *testing.T) {
	s := open(t)
	run(t, s, "SET 'execution.runtime-mode' = 'streaming'")
	const rows = " FROM (VALUES ('a', 1), ('b', 5), ('a', 3), (CAST(NULL AS STRING), 2), ('a', 2), ('b', CAST(NULL AS INT))) AS t (k, v) "
	for query, want := range map[string]string{
		"SELECT k, COUNT(*) AS c" + rows + "GROUP BY k":                                             "+I a 1, +I b 1, -U a 1, +U a 2, +I NULL 1, -U a 2, +U a 3, -U b 1, +U b 2",
		"SELECT k, MAX(v) AS m" + rows + "GROUP BY k":                                               "+I a 1, +I b 5, -U a 1, +U a 3, +I NULL 2",
		"SELECT k, SUM(v) AS m" + rows + "GROUP BY k HAVING COUNT(*) > 2":                           "+U a 6",
		"SELECT DISTINCT k" + rows:                                                                  "+I a, +I b, +I NULL",
		"SELECT COUNT(DISTINCT k), COUNT(*) FILTER (WHERE v > 2)" + rows:                            "+I 1 0, -U 1 0, +U 2 1, -U 2 1, +U 2 2",
		"SELECT ARRAY_AGG(v), LISTAGG(k)" + rows + "WHERE k = 'a'":                                  "+I [1] a, -U [1] a, +U [1, 3] a,a, -U [1, 3] a,a, +U [1, 3, 2] a,a,a",
		"SELECT COUNT(*) AS c" + rows + "WHERE v > 100":                                             "",
		"SELECT c * 2 FROM (SELECT COUNT(*) AS c" + rows + "WHERE k = 'b') AS u":                    "+I 2, -U 2, +U 4",
		"SELECT COUNT(*) AS c" + rows + "WHERE k = 'b' UNION ALL SELECT v" + rows + "WHERE v > 100": "+I 1, -U 1, +U 2",
	} {
		if got := changelog(t, s, query); got != want {
			t.Errorf("%s gives %s, want %s", query, got, want)
		}
	}
	run(t, s, "CREATE TABLE wide (v STRING) WITH ('connector'='datagen', 'rows-per-second'='100000000', 'number-of-rows'='60000', 'fields.v.length'='2000')")
	if got := answer(t.Context(), s, "SELECT CHAR_LENGTH(v), COUNT(*) FROM wide GROUP BY v"); !strings.Contains(got, "of managed memory: fewer groups") {
		t.Errorf("too many groups give %.300s", got)
	}
}

// INSERT as a stream, with checkpoints, writes each row once.
func TestStreamIntoFiles(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "o")
	run(t, s, "SET 'execution.runtime-mode' = 'streaming'", "SET 'execution.checkpointing.interval' = '20 ms'",
		"CREATE TABLE few (n INT) WITH ('connector'='datagen', 'rows-per-second'='1000', 'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='300')",
		fmt.Sprintf("CREATE TABLE o (n INT) WITH ('connector'='filesystem', 'path'='%s', 'format'='csv')", dir),
		"INSERT INTO o SELECT n FROM few UNION ALL VALUES -1, -2")
	files, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			seen[strings.TrimSpace(line)]++
		}
	}
	if len(seen) != 302 || seen["-2"] != 1 || seen["300"] != 1 {
		t.Errorf("%d rows in %d files", len(seen), len(files))
	}
}
