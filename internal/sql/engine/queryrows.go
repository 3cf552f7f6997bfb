package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
)

// mostBegun is how often a job is begun at most whose tables are replaced while it reads
// them.
const mostBegun = 5

// queryRows are those of a query's job. If a table is replaced while the job reads it, the
// job is begun again, as long as nobody has seen a row. All but Close is called by one
// goroutine at a time.
type queryRows struct {
	s     *Session
	begin func(ctx context.Context) (Job, error)
	again int  // how often the job has been begun again
	given bool // some rows were
	// left is how many rows a job without an end has still to give; below 0: all that come.
	left int64

	mu     sync.Mutex // guards what follows
	job    Job
	closed bool
}

// Next waits for rows. A job without an end is canceled when it has given all that were
// wanted.
func (r *queryRows) Next(ctx context.Context) (*batch.Columns, error) {
	if r.left == 0 {
		return nil, r.enough(ctx)
	}
	for {
		job := r.current()
		rows, err := job.Next(ctx)
		switch {
		case err == nil:
			r.given = r.given || rows.Len() > 0
			if r.left > 0 {
				r.left -= int64(rows.Len())
			}
			return rows, nil
		case session.GaveUp(ctx, err):
			return rows, err
		}
		r.s.forget(job)
		if r.given || r.again >= mostBegun-1 || !exec.WasReplaced(err) {
			return rows, failed(err)
		}
		if err := r.beginAgain(ctx); err != nil {
			return nil, err
		}
	}
}

func (r *queryRows) current() Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.job
}

// beginning is for how long a job is begun that nobody waits for any more: whoever asks for
// rows may be patient for a moment only, and asks again.
const beginning = 30 * time.Second

// beginAgain puts another job in the place of one that has failed.
func (r *queryRows) beginAgain(ctx context.Context) error {
	beyond, done := session.Beyond(ctx, beginning)
	defer done()
	job, err := r.begin(beyond)
	if err != nil {
		return executing(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.s.keep(job) {
		return errors.Join(errClosed, job.Cancel())
	}
	r.job = job
	r.again++
	return nil
}

// enough ends the job and waits until it has, so that the next one has its slots.
func (r *queryRows) enough(ctx context.Context) error {
	if err := r.Close(); err != nil {
		return err
	}
	_ = r.current().Wait(ctx) // it says that the job was canceled
	if err := ctx.Err(); err != nil {
		return err
	}
	return io.EOF
}

// Close cancels the job if it has not ended.
func (r *queryRows) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.s.forget(r.job)
	return r.job.Cancel()
}
