package shuffle

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
)

// A Partition is what one task produces for the tasks of one edge, as those see
// it who read it. Its methods may be called from any goroutine.
//
// A pipelined partition is queues in memory: each subpartition is read once,
// while it is written. A blocking one is a file: it can be read when it is
// whole, any number of times, until it is released.
type Partition interface {
	// ID is the partition's identifier.
	ID() ident.PartitionID
	// View makes a consumer's view of some subpartitions. Ready is the call
	// that tells the consumer that the view is no longer empty, or has failed;
	// it comes from any goroutine, or from within View if there is something
	// already.
	View(subs Range, ready func()) (View, error)
	// NewSerializer makes a serializer for one user of the partition's views.
	NewSerializer() Serializer
	// Encoded notes that a batch of so many records took so many bytes.
	Encoded(records, bytes int)
	// EncodedSize is about how many bytes so many records will take; 0: not
	// known.
	EncodedSize(records int) int
	// Fail says that the producer failed, or what it wrote cannot be used.
	Fail(cause error)
	// Release gives up the partition and what it holds.
	Release()
}

// A View is how one consumer reads subpartitions. Only one goroutine takes; the
// other methods may be called from any.
type View interface {
	// Take takes the oldest element, unless it is a batch and batches are not
	// wanted. Left is how many elements can be taken after it at once; backlog
	// is about how many batches wait to be taken. Err is why there is no more;
	// it comes at once, before what was written. A batch may be an *Encoded.
	Take(batches bool) (e element.Element, ok bool, left, backlog int, err error)
	// Detach says that the consumer needs nothing more: it has had the end of
	// the partition, or gives up.
	Detach()
	// Break is Detach for a consumer that was lost. A producer that waits for
	// the consumer gets the error.
	Break(err error)
}

// A BlockingWriter is a Writer whose consumers read nothing before its end, so
// that there is no use in handing it batches that are not full.
type BlockingWriter interface {
	Writer
	// Blocking does nothing.
	Blocking()
}

// A Range is some neighbouring subpartitions.
type Range struct {
	First, Last int // both inclusive
}

// One is the range of a single subpartition.
func One(sub int) Range { return Range{sub, sub} }

// Check refuses a range that is not a part of so many subpartitions. The error
// wraps ErrPartitionNotFound.
func (r Range) Check(subpartitions int) error {
	if r.First < 0 || r.Last < r.First || r.Last >= subpartitions {
		return fmt.Errorf("subpartitions %s asked for, there are %d: %w", r, subpartitions, ErrPartitionNotFound)
	}
	return nil
}

// String is the range as people read it.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d to %d", r.First, r.Last)
}

// An Encoded is a batch as the serializer of its edge wrote it. Whoever wants
// its records decodes the bytes; whoever passes it on need not.
type Encoded struct {
	// Bytes is one encoding of a batch, valid until Release.
	Bytes []byte
	// Records is the number of records.
	Records int
	// Owner is told of the release.
	Owner interface{ Unhold() }
}

var _ batch.Batch = (*Encoded)(nil)

// Len is the number of records.
func (e *Encoded) Len() int { return e.Records }

// Release gives the bytes back.
func (e *Encoded) Release() { e.Owner.Unhold() }

// Metrics are counts of a writer since it was made.
type Metrics struct {
	Batches int64
	Records int64
	// Bytes counts what was encoded, so it is 0 on pipelined edges within a
	// process.
	Bytes int64
	// Blocked is how long Emit waited for room, a wait that goes on included.
	Blocked time.Duration
}

// Sizes is how much a partition holds for each consumer.
type Sizes struct {
	// Records and Bytes are by subpartition. Bytes counts encoded records.
	Records, Bytes []int64
}
