package sqlrun_test

import (
	"strings"
	"testing"
)

// What docs/gaps.md lists of SQL is refused with these words.
func TestGaps(t *testing.T) {
	s := open(t)
	table(t, s, "t", "a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", "")
	for statement, want := range map[string]string{
		"SELECT * FROM t JOIN t FOR SYSTEM_TIME AS OF t.ts AS u ON t.a = u.a": "a join with the versions of a table runs as a stream only",
		"CREATE CONNECTION c WITH ('type'='x')":                               "connections are not supported",
		"ANALYZE TABLE t PARTITION (b='x') COMPUTE STATISTICS":                "ANALYZE TABLE of single partitions is not supported",
		"TRUNCATE TABLE t": "its connector cannot empty it",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s\ngives %s\nwant %s", statement, got, want)
		}
	}
	table(t, s, "p", "a INT", "")
	run(t, s, "CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='"+t.TempDir()+"/m', 'format'='csv') REFRESH_MODE = FULL AS SELECT 1 AS c")
	if got := answer(t.Context(), s, "ALTER MATERIALIZED TABLE m REFRESH PARTITION (c='1')"); !strings.Contains(got, "single partitions of a materialized table cannot be refreshed") {
		t.Error(got)
	}
	for statement, want := range map[string]string{
		"CREATE TABLE q (a INT) WITH ('connector'='filesystem','path'='/none','format'='avro')": "'avro'; there are csv, json, parquet and raw",
		"CREATE TABLE k (a INT) WITH ('connector'='kafka')":                                     "kafka",
	} {
		name := strings.Fields(statement)[2]
		if got := answer(t.Context(), s, statement); got != "OK\n" {
			t.Errorf("%s gives %s", statement, got)
		}
		if got := answer(t.Context(), s, "SELECT * FROM "+name); !strings.Contains(got, want) {
			t.Errorf("a query of %s gives %s, want %s", name, got, want)
		}
	}
	run(t, s, "CREATE TABLE s (c BIGINT) WITH ('connector'='blackhole')")
	if got := answer(t.Context(), s, "SET 'execution.runtime-mode' = 'streaming'"); got != "OK\n" {
		t.Fatal(got)
	}
	for query, want := range map[string]string{
		"SELECT a FROM t ORDER BY a":                                       "ORDER BY",
		"SELECT t.a FROM t JOIN t AS u ON t.a = u.a":                       "a join",
		"SELECT a FROM t UNION SELECT a FROM t":                            "UNION, INTERSECT or EXCEPT of distinct rows",
		"SELECT COUNT(*) OVER (PARTITION BY b ORDER BY ts) FROM t":         "OVER",
		"SELECT MAX(c) FROM (SELECT COUNT(*) AS c FROM t GROUP BY a) AS u": "an aggregate of rows that change",
		"SELECT COUNT(*) AS c FROM t GROUP BY a LIMIT 1":                   "LIMIT of rows that change",
		"SELECT ARRAY_AGG(a ORDER BY a) FROM t":                            "an aggregate of rows in an order",
		"SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end": "an aggregate of windows",
		"INSERT INTO s SELECT COUNT(*) FROM t": "GROUP BY, DISTINCT or an aggregate function in an INSERT",
	} {
		if got := answer(t.Context(), s, query); !strings.Contains(got, "streams are not supported yet where they need "+want) {
			t.Errorf("%s gives %s", query, got)
		}
	}
}
