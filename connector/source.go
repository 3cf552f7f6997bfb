package connector

import (
	"log/slog"
	"time"
)

// Source is the beginning of a stream in another system. Its value describes where
// and what to read; Open is called once in each attempt of each subtask.
//
// What there is to read comes in splits: a file or a part of it, a partition of a
// topic, a shard. Each split is one reader's at a time, which keeps how far it has
// read it in checkpoints. A source that is Coordinated gets its splits from Weir, one
// that is Enumerated finds them itself; one that is neither has none but those that
// its readers begin with.
type Source[T any] interface {
	// Bounded reports whether the source ends by itself.
	Bounded() bool
	Open(c SourceContext, out Output[T]) (Reader, error)
}

// Coordinated is a Source whose splits are found by a coordinator that Weir has,
// beside the job's master.
type Coordinated interface {
	Coordinator() (kind, spec string)
}

// Reader reads the splits of one subtask. All methods are called on the task's
// goroutine, which waits for them; a reader may have goroutines of its own that
// fetch records beforehand, and ends them in Close. An error fails the task.
type Reader interface {
	// Poll emits about a thousand records, or those that are there without waiting
	// long.
	Poll() (Progress, error)
	// Add gives the reader a split: the answer to one Request, or what a checkpoint
	// held, as Splits gave it, before the first Poll.
	Add(split []byte) error
	// NoMore answers a Request that no split is left, now and later.
	NoMore() error
	// Splits gives what is still to be read, with how far it has been: it goes into
	// a checkpoint, and comes back in Add, perhaps of another subtask. A record belongs
	// to the checkpoint if it has been emitted, and to the splits if it has not.
	Splits() ([][]byte, error)
	Close() error
}

// Progress is what a reader says after a Poll.
type Progress uint8

const (
	// More records may be there at once.
	More Progress = iota
	// Wait: there are none now; SourceContext.Wake, a split or NoMore will tell.
	Wait
	// Done: the source has ended for this subtask.
	Done
)

// Output is where a reader emits records. All is called within Poll, but for Begin,
// which may also be called by Source.Open and Add.
type Output[T any] struct {
	// Emit passes one record on, with its event time in Unix milliseconds, or
	// batch.NoTimestamp. It is for records that belong to no split in particular.
	Emit func(v T, timestamp int64)
	// Room is how many records may be emitted before it is called again: it lets the
	// task look at what else there is to do.
	Room func() int
	// Count tells how many records have been emitted since it was called last, for
	// the metrics.
	Count func(records int)
	// Split is what Begin calls, unless it is nil.
	Split func(id string) SplitOutput[T]
}

// Begin says that the reader has a split and gives where its records are emitted. The
// id is the split's for good: after a restore its event time goes on where it was.
//
// A source that has several splits at once should tell their records apart: the
// watermark of its stream is then the least of those of its splits, so that none that
// is behind is late. A record costs no more for it.
func (o Output[T]) Begin(split string) SplitOutput[T] {
	if o.Split == nil {
		return SplitOutput[T]{Emit: o.Emit, Advance: func(int64) {}, Idle: func() {}, End: func() {}}
	}
	return o.Split(split)
}

// SplitOutput is where a reader emits the records of one split.
type SplitOutput[T any] struct {
	// Emit passes one record on, as that of Output.
	Emit func(v T, timestamp int64)
	// Advance is for sources that know the event time of a split themselves: no record
	// of it at or before t, in Unix milliseconds, follows. Nobody hears it where the
	// program gives the stream watermarks of its own.
	Advance func(t int64)
	// Idle, likewise, says that nobody should wait for the split until it advances.
	Idle func()
	// End says that the split has no more records, or is no longer this reader's.
	End func()
}

// Pausing is a Reader that can leave some of its splits alone while it reads others,
// which the alignment of watermarks asks for: a split that is ahead of all others
// waits for them.
type Pausing interface {
	// Pause says that no record of a split that has begun is wanted, or that they are
	// wanted again. Records of it that are emitted all the same are taken.
	Pause(split string, paused bool) error
}

// Confirming is a Source whose readers are Listening.
type Confirming interface {
	// Confirming does nothing.
	Confirming()
}

// Listening is a Reader that is told of complete checkpoints: everything before them
// will not be read again. It is where a broker is told how far its records have been
// read. A call may be left out; then a later one says the same. If its source ends,
// it does so after a checkpoint that has all of its records.
type Listening interface {
	Completed(checkpoint int64) error
}

// Locating is a Reader that can tell which record it was emitting when its task
// failed, so that people find it again.
type Locating interface {
	// Locate says where the record came from and how it reads; false: none was being
	// emitted. It is called before Close.
	Locate() (origin, value string, ok bool)
}

// SourceContext says where a reader runs, and what it may do.
type SourceContext struct {
	// Job names the job: 32 hexadecimal digits, others each time that a program is
	// submitted. Operator is the same for all jobs of a program.
	Job, Operator string
	// Name is the operator's for people.
	Name        string
	Subtask     int // from 0
	Parallelism int
	Attempt     int // from 0
	// Restored says that a checkpoint is gone on with: the reader has the splits it
	// is given, and no others of its own.
	Restored bool
	// Done is closed when the task is canceled.
	Done <-chan struct{}
	// Wake makes the task poll the reader again. From any goroutine.
	Wake func()
	// Request asks the coordinator for a split; Add or NoMore answers. Whoever asks
	// before a split has ended need not wait for the next. It is nil in a source
	// without a coordinator.
	Request func()
	// Now is the processing time.
	Now func() time.Time
	// After runs f once on the task's goroutine when d has passed, unless stop is
	// called before. An error fails the task.
	After func(d time.Duration, f func() error) (stop func())
	// Metrics are told how much there is to read.
	Metrics *SourceMetrics
	Logger  *slog.Logger
}
