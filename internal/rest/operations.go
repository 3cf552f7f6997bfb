package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
)

// operations are what takes longer than a request: it is begun by one, which gets
// a trigger id, and asked for by others until its result is there. A result is
// kept for rest.async.store-duration.
//
// It has no bound of its own: what a job is asked for waits in its queue of
// checkpoints, which has one, and is answered at once when that is full.
type operations struct {
	keep time.Duration // 0: for ever
	now  func() time.Time
	wait sync.WaitGroup

	mu     sync.Mutex // guards the rest, and what the values of all point to
	all    map[operationKey]*operation
	closed bool
}

// An operationKey names an operation. kind is "savepoint", "checkpoint" or
// "disposal"; the last one has no job.
type operationKey struct {
	kind    string
	job     ident.JobID
	trigger ident.ID
}

// operation is one of them. done is when it ended; zero: it is under way.
type operation struct {
	done   time.Time
	result any // the body of the field "operation"
	giveUp context.CancelCauseFunc
}

var errEnding = errors.New("the JobManager ends")

func newOperations(keep time.Duration, now func() time.Time) *operations {
	return &operations{keep: keep, now: now, all: map[operationKey]*operation{}}
}

// begin runs an operation beside the request, unless one with its key was begun
// before.
func (o *operations) begin(key operationKey, run func(context.Context) any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire()
	if o.all[key] != nil || o.closed {
		return
	}
	ctx, giveUp := context.WithCancelCause(context.Background()) // it outlives the request
	op := &operation{giveUp: giveUp}
	o.all[key] = op
	o.wait.Go(func() {
		defer giveUp(nil)
		result := run(ctx)
		o.mu.Lock()
		defer o.mu.Unlock()
		op.result, op.done = result, o.now()
	})
}

// expire forgets results that were kept long enough.
func (o *operations) expire() {
	for key, op := range o.all { // order: each is judged by itself
		if o.keep > 0 && !op.done.IsZero() && o.now().Sub(op.done) >= o.keep {
			delete(o.all, key)
		}
	}
}

// operationStatus is the answer to who asks for an operation.
type operationStatus struct {
	Status    statusID `json:"status"`
	Operation any      `json:"operation"`
}

// status gives the answer about an operation, and whether it is known.
func (o *operations) status(key operationKey) (operationStatus, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire()
	op := o.all[key]
	switch {
	case op == nil:
		return operationStatus{}, false
	case op.done.IsZero():
		return operationStatus{Status: statusID{"IN_PROGRESS"}}, true
	}
	return operationStatus{statusID{"COMPLETED"}, op.result}, true
}

// close gives up what is under way and waits for its end.
func (o *operations) close() {
	o.mu.Lock()
	o.closed = true
	for _, op := range o.all { // order: each is given up
		op.giveUp(errEnding)
	}
	o.mu.Unlock()
	o.wait.Wait()
}

// The classes under which Flink's clients know why an operation failed.
const (
	completionException = "java.util.concurrent.CompletionException"
	checkpointException = "org.apache.flink.runtime.checkpoint.CheckpointException"
	stoppingException   = "org.apache.flink.runtime.scheduler.stopwithsavepoint.StopWithSavepointStoppingException"
	flinkException      = "org.apache.flink.util.FlinkException"
	ioException         = "java.io.IOException"
)

// operationFailure is why a checkpoint or savepoint was not taken.
func operationFailure(err error) *throwable {
	var missing *dispatcher.NotFoundError
	var stopping *jobmaster.StoppingError
	var batch *jobmaster.NotStreamingError
	failed, inCheckpoint := errors.AsType[*checkpoint.Error](err)
	switch {
	case errors.As(err, &missing):
		return causes(completionException, noJobException+missing.Error())
	case errors.As(err, &stopping):
		return causes(completionException, stoppingException+": "+stopping.Error())
	case errors.As(err, &batch):
		return causes(completionException, "java.lang.IllegalStateException: "+batch.Error())
	case inCheckpoint:
		outer := *failed
		outer.Cause = nil
		lines := []string{checkpointException + ": " + outer.Error()}
		if failed.Cause != nil {
			lines = append(lines, ioException+": "+failed.Cause.Error())
		}
		return causes(completionException, lines...)
	}
	return causes(completionException, flinkException+": "+err.Error())
}

// causes makes a throwable of a class whose message is the first line, and which
// was caused by the lines in turn.
func causes(class string, lines ...string) *throwable {
	stack := class + ": " + lines[0]
	for _, line := range lines {
		stack += "\nCaused by: " + line
	}
	return throwableOf(class, lines[0], stack+"\n")
}

// caused is a throwable with a message and a cause of its own.
func caused(class, message string, cause string) *throwable {
	text := fmt.Sprintf("%s: %s", class, message)
	if cause = strings.TrimSpace(cause); cause != "" {
		text += "\nCaused by: " + cause
	}
	return throwableOf(class, message, text+"\n")
}
