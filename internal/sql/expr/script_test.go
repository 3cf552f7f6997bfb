package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// The scripts have one expression a line, and its type and value or its refusal, with
// the place. Each is evaluated three times: folded, with the literals in columns, and with
// the literals in columns of which some rows are selected and the others are NULL.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &expr.Session{Zone: time.UTC, Database: "db"}
			if d.HasArg("tz") {
				var name string
				d.ScanArgs(t, "tz", &name)
				var err error
				if s.Zone, err = time.LoadLocation(name); err != nil {
					t.Fatal(err)
				}
			}
			s.LegacyCast = d.HasArg("legacy")
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				fmt.Fprintln(&out, answerTo(t, s, strings.TrimRight(line, "\n")))
			}
			return out.String()
		})
	})
}

var registry = expr.NewRegistry()

func answerTo(t *testing.T, s *expr.Session, source string) string {
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
		return failure(source, err)
	}
	compareForms(t, s, source, e, folded)
	return e.Type().String() + " " + folded
}

func failure(source string, err error) string {
	var failed *expr.RowError
	if errors.As(err, &failed) {
		return fmt.Sprintf("fails: %s: %v", failed.At.Text(source), err)
	}
	return fmt.Sprintf("fails: %v", err)
}

// compareForms evaluates the expression with its literals in columns.
func compareForms(t *testing.T, s *expr.Session, source string, e expr.Expr, want string) {
	t.Helper()
	in := &batch.Columns{N: 70, Sel: []int32{3, 64, 69}}
	e = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		l, ok := e.(*expr.Literal)
		if !ok || l.At == (ast.Span{}) || l.T.Kind == types.Symbol {
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
