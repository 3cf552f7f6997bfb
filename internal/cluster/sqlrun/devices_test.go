package sqlrun_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/session"
)

// printed gives what is written to a standard stream while f runs.
func printed(t *testing.T, stream **os.File, f func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := *stream
	*stream = file
	defer func() { *stream = before }()
	f()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run carries out statements that succeed.
func run(t *testing.T, s session.Session, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if got := answer(t.Context(), s, statement); strings.Contains(got, "error: ") {
			t.Fatalf("%s\ngives %s", statement, got)
		}
	}
}

func TestPrint(t *testing.T) {
	s := open(t)
	run(t, s, `CREATE TABLE p (i INT, t STRING, d DECIMAL(5, 2), ts TIMESTAMP(9), z TIMESTAMP_LTZ(3), dt DATE, tm TIME, b BYTES, x BOOLEAN, f DOUBLE,
		a ARRAY<STRING>, m MAP<STRING, INT>, r ROW<n INT, ts TIMESTAMP(0)>) WITH ('connector'='print', 'print-identifier'='out')`)
	got := printed(t, &os.Stdout, func() {
		run(t, s, `INSERT INTO p VALUES (1, 'a', 1.5, TIMESTAMP '2024-01-01 10:00:00.000001', TO_TIMESTAMP_LTZ(0, 3), DATE '2024-02-29', TIME '10:00:00', x'00ff', TRUE, 1E10,
			ARRAY['x', CAST(NULL AS STRING)], MAP['k', 1], ROW(1, TIMESTAMP '2024-01-01 00:00:00'))`)
	})
	want := "out> +I[1, a, 1.50, 2024-01-01T10:00:00.000001, 1970-01-01T00:00:00Z, 2024-02-29, 10:00, [0, -1], true, 1.0E10, [x, null], {k=1}, +I[1, 2024-01-01T00:00]]\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	run(t, s, "CREATE TABLE e (i INT) WITH ('connector'='print', 'standard-error'='true', 'sink.parallelism'='2')")
	got = printed(t, &os.Stderr, func() { run(t, s, "INSERT INTO e VALUES 1, CAST(NULL AS INT), 3") })
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	for i, line := range lines {
		before, after, _ := strings.Cut(line, "> ")
		if before != "1" && before != "2" {
			t.Errorf("line %q tells no subtask of 2", line)
		}
		lines[i] = after
	}
	if slices.Sort(lines); strings.Join(lines, " ") != "+I[1] +I[3] +I[null]" {
		t.Errorf("printed %q", got)
	}
}

func TestBlackhole(t *testing.T) {
	s := open(t)
	run(t, s, "CREATE TABLE b (i INT, p STRING) PARTITIONED BY (p) WITH ('connector'='blackhole')", "INSERT INTO b VALUES (1, 'a')")
	for statement, want := range map[string]string{
		"SELECT * FROM b": "Connector 'blackhole' can only be used as a sink. It cannot be used as a source.",
		"INSERT INTO b /*+ OPTIONS('sink.parallelism'='0') */ VALUES (1, 'a')": "option 'sink.parallelism' is '0', want a positive number",
		"INSERT INTO b SELECT 1/0, 'a'":                                        "zero",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s gives %s, want %s", statement, got, want)
		}
	}
}

func TestDatagen(t *testing.T) {
	s := open(t)
	run(t, s, `CREATE TABLE g (n BIGINT, s STRING, i INT, d DOUBLE, dc DECIMAL(6, 2), t VARCHAR(10), c CHAR(3), b BOOLEAN, o INT, ts TIMESTAMP(3), today DATE,
		a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, twice AS n * 2) WITH ('connector'='datagen', 'number-of-rows'='1000', 'rows-per-second'='1000000',
		'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='5000', 'fields.s.kind'='sequence', 'fields.s.start'='7', 'fields.s.end'='9999',
		'fields.i.min'='-3', 'fields.i.max'='3', 'fields.d.min'='1', 'fields.d.max'='2', 'fields.dc.max'='10', 'fields.t.length'='5', 'fields.o.null-rate'='0.5',
		'fields.a.length'='2', 'fields.a.element.min'='1', 'fields.a.element.max'='1', 'fields.r.x.min'='4', 'fields.r.x.max'='4')`)
	got := answer(t.Context(), s, `SELECT COUNT(*), SUM(n), COUNT(DISTINCT s), MIN(i), MAX(i), MIN(d) >= 1 AND MAX(d) <= 2, MIN(dc) >= 0 AND MAX(dc) <= 10, MIN(CHAR_LENGTH(t)), MAX(CHAR_LENGTH(c)),
		COUNT(o) BETWEEN 300 AND 700, COUNT(DISTINCT t) > 900, COUNT(DISTINCT b), SUM(twice), MIN(CARDINALITY(a)), MAX(a[2]), MAX(r.x), MAX(CARDINALITY(m)) FROM g`)
	if want := "1000 | 500500 | 1000 | -3 | 3 | TRUE | TRUE | 5 | 3 | TRUE | TRUE | 2 | 1001000 | 2 | 1 | 4 | 3\n"; !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	run(t, s, "CREATE TABLE q (n INT) WITH ('connector'='datagen', 'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='3')")
	if got := answer(t.Context(), s, "SELECT SUM(n), COUNT(*) FROM q"); !strings.HasSuffix(got, "\n6 | 3\n") {
		t.Errorf("the sequence gives %s", got)
	}
	if got := answer(t.Context(), s, "SELECT COUNT(*) FROM q /*+ OPTIONS('number-of-rows'='0') */"); !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("no rows are %s", got)
	}
}

func TestDatagenRefuses(t *testing.T) {
	for _, test := range []struct{ columns, options, want string }{
		{"a INT", "", "Querying an unbounded table 'default_catalog.default_database.g' in batch mode is not allowed. The table source is unbounded. The table option 'number-of-rows' gives it an end."},
		{"a INT", "'fields.a.kind'='sequence'", "missing required option 'fields.a.start': a sequence has a start and an end"},
		{"a INT", "'fields.a.kind'='walk'", "option 'fields.a.kind' is 'walk'; there are random and sequence"},
		{"a TINYINT", "'fields.a.max'='300'", "option 'fields.a.max' is '300', want a number from -128 to 127"},
		{"a INT NOT NULL", "'fields.a.null-rate'='0.1'", "option 'fields.a.null-rate' is above 0, and the column is NOT NULL"},
		{"a INT", "'fields.a.mx'='3'", "Did you mean 'fields.a.max' for 'fields.a.mx'?"},
		{"a CHAR(3)", "'fields.a.length'='2'", "values of CHAR(3) have one length"},
		{"a INT", "'number-of-row'='3'", "Did you mean 'number-of-rows' for 'number-of-row'?"},
		{"a INT", "'rows-per-second'='x'", "option 'rows-per-second' is 'x', want a number"},
	} {
		s := open(t)
		if test.options != "" {
			test.options = ", " + test.options
		}
		run(t, s, "CREATE TABLE g ("+test.columns+") WITH ('connector'='datagen'"+test.options+")")
		if got := answer(t.Context(), s, "SELECT * FROM g"); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s\nwant %s", test.options, got, test.want)
		}
	}
}
