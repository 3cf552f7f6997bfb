package connector

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Sink is the end of a stream in another system. Its value describes where and how
// to write; Open is called once in each attempt of each subtask.
type Sink[T any] interface {
	Open(c SinkContext) (Writer[T], Committer, error)
}

// Writer takes the records of one subtask, in order. All methods are called on the
// task's goroutine, which waits for them. An error fails the task.
type Writer[T any] interface {
	// Write takes one record and its event time in Unix milliseconds, which is
	// batch.NoTimestamp if it has none.
	Write(v T, timestamp int64) error
	// Flush is called when input has run dry, when the buffer time-out has passed,
	// and with end when no record follows: then the next Prepare must give
	// everything that is left.
	Flush(end bool) error
	// Prepare gives what is to be committed when this checkpoint is complete, which
	// must need nothing but to be committed: it must be where a crash of the machine
	// does not reach it. The checkpoint is AtEnd when a job without checkpoints has
	// finished. Each committable must say all that a later version of the program
	// needs to commit it.
	Prepare(checkpoint int64) (committables [][]byte, err error)
	// State gives what the writer wants to know after a restore, besides what is to
	// be committed: a transaction that goes on, the length of a file. It is called
	// after Prepare of the same checkpoint.
	State() ([][]byte, error)
	// Close ends the writer, however its task ended. What was written and not given
	// by Prepare or State is thrown away; what they gave is left alone, for a
	// checkpoint may be restored that holds it.
	Close() error
}

// AtEnd stands for the checkpoint when a job without checkpoints has finished.
const AtEnd = 0

// Committer makes prepared output seen. It is called on the task's goroutine, after
// Writer.Prepare and beside it in any order.
type Committer interface {
	// Commit commits some committables in order and says how many of them it has
	// done. It must be idempotent: one that was committed before, by this attempt,
	// an earlier one or another job, counts as done. An error that Retriable has
	// marked makes it try the rest again after a pause that grows from 100ms to
	// 10s; after 20 tries in a row, or with another error, the task fails. ctx ends
	// when the task is canceled.
	Commit(ctx context.Context, all []Committable) (done int, err error)
}

// Committable is what Writer.Prepare gave.
type Committable struct {
	Data []byte
	// Subtask is whose it was, of the parallelism of then; Checkpoint is that of
	// Prepare.
	Subtask    int
	Checkpoint int64
	// Again says that it comes from a checkpoint: it may have been committed before.
	Again bool
}

// SinkContext says where a writer runs, and what it begins with.
type SinkContext struct {
	// Job names the job: 32 hexadecimal digits, others each time that a program is
	// submitted. Operator is the same for all jobs of a program.
	Job, Operator string
	// Name is the operator's for people.
	Name        string
	Subtask     int // from 0
	Parallelism int
	// Attempt counts from 0 as long as the job's master lives. After a rescale it is
	// higher than that of any subtask before.
	Attempt int
	// Checkpoints says that the job has some. Otherwise all is committed when the
	// subtask has finished, and an attempt that begins anew begins with nothing.
	Checkpoints bool
	// Restored is what the checkpoint held that the attempt begins with; nil: it
	// begins with nothing.
	Restored *Restored
	// Done is closed when the task is canceled.
	Done <-chan struct{}
	// Now is the processing time.
	Now func() time.Time
	// After runs f once on the task's goroutine when d has passed, unless stop is
	// called before. An error fails the task.
	After func(d time.Duration, f func() error) (stop func())
	// Metrics are told what has been sent.
	Metrics *SinkMetrics
	Logger  *slog.Logger
}

// Owns reports whether what a subtask of an earlier attempt has left behind is this
// one's to commit, to go on with, or to remove. Exactly one subtask owns each
// earlier one, whatever the parallelism of then: an earlier self first of all. Whoever
// removes what is left must look at the attempt too, which is less than this one's: an
// attempt that was taken for dead before a rescale may begin, or go on, after those that
// came in its place.
func (c *SinkContext) Owns(earlier int) bool { return earlier%c.Parallelism == c.Subtask }

// Restored is what a checkpoint held of the earlier subtasks that a writer's
// subtask owns.
type Restored struct {
	Checkpoint int64
	States     []State
	// Pending will be given to the Committer after Open, by the engine.
	Pending []Committable
}

// State is one element of what Writer.State gave.
type State struct {
	Subtask int // whose it was
	Data    []byte
}

// Retriable marks err as one that may pass: see Committer. Nil stays nil.
func Retriable(err error) error {
	if err == nil {
		return nil
	}
	return &retriable{err}
}

// IsRetriable reports whether Retriable has marked err.
func IsRetriable(err error) bool {
	_, ok := errors.AsType[*retriable](err)
	return ok
}

type retriable struct{ error }

func (r *retriable) Unwrap() error { return r.error }

// Checked is a Source or Sink that can find mistakes in what describes it.
type Checked interface {
	// Check is called once, where the program is submitted. onCluster says that the
	// job will run in other processes, perhaps on other machines.
	Check(onCluster bool) error
}
