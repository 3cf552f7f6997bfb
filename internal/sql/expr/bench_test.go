package expr_test

import (
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// columnsScope names columns a, b, c, … of some types.
type columnsScope []types.Type

// programOf compiles expressions over columns a, b, c, … of some types.
func programOf(t testing.TB, columns []types.Type, sources ...string) *expr.Program {
	t.Helper()
	var all []expr.Expr
	for _, source := range sources {
		tree, err := parse.Expression(source)
		if err != nil {
			t.Fatal(err)
		}
		e, err := (&expr.Binder{Registry: registry, Session: expr.UTC, Scope: columnsScope(columns)}).Expr(tree)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		all = append(all, e)
	}
	p, err := expr.Compile(expr.UTC, all...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decimals(n int, t types.Type) *batch.Column {
	c := batch.NewColumn(t)
	for i := range n {
		if c.Layout == batch.Int64s {
			batch.Append(c, int64(i*7-900))
		} else {
			batch.Append(c, batch.Int128{Lo: uint64(i * 7)})
		}
	}
	return c
}

func moments(n int) *batch.Column {
	c := batch.NewColumn(types.TimestampOf(3))
	for i := range n {
		c.AppendMoment(int64(i)*1_234_567_891, 0)
	}
	return c
}

func texts(n int) *batch.Column {
	c := batch.NewColumn(types.String())
	for i := range n {
		c.AppendBytes([]byte{byte('0' + i%10), byte('0' + i/10%10)})
	}
	return c
}

// cases are expressions over 1024 rows whose evaluation allocates nothing.
var cases = []struct {
	name, source string
	columns      []types.Type
	make         func() []*batch.Column
}{
	{"sum", "a + b * c", []types.Type{bigint, bigint, bigint}, func() []*batch.Column {
		return []*batch.Column{longs(1024, false), longs(1024, false), longs(1024, false)}
	}},
	{"sum-nulls", "a + b * c", []types.Type{bigint, bigint, bigint}, func() []*batch.Column {
		return []*batch.Column{longs(1024, true), longs(1024, true), longs(1024, false)}
	}},
	{"quotient-nulls", "a / (b + 1)", []types.Type{bigint, bigint}, func() []*batch.Column { return []*batch.Column{longs(1024, true), longs(1024, true)} }},
	{"filter", "a > 100 AND a < 900 OR b = 3", []types.Type{bigint, bigint}, func() []*batch.Column { return []*batch.Column{longs(1024, true), longs(1024, false)} }},
	{"case", "CASE WHEN a < 100 THEN 'low' WHEN a < 500 THEN b ELSE 'high' END", []types.Type{bigint, types.String()}, func() []*batch.Column { return []*batch.Column{longs(1024, false), texts(1024)} }},
	{"decimal-short", "a * 2.5 + b", []types.Type{types.DecimalOf(9, 2), types.DecimalOf(9, 2)}, func() []*batch.Column {
		return []*batch.Column{decimals(1024, types.DecimalOf(9, 2)), decimals(1024, types.DecimalOf(9, 2))}
	}},
	{"decimal-long", "a * b / 3", []types.Type{types.DecimalOf(20, 2), types.DecimalOf(20, 2)}, func() []*batch.Column {
		return []*batch.Column{decimals(1024, types.DecimalOf(20, 2)), decimals(1024, types.DecimalOf(20, 2))}
	}},
	{"price", "a * (1 - b) * (1 + c)", []types.Type{types.DecimalOf(15, 2), types.DecimalOf(15, 2), types.DecimalOf(15, 2)}, func() []*batch.Column {
		return []*batch.Column{decimals(1024, types.DecimalOf(15, 2)), decimals(1024, types.DecimalOf(15, 2)), decimals(1024, types.DecimalOf(15, 2))}
	}},
	{"cast", "CAST(a AS INT)", []types.Type{types.String()}, func() []*batch.Column { return []*batch.Column{texts(1024)} }},
	{"cast-double", "CAST(a AS DOUBLE)", []types.Type{types.String()}, func() []*batch.Column { return []*batch.Column{texts(1024)} }},
	{"cast-decimal", "CAST(a AS DECIMAL(10, 2))", []types.Type{types.String()}, func() []*batch.Column { return []*batch.Column{texts(1024)} }},
	{"cast-there-and-back", "TRY_CAST(CAST(a + INTERVAL '1' DAY AS STRING) AS TIMESTAMP(3))", []types.Type{types.TimestampOf(3)}, func() []*batch.Column { return []*batch.Column{moments(1024)} }},
	{"double-to-text", "CAST(CAST(a AS DOUBLE) / 7 AS STRING)", []types.Type{bigint}, func() []*batch.Column { return []*batch.Column{longs(1024, true)} }},
	{"cast-to-text", "CAST(a AS STRING)", []types.Type{bigint}, func() []*batch.Column { return []*batch.Column{longs(1024, true)} }},
	{"in", "a IN (1, 2, 3, 4, 5, 6)", []types.Type{bigint}, func() []*batch.Column { return []*batch.Column{longs(1024, true)} }},
}

func TestNothingIsAllocatedPerBatch(t *testing.T) {
	for _, c := range cases {
		p := programOf(t, c.columns, c.source)
		in := &batch.Columns{N: 1024, Cols: c.make()}
		if n := testing.AllocsPerRun(20, func() {
			if _, err := p.Eval(in); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times per batch", c.source, n)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			p := programOf(b, c.columns, c.source)
			in := &batch.Columns{N: 1024, Cols: c.make()}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
		})
	}
}
