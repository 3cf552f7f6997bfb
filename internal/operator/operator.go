// Package operator holds what a task's chain is made of: operators that are
// closures over typed records, the streams between them, and the tails that
// hand records to other tasks.
//
// It promises that nothing on a record's way is boxed, sent through a channel,
// locked or allocated: types are asserted once, when a task builds its chain
// from the last operator to the first. It never starts a goroutine, but for the
// calls of asynchronous functions of the user (CallAsync), which are bounded and
// waited for, and a source's enumerator; an operator itself never runs outside the
// goroutine of its task.
package operator

import (
	"fmt"
	"log/slog"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/status"
)

// Receiver is where one operator takes the records of the operator before it.
//
// Order: Push and PushBatch, with Watermark and Idle between them, until Finish;
// nothing after that. All on the task's goroutine.
type Receiver[T any] struct {
	// Push takes one record; ts is its event time or batch.NoTimestamp.
	Push func(v T, ts int64)
	// PushBatch, if not nil, takes a whole batch at once where the operator is
	// the first of its chain. The batch stays the caller's.
	PushBatch func(b *batch.Rows[T])
	// Watermark says that no record at or before t follows.
	Watermark func(t int64)
	// Idle says whether nobody should wait for this stream's next watermark: no
	// records are expected (true), or some come again.
	Idle func(idle bool)
	// Finish says that no record follows: the operator emits what it still
	// holds and passes Finish on.
	Finish func()
	// Splits, if not nil, says that the operator tells the splits of a source apart
	// which feeds it within the same task.
	Splits Splitting[T]
}

// Factory makes the instance of an operator in one subtask.
type Factory interface {
	// Build is given the Receiver of the operator's output (nil for a sink) and
	// answers with the *Receiver[In] of its input, or with Inputs if it has
	// several. What cannot be set up is an Abort.
	Build(c *Context, out any) (in any)
}

// Inputs are the receivers of an operator with several inputs, each a *Receiver of
// its records. Watermark, Idle and Finish are called on one of them, whichever, for
// all: an operator's event time is the least of its inputs', and it ends with the
// last of them.
type Inputs []any

// Input gives the receiver of input i of what a Factory built.
func Input(in any, i int) any {
	if many, several := in.(Inputs); several {
		return many[i]
	}
	return in
}

// FactoryFunc makes a function a Factory.
type FactoryFunc func(c *Context, out any) (in any)

// Build calls f.
func (f FactoryFunc) Build(c *Context, out any) any { return f(c, out) }

// A Managing factory makes an operator that uses managed memory: its Context says
// how much.
type Managing interface {
	Factory
	// Managing does nothing.
	Managing()
}

// managing marks a factory as Managing.
type managing struct{ Factory }

func (managing) Managing() {}

// SourceFactory makes the instance of a source in one subtask.
type SourceFactory interface {
	// Open is given the *Receiver of the source's records.
	Open(c *Context, out any) Source
}

// SourceFunc makes a function a SourceFactory.
type SourceFunc func(c *Context, out any) Source

// Open calls f.
func (f SourceFunc) Open(c *Context, out any) Source { return f(c, out) }

// Progress is what a source says after a Poll.
type Progress uint8

const (
	// More: there may be records at once.
	More Progress = iota
	// Wait: nothing now; the source calls Runtime.Wake when there is.
	Wait
	// Done: the source has ended. The task then calls Finish on its receiver.
	Done
)

// Source produces the records of a chain that has no input.
type Source interface {
	// Poll pushes about batch.MaxRows records, or what there is without waiting
	// long, and attends to the task's Signal between them. The task looks at its
	// mail between two polls.
	Poll() Progress
}

// A Locator is a Source that can tell which record it was pushing when its task
// failed, so that people find it again.
type Locator interface {
	// Record is that record; nil: none was being pushed. It is asked after a
	// failure, on the task's goroutine.
	Record() *status.Record
}

// Context is what an operator's instance knows of where it runs.
type Context struct {
	Runtime
	// Signal is the task's.
	Signal         *Signal
	Job            string // the job's name
	JobID          string // 32 hexadecimal digits
	Vertex         string // the task's name
	Operator       string
	OperatorID     ident.OperatorID
	Subtask        int
	Parallelism    int
	MaxParallelism int
	// KeyGroups are those of the subtask; none: the even share of its number.
	KeyGroups KeyGroups
	Attempt   int
	// Checkpoints says that the job has some.
	Checkpoints bool
	// Batch says that the job runs in batch mode: keyed aggregates emit at the end.
	Batch bool
	// ManagedBytes is the operator's share of the slot's managed memory; 0: not
	// known.
	ManagedBytes int64
	// Scratch is where the operator puts what it cannot hold within it; nil:
	// nowhere.
	Scratch scratch.Space
	// State says where keyed state is kept.
	State StateBackend
	// FirstInChain says that the operator's input comes in batches from a gate.
	FirstInChain bool
	Logger       *slog.Logger
	// Sides are the side outputs that something reads.
	Sides []Side
	// Counts are the operator's own; nil: nobody counts.
	Counts *Counts
}

// KeyGroups are neighbouring key groups.
type KeyGroups struct{ First, Count int }

// OwnKeyGroups are the first and the last key group of the subtask, inclusive.
func (c *Context) OwnKeyGroups() (first, last int) {
	if g := c.KeyGroups; g.Count > 0 {
		return g.First, g.First + g.Count - 1
	}
	return keygroup.Range(c.Subtask, c.Parallelism, c.MaxParallelism)
}

// A Side is a side output as its operator sees it.
type Side struct {
	Tag any
	Out any // the *Receiver of its records
}

// Side gives the receiver of a side output, nil if nothing reads it. The caller
// pushes records only: watermarks and the end reach side outputs with those of the
// main one.
func (c *Context) Side[T any](tag any) *Receiver[T] {
	for _, s := range c.Sides {
		if s.Tag == tag {
			return Output[T](s.Out)
		}
	}
	return nil
}

// Counts are how many records an operator has emitted. They are plain numbers
// of the task's goroutine, which publishes them now and then: to count costs an
// addition a record, and nothing where records in and out are equally many.
type Counts struct {
	Emitted int64
	// Late is how many records came too late for the operator and were dropped, if
	// Dates is set: it can drop some.
	Late  int64
	Dates bool
	// Watermark is the last one that the operator has emitted, if Marks is set: it
	// does not pass on those of its input.
	Watermark int64
	Marks     bool
	// Counted says that Emitted is kept. An operator without it emits one record
	// for each that it takes.
	Counted bool
	// Latest gives the event time of the latest record that has been emitted; nil: it
	// is not known.
	Latest func() int64
	// Drift is how far, in milliseconds of event time, the operator is ahead of the
	// last of its alignment group, if Aligned is set: it is in one.
	Drift   int64
	Aligned bool
	// Sink and Source are what a sink and a source tell of themselves; nil: it is none.
	Sink   *connector.SinkMetrics
	Source *connector.SourceMetrics
	// Managed is how many bytes of its managed memory the operator holds.
	Managed int64
}

// Emitted gives the number which an operator increments with each record it
// emits, if these are not as many as it takes. It is called while the operator
// is built.
func (c *Context) Emitted() *int64 {
	if c.Counts == nil {
		return new(int64)
	}
	c.Counts.Counted = true
	return &c.Counts.Emitted
}

// managed gives the number in which an operator keeps how many bytes of its managed
// memory it holds. It is called while the operator is built.
func (c *Context) managed() *int64 {
	if c.Counts == nil {
		return new(int64)
	}
	return &c.Counts.Managed
}

// Late gives the number which an operator increments with each record that it
// drops because it came too late. It is called while the operator is built.
func (c *Context) Late() *int64 {
	if c.Counts == nil {
		return new(int64)
	}
	c.Counts.Dates = true
	return &c.Counts.Late
}

// Marks gives the watermark that an operator keeps up to date which emits its own. It
// is called while the operator is built.
func (c *Context) Marks() *int64 {
	if c.Counts == nil {
		return new(int64)
	}
	c.Counts.Marks, c.Counts.Watermark = true, batch.NoTimestamp
	return &c.Counts.Watermark
}

// sinkMetrics gives where a sink tells what it has sent. It is called while the
// operator is built.
func (c *Context) sinkMetrics() *connector.SinkMetrics {
	m := &connector.SinkMetrics{}
	if c.Counts != nil {
		c.Counts.Sink = m
	}
	return m
}

// sourceMetrics gives where a source tells what there is to read. It is called while
// the source is opened.
func (c *Context) sourceMetrics() *connector.SourceMetrics {
	m := &connector.SourceMetrics{}
	if c.Counts != nil {
		c.Counts.Source = m
	}
	return m
}

// failed ends the task because a function of the user gave err. It names the
// operator, unless the task's name does.
func (c *Context) failed(err error) {
	if c.Operator != c.Vertex {
		err = fmt.Errorf("%s: %w", c.Operator, err)
	}
	Abort(err)
}

// Runtime is what a task does for its operators.
type Runtime interface {
	// Wake makes the task poll its source again. From any goroutine.
	Wake()
	// Mail runs f on the task's goroutine between two batches. From any goroutine.
	Mail(f func())
	// Ask sends payload to the operator's coordinator and runs then, with the
	// answer, on the task's goroutine. While the coordinator is out of reach the
	// request waits, and may reach it more than once.
	Ask(op ident.OperatorID, payload []byte, then func(answer []byte, err error))
	// Call is Ask for who has nothing to do before the answer: it waits for it, and
	// aborts when the task is canceled.
	Call(op ident.OperatorID, payload []byte) ([]byte, error)
	// Now is the processing time in Unix milliseconds.
	Now() int64
	// At runs f on the task's goroutine, between two batches, when processing time
	// has reached at, unless stop was called before.
	At(at int64, f func()) (stop func())
	// Hold makes the task ask before each poll of its source whether no records are
	// wanted just now. It asks again when it has had mail.
	Hold(held func() bool)
	// Keep makes k part of the task's checkpoints. It is called once by an operator
	// that has something to keep, while it is built; when it returns, what was kept
	// by the attempt before is there again.
	Keep(op ident.OperatorID, k Kept)
	// OnFlush registers f to run when buffered output should leave the task: its
	// input ran dry or the buffer time-out passed.
	OnFlush(f func())
	// OnClose registers f to run when the task has ended, however it ended,
	// last registered first. failed says that the task did not finish.
	OnClose(f func(failed bool))
	// Done is closed when the task is canceled.
	Done() <-chan struct{}
	// CountIn and CountOut add to the task's record counters; once a batch.
	CountIn(records int)
	CountOut(records int)
}

// Output asserts the receiver of an operator's output, once, while a chain is
// built.
func Output[T any](out any) *Receiver[T] { return out.(*Receiver[T]) }
