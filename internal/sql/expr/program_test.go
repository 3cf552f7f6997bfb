package expr_test

import (
	"errors"
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

func TestWhatDiffersIsWrittenDifferently(t *testing.T) {
	texts := types.ArrayOf(types.String())
	list := func(values ...string) *expr.Literal {
		c := batch.NewColumn(texts)
		for _, v := range values {
			c.Children[0].AppendBytes([]byte(v))
		}
		c.EndCollection()
		return &expr.Literal{T: texts, Value: c}
	}
	seen := map[string]bool{}
	for _, l := range []*expr.Literal{list("a", "b"), list("a, b"), list("a'", "b"), list(), list("")} {
		if seen[l.String()] {
			t.Errorf("%s twice", l)
		}
		seen[l.String()] = true
	}
}

// A part that occurs twice is evaluated once, unless its results differ from call to call.
func TestEqualPartsAreEvaluatedOnce(t *testing.T) {
	calls := 0
	counting := &expr.Function{Name: "COUNTING", Usage: "COUNTING(a)", Infer: func(s *expr.Site) (types.Type, error) { return bigint, nil }, Nulls: expr.Own,
		Kernel: func(*expr.Bound) (expr.Kernel, error) {
			return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
				calls++
				copy(out.I64, args[0].I64)
				return nil
			}, nil
		}}
	for volatility, want := range map[expr.Volatility]int{expr.Stable: 1, expr.PerRow: 3} {
		f := *counting
		f.Volatility = volatility
		r := expr.NewRegistry()
		r.Add(&f)
		a := &expr.Input{Name: "a", T: bigint}
		sum := call(t, r, "+", call(t, r, "COUNTING", a), call(t, r, "COUNTING", a))
		p, err := expr.Compile(expr.UTC, sum, call(t, r, "COUNTING", a))
		if err != nil {
			t.Fatal(err)
		}
		calls = 0
		if _, err := p.Eval(&batch.Columns{N: 3, Cols: []*batch.Column{longs(3, false)}}); err != nil || calls != want {
			t.Errorf("volatility %d: %d calls, %v", volatility, calls, err)
		}
	}
}

// A row that fails is known, and a branch that is not taken does not fail.
func TestFailuresKnowTheirRow(t *testing.T) {
	p := programOf(t, []types.Type{bigint}, "CASE WHEN a <> 2 THEN 10 / (a - 2) ELSE 0 END", "10 / (a - 2)")
	_, err := p.Eval(&batch.Columns{N: 5, Cols: []*batch.Column{longs(5, false)}})
	var failed *expr.RowError
	if !errors.As(err, &failed) || failed.Row != 2 {
		t.Errorf("%v", err)
	}
	if out, err := p.Eval(&batch.Columns{N: 5, Cols: []*batch.Column{longs(5, false)}, Sel: []int32{1, 4}}); err != nil || out[1].I64[4] != 5 {
		t.Errorf("the row that fails does not count: %v", err)
	}
}
