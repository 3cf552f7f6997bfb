package sqlrun

import (
	"context"

	"github.com/weirstream/weir/batch"
)

// A reader asks for the rows of a job, one batch at a time. Whoever waits for a batch may
// give up and come again: what is under way goes on, since an answer that nobody takes
// would be lost. One goroutine calls next.
type reader struct {
	ask    func(ctx context.Context) (*batch.Columns, error)
	ctx    context.Context // of the asking
	cancel context.CancelFunc
	asked  chan answer // nil: nothing is under way
}

type answer struct {
	rows *batch.Columns
	err  error
}

// newReader makes a reader that gives up when it is cancelled.
func newReader(ask func(ctx context.Context) (*batch.Columns, error)) *reader {
	r := &reader{ask: ask}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// next waits for a batch, or for the end of ctx.
func (r *reader) next(ctx context.Context) (*batch.Columns, error) {
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
		return a.rows, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
