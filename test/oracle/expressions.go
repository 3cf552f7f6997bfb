package main

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/parse"
)

//go:embed exceptions.tsv
var exceptionsFile string

// counts are how the answers compare.
type counts struct{ equal, differ, refused int }

// String writes the counts as the report's last line has them.
func (c counts) String() string {
	return fmt.Sprintf("%d equal, %d differ, %d refused", c.equal, c.differ, c.refused)
}

// comparison is what came of a file.
type comparison struct {
	total       counts
	groups      map[string]*counts
	differences []string
	// parts are counts of what else was compared, and notes the differences in them.
	parts []*tally
	notes []string
	// later are those that cannot be compared yet.
	later int
}

func (c *comparison) printParts(w io.Writer) {
	for _, t := range c.parts {
		fmt.Fprintf(w, "%s: %d of %d equal\n", t.name, t.equal, t.whole)
	}
	if c.later > 0 {
		fmt.Fprintf(w, "plan errors of streaming queries, not counted: %d\n", c.later)
	}
}

func (c *comparison) printGroups(w io.Writer) {
	for _, g := range slices.Sorted(maps.Keys(c.groups)) {
		n := c.groups[g]
		all := n.equal + n.differ + n.refused
		fmt.Fprintf(w, "%-36s %5d of %5d equal (%.1f %%), %d differ, %d refused\n", g, n.equal, all, 100*float64(n.equal)/float64(all), n.differ, n.refused)
	}
}

// answer is a type and a value, or a refusal, or a failure at run time.
type answer struct {
	kind  string // value, refused, failed
	typ   string
	value string
	text  string
}

func (a answer) String() string {
	if a.kind == "value" {
		return a.typ + " " + escape(a.value)
	}
	return a.kind + ": " + escape(a.text)
}

// panicked is the kind of an answer that there is none, which equals nothing.
const panicked = "panicked"

// null is how a recording writes NULL.
const null = "\\N"

// recorded is the answer of rows: that of the form with columns where the two differ.
func recorded(row map[string]string) answer {
	a := answer{kind: "value", typ: row["result_type"], value: row["result"]}
	switch {
	case row["col_status"] == "type-differs":
		a.typ, a.value = row["col_type"], row["col_result"]
	case row["col_status"] == "differs":
		if row["col_type"] != "" {
			a.typ = row["col_type"]
		}
		a.value = row["col_result"]
		if text, failed := strings.CutPrefix(a.value, "ERR "); failed {
			return answer{kind: "failed", text: text}
		}
	case strings.HasPrefix(row["error"], "EnforcerException"):
		a.value = null
	case row["error"] != "":
		kind := "refused"
		if row["phase"] == "runtime" {
			kind = "failed"
		}
		return answer{kind: kind, text: row["error"]}
	}
	if a.value != null {
		a.value = unescape(a.value)
	}
	return a
}

// same compares answers. How a refusal is worded, and when it comes, is Weir's own.
func same(want, got answer, onlyType bool) bool {
	if got.kind == panicked {
		return false
	}
	if want.kind != "value" || got.kind != "value" {
		return (want.kind == "value") == (got.kind == "value")
	}
	return want.typ == got.typ && (onlyType || want.value == got.value)
}

func compareExpressions(path string) (*comparison, error) {
	rows, err := table(path)
	if err != nil {
		return nil, err
	}
	better, err := exceptions()
	if err != nil {
		return nil, err
	}
	c := newComparison()
	engine := newAsked()
	defer engine.close()
	for _, row := range rows {
		got := evaluate(engine, row["sql_expression"], row["opts"])
		right := false
		want := recorded(row)
		if strings.HasPrefix(row["sql_expression"], "SELECT ") {
			var other answer
			want, other = recordedRows(row)
			right = sameRows(row["sql_expression"], want, got) || sameRows(row["sql_expression"], other, got)
		} else {
			right = same(want, got, strings.Contains(row["opts"], "nondet"))
		}
		exception, listed := better[row["id"]]
		if right || listed && exception == got.String() {
			c.count(row["group"], equal)
			continue
		}
		v := differs
		if got.kind != "value" && want.kind == "value" {
			v = refused
		}
		c.count(row["group"], v)
		c.differences = append(c.differences, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", row["id"], row["group"], row["opts"], row["sql_expression"], want, got))
	}
	return c, nil
}

// exceptions are the answers of Weir that are better than the recording's, by the row's
// id.
func exceptions() (map[string]string, error) {
	rows, err := readTable(strings.NewReader(exceptionsFile))
	if err != nil {
		return nil, fmt.Errorf("read the exceptions: %w", err)
	}
	better := map[string]string{}
	for _, row := range rows {
		better[row["id"]] = row["answer"]
	}
	return better, nil
}

// sessionOf makes the session that the options of a row ask for.
func sessionOf(opts string) (*expr.Session, error) {
	s := &expr.Session{Zone: time.UTC, Now: time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC), Database: "default_database"}
	for _, o := range strings.FieldsFunc(opts, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		key, value, _ := strings.Cut(o, "=")
		switch key {
		case "tz":
			zone, err := datetime.LoadZone(value)
			if err != nil {
				return nil, err
			}
			s.Zone = zone.Location()
		case "table.exec.legacy-cast-behaviour":
			s.LegacyCast = strings.EqualFold(value, "enabled")
		}
	}
	return s, nil
}

var registry = functions.NewRegistry()

// evaluate gives Weir's answer to an expression.
func evaluate(engine *asked, source, opts string) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{kind: panicked, text: fmt.Sprint(p)}
		}
	}()
	s, err := sessionOf(opts)
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	source = unescape(source)
	if strings.HasPrefix(source, "SELECT ") {
		return engine.answer(source, opts)
	}
	tree, err := expression(source)
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	if isQuery(tree) {
		return engine.answer("SELECT "+source, opts)
	}
	b := &expr.Binder{Registry: registry, Session: s}
	e, err := b.Expr(tree)
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	if e.Type().Kind == 0 {
		return answer{kind: "refused", text: "a NULL without a type"}
	}
	program, err := expr.Compile(s, e)
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	out, err := program.Eval(&batch.Columns{N: 1})
	if err != nil {
		return answer{kind: "failed", text: err.Error()}
	}
	a = answer{kind: "value", typ: e.Type().String(), value: null}
	if !out[0].IsNull(0) {
		a.value = string(expr.AppendDisplay(nil, s.Zone, e.Type(), out[0], 0))
	}
	return a
}

// expression reads a text as the only column of a SELECT, which is how it was recorded.
func expression(source string) (ast.Expr, error) {
	if _, err := parse.Statement("SELECT " + source); err != nil {
		return nil, err
	}
	return parse.Expression(source)
}
