package plan

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/types"
)

// whole is a job with a node of every kind; it need not make sense.
func whole(t *testing.T, registry *expr.Registry) *Job {
	t.Helper()
	big := types.Of(types.BigInt)
	a := &expr.Input{Index: 0, Name: "a", T: big}
	one := &expr.Literal{T: big.NotNull(), Value: &batch.Column{Layout: batch.Int64s, Len: 1, I64: []int64{1}}, Text: "1"}
	sum, err := registry.Call(expr.UTC, "+", ast.Span{Start: 3, End: 8}, a, one)
	if err != nil {
		t.Fatal(err)
	}
	isA := &expr.Input{Index: 1, Name: "b", T: types.Of(types.Boolean)}
	schema := []types.Field{{Name: "a", Type: big}, {Name: "m", Type: types.MapOf(types.String(), types.RowOf(types.Field{Name: "x", Type: types.DecimalOf(20, 3), Comment: "c"}))}}
	base := func(in ...Node) Base { return Base{Inputs: in, Schema: schema, Name: "n", Parallelism: len(in)} }
	rows := &batch.Columns{N: 1}
	for _, f := range schema {
		c := batch.NewColumn(f.Type)
		c.AppendNull()
		rows.Cols = append(rows.Cols, c)
	}
	var n Node = &Values{Base: base(), Rows: []*batch.Columns{rows}}
	shared := n
	scan := &Scan{Base: base(), Table: "t", Connector: "c", Options: map[string]string{"x": "1", "a": "2"}, Columns: schema, Fields: []int{1}, Filter: isA, Limit: -1, PartitionKeys: []string{"b"}}
	n = &Union{base(n, scan)}
	n = &Calc{Base: base(n), Filter: isA, Project: []expr.Expr{sum, one}}
	n = &Calc{Base: base(n), Project: []expr.Expr{}}
	n = &Exchange{base(n), Hash, []int{0, 1}}
	call := AggregateCall{Function: "SUM", Args: []int{0}, ArgTypes: []types.Type{big}, Filter: -1, Distinct: true, IgnoreNulls: true, Type: big}
	n = &Aggregate{base(n), Global, []int{0}, []AggregateCall{call}, true}
	n = &Join{base(n, shared), FullOuter, MergeJoin, []int{0}, []int{1}, []bool{true}, isA, true, true}
	n = &Sort{base(n), []SortKey{{0, false, true}}, 1, 2}
	n = &Limit{base(n), 3, 4}
	n = &SetOperation{base(n, shared), true, true}
	n = &Expand{base(n), [][]expr.Expr{{a}, {one, sum}}}
	n = &Over{base(n), []int{1}, []SortKey{{0, true, true}}, []OverCall{{call, Range, Bound{Preceding, 5, 0.5}, Bound{Kind: UnboundedFollowing}}}}
	n = &Window{base(n), Cumulate, 1, true, 10, 5, 2, []int{0}}
	n = &Unnest{base(n), a, true, true}
	n = &Match{Base: base(n), Partition: []int{1}, Order: []SortKey{{0, false, true}}, Elements: []pattern.Element{{Min: 1, Max: -1}, {Min: 0, Max: 3, Reluctant: true}},
		Variables: []string{"A", "B"}, AtFirst: true, AtLast: true, Skip: pattern.Skip{Kind: pattern.ToLast, Element: 1}, Within: 7,
		Values:     []MatchValue{{Elements: []int{0, 1}, Column: 1, First: true, Offset: 2, Time: true, Type: big}, {Elements: []int{1}, Call: call, Args: []expr.Expr{sum}, Type: big}},
		Conditions: []expr.Expr{nil, isA}, Measures: []expr.Expr{a, one}}
	write := &Write{base(n), "t", "c", map[string]string{"k": "v"}, schema, []string{"a"}, true}
	return &Job{Name: "j", Statement: "SELECT a + 1", Batch: true, Settings: map[string]string{"b": "1", "a": "2"},
		Session: &expr.Session{Zone: time.FixedZone("GMT+01:30", 5400), Now: time.Unix(7, 9).UTC(), LegacyCast: true, Database: "d"},
		Sinks:   []Node{write, &Collect{base(n)}}}
}

func TestJobsSurviveEncoding(t *testing.T) {
	registry := expr.NewRegistry()
	text := whole(t, registry).Encode()
	j, err := Decode(text, registry)
	if err != nil {
		t.Fatal(err)
	}
	if again := j.Encode(); !bytes.Equal(again, text) {
		t.Errorf("encoded again, %d bytes are other %d bytes", len(text), len(again))
	}
	if j.Sinks[0].Common().Inputs[0] != j.Sinks[1].Common().Inputs[0] {
		t.Error("a node that two share has become two")
	}
	c := j.Sinks[0].(*Write)
	if got, want := c.Schema[1].Type.String(), types.MapOf(types.String(), types.RowOf(types.Field{Name: "x", Type: types.DecimalOf(20, 3), Comment: "c"})).String(); got != want {
		t.Errorf("type: got %s, want %s", got, want)
	}
	if got := j.Session.Now.In(j.Session.Zone).Format(time.RFC3339Nano); got != "1970-01-01T01:30:07.000000009+01:30" {
		t.Errorf("session's time: got %s", got)
	}
}

func FuzzDecode(f *testing.F) {
	registry := expr.NewRegistry()
	f.Add((&Job{Session: expr.UTC}).Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = Decode(text, registry) // it must not panic
	})
}

// A plan in a file is the same when it is read, and only as it was written.
func TestText(t *testing.T) {
	registry := expr.NewRegistry()
	j := &Job{Name: "n", Statement: "s", Batch: true, Settings: map[string]string{"a": "b"}, Session: expr.UTC}
	schema := []types.Field{{Name: "a", Type: types.Of(types.Int)}}
	j.Sinks = []Node{&Write{Base: Base{Schema: schema, Inputs: []Node{&Values{Base: Base{Schema: schema}}}}, Table: "t"}}
	text, err := j.Text([]Table{{Name: [3]string{"c", "d", "t"}, Options: map[string]string{"k": "v"}}})
	if err != nil {
		t.Fatal(err)
	}
	read, tables, err := Read(text, registry)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.Encode(), j.Encode()) || len(tables) != 1 || tables[0].Name[2] != "t" || tables[0].Options["k"] != "v" {
		t.Errorf("got %v and %v", read, tables)
	}
	for what, changed := range map[string][2]string{
		"its layout is":        {layout(), "0123456789abcdef"},
		"it was changed since": {`"statement": "s"`, `"statement": "x"`},
		"read plan: ":          {`"plan": {`, `"plan": [`},
	} {
		if _, _, err := Read(bytes.Replace(text, []byte(changed[0]), []byte(changed[1]), 1), registry); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	registry := expr.NewRegistry()
	text, err := (&Job{Session: expr.UTC}).Text(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, _ = Read(text, registry) // it must not panic
	})
}
