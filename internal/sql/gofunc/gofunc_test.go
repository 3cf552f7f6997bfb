package gofunc

import (
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

type point struct {
	X, Y  float64
	Label *string
	_     int `sql:"-"`
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{true, "BOOLEAN NOT NULL"}, {int8(0), "TINYINT NOT NULL"}, {0, "BIGINT NOT NULL"}, {"", "STRING NOT NULL"}, {[]byte{}, "BYTES NOT NULL"},
		{new(int32), "INT"}, {sql.Null[float64]{}, "DOUBLE"}, {time.Time{}, "TIMESTAMP_LTZ(9) NOT NULL"},
		{[]*string{}, "ARRAY<STRING> NOT NULL"}, {map[string]int64{}, "MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL"},
		{point{}, "ROW<`x` DOUBLE NOT NULL, `y` DOUBLE NOT NULL, `label` STRING> NOT NULL"},
		{time.Second, "INTERVAL DAY(9) TO SECOND(3) NOT NULL"},
	} {
		s, err := ShapeOf(reflect.TypeOf(c.of))
		if err != nil {
			t.Errorf("%T: %v", c.of, err)
		} else if got := s.Type.String(); got != c.want {
			t.Errorf("%T is %s, want %s", c.of, got, c.want)
		}
	}
	type loop struct{ Next *loop }
	for _, c := range []struct {
		of   any
		want string
	}{
		{uint(0), "stands for no SQL type"}, {make(chan int), "stands for no SQL type"}, {new(*int), "two values for NULL"},
		{loop{}, "contains itself"}, {struct{ a int }{}, "not exported"}, {[]func(){}, "stands for no SQL type"},
	} {
		if _, err := ShapeOf(reflect.TypeOf(c.of)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %s", c.of, err, c.want)
		}
	}
}

func TestColumnNames(t *testing.T) {
	for field, want := range map[string]string{"A": "a", "UnitPrice": "unit_price", "UserID": "user_id", "HTTPStatus": "http_status", "X2": "x2", "A_B": "a_b"} {
		if got := columnName(field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

// column makes a column of Go values; nil is NULL.
func column(t *testing.T, of types.Type, values ...any) *batch.Column {
	t.Helper()
	c := batch.NewColumn(of)
	for _, v := range values {
		if v == nil {
			c.AppendNull()
			continue
		}
		s, err := ShapeOf(reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		s.putter(of)(c, reflect.ValueOf(v))
	}
	return c
}

// called gives what a function makes of columns, as texts.
func called(t *testing.T, f *expr.Function, schema []types.Type, columns ...*batch.Column) ([]string, error) {
	t.Helper()
	var args []expr.Expr
	in := &batch.Columns{Cols: columns}
	for i, of := range schema {
		args = append(args, &expr.Input{Index: i, T: of})
		in.N = columns[i].Len
	}
	registry := expr.NewRegistry()
	call, err := registry.CallFunction(expr.UTC, f, expr.Null(types.String(), exprSpan).At, args...)
	if err != nil {
		return nil, err
	}
	p, err := expr.Compile(expr.UTC, call)
	if err != nil {
		return nil, err
	}
	for range 2 { // memory is used again
		if _, err = p.Eval(in); err != nil {
			return nil, err
		}
	}
	cols, err := p.Eval(in)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range in.N {
		if cols[0].IsNull(i) {
			out = append(out, "NULL")
		} else {
			out = append(out, string(expr.AppendDisplay(nil, time.UTC, call.Type(), cols[0], i)))
		}
	}
	return out, nil
}

var exprSpan = expr.Text("").At

func TestScalars(t *testing.T) {
	text, bigint, double := types.String(), types.Of(types.BigInt), types.Of(types.Double)
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	type city string
	for _, c := range []struct {
		name    string
		f       any
		schema  []types.Type
		columns []*batch.Column
		want    []string
	}{
		{"common", strings.ToUpper, []types.Type{text}, []*batch.Column{column(t, text, "a", nil, "bc")}, []string{"A", "NULL", "BC"}},
		{"of integers", func(a, b int64) int64 { return a * b }, []types.Type{bigint, bigint}, []*batch.Column{column(t, bigint, 2, nil, 4), column(t, bigint, 5, 6, nil)}, []string{"10", "NULL", "NULL"}},
		{"widened", func(a float64) float64 { return a / 2 }, []types.Type{bigint}, []*batch.Column{column(t, bigint, 3, nil)}, []string{"1.5", "NULL"}},
		{"named type", func(c city) city { return c + "!" }, []types.Type{text}, []*batch.Column{column(t, text, "a", nil)}, []string{"a!", "NULL"}},
		{"pointers", func(s *string, n int64) *string {
			if s == nil || n == 0 {
				return nil
			}
			r := strings.Repeat(*s, int(n))
			return &r
		}, []types.Type{text, bigint}, []*batch.Column{column(t, text, "a", nil, "b", "c"), column(t, bigint, 2, 1, 0, nil)}, []string{"aa", "NULL", "NULL", "NULL"}},
		{"pointers of common types", func(n *int64) *float64 {
			if n == nil {
				return nil
			}
			half := float64(*n) / 2
			return &half
		}, []types.Type{bigint}, []*batch.Column{column(t, bigint, 7, nil)}, []string{"3.5", "NULL"}},
		{"a pointer to a text", func(n int64) *string {
			if n == 0 {
				return nil
			}
			s := strings.Repeat("x", int(n))
			return &s
		}, []types.Type{bigint}, []*batch.Column{column(t, bigint, 2, 0, nil, 1)}, []string{"xx", "NULL", "NULL", "x"}},
		{"sql.Null", func(n sql.Null[int64]) sql.Null[string] { return sql.Null[string]{V: fmt.Sprint(n.V), Valid: n.Valid} }, []types.Type{bigint}, []*batch.Column{column(t, bigint, 7, nil)}, []string{"7", "NULL"}},
		{"variadic", func(sep string, all ...string) string { return strings.Join(all, sep) }, []types.Type{text, text, text}, []*batch.Column{column(t, text, "-"), column(t, text, "a"), column(t, text, "b")}, []string{"a-b"}},
		{"array", func(n int64) []int32 { return slices.Repeat([]int32{7}, int(n)) }, []types.Type{bigint}, []*batch.Column{column(t, bigint, 2, nil, 0)}, []string{"[7, 7]", "NULL", "[]"}},
		{"map", func(s string) map[string]int { return map[string]int{s: len(s)} }, []types.Type{text}, []*batch.Column{column(t, text, "ab")}, []string{"{ab=2}"}},
		{"row", func(p point) point { return point{X: p.Y, Y: p.X, Label: p.Label} }, []types.Type{types.RowOf(types.Field{Name: "a", Type: bigint}, types.Field{Name: "b", Type: double}, types.Field{Name: "c", Type: text})},
			[]*batch.Column{structs(t)}, []string{"(2.5, 1.0, NULL)", "NULL"}},
		{"any", func(v any) string { return fmt.Sprintf("%T", v) }, []types.Type{bigint}, []*batch.Column{column(t, bigint, 1, nil)}, []string{"int64", "<nil>"}},
		{"time", func(v time.Time) time.Time { return v.Add(time.Hour) }, []types.Type{types.TimestampOf(9)}, []*batch.Column{column(t, types.TimestampOf(9), at, nil)}, []string{"2024-05-06 08:08:09.123456789", "NULL"}},
		{"typed", Typed1(func(v *float64) (string, error) { return fmt.Sprint(v == nil), nil }), []types.Type{double}, []*batch.Column{column(t, double, 1.0, nil)}, []string{"false", "true"}},
		{"typed of three", Typed3(func(a city, b, c string) (string, error) { return string(a) + b + c, nil }), []types.Type{text, text, text}, []*batch.Column{column(t, text, "a"), column(t, text, "b"), column(t, text, "c")}, []string{"abc"}},
		{"invalid text", func(string) string { return "a\xffb" }, []types.Type{text}, []*batch.Column{column(t, text, "")}, []string{"a\uFFFDb"}},
	} {
		f, err := Scalar("f", c.f, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := called(t, f, c.schema, c.columns...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

// structs is a column of a row and a NULL.
func structs(t *testing.T) *batch.Column {
	of := types.RowOf(types.Field{Name: "a", Type: types.Of(types.BigInt)}, types.Field{Name: "b", Type: types.Of(types.Double)}, types.Field{Name: "c", Type: types.String()})
	return column(t, of, struct {
		A int64
		B float64
		C *string
	}{1, 2.5, nil}, nil)
}

func TestFailures(t *testing.T) {
	bigint := types.Of(types.BigInt)
	numbers := column(t, bigint, 1, 0)
	for _, c := range []struct {
		name string
		f    any
		want string
	}{
		{"error", func(n int64) (int64, error) {
			if n == 0 {
				return 0, errors.New("it is zero")
			}
			return n, nil
		}, "function f: it is zero"},
		{"error of an uncommon type", func(n int64) (*int64, error) {
			if n == 0 {
				return nil, errors.New("it is zero")
			}
			return &n, nil
		}, "function f: it is zero"},
		{"panic", func(n int64) int64 { return 1 / n }, "function f panicked: runtime error: integer divide by zero ("},
		{"panic of an uncommon type", func(n int64) int16 { return int16(1 / n) }, "gofunc_test.go:"},
		{"wrong argument", func(s string) string { return s }, "supported: f(STRING)"},
		{"too few arguments", func(a, b int64) int64 { return a }, "it takes 2: f(BIGINT, BIGINT)"},
	} {
		f, err := Scalar("f", c.f, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_, err = called(t, f, []types.Type{bigint}, numbers)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		var at *expr.RowError
		if errors.As(err, &at) && at.Row != 1 {
			t.Errorf("%s: it failed at row %d, want 1", c.name, at.Row)
		}
	}
	var none func(string) string
	for _, c := range []struct {
		f    any
		want string
	}{
		{none, "the func is nil"}, {Typed1[string, string](nil), "the func is nil"}, {7, "got int, want a func"}, {func(string) {}, "other results"}, {func() error { return nil }, "other results"},
		{func() (string, int) { return "", 0 }, "other results"}, {func(chan int) int { return 0 }, "parameter 1"}, {func() any { return nil }, "stands for no SQL type"},
	} {
		if _, err := Scalar("f", c.f, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.f, err, c.want)
		}
	}
}

func TestReturns(t *testing.T) {
	date, second := types.Of(types.Date), types.TimestampOf(0)
	f := func(n int64) time.Time { return time.Unix(n, 999_999_999).UTC() }
	for _, c := range []struct {
		as   types.Type
		want string
	}{{date, "1969-12-31"}, {second, "1969-12-31 23:59:59"}, {types.TimestampLTZOf(3), "1969-12-31 23:59:59.999"}} {
		fn, err := Scalar("f", f, Options{Returns: &c.as})
		if err != nil {
			t.Fatal(err)
		}
		got, err := called(t, fn, []types.Type{types.Of(types.BigInt)}, column(t, types.Of(types.BigInt), -1))
		if err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("as %s it gives %q %v, want %q", c.as, got, err, c.want)
		}
	}
	text := types.String()
	if _, err := Scalar("f", f, Options{Returns: &text}); err == nil || !strings.Contains(err.Error(), "cannot be STRING") {
		t.Error(err)
	}
}

// sum adds up the weights of what is not NULL, and keeps the labels.
type sum struct {
	Total  int64
	Labels []string
}

func TestAggregates(t *testing.T) {
	type in struct {
		Label  *string
		Weight int64
	}
	f, err := Aggregate("labels", Aggregator[in, sum, string]{
		Create: func() sum { return sum{} },
		Add: func(acc *sum, v in) {
			acc.Total += v.Weight
			if v.Label != nil {
				acc.Labels = append(acc.Labels, *v.Label)
			}
		},
		Merge:  func(acc *sum, other sum) { acc.Total += other.Total; acc.Labels = append(acc.Labels, other.Labels...) },
		Result: func(acc *sum) string { return fmt.Sprint(acc.Total, acc.Labels) },
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Usage != "labels(label STRING, weight BIGINT)" {
		t.Error(f.Usage)
	}
	text, bigint := types.String(), types.Of(types.BigInt)
	args := []*batch.Column{column(t, text, "a", nil, "b", "c"), column(t, bigint, 1, 2, nil, 4)}
	open := func() expr.States {
		s, err := f.Aggregate.Open([]types.Type{text, bigint}, types.String())
		if err != nil {
			t.Fatal(err)
		}
		s.Grow(2)
		return s
	}
	one, two := open(), open()
	if err := errors.Join(one.Update([]int32{0, 1}, args, []int32{0, 1}), two.Update([]int32{0, 1}, args, []int32{2, 3})); err != nil {
		t.Fatal(err)
	}
	kept := []*batch.Column{batch.NewColumn(f.Aggregate.State[0])}
	results := batch.NewColumn(types.String())
	if err := errors.Join(two.AppendStates(kept, 0, 2), one.Merge([]int32{0, 1}, kept), one.AppendResults(results, 0, 2)); err != nil {
		t.Fatal(err)
	}
	if got := string(results.Bytes(0)) + " " + string(results.Bytes(1)); got != "1 [a] 6 [c]" {
		t.Error(got)
	}
	if one.Size() < 50 {
		t.Error("the size", one.Size())
	}
	one.Clear()
	if one.Size() != 0 {
		t.Error("the size of nothing", one.Size())
	}
	if _, err := Aggregate("f", Aggregator[string, func(), string]{}, Options{}); err == nil || !strings.Contains(err.Error(), "accumulator") {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	type in struct{ Text, Separator string }
	type out struct {
		Word   string
		Length int
	}
	f, err := Table("split", func(v in) iter.Seq2[out, error] {
		return func(yield func(out, error) bool) {
			for w := range strings.SplitSeq(v.Text, v.Separator) {
				if w == "" && !yield(out{}, errors.New("an empty word")) {
					return
				}
				if !yield(out{w, len(w)}, nil) {
					return
				}
			}
		}
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := types.String()
	args := []*batch.Column{column(t, text, "a-bc", nil, "d--e"), column(t, text, "-", "-", "-")}
	give, err := f.Generate(&expr.Bound{Args: []types.Type{text, text}, Session: expr.UTC})
	if err != nil {
		t.Fatal(err)
	}
	rows := give(args)
	cols := []*batch.Column{batch.NewColumn(text), batch.NewColumn(types.Of(types.BigInt))}
	added := 0
	if err := errors.Join(rows(cols, 0, func() { added++ }), rows(cols, 1, func() { added++ })); err != nil {
		t.Fatal(err)
	}
	if added != 2 || string(cols[0].Bytes(1)) != "bc" || cols[1].I64[1] != 2 {
		t.Error(added, cols)
	}
	if err := rows(cols, 2, func() {}); err == nil || !strings.Contains(err.Error(), "function split: an empty word") {
		t.Error(err)
	}
	defer func() { // what is behind may panic, and says so itself
		if v := recover(); v != "behind" {
			t.Error(v)
		}
	}()
	_ = rows(cols, 0, func() { panic("behind") })
}

func TestRows(t *testing.T) {
	schema := []types.Field{{Name: "name", Type: types.String()}, {Name: "UnitPrice", Type: types.DecimalOf(5, 2)}}
	price := batch.NewColumn(schema[1].Type)
	batch.Append(price, int64(125))
	price.AppendNull()
	b := &batch.Columns{N: 2, Cols: []*batch.Column{column(t, schema[0].Type, "a", "b"), price}}
	type order struct {
		Price *string `sql:"UnitPrice"`
		Name  string
	}
	read, err := Reader[order](schema, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.N {
		o, err := read(b, i)
		if err != nil {
			t.Fatal(err)
		}
		if o.Price == nil {
			o.Price = new(string)
		}
		got = append(got, o.Name+"="+*o.Price)
	}
	if !slices.Equal(got, []string{"a=1.25", "b="}) {
		t.Error(got)
	}
	dynamic, err := Reader[map[string]any](schema, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := dynamic(b, 1); err != nil || !maps.Equal(v, map[string]any{"name": "b", "UnitPrice": nil}) {
		t.Error(v, err)
	}
	shown, err := Reader[[]string](schema, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := shown(b, 1); err != nil || !slices.Equal(v, []string{"b", "NULL"}) {
		t.Error(v, err)
	}
	floats, err := Reader[struct {
		Name      string
		UnitPrice float64
	}](schema, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := floats(b, 0); err != nil || v.UnitPrice != 1.25 {
		t.Error(v, err)
	}
	if _, err := floats(b, 1); err == nil || !strings.Contains(err.Error(), "column UnitPrice: a NULL cannot be read") {
		t.Error(err)
	}
	if _, err := Reader[int64](schema, time.UTC); err == nil || !strings.Contains(err.Error(), "2 columns") {
		t.Error(err)
	}
	if _, err := Reader[struct{ Nam string }](schema, time.UTC); err == nil || !strings.Contains(err.Error(), "name, UnitPrice") {
		t.Error(err)
	}
	if _, err := Reader[struct{ Name int64 }](schema, time.UTC); err == nil || !strings.Contains(err.Error(), "STRING cannot be read as int64") {
		t.Error(err)
	}
}
