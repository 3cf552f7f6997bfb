package expr_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// Whatever an expression says, it is refused, fails in a row, or has a value; and the value
// is the same with the literals in columns.
func FuzzExpression(f *testing.F) {
	for _, file := range []string{"arithmetic", "cast", "logic"} {
		text, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				f.Add(line)
			}
		}
	}
	registry := functions.NewRegistry()
	for _, fn := range registry.Functions() {
		for _, args := range []string{"", "NULL", "'a'", "1, 2", "'ab', 'b', 1", "ARRAY[1, NULL], 1", "MAP['a', 1]", "TIMESTAMP '2020-02-29 12:34:56.789', 'yyyy'", "1.25, -1", "PARSE_JSON('[1]')", "X'00ff'"} {
			f.Add(fn.Name + "(" + args + ")")
		}
	}
	s := &expr.Session{Zone: time.UTC, Database: "db", Now: time.Unix(1e9, 0)}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 500 {
			return
		}
		tree, err := parse.Expression(source)
		if err != nil {
			return
		}
		e, err := (&expr.Binder{Registry: registry, Session: s}).Expr(tree)
		if err != nil {
			var refused *expr.Error
			if !errors.As(err, &refused) {
				t.Errorf("%v has no place", err)
			}
			return
		}
		if e.Type().Kind == types.Null || !steady(e) {
			return
		}
		folded, err := evaluated(s, e, 0)
		inColumns, other := evaluated(s, e, 3)
		if (err == nil) != (other == nil) && !needsConstant(other) || err == nil && other == nil && folded != inColumns {
			t.Errorf("%s: folded %s %v, in columns %s %v", source, folded, err, inColumns, other)
		}
	})
}

// needsConstant reports whether an error is about an argument that must be constant.
func needsConstant(err error) bool {
	var refused *expr.Error
	return errors.As(err, &refused)
}

// steady reports whether two evaluations give the same in little time, and no argument
// must be constant.
func steady(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		if c, isCall := e.(*expr.Call); isCall {
			switch c.Fn.Name {
			case "REPEAT", "LPAD", "RPAD", "OBJECT_OF", "OBJECT_UPDATE":
				ok = false
			}
			ok = ok && c.Fn.Volatility == expr.Stable
		}
		return ok
	})
	return ok
}

// evaluated is the value of an expression, folded, or, with rows, with its literals in
// columns of so many rows, of which the last is asked for.
func evaluated(s *expr.Session, e expr.Expr, rows int) (string, error) {
	in := &batch.Columns{N: max(rows, 1)}
	if rows > 0 {
		in.Sel = []int32{int32(rows - 1)}
		e = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			l, ok := e.(*expr.Literal)
			if !ok || l.At == (ast.Span{}) || l.T.Kind == types.Null || l.T.Kind == types.Symbol {
				return e
			}
			c := batch.NewColumn(l.T)
			for range rows {
				c.AppendFrom(l.Value, 0)
			}
			in.Cols = append(in.Cols, c)
			return &expr.Input{Index: len(in.Cols) - 1, T: l.T}
		})
	}
	p, err := expr.Compile(s, e)
	if err != nil {
		return "", err
	}
	out, err := p.Eval(in)
	if err != nil {
		return "", err
	}
	return string(expr.AppendDisplay(nil, s.Zone, e.Type(), out[0], in.N-1)), nil
}
