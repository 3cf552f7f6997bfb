package engine

import (
	"context"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/types"
)

// A Runner runs jobs somewhere. It is called from any goroutine.
type Runner interface {
	// Submit begins a job and returns when it has been accepted; if ctx ends before, there
	// is none. schema are the columns of the rows that the job collects; nil: it collects
	// none.
	Submit(ctx context.Context, c *exec.Compiled, schema []types.Field) (Job, error)
}

// A Job is one that was submitted.
type Job interface {
	// ID is the job's, in hexadecimal.
	ID() string
	// Next waits for rows. At the end the error is io.EOF; if the job has failed, why.
	Next(ctx context.Context) (*batch.Columns, error)
	// Wait waits until the job has ended, and says why if it has failed.
	Wait(ctx context.Context) error
	// Cancel ends the job if it has not ended. It may be called more than once.
	Cancel() error
}
