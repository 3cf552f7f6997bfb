package sqlrun_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/sql/session"
)

// soon waits for a query's answer to end with these rows.
func soon(t *testing.T, s session.Session, query, want string) {
	t.Helper()
	got := ""
	for ctx := t.Context(); ctx.Err() == nil; {
		if got = answer(ctx, s, query); strings.HasSuffix(got, want) {
			return
		}
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 10*time.Second {
			break
		}
	}
	t.Fatalf("%s gives %s, want %s", query, got, want)
}

// A materialized table is written anew: at once, when it is asked for, and again after its
// freshness.
func TestFullMaterializedTable(t *testing.T) {
	s := open(t)
	table(t, s, "f", "a INT, b STRING", "", "1,x\n2,y\n")
	out := filepath.Join(t.TempDir(), "m")
	run(t, s, "CREATE TABLE more (a INT, b STRING) WITH ('connector'='filesystem', 'path'='"+out+"f', 'format'='csv')",
		"INSERT INTO more VALUES (3, 'x')",
		"CREATE VIEW v AS SELECT * FROM f UNION ALL SELECT * FROM more",
		"CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='"+out+"', 'format'='csv') FRESHNESS = INTERVAL '1' HOUR REFRESH_MODE = FULL"+
			" AS SELECT b, COUNT(*) AS n FROM v GROUP BY b")
	soon(t, s, "SELECT * FROM m ORDER BY b", "\nx | 2\ny | 1\n")
	run(t, s, "INSERT INTO more VALUES (4, 'x')")
	if got := answer(t.Context(), s, "ALTER MATERIALIZED TABLE m REFRESH"); len(got) != 33 {
		t.Errorf("refresh: %s", got)
	}
	soon(t, s, "SELECT * FROM m ORDER BY b", "\nx | 3\ny | 1\n")
	run(t, s, "ALTER MATERIALIZED TABLE m SUSPEND", "INSERT INTO more VALUES (5, 'x')")
	if got := answer(t.Context(), s, "ALTER MATERIALIZED TABLE m SUSPEND"); !strings.Contains(got, "is suspended already") {
		t.Error(got)
	}
	run(t, s, "ALTER MATERIALIZED TABLE m RESUME")
	soon(t, s, "SELECT * FROM m ORDER BY b", "\nx | 4\ny | 1\n")
	run(t, s, "CREATE OR ALTER MATERIALIZED TABLE m AS SELECT b, COUNT(*) AS n, MAX(a) AS k FROM v GROUP BY b")
	soon(t, s, "SELECT * FROM m ORDER BY b", "\nx | 4 | 5\ny | 1 | 2\n")
	run(t, s, "DROP MATERIALIZED TABLE m")

	run(t, s, "CREATE MATERIALIZED TABLE q WITH ('connector'='filesystem', 'path'='"+out+"q', 'format'='csv') FRESHNESS = INTERVAL '1' SECOND REFRESH_MODE = FULL AS SELECT MAX(a) AS k FROM v",
		"INSERT INTO more VALUES (6, 'x')")
	soon(t, s, "SELECT * FROM q", "\n6\n")
}

// A materialized table is filled by a stream, which checkpoints.
func TestContinuousMaterializedTable(t *testing.T) {
	s := open(t)
	out := filepath.Join(t.TempDir(), "m")
	run(t, s, "CREATE TABLE g (n INT) WITH ('connector'='datagen', 'rows-per-second'='50', 'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='100000')",
		"SET 'execution.checkpointing.interval' = '50 ms'",
		"CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='"+out+"', 'format'='csv') AS SELECT n, n * 2 AS d FROM g WHERE n < 20")
	soon(t, s, "SELECT COUNT(*), MAX(d) FROM m", "\n19 | 38\n")
	if got := answer(t.Context(), s, "SHOW JOBS"); !strings.Contains(got, "insert-into_default_catalog.default_database.m | RUNNING") {
		t.Error(got)
	}
	for statement, want := range map[string]string{
		"ALTER MATERIALIZED TABLE m REFRESH": "is filled by job",
		"ALTER MATERIALIZED TABLE m RESUME":  "is being filled already",
		"ALTER MATERIALIZED TABLE m SUSPEND": "Savepoint directory is not configured",
		"CREATE MATERIALIZED TABLE k WITH ('connector'='blackhole') AS SELECT COUNT(*) AS c FROM g":       "streams are not supported yet where they need GROUP BY",
		"CREATE MATERIALIZED TABLE k WITH ('connector'='blackhole') REFRESH_MODE = FULL AS SELECT 1 AS c": "INSERT OVERWRITE requires",
		"CREATE MATERIALIZED TABLE k AS SELECT 1 AS c":                                                    "connector",
		"SHOW CREATE MATERIALIZED TABLE k":                                                                "does not exist",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s gives %s", statement, got)
		}
	}
	run(t, s, "DROP MATERIALIZED TABLE m")
	if got := answer(t.Context(), s, "SHOW JOBS"); !strings.Contains(got, "CANCELED") {
		t.Error(got)
	}
}
