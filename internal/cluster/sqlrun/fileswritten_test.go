package sqlrun_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// held gives the lines of all files below a directory, each with the directory it is in.
func held(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		in, _ := filepath.Rel(dir, filepath.Dir(path))
		for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			lines = append(lines, in+": "+line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestWrittenJSON(t *testing.T) {
	s := open(t)
	columns := `i INT, t STRING, d DECIMAL(12, 9), f DOUBLE, b BYTES, x BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(6), z TIMESTAMP_LTZ(3),
		a ARRAY<INT>, m MAP<STRING, DOUBLE>, r ROW<n INT, t STRING>`
	dir := t.TempDir()
	run(t, s, "SET 'table.local-time-zone' = 'Asia/Tokyo'",
		fmt.Sprintf("CREATE TABLE j (%s) WITH ('connector'='filesystem', 'path'='%s', 'format'='json')", columns, dir),
		`INSERT INTO j VALUES (1, U&'q"\00e4\000a', 0.000000027, 1E10, x'00ff', TRUE, DATE '2024-02-29', TIME '10:00:00', TIMESTAMP '2024-01-01 10:00:00.05', TO_TIMESTAMP_LTZ(500, 3),
		ARRAY[1, CAST(NULL AS INT)], MAP['k', 1E0], ROW(2, CAST(NULL AS STRING)))`)
	want := `.: {"i":1,"t":"q\"ä\n","d":2.7E-8,"f":1.0E10,"b":"AP8=","x":true,"dt":"2024-02-29","tm":"10:00:00","ts":"2024-01-01 10:00:00.05","z":"1970-01-01 00:00:00.5Z","a":[1,null],"m":{"k":1.0},"r":{"n":2,"t":null}}`
	if got := held(t, dir); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got := answer(t.Context(), s, "SELECT i, b, d, dt, tm, ts, z, a, m, r.n FROM j")
	if want := "\n1 | x'00ff' | 0.000000027 | 2024-02-29 | 10:00:00 | 2024-01-01 10:00:00.050000 | 1970-01-01 09:00:00.500 | [1, NULL] | {k=1.0} | 2\n"; !strings.HasSuffix(got, want) {
		t.Errorf("what was written is read as %s", got)
	}
	for options, want := range map[string]string{
		"'json.encode.ignore-null-fields'='true'":                                                  `{"z":"1970-01-01 00:00:00Z","d":0E-9,"r":{"n":1}}`,
		"'json.encode.decimal-as-plain-number'='true','json.timestamp-format.standard'='ISO-8601'": `{"t":null,"z":"1970-01-01T00:00:00Z","d":0.000000000,"r":{"n":1,"t":null},"m":null}`,
	} {
		dir := t.TempDir()
		run(t, s, "DROP TABLE IF EXISTS k", fmt.Sprintf("CREATE TABLE k (t STRING, z TIMESTAMP_LTZ(3), d DECIMAL(12, 9), r ROW<n INT, t STRING>, m MAP<STRING, INT>) WITH ('connector'='filesystem', 'path'='%s', 'format'='json', %s)", dir, options),
			"INSERT INTO k VALUES (CAST(NULL AS STRING), TO_TIMESTAMP_LTZ(0, 3), 0, ROW(1, CAST(NULL AS STRING)), CAST(NULL AS MAP<STRING, INT>))")
		if got := held(t, dir); got != ".: "+want {
			t.Errorf("%s: got %s\nwant %s", options, got, want)
		}
	}
	for mode, want := range map[string]string{"FAIL": "a map has a NULL key", "DROP": `{"m":{}}`, "LITERAL": `{"m":{"none":1}}`, "KEEP": "'KEEP' is none of FAIL, DROP and LITERAL"} {
		dir := t.TempDir()
		run(t, s, "DROP TABLE IF EXISTS n", fmt.Sprintf("CREATE TABLE n (m MAP<STRING, INT>) WITH ('connector'='filesystem', 'path'='%s', 'format'='json', 'json.map-null-key.mode'='%s', 'json.map-null-key.literal'='none')", dir, mode))
		if got := answer(t.Context(), s, "INSERT INTO n SELECT MAP[CAST(NULL AS STRING), 1]") + held(t, dir); !strings.Contains(got, want) {
			t.Errorf("%s: got %s\nwant %s", mode, got, want)
		}
	}
}

func TestPartitions(t *testing.T) {
	for _, format := range []string{"csv", "json", "parquet"} {
		s := open(t)
		dir := t.TempDir()
		run(t, s, fmt.Sprintf("CREATE TABLE p (dt DATE, n INT, city STRING, v STRING) PARTITIONED BY (dt, city) WITH ('connector'='filesystem', 'path'='%s', 'format'='%s')", dir, format),
			`INSERT INTO p VALUES (DATE '2024-01-01', 1, 'Oslo', 'a'), (DATE '2024-01-02', 2, 'a/b=%', 'b'), (DATE '2024-01-02', 3, CAST(NULL AS STRING), 'c')`)
		got, directories := held(t, dir), ""
		for line := range strings.SplitSeq(got, "\n") {
			where, _, _ := strings.Cut(line, ":")
			if !strings.HasSuffix(directories, where+"\n") {
				directories += where + "\n"
			}
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

func TestRaw(t *testing.T) {
	for _, test := range []struct{ column, options, values, bytes, read string }{
		{"v STRING", "", "('a,\"b\" '), ('ä')", "a,\"b\" \nä\n", "a,\"b\" \nä\n"},
		{"v BYTES", "", "(x'00ff'), (x'41')", "\x00\xff\nA\n", "x'00ff'\nx'41'\n"},
		{"v INT", "", "(1), (-2)", "\x00\x00\x00\x01\n\xff\xff\xff\xfe\n", "1\n-2\n"},
		{"v SMALLINT", ", 'raw.endianness'='little-endian'", "(CAST(258 AS SMALLINT)), (CAST(3 AS SMALLINT))", "\x02\x01\n\x03\x00\n", "258\n3\n"},
		{"v DOUBLE", "", "(1.5E0), (2E0)", "\x3f\xf8\x00\x00\x00\x00\x00\x00\n\x40\x00\x00\x00\x00\x00\x00\x00\n", "1.5\n2.0\n"},
		{"v BOOLEAN", "", "(TRUE), (FALSE)", "\x01\n\x00\n", "TRUE\nFALSE\n"},
	} {
		s := open(t)
		dir := t.TempDir()
		run(t, s, fmt.Sprintf("CREATE TABLE r (%s) WITH ('connector'='filesystem', 'path'='%s', 'format'='raw'%s)", test.column, dir, test.options),
			"INSERT INTO r VALUES "+test.values)
		files, err := filepath.Glob(filepath.Join(dir, "part-*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: files %q, %v", test.column, files, err)
		}
		if got, err := os.ReadFile(files[0]); err != nil || string(got) != test.bytes {
			t.Errorf("%s: written %q, %v; want %q", test.column, got, err, test.bytes)
		}
		_, got, _ := strings.Cut(answer(t.Context(), s, "SELECT * FROM r"), "\n")
		if got != test.read {
			t.Errorf("%s: read %q, want %q", test.column, got, test.read)
		}
		if got := answer(t.Context(), s, "SELECT COUNT(*) FROM r"); !strings.HasSuffix(got, "\n2\n") {
			t.Errorf("%s: counted %s", test.column, got)
		}
	}
	for _, test := range []struct{ columns, options, want string }{
		{"v INT", "", "line 2, byte 5: column v: a value of type INT has 4 bytes, and the line 2: 'ab'"},
		{"v INT, w INT", "", "format 'raw' has one column besides those of partitions, and the table has 2"},
		{"v DATE", "", "column v: format 'raw' has no values of type DATE"},
		{"v STRING", ", 'raw.charset'='latin1'", "option 'raw.charset': 'latin1' is not known; there is UTF-8"},
	} {
		s := open(t)
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte("\x00\x00\x00\x07\nab\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, s, fmt.Sprintf("CREATE TABLE r (%s) WITH ('connector'='filesystem', 'path'='%s', 'format'='raw'%s)", test.columns, path, test.options))
		if got := answer(t.Context(), s, "SELECT * FROM r"); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.columns, got, test.want)
		}
	}
}
