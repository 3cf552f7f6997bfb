package functions_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/roaring"
	"github.com/weirstream/weir/types"
)

// anyValues are columns of 70 rows with values at the ends of each type, and NULLs.
func anyValues(r *rand.Rand) []expr.Expr {
	var all []expr.Expr
	column := func(t types.Type, values ...func(c *batch.Column)) {
		c := batch.NewColumn(t)
		for range 70 {
			if k := r.IntN(len(values) + 1); k < len(values) {
				values[k](c)
			} else {
				c.AppendNull()
			}
		}
		all = append(all, &expr.Input{Index: len(all), Name: fmt.Sprint("c", len(all)), T: t})
		anyColumns = append(anyColumns, c)
	}
	anyColumns = nil
	bytes := func(s string) func(*batch.Column) { return func(c *batch.Column) { c.AppendBytes([]byte(s)) } }
	texts := []func(*batch.Column){bytes(""), bytes("a"), bytes("a😀b"), bytes("\xff\xfe"), bytes("2021-08-17 13:45:56"), bytes(`{"a":[1,{"b":null}]}`), bytes("%_!("), bytes("yyyy-MM-dd"), bytes("UTC"), bytes("http://h/p?a=1"), bytes(strings.Repeat("x", 3000))}
	column(types.String(), texts...)
	column(types.String(), texts...)
	column(types.CharOf(1), bytes("a"))
	column(types.Bytes(), bytes(""), bytes("ab"), bytes("\x00\xff"))
	column(types.Of(types.Boolean), fixed(true), fixed(false))
	column(types.Of(types.TinyInt), fixed(int8(math.MinInt8)), fixed(int8(3)))
	column(types.Of(types.Int), fixed(int32(math.MinInt32)), fixed(int32(math.MaxInt32)), fixed(int32(0)), fixed(int32(2)), fixed(int32(-2)))
	column(types.Of(types.BigInt), fixed(int64(math.MinInt64)), fixed(int64(math.MaxInt64)), fixed(int64(5)))
	column(types.Of(types.Float), fixed(float32(math.Inf(-1))), fixed(float32(1.5)))
	column(types.Of(types.Double), fixed(math.NaN()), fixed(math.Inf(1)), fixed(-2.5), fixed(math.MaxFloat64), fixed(math.SmallestNonzeroFloat64))
	column(types.DecimalOf(10, 3), fixed(int64(-1234567890)), fixed(int64(1)))
	column(types.DecimalOf(38, 38), fixed(batch.Int128{Hi: 1 << 60}), fixed(batch.Int128{Hi: -1, Lo: 5}))
	column(types.Of(types.Date), fixed(int32(math.MinInt32)), fixed(int32(math.MaxInt32)), fixed(int32(18000)))
	column(types.TimeOf(0), fixed(int32(0)), fixed(int32(86_399_999)))
	moment := func(ms int64) func(*batch.Column) { return func(c *batch.Column) { c.AppendMoment(ms, 999_999) } }
	column(types.TimestampOf(9), moment(math.MinInt64), moment(math.MaxInt64), moment(-1), moment(1e12))
	column(types.TimestampLTZOf(3), moment(math.MinInt64/2), moment(math.MaxInt64/2), moment(1e12))
	ints := func(n int) func(*batch.Column) {
		return func(c *batch.Column) {
			for k := range n {
				batch.Append(c.Children[0], int32(k))
			}
			c.Children[0].AppendNull()
			c.EndCollection()
		}
	}
	column(types.ArrayOf(types.Of(types.Int)), ints(0), ints(3))
	column(types.ArrayOf(types.String()), func(c *batch.Column) { c.Children[0].AppendBytes([]byte("x")); c.EndCollection() }, func(c *batch.Column) { c.EndCollection() })
	column(types.MapOf(types.String(), types.Of(types.Int)), func(c *batch.Column) {
		c.Children[0].AppendBytes([]byte("k"))
		batch.Append(c.Children[1], int32(1))
		c.EndCollection()
	}, func(c *batch.Column) { c.EndCollection() })
	column(types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}), func(c *batch.Column) { batch.Append(c.Children[0], int32(1)); c.EndRow() })
	column(types.Of(types.Bitmap), bytes(string(roaring.Append(nil, []uint32{1, 70000}))))
	column(types.Of(types.Variant), bytes(`{"a":1}`), bytes(`[1]`), bytes("null"))
	for _, s := range []string{"DAY", "MONTH", "DOW", "BOTH", "lax $.a", "$", "", "yyyy", "(a)(b)?", "2", "ERROR", "NULL ON NULL"} {
		all = append(all, expr.Text(s))
	}
	return append(all, expr.Null(types.Of(types.Null), ast.Span{}), expr.Constant(types.Of(types.Int), int32(2)), expr.Constant(types.Of(types.Int), int32(-1)))
}

var anyColumns []*batch.Column

func fixed[T batch.Fixed](v T) func(*batch.Column) {
	return func(c *batch.Column) { batch.Append(c, v) }
}

// Whatever the arguments: a call is refused, fails in a row, or has values of its type.
func TestAnyArguments(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	values := anyValues(r)
	accepted := 0
	for _, f := range functions.All() {
		for range 100 {
			args := make([]expr.Expr, r.IntN(6))
			for k := range args {
				args[k] = values[r.IntN(len(values))]
			}
			if tryCall(t, f, args) {
				accepted++
			}
		}
	}
	t.Logf("%d calls were accepted", accepted)
}

func tryCall(t *testing.T, f *expr.Function, args []expr.Expr) (accepted bool) {
	source := f.Name
	for _, a := range args {
		source += " " + a.Type().String()
	}
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %v", source, p)
		}
	}()
	e, err := registry.CallFunction(expr.UTC, f, ast.Span{}, args...)
	if err != nil {
		return false
	}
	p, err := expr.Compile(expr.UTC, e)
	if err != nil {
		return true
	}
	for _, sel := range [][]int32{nil, {1, 64, 69}, {}} {
		out, err := p.Eval(&batch.Columns{N: 70, Cols: anyColumns, Sel: sel})
		if err != nil {
			continue
		}
		wanted := sel
		if sel == nil {
			wanted = []int32{0, 69}
		}
		for _, i := range wanted {
			if out[0].IsNull(int(i)) && !e.Type().Nullable {
				t.Errorf("%s: row %d is NULL, and the type is %s", source, i, e.Type())
			}
			expr.Display(e.Type(), out[0], int(i))
		}
	}
	return true
}
