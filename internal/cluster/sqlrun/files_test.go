package sqlrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
)

// open opens a session for batches.
func open(t *testing.T) session.Session {
	t.Helper()
	t.TempDir() // directories are removed when no job writes there any more
	runner := sqlrun.NewEmbedded(nil, nil)
	t.Cleanup(runner.Close)
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: map[string]string{
		"execution.runtime-mode": "batch", "table.local-time-zone": "UTC", "table.dml-sync": "true"}, Now: time.Now})
	s, err := e.Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// table makes a table of files with these texts.
func table(t *testing.T, s session.Session, name, columns, options string, texts ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	create := fmt.Sprintf("CREATE TABLE %s (%s) WITH ('connector'='filesystem','path'='file://%s','format'='csv'%s)", name, columns, dir, options)
	if got := answer(t.Context(), s, create); got != "OK\n" {
		t.Fatal(got)
	}
	return dir
}

func TestOrders(t *testing.T) {
	s := open(t)
	table(t, s, "orders", "id INT, city STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3)", "",
		"1,Oslo,10.50,2024-01-01 00:00:00\n2,\"Saint \"\"X\"\", Y\",2.25,2024-01-02 12:00:00\r\n3,Oslo,,2024-01-03 00:00:00\n", "\xef\xbb\xbf4,\"two\nlines\",1.00,2024-01-04 00:00:00")
	got := answer(t.Context(), s, "SELECT city, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY city ORDER BY city")
	want := "city STRING, n BIGINT NOT NULL, total DECIMAL(38, 2)\nOslo | 2 | 10.50\nSaint \"X\", Y | 1 | 2.25\ntwo\nlines | 1 | 1.00\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWhatCannotBeReadIsPlaced(t *testing.T) {
	for _, test := range []struct{ columns, options, text, query, want string }{
		{"id INT, v STRING", "", "1,one\nx,two\n", "SELECT * FROM t", "line 2, byte 6: column id: 'x' is no INT"},
		{"id INT, v STRING", "", "1,one\n2\n", "SELECT * FROM t", "line 2, byte 6: the record has 1 values, and the table 2 columns: '2'"},
		{"id INT, v STRING", "", "1,one,1\n", "SELECT * FROM t", "line 1, byte 0: the record has 3 values, and the table 2 columns: '1,one,1'"},
		{"id INT, v STRING", "", "1,\"one\n", "SELECT * FROM t", "line 1, byte 0: column v: a quoted value has no end: '\"one'"},
		{"id INT, v STRING", "", "1,\"one\"x\n", "SELECT * FROM t", "after the quoted value comes 'x' instead of ','"},
		{"id INT, v STRING", ",'csv.ignore-parse-errors'='true'", "x,one\n", "SELECT * FROM t", "<NULL> | one\n"},
		{"id INT, v STRING", ",'csv.null-literal'='-'", "1,-\n", "SELECT * FROM t", "1 | <NULL>\n"},
		{"id INT, v STRING", ",'csv.field-delimiter'=';'", "1;a,b\n", "SELECT * FROM t", "1 | a,b\n"},
		{"id INT, v STRING", ",'csv.field-delimitr'=';'", "", "SELECT * FROM t", "unsupported option 'csv.field-delimitr' for connector 'filesystem'; did you mean 'csv.field-delimiter'?"},
		{"id INT, v STRING", "", "1,ten\n2,20\n3,thirty\n", "SELECT id, CAST(v AS INT) FROM t WHERE id > 1", "0.csv, line 3, byte 11: 3,thirty"},
	} {
		s := open(t)
		table(t, s, "t", test.columns, test.options, test.text)
		if got := answer(t.Context(), s, test.query); !strings.Contains(got, test.want) {
			t.Errorf("%q read by %q gives %s, want %s", test.text, test.query, got, test.want)
		}
	}
}

// TestQuotedFilesInParts reads a file of several parts, which may begin within quotes,
// where every line looks like a record.
func TestQuotedFilesInParts(t *testing.T) {
	s := open(t)
	const rows = 250_000
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d,\"\n1000000,\"\"lines\"\"\n1000000,of it\n\"\n", i)
	}
	table(t, s, "t", "id BIGINT, v STRING", "", text.String())
	run(t, s, "SET 'parallelism.default' = '3'", "SET 'execution.batch.adaptive.auto-parallelism.enabled' = 'false'")
	want := fmt.Sprintf("%d | %d | 1\n", rows, int64(rows)*(rows-1)/2)
	if got := answer(t.Context(), s, "SELECT COUNT(*), SUM(id), COUNT(DISTINCT v) FROM t"); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestArraysOfRecords has lines of one object, of a few, and of more than a batch.
func TestArraysOfRecords(t *testing.T) {
	s := open(t)
	const many = 3000
	text := `{"id":1}` + "\n[]\n" + `[{"id":2},{"id":3}]` + "\n" + `[{"id":4}` + strings.Repeat(`, {"id":5}`, many) + "]\n" + `{"id":6}`
	table(t, s, "t", "id INT", ",'scan.bad-rows'='reject'", text)
	run(t, s, "ALTER TABLE t SET ('format'='json')")
	if got, want := answer(t.Context(), s, "SELECT id, COUNT(*) FROM t GROUP BY id ORDER BY id"), fmt.Sprintf("\n1 | 1\n2 | 1\n3 | 1\n4 | 1\n5 | %d\n6 | 1\n", many); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLargeAndDeepRecords has values of 10 MB, which are read, and JSON that is nested ten
// thousand deep, which is refused whether it is wanted or not.
func TestLargeAndDeepRecords(t *testing.T) {
	s := open(t)
	const size = 10 << 20
	dir := table(t, s, "t", "id INT, v STRING", "", "1,"+strings.Repeat("x", size)+"\n2,\""+strings.Repeat("y\"\"", size/2)+"\"\n")
	if got, want := answer(t.Context(), s, "SELECT id, CHAR_LENGTH(v) FROM t ORDER BY id"), fmt.Sprintf("1 | %d\n2 | %d\n", size, size); !strings.HasSuffix(got, want) {
		t.Errorf("CSV: %.200s", got)
	}
	text := "{\"v\":\"" + strings.Repeat(`x\n`, size/2) + "\",\"id\":1}\n{\"deep\":" + strings.Repeat(`{"a":[`, 5000) + "\n{\"id\":3}\n"
	if err := os.WriteFile(filepath.Join(dir, "0.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, s, "ALTER TABLE t SET ('format'='json','scan.bad-rows'='reject')")
	if got, want := answer(t.Context(), s, "SELECT id, CHAR_LENGTH(v) FROM t ORDER BY id"), fmt.Sprintf("1 | %d\n3 | <NULL>\n", size); !strings.HasSuffix(got, want) {
		t.Errorf("JSON: %.200s", got)
	}
	if got, want := answer(t.Context(), s, "SELECT line, reason, CHAR_LENGTH(CAST(raw_bytes AS STRING)) FROM t$rejects"), "2 | the JSON is nested deeper than 1000 | 30008\n"; !strings.HasSuffix(got, want) {
		t.Errorf("the deep one: %.200s", got)
	}
}

func TestInsertIntoFiles(t *testing.T) {
	s := open(t)
	dir := table(t, s, "written", "id INT, v STRING, d STRING", "")
	for _, statement := range []string{
		"INSERT INTO written VALUES (1, 'a,b', 'x'), (2, CAST(NULL AS STRING), 'y'), (3, '', 'z')",
	} {
		if got := answer(t.Context(), s, statement); got != "-1\n" {
			t.Fatal(got)
		}
	}
	if got := answer(t.Context(), s, "SELECT COUNT(*), MAX(v) FROM written"); !strings.Contains(got, "3 | a,b") {
		t.Errorf("%s in %s", got, dir)
	}
}

func TestJSON(t *testing.T) {
	s := open(t)
	dir := filepath.Join(t.TempDir(), "events")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	text := `{"id": 1, "who": "A\"nn\u00e4", "tags": ["x", null], "at": "2024-01-01 00:00:00.5", "where": {"city": "Oslo", "n": 2}, "more": {"a": 1}}
{"who":null,"id":2,"unknown":[{"deep":[1,2]}],"where":{},"more":{}}

{"id":3,"who":17.50,"tags":[],"where":null}
`
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	columns := "id INT, who STRING, tags ARRAY<STRING>, `at` TIMESTAMP(3), `where` ROW<city STRING, n BIGINT>, more MAP<STRING, INT>"
	create := fmt.Sprintf("CREATE TABLE events (%s) WITH ('connector'='filesystem','path'='%s','format'='json')", columns, dir)
	if got := answer(t.Context(), s, create); got != "OK\n" {
		t.Fatal(got)
	}
	got := answer(t.Context(), s, "SELECT id, who, tags, `at`, `where`.city, more FROM events ORDER BY id")
	_, rows, _ := strings.Cut(got, "\n")
	want := "1 | A\"nnä | [x, NULL] | 2024-01-01 00:00:00.500 | Oslo | {a=1}\n2 | <NULL> | <NULL> | <NULL> | <NULL> | {}\n3 | 17.50 | [] | <NULL> | <NULL> | <NULL>\n"
	if rows != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for bad, want := range map[string]string{
		`{"id": 1`:                     "line 1, byte 0: after a JSON value comes a comma or '}', and the line ends",
		`[1]`:                          "a record is a JSON object, or an array of them, not '1'",
		`{"id": "x"}`:                  "column id: 'x' is no INT",
		`{"id": 01}`:                   "is no JSON number",
		`{"id": 1} {}`:                 "after the record comes more, not '{'",
		`{"tags": "x"}`:                `column tags: '"x"' is no ARRAY<STRING>: "\"x\"" is no JSON array`,
		`{"where":{"n":"k"}}`:          "field n: 'k' is no BIGINT",
		strings.Repeat(`{"a":[`, 2000): "nested deeper than 1000",
	} {
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := answer(t.Context(), s, "SELECT * FROM events"); !strings.Contains(got, want) {
			t.Errorf("%.40q gives %s, want %s", bad, got, want)
		}
	}
}

// TestTimestampsOfBothStandards reads timestamps as SQL and as ISO-8601 writes them.
func TestTimestampsOfBothStandards(t *testing.T) {
	for _, standard := range []string{"SQL", "ISO-8601"} {
		s, dir := open(t), t.TempDir()
		text := `{"z":"2026-11-01T10:00:00.5Z","nested":{"t":"2026-11-01T10:00:00"}}` + "\n" + `{"z":"2026-11-01 10:00:00.5Z","nested":{"t":"2026-11-01 10:00:00"}}`
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, s, fmt.Sprintf("CREATE TABLE events (z TIMESTAMP_LTZ(3), nested ROW<t TIMESTAMP(3)>) WITH ('connector'='filesystem','path'='%s','format'='json','json.timestamp-format.standard'='%s')", dir, standard))
		want := "z TIMESTAMP_LTZ(3), nested ROW<`t` TIMESTAMP(3)>\n2026-11-01 10:00:00.500 | (2026-11-01 10:00:00.000)\n"
		if got := answer(t.Context(), s, "SELECT DISTINCT z, nested FROM events"); got != want {
			t.Errorf("%s: got\n%swant\n%s", standard, got, want)
		}
	}
}

// A buffer may hold whole records to its last byte.
func TestRecordsThatFillTheBuffer(t *testing.T) {
	s := open(t)
	table(t, s, "t", "v STRING, n INT", "", strings.Repeat(strings.Repeat("x", 61)+",1\n", 5000))
	if got := answer(t.Context(), s, "SELECT SUM(n) FROM t"); !strings.Contains(got, "\n5000\n") {
		t.Errorf("got %s", got)
	}
}
