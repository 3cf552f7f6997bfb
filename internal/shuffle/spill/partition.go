package spill

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// A Partition is a blocking partition: what one task produces for the tasks of
// one edge, to be read when it is whole, as often as wanted, until its release.
//
// Emit, Control, Rows and Finish belong to the producing task's goroutine; the
// other methods may be called from anywhere.
type Partition struct {
	id            ident.PartitionID
	store         *Store
	subpartitions int
	newSerializer func() shuffle.Serializer
	cancel        <-chan struct{}
	done          func() // gives back the memory of the writer; nil after it
	frame         int    // encoded bytes a batch should have

	// The producer's goroutine only.
	writer     *Writer
	serializer shuffle.Serializer
	recordSize float64 // encoded bytes a record; 0: not known

	batches, records, bytes atomic.Int64

	mu     sync.Mutex
	data   *Data // when it is whole
	end    []element.Element
	views  map[*view]struct{}
	failed error // what consumers are told
	broken error // what the producer is told

	wanting []*view // guarded by the scheduler's mutex
}

var (
	_ shuffle.BlockingWriter = (*Partition)(nil)
	_ shuffle.Partition      = (*Partition)(nil)
)

// ID is the partition's identifier.
func (p *Partition) ID() ident.PartitionID { return p.id }

// NewSerializer makes a serializer for one user of the partition's views.
func (p *Partition) NewSerializer() shuffle.Serializer { return p.newSerializer() }

// Subpartitions is the number of consumers it was written for.
func (p *Partition) Subpartitions() int { return p.subpartitions }

// Blocking marks the partition as one that nobody reads before its end.
func (p *Partition) Blocking() {}

// Emit encodes a batch for one subpartition and releases it. It waits for
// nobody, but now and then for the disk.
func (p *Partition) Emit(sub int, b batch.Batch) error {
	defer b.Release()
	select {
	case <-p.cancel:
		return shuffle.ErrCanceled
	default:
	}
	p.mu.Lock()
	broken := p.broken
	p.mu.Unlock()
	if broken != nil {
		return broken
	}
	dst, err := p.writer.Begin()
	if err != nil {
		return p.why(err)
	}
	if p.serializer == nil {
		p.serializer = p.newSerializer()
	}
	out, err := p.serializer.Append(dst, b)
	if err != nil {
		return fmt.Errorf("partition %s: encode a batch: %w", p.id, err)
	}
	records := b.Len()
	if err := p.writer.End(sub, records, out); err != nil {
		return p.why(err)
	}
	p.count(records, p.writer.last-headerSize)
	return nil
}

// why puts what broke the partition before the error that followed from it.
func (p *Partition) why(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return p.broken
	}
	return fmt.Errorf("partition %s: %w", p.id, err)
}

// count notes what a batch was.
func (p *Partition) count(records, bytes int) {
	p.batches.Add(1)
	p.records.Add(int64(records))
	p.bytes.Add(int64(bytes))
	if records == 0 {
		return
	}
	now := float64(bytes) / float64(records)
	if p.recordSize > 0 {
		now = p.recordSize + (now-p.recordSize)/8
	}
	p.recordSize = now
}

// Control takes a control element. Of watermarks only the last counts; whether a
// channel is idle says nothing of a file.
func (p *Partition) Control(e element.Element) error {
	switch e.Kind {
	case element.Watermark:
		if n := len(p.end); n > 0 && p.end[n-1].Kind == element.Watermark {
			p.end = p.end[:n-1]
		}
		p.end = append(p.end, e)
	case element.EndOfData, element.EndOfPartition:
		p.end = append(p.end, e)
	case element.Barrier:
		return fmt.Errorf("partition %s: checkpoint %d of a blocking exchange: batch jobs have no checkpoints", p.id, e.Checkpoint)
	case element.Status:
	}
	return nil
}

// Rows is how many records make a batch that encodes into about one network
// buffer, or less if there are so many consumers that the batches of all of them
// would need more than the write buffer.
func (p *Partition) Rows() int {
	size := p.recordSize
	if size == 0 {
		size = guess
	}
	return max(1, min(batch.MaxRows, int(0.97*float64(p.frame)/size)))
}

// guess is how many bytes a record is taken for before one has been encoded.
const guess = 64

// Encoded does nothing: what the views give is encoded already.
func (p *Partition) Encoded(int, int) {}

// EncodedSize is not known: what the views give is encoded already.
func (p *Partition) EncodedSize(int) int { return 0 }

// Finish appends the end of the partition, writes what is gathered and lets
// the consumers read.
func (p *Partition) Finish() error {
	if err := p.Control(element.Element{Kind: element.EndOfPartition}); err != nil {
		return err
	}
	data, err := p.writer.Finish()
	if err != nil {
		return p.why(err)
	}
	p.mu.Lock()
	if p.broken != nil {
		err := p.broken
		p.mu.Unlock()
		return err
	}
	p.data = data
	free := p.free()
	views := make([]*view, 0, len(p.views))
	for v := range p.views {
		views = append(views, v)
	}
	p.mu.Unlock()
	free()
	for _, v := range views {
		v.start(data, p.end)
	}
	return nil
}

// free gives the call that gives the writer's memory back. The caller holds the
// mutex, and calls it without.
func (p *Partition) free() func() {
	done := p.done
	if p.done = nil; done == nil {
		return func() {}
	}
	return done
}

// Whole reports whether the producer has finished and the partition can be read.
func (p *Partition) Whole() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.data != nil && p.failed == nil
}

// Sizes is how much each subpartition holds. Before Finish it is nothing.
func (p *Partition) Sizes() shuffle.Sizes {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data == nil {
		return shuffle.Sizes{}
	}
	return p.data.Sizes()
}

// View makes a view of some subpartitions. It may be made before the partition
// is whole, and then has nothing until it is.
func (p *Partition) View(subs shuffle.Range, ready func()) (shuffle.View, error) {
	if err := subs.Check(p.subpartitions); err != nil {
		return nil, fmt.Errorf("partition %s: %w", p.id, err)
	}
	v := &view{part: p, subs: subs, ready: ready}
	p.mu.Lock()
	if p.failed != nil {
		v.err = p.failed
		p.mu.Unlock()
		ready()
		return v, nil
	}
	p.views[v] = struct{}{}
	data := p.data
	p.mu.Unlock()
	if data != nil {
		v.start(data, p.end)
	}
	return v, nil
}

// forget drops a view that is done.
func (p *Partition) forget(v *view) {
	p.mu.Lock()
	delete(p.views, v)
	p.mu.Unlock()
}

// Fail says that the producer failed: consumers get an error that wraps
// shuffle.ErrProducerFailed, those that come later too, and the space is given
// back. A producer that writes on gets the cause.
func (p *Partition) Fail(cause error) {
	p.mu.Lock()
	if p.failed != nil {
		p.mu.Unlock()
		return
	}
	p.failed = fmt.Errorf("partition %s: %w: %w", p.id, shuffle.ErrProducerFailed, cause)
	p.broken = fmt.Errorf("partition %s: %w", p.id, cause)
	failed, views, free := p.failed, p.views, p.free()
	p.views = map[*view]struct{}{}
	p.mu.Unlock()
	for v := range views {
		v.fail(failed)
	}
	_ = p.writer.Discard() // what cannot be removed now goes with its directory
	free()
}

// Release gives the partition up and its space back. Consumers that are not
// done get an error, and so does the producer if it writes on.
func (p *Partition) Release() { p.Fail(errors.New("the partition was released")) }

// Metrics gives the counts.
func (p *Partition) Metrics() shuffle.Metrics {
	return shuffle.Metrics{Batches: p.batches.Load(), Records: p.records.Load(), Bytes: p.bytes.Load()}
}
