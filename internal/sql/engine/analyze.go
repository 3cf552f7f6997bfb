package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// analyze counts a table's rows, and the values of columns, and keeps what it has found
// with the table.
func (st *statement) analyze(a *ast.Analyze) (*session.Result, error) {
	path, err := st.qualify(&a.Table)
	if err != nil {
		return nil, err
	}
	t, err := st.names.Table(path)
	switch {
	case err != nil:
		return nil, err
	case t == nil || t.Temporary:
		return nil, expr.Refuse(a.Table.Span, "Table %s doesn't exist or is a temporary table.", path.Quoted())
	case t.Kind == catalog.View:
		return nil, expr.Refuse(a.Table.Span, "ANALYZE TABLE for a view is not allowed")
	case !st.bounded():
		return nil, refused(session.ClassTable, "ANALYZE TABLE is not supported for streaming mode now")
	case a.Partition != nil:
		return nil, expr.Refuse(a.Partition.Span, "ANALYZE TABLE of single partitions is not supported: leave PARTITION out")
	}
	columns, err := analyzed(a, path, t)
	if err != nil {
		return nil, err
	}
	query := "SELECT COUNT(*)"
	for _, c := range columns {
		name := types.Quote(c)
		query += fmt.Sprintf(", COUNT(DISTINCT %s), COUNT(%s)", name, name)
	}
	block, err := st.asked(query + " FROM " + path.Quoted())
	if err != nil || block == nil {
		return done(), err
	}
	found := &catalog.Statistics{Rows: block.Cols[0].I64[0], Columns: map[string]catalog.ColumnStatistics{}}
	for i, c := range columns {
		found.Columns[c] = catalog.ColumnStatistics{Distinct: block.Cols[1+2*i].I64[0], Nulls: found.Rows - block.Cols[2+2*i].I64[0]}
	}
	changed := t.Clone()
	changed.Statistics = found
	if err := st.names.ReplaceTable(path, changed); err != nil {
		return nil, err
	}
	return done(), nil
}

// analyzed are the columns that ANALYZE looks at.
func analyzed(a *ast.Analyze, path catalog.Path, t *catalog.Table) ([]string, error) {
	var columns []string
	for _, name := range a.Columns {
		c, _, ok := t.Schema.Column(name.Text)
		switch {
		case !ok:
			return nil, expr.Refuse(name.Span, "Column: %s does not exist in the table: %s.", name.Text, path.Quoted())
		case c.Kind != catalog.Physical:
			return nil, expr.Refuse(name.Span, "Column: %s is computed or metadata, and has no statistics of its own", name.Text)
		}
		columns = append(columns, name.Text)
	}
	if a.AllColumns {
		for _, c := range t.Schema.Columns {
			if c.Kind == catalog.Physical && plain(c.Type.Kind) {
				columns = append(columns, c.Name)
			}
		}
	}
	return columns, nil
}

// asked runs a query and gives its only batch of rows; nil if no job is to begin.
func (st *statement) asked(query string) (*batch.Columns, error) {
	parsed, err := parse.Statement(query)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", query, err)
	}
	inner := *st
	inner.text = query
	result, err := inner.query(parsed.(*ast.Query))
	if err != nil {
		return nil, err
	}
	if st.planOnly {
		return nil, nil
	}
	defer result.Rows.Close()
	return first(st.ctx, result.Rows)
}

// first waits for the first rows of a result.
func first(ctx context.Context, rows session.Rows) (*batch.Columns, error) {
	for {
		b, err := rows.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, executing(err)
		case b.Len() > 0:
			return b.Compact(), nil
		}
	}
}

// checkedRows is how many rows CHECK TABLE reads.
const checkedRows = 3

// checked are the columns of what CHECK TABLE shows: text is what a field holds, and value
// what that is read as.
var checked = []types.Field{column("row", types.String()), column("column", types.String()), column("type", types.String()),
	column("text", types.String()), column("value", types.String()), column("error", types.String())}

// checkTable reads some rows of a table and shows what each of their fields is: without a
// job, if the table's connector can.
func (st *statement) checkTable(c *ast.CheckTable) (*session.Result, error) {
	path, t, err := st.tableOf(&c.Table)
	if err != nil {
		return nil, err
	}
	batches := *st.now
	batches.Streaming = false
	if _, _, err := st.declaration(t.Options); err != nil {
		return nil, unable("source for reading", path, t.Options, err)
	}
	if sampler, ok := st.o.Connectors[t.Options["connector"]].(exec.Sampler); ok && !st.planOnly {
		scan := &plan.Scan{Table: path.String(), Connector: t.Options["connector"], Options: t.Options, Columns: t.Schema.Stored(), PartitionKeys: t.Partitions, Limit: -1}
		for i := range scan.Columns {
			scan.Fields = append(scan.Fields, i)
		}
		if rows, ok, err := sampler.Sample(scan, &batches, checkedRows); err != nil || ok {
			return st.sampled(scan, rows), err
		}
	}
	inner := *st
	inner.settings = withHints(st.settings, map[string]string{"execution.runtime-mode": "BATCH"})
	inner.now = &batches
	block, err := inner.asked(fmt.Sprintf("SELECT * FROM %s LIMIT %d", path.Quoted(), checkedRows))
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for i := 0; block != nil && i < block.N; i++ {
		for k, f := range t.Schema.Row() {
			value := any(nil)
			if !block.Cols[k].IsNull(i) {
				value = strings.Clone(st.show(f.Type, block.Cols[k], i))
			}
			rows = append(rows, []any{fmt.Sprint(i + 1), f.Name, f.Type.String(), nil, value, nil})
		}
	}
	return told(checked, rows...), nil
}

// sampled shows rows that were found.
func (st *statement) sampled(scan *plan.Scan, all []exec.Sampled) *session.Result {
	var rows [][]any
	for i, row := range all {
		number := fmt.Sprint(i + 1)
		if row.Err != nil {
			rows = append(rows, []any{number, nil, nil, nil, nil, row.Err.Error()})
			continue
		}
		for k, f := range row.Fields {
			c := scan.Columns[k]
			text, value, problem := any(f.Text), any(nil), any(nil)
			if f.Null {
				text = nil
			}
			if f.Err != nil {
				problem = f.Err.Error()
			} else if !f.Value.IsNull(0) {
				value = st.show(c.Type, f.Value, 0)
			}
			rows = append(rows, []any{number, c.Name, c.Type.String(), text, value, problem})
		}
	}
	return told(checked, rows...)
}

// plain reports whether different values of a kind can be counted.
func plain(k types.Kind) bool {
	return k == types.Boolean || k.IsText() || k.IsBinary() || k.IsNumeric() || k.IsDatetime() || k.IsInterval()
}
