package sqlclient

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/testkit/recorded"
	"github.com/weirstream/weir/types"
)

var (
	escape  = regexp.MustCompile(`\\e\[[0-9;]*m`)
	echo    = regexp.MustCompile(`(Flink SQL> )[^\n]*?(\[INFO\]|\[ERROR\]|\+--|Empty set|The following)`)
	seconds = regexp.MustCompile(`\([0-9.]+ seconds\)`)
	ids     = regexp.MustCompile(`[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27}`)
	stack   = regexp.MustCompile(`\n\t(?:at |\.\.\. )[^\n]*`)
)

// same takes out of a transcript what differs from run to run, and the echo of what was
// typed, of which a terminal that is none shows a random part.
func same(text string) string {
	text = escape.ReplaceAllString(text, "")
	text = echo.ReplaceAllString(text, "$1$2")
	text = seconds.ReplaceAllString(text, "(S seconds)")
	text = stack.ReplaceAllString(text, "")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n\nEnd of exception", "\nEnd of exception"), "on server side>]\n\n", "on server side>]\n")
	return ids.ReplaceAllString(text, "ID")
}

// transcript gives the script and what Flink's client printed of its statements.
func transcript(t *testing.T, name string) (script, printed string) {
	t.Helper()
	text, err := os.ReadFile(recorded.Material(t, "golden/cli/"+name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "script.sql:\n")
	script, rest, _ = strings.Cut(rest, "--- exit code")
	_, rest, _ = strings.Cut(rest, "--- stdout")
	_, rest, _ = strings.Cut(rest, "Command history file path: ")
	_, rest, _ = strings.Cut(rest, "\n")
	printed, _, _ = strings.Cut(rest, "\nShutting down the session...")
	return script, printed
}

func cause(classes ...string) error {
	var err error
	for i := len(classes) - 1; i >= 0; i-- {
		class, text, _ := strings.Cut(classes[i], ": ")
		err = &session.Error{Class: class, Text: text, Cause: err}
	}
	return err
}

var (
	notFound = cause("org.apache.flink.table.api.ValidationException: SQL validation failed. From line 1, column 15 to line 1, column 18: Object 'nope' not found",
		"org.apache.calcite.runtime.CalciteContextException: From line 1, column 15 to line 1, column 18: Object 'nope' not found",
		"org.apache.calcite.sql.validate.SqlValidatorException: Object 'nope' not found")
	notParsed = cause("org.apache.flink.table.api.SqlParserException: SQL parse failed.", "org.apache.calcite.runtime.CalciteException: Non-query expression encountered in illegal context")
	noNumber  = cause("java.lang.NumberFormatException: For input string: 'thirty'. Invalid character found.")

	typesQuery  = "SELECT CAST(NULL AS STRING) AS n" // and so on
	typesAnswer = answer{query: true, columns: columns("n", types.String(), "b", types.Of(types.Boolean), "t", types.Of(types.TinyInt), "d", types.DecimalOf(3, 2),
		"dbl", types.Of(types.Double), "fl", types.Of(types.Float), "dt", types.Of(types.Date), "tm", types.TimeOf(0), "ts", types.TimestampOf(3),
		"ltz", types.TimestampLTZOf(3), "bin", types.BinaryOf(2), "arr", types.ArrayOf(types.Of(types.Int)), "m", types.MapOf(types.String(), types.Of(types.Int)),
		"r", types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}), "i1", types.Of(types.IntervalDayTime), "i2", types.Of(types.IntervalYearMonth)),
		rows: "~|TRUE|1|1.50|1.5|0.1|2024-02-29|12:34:56|2024-01-02 03:04:05.123|1970-01-01 00:00:00.000|x'01ff'|[1, 2, NULL]|{a=1}|(1, x, NULL)|+1 00:00:00.000|+2-03"}
	textQuery   = "SELECT 'a very long string value that is much longer than thirty characters, really' AS s, 'Zürich 日本 😀' AS u, 'tab\tnl' AS t"
	textAnswer  = answer{query: true, columns: columns("s", types.CharOf(75), "u", types.CharOf(11), "t", types.CharOf(6)), rows: "a very long string value that is much longer than thirty characters, really|Zürich 日本 😀|tabnl"}
	widthQuery  = "SELECT CAST(1 AS INT) AS i, CAST(2 AS BIGINT) AS b, CAST(3 AS SMALLINT) AS s, CAST('x' AS CHAR(40)) AS c40, CAST('x' AS VARCHAR(3)) AS v3"
	widthAnswer = answer{query: true, columns: columns("i", types.Of(types.Int), "b", types.Of(types.BigInt), "s", types.Of(types.SmallInt), "c40", types.CharOf(40), "v3", types.VarCharOf(3)),
		rows: "1|2|3|x" + strings.Repeat(" ", 39) + "|x"}
)

// told are answers to the statements of the recorded scripts.
var told = map[string]answer{
	"SHOW CATALOGS": {columns: columns("catalog name", types.String()), rows: "default_catalog"},
	"SHOW TABLES":   {columns: columns("table name", types.String())},
	"SELECT 1 AS a": {query: true, columns: columns("a", types.Of(types.Int)), rows: "1"},
	typesQuery:      typesAnswer, textQuery: textAnswer, widthQuery: widthAnswer,
	"SELECT customer, COUNT(*) AS n, SUM(qty*price) AS total FROM orders GROUP BY customer": {query: true,
		columns: columns("customer", types.String(), "n", types.Of(types.BigInt), "total", types.DecimalOf(38, 2)),
		rows:    "alice|3|101.00\nbob|2|24.50\ncarol|2|72.50\ndave|1|199.99"},
	"SELECT * FROM orders WHERE id>100": {query: true, columns: columns("id", types.Of(types.Int))},
	"SELECT * FROM orders LIMIT 1": {query: true, columns: columns("id", types.Of(types.Int), "customer", types.String(), "item", types.String(), "qty", types.Of(types.Int),
		"price", types.DecimalOf(10, 2), "ts", types.TimestampOf(3)), rows: "1|alice|book|2|12.50|2024-01-01 10:00:00.000"},
	"SELECT a, COUNT(*) AS c FROM (VALUES (1),(2),(2)) AS t(a) GROUP BY a": {query: true, columns: columns("a", types.Of(types.Int), "c", types.Of(types.BigInt)),
		rows: "1|1\n2|1\n-U 2|1\n+U 2|2"},
	"SELECT a FROM (VALUES (1)) AS t(a) WHERE a>5": {query: true, columns: columns("a", types.Of(types.Int))},
	"INSERT INTO bh SELECT 1":                      {columns: columns("job id", types.String()), rows: "x", job: strings.Repeat("0", 32)},
	"INSERT INTO bh SELECT 2":                      {columns: columns("job id", types.String()), rows: "x", job: strings.Repeat("0", 32)},
	"EXECUTE STATEMENT SET BEGIN\nINSERT INTO bh SELECT 1;\nINSERT INTO bh SELECT 2;\nEND": {columns: columns("job id", types.String()), rows: "x", job: strings.Repeat("0", 32)},
	"SELECT id, CAST(v AS INT) FROM bad":                                                   {err: noNumber},
	"INSERT INTO bh SELECT CAST(v AS INT) FROM bad":                                        {err: noNumber},
	"SELECT * FROM nope": {err: notFound},
	"SELEC 1":            {err: notParsed},
	"SET 'execution.runtime-mode'='foo'": {err: cause("org.apache.flink.table.gateway.service.utils.SqlExecutionException: Failed to set key execution.runtime-mode with value foo.",
		"java.lang.IllegalArgumentException: Could not parse value for enum class org.apache.flink.api.common.RuntimeExecutionMode. Expected one of: [[STREAMING, BATCH, AUTOMATIC]]")},
}

// TestScriptsArePrintedAsRecorded runs recorded scripts and compares all that is printed
// of their statements with what Flink's client printed.
func TestScriptsArePrintedAsRecorded(t *testing.T) {
	for _, name := range []string{
		"types-batch", "types-streaming", "batch-agg", "stream-agg", "insert", "err-cast", "err-dmlsync-fail", "err-notable", "err-parse", "err-verbose",
		"set-reset", "set-bad", "set-bad-result-mode", "comments", "empty", "no-final-semicolon", "changelog-mode-noninteractive", "D-option", "session-option",
	} {
		t.Run(name, func(t *testing.T) {
			script, want := transcript(t, "sqlclient-embedded-"+name)
			settings := map[string]string{}
			if name == "D-option" {
				settings["sql-client.execution.result-mode"] = "tableau"
			}
			c, out := at(t, &engine{answers: told}, settings)
			err := c.Script(t.Context(), script)
			if failed := strings.Contains(want, "[ERROR]"); failed != (err != nil) {
				t.Errorf("error %v, in the recording failed: %v", err, failed)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("escape codes: %q", out)
			}
			if got, want := same(out.String()), same(want); got != want {
				t.Errorf("printed\n%s\nin the recording\n%s", got, want)
			}
		})
	}
}
