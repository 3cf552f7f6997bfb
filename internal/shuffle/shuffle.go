// Package shuffle moves batches between tasks: a ResultPartition with one
// subpartition a consumer on the producer's side, an InputGate with one channel
// a producer on the consumer's.
//
// It promises for every channel that elements arrive in the order written, none
// lost and none doubled, that a batch has one owner at any time, that a
// subpartition never holds more than its credits allow, and that a broken
// connection is an error at both ends. It never looks at records: turning a
// batch to bytes and back is the Serializer's.
package shuffle

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
)

// Writer is what a task writes one of its output edges to. Only the task's own
// goroutine calls it.
type Writer interface {
	// Subpartitions is the number of consumers.
	Subpartitions() int
	// Emit hands a batch to one subpartition, which owns it from then on. It
	// blocks while the subpartition is full. An error ends the task: it was
	// canceled (ErrCanceled) or a batch cannot be encoded.
	Emit(sub int, b batch.Batch) error
	// Control appends a control element to every subpartition, in order after
	// all that was emitted before. It does not wait for room.
	Control(e element.Element) error
	// Rows is how many records a batch should hold so that it encodes into
	// about one network buffer: batch.MaxRows, or less for large records and small
	// buffers.
	Rows() int
}

// Gate is what a task reads one of its input edges from. Only the task's own
// goroutine calls it.
type Gate interface {
	// Channels is the number of producers.
	Channels() int
	// Poll takes the next element, without waiting. ok is false when there is
	// none now; the gate then calls its wake function once when there is. An
	// error of a channel is, or wraps, a *PartitionError.
	// A batch taken is owned by the caller, who must Release it.
	Poll() (channel int, e element.Element, ok bool, err error)
}

// Serializer turns the batches of one edge to bytes and back. It is used by one
// goroutine at a time.
type Serializer interface {
	// Append encodes b after dst.
	Append(dst []byte, b batch.Batch) ([]byte, error)
	// Decode makes a batch of one encoding. It keeps no reference to src, and
	// answers corrupt bytes with an error.
	Decode(src []byte) (batch.Batch, error)
}

// An AligningGate can stop reading a channel while a checkpoint's barrier is
// awaited on the others. Only the task's own goroutine calls it.
type AligningGate interface {
	Gate
	// Block keeps Poll from taking anything more of a channel.
	Block(channel int)
	// Unblock lets Poll take from the channel again.
	Unblock(channel int)
}

// An OvertakingWriter lets barriers overtake the batches that wait in it, for a task
// that takes its part of a checkpoint however slow its consumers are. Only the task's
// own goroutine calls it, wake excepted.
type OvertakingWriter interface {
	Writer
	// Spare makes Emit wait later: when a subpartition has so many batches more than it
	// should, or never if more is negative.
	Spare(more int)
	// Roomy reports whether no subpartition has more than it should. If one has, wake is
	// called when it is worth looking again; it comes from any goroutine.
	Roomy(wake func()) bool
	// Overtake puts a barrier before all that waits, and gives the encodings of the
	// batches it has overtaken, by subpartition, in their order.
	Overtake(barrier element.Element) ([][][]byte, error)
	// Promise appends a barrier that is Timed, and lets it overtake when its time has
	// come if it still waits then. Wait gives what Overtake gives, as soon as the barrier
	// has left every subpartition or overtaken in it; from any goroutine.
	Promise(barrier element.Element) (wait func() ([][][]byte, error), err error)
}

// An OvertakenGate gives barriers that have overtaken what was before them. Only the
// task's own goroutine calls it.
type OvertakenGate interface {
	AligningGate
	// PollUrgent takes such a barrier, if there is one, of a blocked channel too.
	PollUrgent() (channel int, e element.Element, ok bool)
	// Overtaken gives the encodings of the batches that the barrier polled last on a
	// channel has overtaken on this side of it. What it has overtaken on the other side,
	// the writer gave.
	Overtaken(channel int) [][]byte
}

// ErrCanceled is what a blocked Emit returns when its task was canceled.
var ErrCanceled = errors.New("task canceled")

// The ways an edge breaks from outside the task that sees it. All of them are
// secondary failures: another task or process has a cause of its own to tell.
var (
	// ErrPeerLost is wrapped by the errors at both ends of a connection that
	// could not be made or has broken.
	ErrPeerLost = errors.New("connection to the TaskManager lost")
	// ErrProducerFailed is wrapped by what a consumer is told when the task
	// that writes to it failed, or its partition was released too early.
	ErrProducerFailed = errors.New("producer failed")
	// ErrPartitionNotFound is wrapped by what a consumer is told when its
	// partition did not appear within the time allowed.
	ErrPartitionNotFound = errors.New("partition not found")
	// ErrPartitionCorrupt is wrapped by what a consumer is told when what a
	// blocking partition wrote cannot be read back: the file is damaged, cut
	// short or unreadable. Only its producer can make it again.
	ErrPartitionCorrupt = errors.New("partition corrupt")
)

// A PartitionError is why a channel of a gate gives no more: it says what could
// not be read. Its text is that of Err.
type PartitionError struct {
	Partition ident.PartitionID
	// Whole says that its producer had finished when the reader was made.
	Whole bool
	Err   error
}

// Error is the text of Err.
func (e *PartitionError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *PartitionError) Unwrap() error { return e.Err }

// ErrInsufficientBuffers is wrapped by the refusal of a gate or connection whose
// smallest need of network buffers cannot be met.
//
//lint:ignore ST1005 the text is Flink's, for whoever looks for it
var ErrInsufficientBuffers = errors.New("Insufficient number of network buffers")
