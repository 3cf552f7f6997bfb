package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/plan"
)

// A filler writes the rows of a materialized table anew, time after time and when it is
// asked to, one time after another. It knows the plan and no names, so that statements of
// the session can go on meanwhile.
type filler struct {
	o    Options
	plan []byte

	writing sync.Mutex // held while the table is written

	mu     sync.Mutex         // guards what follows
	cancel context.CancelFunc // of the times to come; nil: it is suspended
	ended  chan struct{}
	closed bool // and stays suspended
}

// newFiller makes one that is suspended.
func newFiller(o Options, job *plan.Job) *filler { return &filler{o: o, plan: job.Encode()} }

// resume writes the table now, and again whenever so much time has passed. A time at which
// it fails is passed over: its job says why.
func (f *filler) resume(every time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	f.cancel, f.ended = cancel, ended
	go func() { // ends when it is suspended, at the latest with the session
		defer close(ended)
		for ctx.Err() == nil {
			_, _ = f.write(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
		}
	}()
}

// suspend ends what resume has begun, and waits for it.
func (f *filler) suspend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel == nil {
		return
	}
	f.cancel()
	<-f.ended
	f.cancel = nil
}

// close suspends it for good.
func (f *filler) close() {
	f.suspend()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// write writes the table once, and gives the job that has done it. When ctx ends, the job is
// canceled. If a table is replaced while the job reads it, all is done again.
func (f *filler) write(ctx context.Context) (job string, err error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	for begun := 1; ; begun++ {
		job, err = f.writeOnce(ctx)
		if err == nil || ctx.Err() != nil || begun >= mostBegun || !exec.WasReplaced(err) {
			return job, err
		}
	}
}

func (f *filler) writeOnce(ctx context.Context) (job string, err error) {
	p, err := plan.Decode(f.plan, f.o.Registry)
	if err != nil {
		return "", err
	}
	p.Session.Now = f.o.Now()
	compiled, err := exec.Compile(p, f.o.Registry, f.o.Connectors)
	if err != nil {
		return "", err
	}
	begun, err := f.o.Runner.Submit(ctx, compiled, nil)
	if err != nil {
		return "", err
	}
	if err := begun.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			_ = cancel(begun)
		}
		return begun.ID(), fmt.Errorf("job %s: %w", begun.ID(), err)
	}
	return begun.ID(), nil
}
