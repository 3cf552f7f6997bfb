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

func TestPartitions(t *testing.T) {
	for _, format := range []string{"csv", "json"} {
		s := open(t)
		dir := t.TempDir()
		run(t, s, fmt.Sprintf("CREATE TABLE p (dt DATE, n INT, city STRING, v STRING) PARTITIONED BY (dt, city) WITH ('connector'='filesystem', 'path'='%s', 'format'='%s')", dir, format),
			`INSERT INTO p VALUES (DATE '2024-01-01', 1, 'Oslo', 'a'), (DATE '2024-01-02', 2, 'a/b=%', 'b'), (DATE '2024-01-02', 3, CAST(NULL AS STRING), 'c')`)
		got, directories := held(t, dir), ""
		for line := range strings.SplitSeq(got, "\n") {
			where, _, _ := strings.Cut(line, ":")
			directories += where + "\n"
		}
		if want := "dt=2024-01-01/city=Oslo\ndt=2024-01-02/city=__DEFAULT_PARTITION__\ndt=2024-01-02/city=a%2Fb%3D%25\n"; directories != want || strings.Contains(got, "2024-01-01,") {
			t.Errorf("%s: written\n%s", format, got)
		}
		got = answer(t.Context(), s, "SELECT v, city, n, dt FROM p ORDER BY n")
		if want := "\na | Oslo | 1 | 2024-01-01\nb | a/b=% | 2 | 2024-01-02\nc | <NULL> | 3 | 2024-01-02\n"; !strings.HasSuffix(got, want) {
			t.Errorf("%s: read %s", format, got)
		}
		if got := answer(t.Context(), s, "SELECT COUNT(*), MIN(dt) FROM p WHERE city = 'Oslo' AND n > 0"); !strings.HasSuffix(got, "\n1 | 2024-01-01\n") {
			t.Errorf("%s: one partition gives %s", format, got)
		}
		// What is in other partitions is not read at all.
		if err := os.WriteFile(filepath.Join(dir, "dt=2024-01-02", "city=Rome"), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := answer(t.Context(), s, "SELECT COUNT(*) FROM p WHERE dt < DATE '2024-01-02' AND n > 0"); !strings.HasSuffix(got, "\n1\n") {
			t.Errorf("%s: a filter of a partition column gives %s", format, got)
		}
		if err := os.Remove(filepath.Join(dir, "dt=2024-01-02", "city=Rome")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "dt=soon", "city=Rome"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "dt=soon", "city=Rome", "x"), []byte("4,d\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := answer(t.Context(), s, "SELECT * FROM p"); !strings.Contains(got, "dt=soon/city=Rome/x: partition column dt: 'soon' is no DATE") {
			t.Errorf("%s: a directory of no date gives %s", format, got)
		}
	}
}
