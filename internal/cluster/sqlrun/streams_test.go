package sqlrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if got := answer(t.Context(), s, "EXPLAIN SELECT DISTINCT a FROM f"); strings.Contains(got, "== Optimized Execution Plan ==") {
		t.Error(got)
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
