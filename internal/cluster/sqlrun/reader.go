package sqlrun

import (
	"context"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/coordinator/collect"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
)

// asking asks for the next batch of rows.
type asking = func(ctx context.Context) (*batch.Columns, error)

// A reader asks for the rows of a job, one batch at a time. Whoever waits for a batch may
// give up and come again: what is under way goes on, since an answer that nobody takes
// would be lost. One goroutine calls next.
type reader struct {
	ask    asking
	ctx    context.Context // of the asking
	cancel context.CancelFunc
	asked  chan answer // nil: nothing is under way
	end    error       // the first error of ask, after which it is not asked any more; nil: none yet
}

// aliveInterval is how often a job is told that somebody will read on.
const aliveInterval = collect.Patience / 6

// readerOf reads the rows of a job; unread is that of toTheEnd. While nobody asks for rows, as
// when somebody looks at those that are there, the job is told that it is not forgotten.
func readerOf(rows *exec.Result, unread func(context.Context, error) error) *reader {
	r := newReader(toTheEnd(rows.Next, unread))
	go func() { // ends when the reader is cancelled
		tick := time.NewTicker(aliveInterval)
		defer tick.Stop()
		for {
			select {
			case <-r.ctx.Done():
				return
			case <-tick.C:
				_ = rows.Alive(r.ctx) // whoever reads hears what is wrong
			}
		}
	}()
	return r
}

type answer struct {
	rows *batch.Columns
	err  error
}

// toTheEnd asks for the rows of a job. Their end is told when the job has ended, so that
// whoever has seen all of them sees it FINISHED too: unread waits for that, and says why
// there are no more.
func toTheEnd(rows asking, unread func(context.Context, error) error) asking {
	return func(ctx context.Context) (*batch.Columns, error) {
		b, err := rows(ctx)
		if err == nil || session.GaveUp(ctx, err) {
			return b, err
		}
		return nil, unread(ctx, err)
	}
}

// newReader makes a reader that gives up when it is cancelled.
func newReader(ask asking) *reader {
	r := &reader{ask: ask}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// next waits for a batch, or for the end of ctx.
func (r *reader) next(ctx context.Context) (*batch.Columns, error) {
	if r.end != nil {
		return nil, r.end
	}
	if r.asked == nil {
		asked := make(chan answer, 1)
		r.asked = asked
		go func() { // ends with the answer, at the latest when the reader is cancelled
			rows, err := r.ask(r.ctx)
			asked <- answer{rows, err}
		}()
	}
	select {
	case a := <-r.asked:
		r.asked = nil
		if a.err != nil {
			r.end = a.err
			r.cancel()
		}
		return a.rows, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
