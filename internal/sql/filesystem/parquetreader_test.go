package filesystem

import (
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// numbers writes a file of ten row groups of 100 numbers each, of which every seventh is
// NULL, and all of the last group.
func numbers(t *testing.T) (path string, size int64) {
	t.Helper()
	column := types.Field{Name: "n", Type: types.Of(types.BigInt)}
	w := parquet.NewWriter([]types.Field{column}, parquet.NewWriting())
	file := w.AppendHeader(nil)
	for g := range 10 {
		c := batch.NewColumn(column.Type)
		var rows []int32
		for i := range 100 {
			if i%7 == 3 || g == 9 {
				c.AppendNull()
			} else {
				batch.Append(c, int64(g*100+i))
			}
			rows = append(rows, int32(i))
		}
		var err error
		if file, err = w.Append(file, []*batch.Column{c}, rows); err == nil {
			file, err = w.Flush(file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	file, err := w.AppendEnd(file)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "numbers.parquet")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	return path, int64(len(file))
}

// opened is a reader of a file's numbers under a filter, which was given these splits.
func opened(t *testing.T, path string, filter expr.Expr, got *[]int64, splits ...any) *parquetReader {
	t.Helper()
	scan := &plan.Scan{Table: "t", Columns: []types.Field{{Name: "n", Type: types.Of(types.BigInt)}}, Fields: []int{0}, Filter: filter, Limit: -1,
		Options: map[string]string{"path": path, "format": "parquet"}}
	s, err := Connector{Registry: functions.NewRegistry()}.source(scan, &expr.Session{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(connector.SourceContext{Request: func() {}}, connector.Output[*batch.Columns]{
		Emit: func(b *batch.Columns, _ int64) {
			for i := range b.N {
				v := int64(-1)
				if !b.Cols[0].IsNull(i) {
					v = b.Cols[0].I64[i]
				}
				*got = append(*got, v)
			}
		},
		Room: func() int { return 1 }, Count: func(int) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range splits {
		text, ok := s.([]byte)
		if !ok {
			if text, err = json.Marshal(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.NoMore(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r.(*parquetReader)
}

// poll reads until the end, or so many times.
func poll(t *testing.T, r *parquetReader, most int) {
	t.Helper()
	for range most {
		p, err := r.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p == connector.Done {
			return
		}
	}
}

// Wherever a file is cut, each row is read once.
func TestParquetParts(t *testing.T) {
	path, size := numbers(t)
	for parts := int64(1); parts < 30; parts++ {
		var got []int64
		var splits []any
		for i := range parts {
			from, to := size*i/parts, size*(i+1)/parts
			splits = append(splits, split.Split{ID: int(i), Files: []split.File{{Path: path, Offset: from, Length: to - from, Size: size}}})
		}
		poll(t, opened(t, path, nil, &got, splits...), 1000)
		if len(got) != 1000 || got[999] != -1 || got[899] != 899 {
			t.Errorf("in %d parts there are %d rows", parts, len(got))
		}
	}
}

// What a checkpoint holds is what has not been emitted, whatever the filter leaves out.
func TestParquetRestored(t *testing.T) {
	path, size := numbers(t)
	whole := split.Split{Files: []split.File{{Path: path, Length: size, Size: size}}}
	for _, filter := range []expr.Expr{nil, compared(t, ">=", 250)} {
		for polls := range 12 {
			var got []int64
			r := opened(t, path, filter, &got, whole, split.Split{ID: 1, Files: whole.Files})
			poll(t, r, polls)
			rest, err := r.Splits()
			if err != nil {
				t.Fatal(err)
			}
			var all []any
			for _, s := range rest {
				all = append(all, s)
			}
			poll(t, opened(t, path, filter, &got, all...), 1000)
			want := 2000
			if filter != nil {
				want = 2 * 700
			}
			if len(got) != want {
				t.Errorf("after %d polls, %d rows in all, want %d", polls, len(got), want)
			}
		}
	}
}

// compared is a condition on n.
func compared(t *testing.T, operator string, v int64) expr.Expr {
	t.Helper()
	c := batch.NewColumn(types.Of(types.BigInt))
	batch.Append(c, v)
	return called(t, operator, input(), &expr.Literal{T: types.Of(types.BigInt).NotNull(), Value: c})
}

func input() expr.Expr { return &expr.Input{Index: 0, Name: "n", T: types.Of(types.BigInt)} }

func called(t *testing.T, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := functions.NewRegistry().Call(&expr.Session{Zone: time.UTC}, name, ast.Span{}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestParquetGroupsLeftOut(t *testing.T) {
	path, size := numbers(t)
	is := func(operator string, v int64) expr.Expr { return compared(t, operator, v) }
	for _, test := range []struct {
		filter expr.Expr
		groups int
	}{
		{nil, 10}, {is("=", 250), 1}, {is("=", 199), 1}, {is("<", 100), 1}, {is("<=", 100), 2}, {is(">", 799), 1}, {is(">=", 799), 2}, {is("=", 5000), 0}, {is("<>", 5), 10},
		{called(t, "OR", is("=", 5), is("=", 505)), 2}, {called(t, "AND", is(">", 250), is("<", 420)), 3}, {called(t, "IS NULL", input()), 10}, {called(t, "IS NOT NULL", input()), 9},
		{called(t, "AND", called(t, "OR", is("=", 5), called(t, "IS NULL", input())), is("<", 300)), 3}, {called(t, "NOT", is("=", 5)), 10},
		{called(t, ">", input(), called(t, "+", is("=", 700).(*expr.Call).Args[1], is("=", 99).(*expr.Call).Args[1])), 1},
		{called(t, "<", is("=", 850).(*expr.Call).Args[1], input()), 1},
		{called(t, "IN", input(), is("=", 5).(*expr.Call).Args[1], is("=", 888).(*expr.Call).Args[1]), 2},
	} {
		var got []int64
		poll(t, opened(t, path, test.filter, &got, split.Split{Files: []split.File{{Path: path, Length: size, Size: size}}}), 1000)
		if len(got) != 100*test.groups {
			t.Errorf("%s: %d rows, want %d groups", fmt.Sprint(test.filter), len(got), test.groups)
		}
	}
}

func TestParquetRowsAreCounted(t *testing.T) {
	path, size := numbers(t)
	options := map[string]string{"path": path, "format": "parquet"}
	if got, ok := (Connector{}).Size(options); !ok || got.Rows != 1000 || got.Bytes != size {
		t.Errorf("the file has %d rows and %d bytes, %t", got.Rows, got.Bytes, ok)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "other"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	options["path"] = filepath.Dir(path)
	if got, ok := (Connector{}).Size(options); !ok || got.Rows >= 0 {
		t.Errorf("with a file that is none there are %d rows, %t", got.Rows, ok)
	}
}
