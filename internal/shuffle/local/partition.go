package local

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// A Partition is what one task produces for the tasks of one edge: one queue a
// consumer.
//
// Emit, Control, Rows and Finish belong to the producing task's goroutine; the
// other methods may be called from anywhere.
//
// Bound: each queue holds at most depth batches, all together two each and
// depth more, so that wide edges stay small. One full queue stops the whole
// producer, deliberately: records must not be reordered around it.
type Partition struct {
	id            ident.PartitionID
	queues        []Queue
	newSerializer func() shuffle.Serializer
	cancel        <-chan struct{}
	depth         int
	limit         int32
	gone          func(*Partition) // tells the registry, once

	held    atomic.Int32           // batches in all queues
	waiting atomic.Bool            // the producer waits for held to fall
	look    chan struct{}          // a token: there may be room now
	spare   int                    // how many batches more than depth; negative: any number. The producer's
	room    atomic.Pointer[func()] // called when there may be room; nil: nobody wants to know
	open    atomic.Int32           // queues whose consumer is not done
	over    chan struct{}          // closed when open is 0

	batches, records, bytes atomic.Int64
	blocked                 atomic.Int64  // nanoseconds, of waits that ended
	blockedSince            atomic.Int64  // Unix nanoseconds, 0: does not wait
	recordSize              atomic.Uint64 // float64 bits: encoded bytes a record, 0: not known
	frame                   int           // encoded bytes a batch should have
	rows                    int           // records it should have at most
}

var (
	_ shuffle.Writer    = (*Partition)(nil)
	_ shuffle.Partition = (*Partition)(nil)
)

func newPartition(id ident.PartitionID, subpartitions int, s Settings, newSerializer func() shuffle.Serializer, cancel <-chan struct{}, gone func(*Partition)) *Partition {
	p := &Partition{
		id: id, queues: make([]Queue, subpartitions), newSerializer: newSerializer, cancel: cancel,
		depth: s.Depth, limit: int32(2*subpartitions + s.Depth), frame: s.FrameBytes, rows: s.Rows, gone: gone,
		look: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if p.rows == 0 {
		p.rows = batch.MaxRows
	}
	p.open.Store(int32(subpartitions))
	if subpartitions == 0 {
		close(p.over)
	}
	for i := range p.queues {
		p.queues[i].part, p.queues[i].sub = p, i
	}
	return p
}

// ID is the partition's identifier.
func (p *Partition) ID() ident.PartitionID { return p.id }

// NewSerializer makes an encoder for one user of the partition's queues.
func (p *Partition) NewSerializer() shuffle.Serializer { return p.newSerializer() }

// Subpartitions is the number of consumers.
func (p *Partition) Subpartitions() int { return len(p.queues) }

// View gives the one consumer of a subpartition its queue.
func (p *Partition) View(subs shuffle.Range, ready func()) (shuffle.View, error) {
	if err := subs.Check(len(p.queues)); err != nil {
		return nil, fmt.Errorf("partition %s: %w", p.id, err)
	}
	if subs.First != subs.Last {
		return nil, fmt.Errorf("partition %s: subpartitions %s as one: only a blocking partition can be read so", p.id, subs)
	}
	q := &p.queues[subs.First]
	if err := q.attach(ready); err != nil {
		return nil, err
	}
	return q, nil
}

// Emit hands a batch to one subpartition. It waits while there is no room, and
// releases the batch if it returns an error. To a consumer that needs nothing
// more the batch is not sent.
func (p *Partition) Emit(sub int, b batch.Batch) error {
	q, records := &p.queues[sub], b.Len()
	for {
		put, err := q.put(element.Element{Kind: element.Data, Batch: b})
		if err != nil {
			return err
		}
		if put {
			p.batches.Add(1)
			p.records.Add(int64(records))
			return nil
		}
		if err := p.wait(); err != nil {
			b.Release()
			return err
		}
	}
}

// wait returns when there may be room.
func (p *Partition) wait() error {
	start := time.Now()
	p.blockedSince.Store(start.UnixNano())
	var err error
	select {
	case <-p.look:
	case <-p.cancel:
		err = shuffle.ErrCanceled
	}
	p.blockedSince.Store(0)
	p.blocked.Add(int64(time.Since(start)))
	return err
}

// signal makes a waiting producer look again.
func (p *Partition) signal() {
	select {
	case p.look <- struct{}{}:
	default:
	}
	if wake := p.room.Load(); wake != nil {
		(*wake)()
	}
}

// Control appends a control element to every subpartition.
func (p *Partition) Control(e element.Element) error {
	for i := range p.queues {
		if _, err := p.queues[i].put(e); err != nil {
			return err
		}
	}
	return nil
}

// Rows is how many records make a batch that encodes into about one network
// buffer, as learned from what was encoded so far.
func (p *Partition) Rows() int {
	size := math.Float64frombits(p.recordSize.Load())
	if size*float64(p.rows) <= float64(p.frame) {
		return p.rows
	}
	return max(1, int(0.97*float64(p.frame)/size))
}

// Encoded notes that a batch of so many records took so many bytes. Those who
// encode call it; that two of them overwrite each other's guess does no harm.
func (p *Partition) Encoded(records, bytes int) {
	p.bytes.Add(int64(bytes))
	if records == 0 {
		return
	}
	now := float64(bytes) / float64(records)
	if old := math.Float64frombits(p.recordSize.Load()); old > 0 {
		now = old + (now-old)/8
	}
	p.recordSize.Store(math.Float64bits(now))
}

// EncodedSize is about how many bytes so many records will take; 0: not known.
func (p *Partition) EncodedSize(records int) int {
	return int(math.Float64frombits(p.recordSize.Load()) * float64(records))
}

// Finish says that all is written: the end of the partition is appended. What
// was written stays until it is consumed or released.
func (p *Partition) Finish() error {
	return p.Control(element.Element{Kind: element.EndOfPartition})
}

// Fail says that the producer failed: the consumers get an error that wraps
// shuffle.ErrProducerFailed, those that come later too, until Release. A producer
// that writes on gets the cause.
func (p *Partition) Fail(cause error) {
	toConsumers := fmt.Errorf("partition %s: %w: %w", p.id, shuffle.ErrProducerFailed, cause)
	toProducer := fmt.Errorf("partition %s: %w", p.id, cause)
	for i := range p.queues {
		p.queues[i].fail(toConsumers, toProducer)
	}
}

// Release gives up what has not been consumed. Consumers that are not done get
// an error, and so does the producer if it writes on.
func (p *Partition) Release() {
	p.Fail(errors.New("the partition was released"))
	for i := range p.queues {
		if p.queues[i].unread() {
			p.queues[i].Detach()
		}
	}
}

// Consumed is closed when every consumer has had all it needs, or was lost, or
// the partition was released. Until then the process must not end.
func (p *Partition) Consumed() <-chan struct{} { return p.over }

func (p *Partition) queueDone() {
	if p.open.Add(-1) == 0 {
		p.gone(p) // who waits for the end finds that nothing is left
		close(p.over)
	}
}

// Metrics gives the counts.
func (p *Partition) Metrics() shuffle.Metrics {
	m := shuffle.Metrics{Batches: p.batches.Load(), Records: p.records.Load(), Bytes: p.bytes.Load(), Blocked: time.Duration(p.blocked.Load())}
	if since := p.blockedSince.Load(); since != 0 {
		m.Blocked += max(0, time.Since(time.Unix(0, since)))
	}
	return m
}
