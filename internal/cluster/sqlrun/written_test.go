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
		"SET 'table.exec.sink.not-null-enforcer' = 'MAYBE'", "OK",
		insert, "it can be ERROR or DROP",
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

func TestOverwrite(t *testing.T) {
	s := open(t)
	dir := table(t, s, "o", "n INT, v STRING", "", "1,a\n", "2,b\n")
	if err := os.WriteFile(filepath.Join(dir, "_SUCCESS"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, s, "SET 'parallelism.default' = '2'", "INSERT OVERWRITE o SELECT n + 10, v FROM o WHERE n > 1")
	if got := held(t, dir); got != ".: 12,b\n.: kept" {
		t.Errorf("the table is\n%s", got)
	}
	if got := answer(t.Context(), s, "INSERT OVERWRITE o SELECT n / (n - 12), v FROM o"); !strings.Contains(got, "error: ") || held(t, dir) != ".: 12,b\n.: kept" {
		t.Errorf("after a failure, %s, the table is\n%s", got, held(t, dir))
	}
	run(t, s, "INSERT OVERWRITE o SELECT n, v FROM o WHERE n > 100")
	if got := held(t, dir); got != ".: kept" {
		t.Errorf("the table of no rows is\n%s", got)
	}

	dir = t.TempDir()
	run(t, s, fmt.Sprintf("CREATE TABLE p (n INT, c STRING) PARTITIONED BY (c) WITH ('connector'='filesystem', 'path'='%s', 'format'='csv')", dir),
		"INSERT INTO p VALUES (1, 'a'), (2, 'b')", "INSERT INTO p VALUES (3, 'a')", "INSERT OVERWRITE p VALUES (4, 'a'), (5, 'c')")
	if got := held(t, dir); got != "c=a: 4\nc=b: 2\nc=c: 5" {
		t.Errorf("the partitions are\n%s", got)
	}
	run(t, s, "INSERT OVERWRITE p PARTITION (c = 'b') SELECT 6")
	if got := held(t, dir); got != "c=a: 4\nc=b: 6\nc=c: 5" {
		t.Errorf("the partitions are\n%s", got)
	}
}
