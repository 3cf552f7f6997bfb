package expr_test

import (
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

var bigint = types.Of(types.BigInt)

// call makes a call that must be accepted.
func call(t testing.TB, r *expr.Registry, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := r.Call(expr.UTC, name, ast.Span{}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func longs(n int, nulls bool) *batch.Column {
	c := batch.NewColumn(bigint)
	for i := range n {
		if nulls && i%7 == 0 {
			c.AppendNull()
			continue
		}
		batch.Append(c, int64(i))
	}
	return c
}

func TestSumOfColumnAndLiteral(t *testing.T) {
	r := expr.NewRegistry()
	e := call(t, r, "+", call(t, r, "+", &expr.Input{Name: "a", T: bigint}, expr.Constant(bigint, int64(40))), expr.Constant(bigint, int64(2)))
	p, err := expr.Compile(expr.UTC, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, 2000, 5} {
		got, err := p.Eval(&batch.Columns{N: n, Cols: []*batch.Column{longs(n, true)}})
		if err != nil {
			t.Fatal(err)
		}
		if c := got[0]; c.Len != n || !c.IsNull(0) || c.IsNull(n-1) || c.I64[n-1] != int64(n-1+42) {
			t.Errorf("of %d rows: %d, %v", n, c.Len, c.I64[n-1])
		}
	}
}

func TestConstantsAreFolded(t *testing.T) {
	r := expr.NewRegistry()
	e := expr.Fold(call(t, r, "+", expr.Constant(bigint, int64(40)), expr.Constant(bigint, int64(2))), expr.UTC)
	l, ok := e.(*expr.Literal)
	if !ok || l.Value.I64[0] != 42 {
		t.Errorf("%v", e)
	}
}

func TestTakenResultsAreNotOverwritten(t *testing.T) {
	r := expr.NewRegistry()
	p, err := expr.Compile(expr.UTC, call(t, r, "+", &expr.Input{Name: "a", T: bigint}, &expr.Input{Name: "a", T: bigint}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(&batch.Columns{N: 3, Cols: []*batch.Column{longs(3, false)}}); err != nil {
		t.Fatal(err)
	}
	taken := p.Take(0)
	if _, err := p.Eval(&batch.Columns{N: 2, Cols: []*batch.Column{longs(3, true)}}); err != nil {
		t.Fatal(err)
	}
	if taken.Len != 3 || taken.IsNull(0) || taken.I64[2] != 4 {
		t.Errorf("%+v", taken)
	}
}
