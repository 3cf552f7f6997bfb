package sqlgateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/sql/session"
)

// The statuses of an operation.
const (
	pending  = "PENDING"
	running  = "RUNNING"
	finished = "FINISHED"
	canceled = "CANCELED"
	closed   = "CLOSED"
	failed   = "ERROR"
)

// An operation is one statement of a session. It owns what is left of the statement's
// result. Its methods may be called from any goroutine.
type operation struct {
	handle string
	cancel context.CancelFunc // gives the statement up
	done   chan struct{}      // closed when the statement has had its effect, or will have none

	mu     sync.Mutex
	status string
	err    error // why the status is failed
	result *session.Result

	// fetching is held while a page is made, so that there is one at a time.
	fetching sync.Mutex
	pages    pages
}

// begin starts the statement in a goroutine, once before is closed: the statement of the
// session before it has ended. When this one has, or was given up, after is closed.
func begin(handle string, before <-chan struct{}, after chan<- struct{}, run func(ctx context.Context) (*session.Result, error)) *operation {
	ctx, cancel := context.WithCancel(context.Background())
	o := &operation{handle: handle, cancel: cancel, done: make(chan struct{}), status: pending}
	go func() {
		defer close(after)
		defer cancel()
		<-before // it ends, or is given up and ends
		if o.move(running, pending) {
			o.end(run(ctx))
		}
	}()
	return o
}

// move changes the status if it is one of those given.
func (o *operation) move(to string, from ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range from {
		if o.status == s {
			o.become(to)
			return true
		}
	}
	return false
}

// become sets the status. It is called with mu held.
func (o *operation) become(status string) {
	ended := o.status != pending && o.status != running
	o.status = status
	if !ended && status != running {
		close(o.done)
	}
}

// end takes what came of the statement, unless it was given up meanwhile.
func (o *operation) end(result *session.Result, err error) {
	if !o.take(result, err) && result != nil {
		result.Rows.Close()
	}
}

// take keeps what came of the statement; false: nobody wants it any more.
func (o *operation) take(result *session.Result, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.status != running:
		return false
	case err != nil:
		o.err = err
		o.become(failed)
	default:
		o.result = result
		o.become(finished)
	}
	return true
}

// state gives the status and, once there is one, the result or the error.
func (o *operation) state() (string, *session.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status, o.result, o.err
}

// give up the statement. A query that still has rows to give is given up too, although
// its statement is finished.
func (o *operation) giveUp() error {
	if o.move(canceled, pending, running) {
		o.cancel()
		return nil
	}
	status, result, _ := o.state()
	if status != finished || !result.Query || o.pages.ended() || !o.move(canceled, finished) {
		return fmt.Errorf("Failed to convert the Operation Status from %s to %s for %s.", status, canceled, o.handle) //lint:ignore ST1005 Flink's words
	}
	return result.Rows.Close()
}

// close gives up all that is left of the statement.
func (o *operation) close() {
	o.mu.Lock()
	result := o.result
	if o.status != closed {
		o.become(closed)
	}
	o.mu.Unlock()
	o.cancel()
	if result != nil {
		result.Rows.Close()
	}
}
