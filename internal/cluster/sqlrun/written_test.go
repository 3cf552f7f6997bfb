package sqlrun_test

import (
	"strings"
	"testing"
)

// steps carries out statements one after another; each answer has a part.
func steps(t *testing.T, pairs ...string) {
	t.Helper()
	s := open(t)
	dir := table(t, s, "s", "a INT NOT NULL, b STRING", "")
	other := table(t, s, "o", "a INT, b STRING", "")
	replace := strings.NewReplacer("$DIR", dir+"-made", "$OTHER", other)
	for i := 0; i < len(pairs); i += 2 {
		if got := answer(t.Context(), s, replace.Replace(pairs[i])); !strings.Contains(got, pairs[i+1]) {
			t.Errorf("%s\ngives %s\nwant  %s", pairs[i], got, pairs[i+1])
		}
	}
}

func TestNotNull(t *testing.T) {
	const insert = "INSERT INTO s SELECT x, 'b' FROM (VALUES (1), (CAST(NULL AS INT))) AS t(x)"
	steps(t,
		insert, "Column 'a' is NOT NULL, however, a null value is being written into it",
		"SET 'table.exec.sink.not-null-enforcer' = 'DROP'", "OK",
		insert, "-1",
		"SELECT a, b FROM s", "\n1 | b\n",
		"SET 'table.exec.sink.not-null-enforcer' = 'MAYBE'", "allowed: one of ERROR, DROP",
		insert, "-1",
	)
}

func TestWritten(t *testing.T) {
	steps(t,
		"EXECUTE STATEMENT SET BEGIN INSERT INTO s VALUES (1, 'x'); INSERT INTO o VALUES (2, 'y'); INSERT INTO o VALUES (3, CAST(NULL AS STRING)); END", "-1 | -1 | -1",
		"SELECT a FROM s UNION ALL SELECT a FROM o ORDER BY a", "\n1\n2\n3\n",
		"BEGIN STATEMENT SET", "OK",
		"INSERT INTO s VALUES (4, 'z')", "OK",
		"SELECT 1", "Only INSERT statement is allowed",
		"END", "-1",
		"SELECT SUM(a) FROM s", "\n5\n",
		"CREATE TABLE c WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = 'file://$DIR') AS SELECT a, b, a * 2 AS twice FROM s", "-1",
		"SELECT * FROM c ORDER BY a", "\n1 | x | 2\n4 | z | 8\n",
		"CREATE TABLE IF NOT EXISTS c WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = 'file://$DIR') AS SELECT 1 AS a", "OK",
		"CHECK TABLE c", "1 | a | INT",
		"ANALYZE TABLE c COMPUTE STATISTICS FOR ALL COLUMNS", "OK",
	)
}
