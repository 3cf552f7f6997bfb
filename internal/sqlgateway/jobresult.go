package sqlgateway

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// withJobID gives a statement that has begun a job, and is no query, the result that
// clients of the gateway look for: the job's id, whatever its engine says of it.
func withJobID(r *session.Result) *session.Result {
	if r == nil || r.Query || r.Job == "" {
		return r
	}
	id := batch.NewColumn(types.String())
	id.AppendBytes([]byte(r.Job))
	return &session.Result{
		Schema: []types.Field{{Name: "job id", Type: types.String()}}, Content: true, Job: r.Job,
		Rows: &oneRow{of: r.Rows, row: &batch.Columns{N: 1, Cols: []*batch.Column{id}}},
		Show: func(_ types.Type, c *batch.Column, i int) string { return string(c.Bytes(i)) },
	}
}

// oneRow is a row, in place of those of another result.
type oneRow struct {
	of   session.Rows
	row  *batch.Columns
	done atomic.Bool
}

// Next gives the row once.
func (r *oneRow) Next(context.Context) (*batch.Columns, error) {
	if r.done.Swap(true) {
		return nil, io.EOF
	}
	return r.row, nil
}

// Close closes the other result.
func (r *oneRow) Close() error { return r.of.Close() }
