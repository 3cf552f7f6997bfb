package sqlclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/types"
)

// endless is a query whose rows do not end; waits is told when they are waited for.
func endless(waits chan<- struct{}) answer {
	return answer{query: true, endless: waits, columns: columns("i", types.Of(types.Int)), rows: "1\n2"}
}

// lineWriter tells of each line that is written.
type lineWriter struct {
	bytes.Buffer
	lines chan string
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.lines <- string(p)
	return w.Buffer.Write(p)
}

// TestInterruptingEndsTheQueryOnly interrupts a query that has no end, and goes on.
func TestInterruptingEndsTheQueryOnly(t *testing.T) {
	for _, mode := range []string{"streaming", "batch"} {
		waits, interrupts := make(chan struct{}, 1), make(chan os.Signal, 1)
		c, out := at(t, &engine{answers: map[string]answer{"SELECT 1": endless(waits), "SHOW TABLES": told["SHOW TABLES"]}}, map[string]string{"execution.runtime-mode": mode})
		c.Interrupts = interrupts
		interrupts <- os.Interrupt // before the statement runs, it does not count
		done := make(chan error)
		go func() { done <- c.typed(t.Context(), "SELECT 1; SHOW TABLES;") }()
		<-waits
		<-waits // the rows that were there have been shown
		interrupts <- os.Interrupt
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, "Query terminated, received a total of 2 rows\n") || !strings.Contains(got, "Empty set") {
			t.Errorf("%s: %s", mode, got)
		}
	}
}

func TestAPipeIsReadAsItComes(t *testing.T) {
	answers := maps.Clone(told)
	answers["SHOW\nTABLES"] = told["SHOW TABLES"]
	c, _ := at(t, &engine{answers: answers}, nil)
	out := &lineWriter{lines: make(chan string, 100)}
	c.Out = out
	in, typed := io.Pipe()
	done := make(chan error)
	go func() { done <- c.Pipe(t.Context(), in) }()
	write := func(text, want string) {
		t.Helper()
		if _, err := io.WriteString(typed, text); err != nil {
			t.Error(err)
		}
		if want == "" {
			return
		}
		for line := range out.lines {
			if strings.Contains(line, want) {
				return
			}
		}
	}
	write("SHOW\n", "")
	write("TABLES;\nhelp\n", "The following commands are available:")
	write("SELECT 1 AS a; SELECT * FROM nope; SHOW CATALOGS;\n", "Object 'nope' not found")
	if err := <-done; !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if got := out.String(); strings.Contains(got, "default_catalog") || !strings.Contains(got, "| +I |           1 |") {
		t.Error(got)
	}
}

func TestInit(t *testing.T) {
	for script, want := range map[string]string{
		"CREATE TABLE a; SET 'x'='y';": "Successfully initialized from sql script: init.sql\n",
		"SELECT 1;":                    "Failed to initialize from sql script: init.sql. Please refer to the LOG for detailed error messages.\n",
	} {
		c, out := at(t, &engine{answers: told}, nil)
		err := c.Init(t.Context(), "init.sql", script)
		if out.String() != want || (err == nil) != strings.HasPrefix(want, "Success") {
			t.Errorf("%s: %s %v", script, out, err)
		}
	}
}

// TestAResultModeThatNeedsATerminal is refused only if somebody chose it.
func TestAResultModeThatNeedsATerminal(t *testing.T) {
	for mode, want := range map[string]string{"": "Received a total of 1 row", "table": "In non-interactive mode", "foo": "Could not parse value 'foo' for key 'sql-client.execution.result-mode'"} {
		settings := map[string]string{}
		if mode != "" {
			settings[resultModeKey] = mode
		}
		c, out := at(t, &engine{answers: told}, settings)
		_ = c.Script(t.Context(), "SELECT 1 AS a;")
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q: %s", mode, out)
		}
	}
}

func TestCommands(t *testing.T) {
	c, out := at(t, &engine{answers: told}, nil)
	if err := c.Script(t.Context(), "help; clear; /* x */ QUIT; SHOW TABLES;"); err != nil {
		t.Error(err)
	}
	got := out.String()
	if !strings.Contains(got, "HELP               \t\tPrints the available commands.\n") || !strings.HasSuffix(got, "[INFO] Exiting Flink SQL CLI Client...\n") {
		t.Error(got)
	}
}

func TestACancelledContextEndsTheScript(t *testing.T) {
	c, _ := at(t, &engine{answers: map[string]answer{"SELECT 1": endless(make(chan struct{}))}}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Script(ctx, "SELECT 1; SELECT 1;"); err == nil {
		t.Error("the script goes on")
	}
}

// Who interrupts the last query of a script has not got all of its rows, which is no
// success.
func TestAnInterruptedQueryIsNoSuccess(t *testing.T) {
	for name, run := range map[string]func(*Client, context.Context) error{
		"script": func(c *Client, ctx context.Context) error { return c.Script(ctx, "SELECT 1;") },
		"pipe":   func(c *Client, ctx context.Context) error { return c.Pipe(ctx, strings.NewReader("SELECT 1;\n")) },
	} {
		began := make(chan struct{}, 1)
		c, out := at(t, &engine{answers: map[string]answer{"SELECT 1": endless(began)}}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // ends when the query has begun
			<-began
			cancel()
		}()
		if err := run(c, ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that it was interrupted; printed %s", name, err, out)
		}
	}
}

// A statement that fails is told with its place in what was read.
func TestTheStatementThatFailsIsNamed(t *testing.T) {
	const text = "SELECT 1 AS a;\n-- now\nSELECT 1 AS a; SELECT *\nFROM nope;\nSELECT 1 AS a;"
	const want = "the statement in line 3 failed: SELECT * …"
	for name, run := range map[string]func(*Client) error{
		"script": func(c *Client) error { return c.Script(t.Context(), text) },
		"pipe":   func(c *Client) error { return c.Pipe(t.Context(), strings.NewReader(text)) },
	} {
		c, _ := at(t, &engine{answers: map[string]answer{"SELECT 1 AS a": told["SELECT 1 AS a"], "SELECT *\nFROM nope": {err: notFound}}}, nil)
		if err := run(c); !errors.Is(err, ErrFailed) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	long := &Failed{Line: 1, Statement: "SELECT " + strings.Repeat("ä", 200)}
	if got := long.Error(); !strings.HasSuffix(got, strings.Repeat("ä", maxFirst-7)+" …") {
		t.Error(got)
	}
}

func TestHighlight(t *testing.T) {
	const text = "select 'x' -- y\n, t.`from` /* z"
	got := highlight(text)
	if codes.ReplaceAllString(got, "") != text || !strings.Contains(got, keywordColor+"select"+noColor) || !strings.Contains(got, stringColor+"'x'"+noColor) ||
		!strings.Contains(got, commentColor+"-- y"+noColor) || strings.Contains(got, keywordColor+"`from`") {
		t.Errorf("%q", got)
	}
}

func TestWidths(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "ü": 1, "😀": 3, "ＡＢ": 4, "한": 2, "𝒳": 2} {
		if got := width(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	for i := 1; i < len(wide); i++ {
		if wide[i][0] <= wide[i-1][1] || wide[i][0] > wide[i][1] {
			t.Errorf("ranges %x and %x", wide[i-1], wide[i])
		}
	}
	if got := fit("日本語", 5); got != " 日本" {
		t.Errorf("%q", got)
	}
}
