package functions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

var registry = functions.NewRegistry()

// The scripts have one expression a line, and its type and value or its refusal, with the
// place. Each is evaluated three times: folded, with the literals in columns, and with the
// literals in columns of which some rows are selected and the others are NULL.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &expr.Session{Database: "db"}
			zone := datetime.UTC
			if d.HasArg("tz") {
				var name string
				d.ScanArgs(t, "tz", &name)
				var err error
				if zone, err = datetime.LoadZone(name); err != nil {
					t.Fatal(err)
				}
			}
			s.Zone = zone.Location()
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				fmt.Fprintln(&out, answerTo(t, s, strings.TrimRight(line, "\n")))
			}
			return out.String()
		})
	})
}

func answerTo(t *testing.T, s *expr.Session, source string) string {
	t.Helper()
	tree, err := parse.Expression(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	e, err := (&expr.Binder{Registry: registry, Session: s}).Expr(tree)
	if err != nil {
		var refused *expr.Error
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v has no place", source, err)
		}
		return fmt.Sprintf("refused: %s: %s", refused.At.Text(source), refused.Text)
	}
	folded, err := value(s, e, &batch.Columns{N: 1}, 0)
	if err != nil {
		return fmt.Sprintf("fails: %v", err)
	}
	compareForms(t, s, source, e, folded)
	return e.Type().String() + " " + folded
}

// mustStay are the functions whose arguments at some places must be literals: their
// patterns of JSON, and what Infer has looked at.
func mustStay(e expr.Expr) map[expr.Expr]bool {
	stay := map[expr.Expr]bool{}
	expr.Walk(e, func(e expr.Expr) bool {
		c, ok := e.(*expr.Call)
		if !ok {
			return true
		}
		from := len(c.Args)
		switch c.Fn.Name {
		case "JSON_VALUE", "JSON_QUERY", "JSON_EXISTS":
			from = 1
		case "ROUND", "TRUNCATE", "FIELD":
			from = 1
		case "OBJECT_OF", "OBJECT_UPDATE":
			for k := range c.Args {
				if k%2 == 1 || k == 0 {
					stay[c.Args[k]] = true
				}
			}
		}
		for _, a := range c.Args[from:] {
			stay[a] = true
		}
		return true
	})
	return stay
}

// compareForms evaluates the expression with its literals in columns.
func compareForms(t *testing.T, s *expr.Session, source string, e expr.Expr, want string) {
	t.Helper()
	in := &batch.Columns{N: 70, Sel: []int32{3, 64, 69}}
	stay := mustStay(e)
	e = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		l, ok := e.(*expr.Literal)
		if !ok || l.At == (ast.Span{}) || l.T.Kind == types.Symbol || stay[e] {
			return e
		}
		c := batch.NewColumn(l.T)
		for i := range in.N {
			if i == 3 || i >= 64 {
				c.AppendFrom(l.Value, 0)
			} else {
				c.AppendNull()
			}
		}
		in.Cols = append(in.Cols, c)
		return &expr.Input{Index: len(in.Cols) - 1, T: l.T}
	})
	p, err := expr.Compile(s, e)
	if err != nil {
		t.Errorf("%s: %v", source, err)
		return
	}
	for range 2 {
		out, err := p.Eval(in)
		if err != nil {
			t.Errorf("%s, in columns: %v", source, err)
			return
		}
		for _, i := range in.Sel {
			if got := string(expr.AppendDisplay(nil, s.Zone, e.Type(), out[0], int(i))); got != want {
				t.Errorf("%s: row %d is %s, and folded %s", source, i, got, want)
			}
		}
	}
}

func value(s *expr.Session, e expr.Expr, in *batch.Columns, row int) (string, error) {
	p, err := expr.Compile(s, e)
	if err != nil {
		return "", err
	}
	out, err := p.Eval(in)
	if err != nil {
		return "", err
	}
	return string(expr.AppendDisplay(nil, s.Zone, e.Type(), out[0], row)), nil
}
