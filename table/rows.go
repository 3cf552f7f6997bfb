package table

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/gofunc"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// rowsConnector reads tables that are values of the program.
const rowsConnector = "go"

// rowsName is the option that says which.
const rowsName = "name"

// FromSlice makes a temporary table of Go values: of structs, whose fields are the
// columns, or of others, which are the column `value`. It is read when a query is, in one
// subtask; the slice must not be changed as long as the table is used. On a cluster each
// worker has what the program makes there.
func (e *Env) FromSlice[T any](name string, rows []T) {
	values, err := gofunc.ValuesOf(rows)
	switch {
	case err != nil:
		e.problem(callSite(), "table %s: %w", name, err)
		return
	case e.rows[name] != nil:
		e.problem(callSite(), "table %s: there is one of this name", name)
		return
	}
	e.rows[name] = values
	e.fresh = append(e.fresh, createRows(name, values.Schema))
}

// createRows is the statement that makes the table.
func createRows(name string, schema []types.Field) string {
	columns := make([]string, len(schema))
	for i, f := range schema {
		columns[i] = types.Quote(f.Name) + " " + f.Type.String()
	}
	return fmt.Sprintf("CREATE TEMPORARY TABLE %s (%s) WITH ('connector'='%s', '%s'='%s')",
		types.Quote(name), strings.Join(columns, ", "), rowsConnector, rowsName, strings.ReplaceAll(name, "'", "''"))
}

// values are the tables of Go values, by name: they are a connector.
type values map[string]*gofunc.Values

// Declaration is what the connector says of itself.
func (values) Declaration() connector.Declaration {
	return connector.Declaration{Required: []string{rowsName}, Source: true}
}

// Source says how a table is read.
func (v values) Source(s *plan.Scan, _ *expr.Session) (exec.End, error) {
	rows := v[s.Options[rowsName]]
	if rows == nil {
		return exec.End{}, fmt.Errorf("the program has no rows by the name of '%s' here; FromSlice gives them", s.Options[rowsName])
	}
	return exec.End{MaxAllowed: 1, Operator: operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		return &rowsSource{rows: rows, columns: s.Fields, push: operator.Output[*batch.Columns](out).Push, context: c}
	})}, nil
}

// Sink refuses.
func (values) Sink(w *plan.Write, _ *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("the table %s is made of values of the program, and cannot be written", w.Table)
}

// rowsSource reads rows, a batch at a time.
type rowsSource struct {
	rows    *gofunc.Values
	columns []int
	next    int
	push    func(*batch.Columns, int64)
	context *operator.Context
}

// Poll gives a batch.
func (s *rowsSource) Poll() operator.Progress {
	from := s.next
	if s.next = min(from+batch.MaxRows, s.rows.Len()); from == s.next {
		return operator.Done
	}
	b := s.rows.Batch(s.columns, from, s.next)
	s.context.CountIn(b.N)
	s.push(b, batch.NoTimestamp)
	return operator.More
}
