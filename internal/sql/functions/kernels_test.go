package functions_test

import (
	"fmt"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// columns are those of 1,024 rows, some of them NULL: s, a short text; t, one with a date and
// a number; j, a document; n, an INT; f, a DOUBLE; d, a DECIMAL(10, 3); m, a TIMESTAMP(3); a,
// an ARRAY<INT>.
var columns = func() []*expr.Input {
	var all []*expr.Input
	for i, c := range []struct {
		name string
		t    types.Type
	}{{"s", text}, {"t", text}, {"j", text}, {"n", types.Of(types.Int)}, {"f", types.Of(types.Double)}, {"d", types.DecimalOf(10, 3)}, {"m", types.TimestampOf(3)}, {"a", types.ArrayOf(types.Of(types.Int))}} {
		all = append(all, &expr.Input{Index: i, Name: c.name, T: c.t})
	}
	return all
}()

var text = types.String()

// scope finds the columns by their names.
type scope struct{}

func (scope) Column(parts []ast.Name) (expr.Expr, int, error) {
	for _, c := range columns {
		if c.Name == parts[0].Text {
			return c, 1, nil
		}
	}
	return nil, 0, fmt.Errorf("there is no column %s", parts[0].Text)
}

func (scope) Special(ast.Expr) (expr.Expr, bool, error) { return nil, false, nil }

func rows() *batch.Columns {
	in := &batch.Columns{N: 1024}
	for _, c := range columns {
		in.Cols = append(in.Cols, batch.NewColumn(c.T))
	}
	for i := range in.N {
		if i%17 == 0 {
			for _, c := range in.Cols {
				c.AppendNull()
			}
			continue
		}
		in.Cols[0].AppendBytes(fmt.Appendf(nil, "Text %d-é", i))
		in.Cols[1].AppendBytes(fmt.Appendf(nil, "2024-02-%02d 10:11:12", i%28+1))
		in.Cols[2].AppendBytes(fmt.Appendf(nil, `{"a":{"b":%d},"c":"x"}`, i))
		batch.Append(in.Cols[3], int32(i%50))
		batch.Append(in.Cols[4], float64(i)*1.37)
		batch.Append(in.Cols[5], int64(i)*1234)
		in.Cols[6].AppendMoment(int64(i)*1e9, 0)
		for k := range i % 4 {
			batch.Append(in.Cols[7].Children[0], int32(k))
		}
		in.Cols[7].EndCollection()
	}
	return in
}

// free are the expressions whose evaluation allocates nothing.
var free = []string{
	"UPPER(s)", "LOWER(s)", "INITCAP(s)", "REVERSE(s)", "CHAR_LENGTH(s)", "s || t", "CONCAT_WS(',', s, t)", "SUBSTRING(s, 2, 3)", "LEFT(s, n)", "RIGHT(s, 3)",
	"TRIM(BOTH 'T' FROM s)", "LPAD(s, 20, 'xy')", "RPAD(s, 5, ' ')", "REPEAT(s, 2)", "POSITION('-' IN s)", "REPLACE(s, 'e', 'xx')", "TRANSLATE(s, 'Te', 'ab')", "SPLIT_INDEX(t, '-', 1)", "SPLIT(t, '-')",
	"s LIKE 'Text 1%'", "s LIKE '%1_-%'", "REGEXP(s, 'x[0-9]')", "MD5(s)", "SHA256(s)", "TO_BASE64(s)", "HEX(s)", "URL_ENCODE(s)", "ASCII(s)",
	"ABS(f)", "SQRT(n)", "ROUND(f, 2)", "ROUND(d, 1)", "FLOOR(d)", "TRUNCATE(f, 1)",
	"EXTRACT(YEAR FROM m)", "HOUR(m)", "FLOOR(m TO DAY)", "TIMESTAMPADD(MONTH, n, m)", "TIMESTAMPDIFF(DAY, m, m)", "DATE_FORMAT(m, 'yyyy-MM-dd HH:mm:ss.SSS')", "TO_TIMESTAMP(t)", "TO_DATE(s)", "FROM_UNIXTIME(n)", "UNIX_TIMESTAMP(t)",
	"JSON_VALUE(j, '$.a.b')", "JSON_EXISTS(j, 'lax $.z')", "j IS JSON", "JSON_QUERY(j, '$.a')", "JSON_OBJECT('s' VALUE s, 'n' VALUE n)", "JSON_QUOTE(s)",
	"CARDINALITY(a)", "ARRAY_CONTAINS(a, 2)", "ARRAY_APPEND(a, n)", "ARRAY_DISTINCT(a)",
}

func program(t testing.TB, source string) *expr.Program {
	t.Helper()
	tree, err := parse.Expression(source)
	if err != nil {
		t.Fatal(err)
	}
	e, err := (&expr.Binder{Registry: registry, Session: expr.UTC, Scope: scope{}}).Expr(tree)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	p, err := expr.Compile(expr.UTC, e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func BenchmarkKernels(b *testing.B) {
	in := rows()
	for _, source := range free {
		b.Run(source, func(b *testing.B) {
			p := program(b, source)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
		})
	}
}
