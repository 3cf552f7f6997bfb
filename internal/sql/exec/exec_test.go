package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/types"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var (
	bigint  = types.Of(types.BigInt)
	boolean = types.Of(types.Boolean)
)

// schemaOf names columns a, b, c, …
func schemaOf(all ...types.Type) []types.Field {
	var fields []types.Field
	for i, t := range all {
		fields = append(fields, types.Field{Name: string(rune('a' + i)), Type: t})
	}
	return fields
}

// valuesOf makes a source of rows, a few a batch; nil is NULL.
func valuesOf(schema []types.Field, rows ...[]any) *plan.Values {
	n := &plan.Values{Base: plan.Base{Schema: schema}}
	for len(rows) > 0 {
		some := rows[:min(3, len(rows))]
		n.Rows = append(n.Rows, batchOf(n.Types(), some...))
		rows = rows[len(some):]
	}
	return n
}

func batchOf(schema []types.Type, rows ...[]any) *batch.Columns {
	b := newBatch(schema)
	for _, row := range rows {
		for i, v := range row {
			appendValue(b.Cols[i], v)
		}
		b.N++
	}
	return b
}

func appendValue(c *batch.Column, v any) {
	switch v := v.(type) {
	case nil:
		c.AppendNull()
	case bool:
		batch.Append(c, v)
	case int:
		switch c.Layout {
		case batch.Int32s:
			batch.Append(c, int32(v))
		case batch.Moments:
			c.AppendMoment(int64(v), 0)
		case batch.Int128s:
			batch.Append(c, batch.Int128{Hi: int64(v) >> 63, Lo: uint64(v)})
		default:
			batch.Append(c, int64(v))
		}
	case float64:
		batch.Append(c, v)
	case string:
		c.AppendBytes([]byte(v))
	case []any:
		for _, e := range v {
			if pair, is := e.([2]any); is {
				appendValue(c.Children[0], pair[0])
				appendValue(c.Children[1], pair[1])
			} else {
				appendValue(c.Children[0], e)
			}
		}
		c.EndCollection()
	default:
		panic(fmt.Sprintf("a value of type %T", v))
	}
}

// texts writes rows as "1|x|NULL".
func texts(schema []types.Field, batches ...*batch.Columns) []string {
	var all []string
	for _, b := range batches {
		b = b.Compact()
		for i := range b.N {
			var cells []string
			for k, c := range b.Cols {
				if c.IsNull(i) {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, display(schema[k].Type, c, i))
				}
			}
			all = append(all, strings.Join(cells, "|"))
		}
	}
	return all
}

func display(t types.Type, c *batch.Column, i int) string {
	switch c.Layout {
	case batch.Bools:
		return fmt.Sprint(c.Bool[i])
	case batch.Int32s:
		return fmt.Sprint(c.I32[i])
	case batch.Int64s:
		return fmt.Sprint(c.I64[i])
	case batch.Int128s:
		return fmt.Sprintf("%d", int64(c.I128[i].Lo))
	case batch.Float64s:
		return fmt.Sprint(c.F64[i])
	case batch.Moments:
		return fmt.Sprint(c.I64[i])
	case batch.ByteSlices:
		return string(c.Bytes(i))
	case batch.Lists:
		var parts []string
		for from, to := c.Span(i); from < to; from++ {
			if c.Children[0].IsNull(from) {
				parts = append(parts, "NULL")
			} else {
				parts = append(parts, display(*t.Elem, c.Children[0], from))
			}
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("layout %d", c.Layout)
}

// execute runs a plan in an embedded cluster and gives its rows.
func execute(t *testing.T, root plan.Node, settings map[string]string) ([]string, error) {
	t.Helper()
	registry := expr.NewRegistry()
	schema := root.Common().Schema
	job := &plan.Job{Batch: true, Settings: settings, Session: expr.UTC, Statement: "the statement",
		Sinks: []plan.Node{&plan.Collect{Base: plan.Base{Inputs: []plan.Node{root}, Schema: schema}}}}
	job, err := plan.Decode(job.Encode(), registry) // as a worker would have it
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compile(job, registry, nil)
	if err != nil {
		return nil, err
	}
	var rows []string
	read := make(chan error, 1)
	err = embedded.Run(t.Context(), embedded.Options{Compiled: c.Compiled, BufferTimeout: c.BufferTimeout, Begun: func(j *embedded.Job) {
		result, err := ResultOf(c.Graph, schema, j.Request)
		if err != nil {
			read <- err
			return
		}
		go func() {
			for {
				b, err := result.Next(t.Context())
				if err != nil {
					read <- err
					return
				}
				rows = append(rows, texts(schema, b)...)
			}
		}()
	}})
	if failed := <-read; err == nil && failed != io.EOF {
		err = failed
	}
	return rows, err
}

func input(i int, t types.Type) expr.Expr {
	return &expr.Input{Index: i, Name: string(rune('a' + i)), T: t}
}

func TestValuesThroughCalcToTheClient(t *testing.T) {
	source := valuesOf(schemaOf(bigint, boolean), []any{1, true}, []any{2, false}, []any{3, nil}, []any{nil, true}, []any{5, true})
	sum := &expr.Call{Args: []expr.Expr{input(0, bigint), input(0, bigint)}, T: bigint, At: ast.Span{Start: 4, End: 8}}
	sum.Fn, _ = expr.NewRegistry().Lookup("+")
	calc := &plan.Calc{Base: plan.Base{Inputs: []plan.Node{source}, Schema: schemaOf(bigint, bigint)}, Filter: input(1, boolean),
		Project: []expr.Expr{sum, input(0, bigint)}}
	want := []string{"2|1", "NULL|NULL", "10|5"}
	for _, settings := range []map[string]string{nil, {"parallelism.default": "2"}, {"execution.batch-shuffle-mode": "ALL_EXCHANGES_PIPELINED", "parallelism.default": "3"}} {
		got, err := execute(t, calc, settings)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("with %v: got %q, %v, want %q", settings, got, err, want)
		}
	}
}

func TestLimitUnionExpand(t *testing.T) {
	source := valuesOf(schemaOf(bigint), []any{1}, []any{2}, []any{3}, []any{4}, []any{5}, []any{6}, []any{7})
	base := plan.Base{Inputs: []plan.Node{source}, Schema: source.Schema}
	one := func(p plan.Base) []plan.Node {
		return []plan.Node{&plan.Exchange{Base: p, Distribution: plan.Single}}
	}
	for _, test := range []struct {
		name string
		root plan.Node
		want string
	}{
		{"limit", &plan.Limit{Base: plan.Base{Inputs: one(base), Schema: source.Schema}, Offset: 2, Fetch: 3}, "3 4 5"},
		{"offset", &plan.Limit{Base: plan.Base{Inputs: one(base), Schema: source.Schema}, Offset: 5, Fetch: -1}, "6 7"},
		{"nothing", &plan.Limit{Base: plan.Base{Inputs: one(base), Schema: source.Schema}, Fetch: 0}, ""},
		{"union", &plan.Union{Base: plan.Base{Inputs: []plan.Node{source, source}, Schema: source.Schema}}, "1 1 2 2 3 3 4 4 5 5 6 6 7 7"},
		{"expand", &plan.Expand{Base: base, Projects: [][]expr.Expr{{input(0, bigint)}, {expr.Null(bigint, ast.Span{})}}},
			"1 2 3 4 5 6 7 NULL NULL NULL NULL NULL NULL NULL"},
	} {
		got, err := execute(t, test.root, nil)
		slices.Sort(got)
		if text := strings.Join(got, " "); err != nil || text != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, text, err, test.want)
		}
	}
}

func TestMistakesInPlans(t *testing.T) {
	_, err := execute(t, &plan.Scan{Base: plan.Base{Schema: schemaOf(bigint)}, Table: "x.y", Connector: "kafka"}, nil)
	if err == nil || !strings.Contains(err.Error(), `there is no connector "kafka"`) {
		t.Errorf("an unknown connector: got %v", err)
	}
	_, err = execute(t, valuesOf(schemaOf(bigint)), map[string]string{"parallelism.default": "many"})
	if err == nil || !strings.Contains(err.Error(), "parallelism.default") {
		t.Errorf("a wrong setting: got %v", err)
	}
}

func TestCancelWhileTheClientDoesNotRead(t *testing.T) {
	schema := schemaOf(types.String())
	source := &plan.Values{Base: plan.Base{Schema: schema}}
	for range 100 { // more than is held for the client
		source.Rows = append(source.Rows, batchOf(source.Types(), []any{strings.Repeat("x", 100<<10)}))
	}
	job := &plan.Job{Batch: true, Session: expr.UTC, Sinks: []plan.Node{&plan.Collect{Base: plan.Base{Inputs: []plan.Node{source}, Schema: schema}}}}
	c, err := Compile(job, expr.NewRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	view, err := embedded.Execute(ctx, embedded.Options{Compiled: c.Compiled, BufferTimeout: c.BufferTimeout, Begun: func(j *embedded.Job) {
		go func() {
			result, err := ResultOf(c.Graph, schema, j.Request)
			if err == nil {
				_, err = result.Next(ctx)
			}
			if err != nil {
				stop = err
			}
			cancel(stop)
		}()
	}})
	if err != nil || view.State != status.JobCanceled || stop.Error() != "enough" {
		t.Errorf("got %v, %v, %v", view.State, err, stop)
	}
}
