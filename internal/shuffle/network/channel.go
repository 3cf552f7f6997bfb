package network

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// A channel is a gate's channel whose producer is in another process.
//
// Invariant: announced + owed + data frames held = reserved, and reserved is at
// least the buffers of its own while the channel is open.
type channel struct {
	gate      *Gate
	index     int // in the gate
	link      *link
	id        uint32 // on the link
	partition ident.PartitionID
	subs      shuffle.Range
	whole     bool // the producer has finished
	pool      *pool
	own, most int // buffers it always has, and may have

	mu        sync.Mutex
	inbox     local.FIFO[inFrame]
	err       error
	announced int // data frames the producer may still send
	owed      int // credit to announce
	reserved  int // buffers set aside in the pool
	backlog   int // batches that waited at the producer, when last heard
	ended     bool
	closed    bool
	arrived   uint64      // n of what arrived last
	timer     *time.Timer // of the newest barrier that is Timed; nil: there was none

	seq     uint32 // of the next frame; the link's reader only
	part    []byte // the frames so far of a control element of several; the link's reader only
	collect []byte // the frames so far of a batch of several; Poll only
	over    uint64 // the n of the barrier polled last: it has overtaken what came before; Poll only
}

// An inFrame is a data frame, or a control element if it has no buffer.
type inFrame struct {
	buf     buffer
	size    int
	more    bool // the batch goes on
	control element.Element
	n       uint64 // counts what has arrived
}

// Poll takes the next element. The gate's owner calls it.
func (c *channel) Poll() (e element.Element, ok, more bool, err error) {
	for {
		c.mu.Lock()
		f, some := c.inbox.Pop()
		left, err := c.inbox.Len() > 0, c.err
		c.mu.Unlock()
		switch {
		case err != nil:
			return e, false, false, &shuffle.PartitionError{Partition: c.partition, Whole: c.whole, Err: err}
		case !some:
			return e, false, false, nil
		case f.buf == nil:
			c.over = f.n
			if f.control.Kind == element.EndOfPartition {
				c.Close() // which tells the producer that all has come
			}
			return f.control, true, left, nil
		}
		b, err := c.decode(f)
		if c.recycle(f.buf); err != nil {
			err = fmt.Errorf("read partition %s from %s: %w", c.partition, c.link.name(), err)
			c.fail(err)
			return e, false, false, &shuffle.PartitionError{Partition: c.partition, Whole: c.whole, Err: err}
		}
		if b != nil {
			return element.Element{Kind: element.Data, Batch: b}, true, left, nil
		}
	}
}

// maxCollect is how much room a channel keeps for batches of several frames.
const maxCollect = 2 << 20

// decode makes a batch of a frame, or keeps the frame's bytes and gives none if
// the batch goes on.
func (c *channel) decode(f inFrame) (batch.Batch, error) {
	payload := f.buf[:f.size]
	if f.more || len(c.collect) > 0 {
		if len(c.collect)+f.size > maxBatch {
			return nil, fmt.Errorf("%w: a batch of more than %d bytes", errCorrupt, maxBatch)
		}
		if c.collect = append(c.collect, payload...); f.more {
			return nil, nil
		}
		payload = c.collect
		if c.collect = c.collect[:0]; cap(c.collect) > maxCollect {
			c.collect = nil // one huge record should not hold its room for ever
		}
	}
	b, err := c.gate.serializer.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("decode a batch of %d bytes: %w", len(payload), err)
	}
	c.gate.count(b.Len(), len(payload))
	return b, nil
}

// recycle puts a frame's buffer back, and makes new credit of it or gives up
// what was borrowed.
func (c *channel) recycle(b buffer) {
	c.pool.put(b)
	c.mu.Lock()
	if c.closed || c.err != nil {
		c.mu.Unlock()
		return
	}
	if c.reserved > c.own && (c.backlog == 0 && c.inbox.Len() == 0 || c.pool.scarce()) {
		c.reserved--
		c.pool.release(1)
	} else {
		c.owed++
	}
	credit := c.announce()
	c.mu.Unlock()
	if credit > 0 {
		c.link.credit(c.id, credit)
	}
}

// announce gives the credit that should be sent now: nothing until it is half
// of all, so that it travels in groups. The caller holds the mutex.
func (c *channel) announce() int {
	n := c.owed
	if 2*n < c.reserved {
		return 0
	}
	c.announced, c.owed = c.announced+n, 0
	return n
}

// data takes a data frame that was read into b and gives a buffer for the next
// one. The link's reader calls it.
func (c *channel) data(h header, b buffer) (buffer, error) {
	if err := c.checkSeq(h); err != nil {
		return b, err
	}
	if h.flags&^flagMore != 0 || h.length == 0 || len(c.part) > 0 {
		return b, fmt.Errorf("%w: data of %d bytes, flags %x", errCorrupt, h.length, h.flags)
	}
	c.mu.Lock()
	switch {
	case c.closed || c.err != nil:
		c.mu.Unlock()
		return b, nil
	case c.announced == 0 || c.ended:
		c.mu.Unlock()
		return b, fmt.Errorf("%w: data without credit, or after the end", errCorrupt)
	}
	c.announced--
	c.arrived++
	c.inbox.Push(inFrame{n: c.arrived, buf: b, size: h.length, more: h.flags&flagMore != 0})
	first := c.inbox.Len() == 1
	if c.backlog = int(h.backlog); c.backlog > 0 && c.reserved < c.most {
		n := c.pool.borrow(min(c.backlog, c.most-c.reserved))
		c.reserved, c.owed = c.reserved+n, c.owed+n
	}
	credit := c.announce()
	c.mu.Unlock()
	if credit > 0 {
		c.link.credit(c.id, credit)
	}
	if first {
		c.gate.Ready(c.index)
	}
	return c.pool.take(), nil
}

// control takes a control element, or a part of one. The link's reader calls it.
func (c *channel) control(h header, payload []byte) error {
	if err := c.checkSeq(h); err != nil {
		return err
	}
	if h.flags != 0 || len(c.part) > 0 {
		if c.part = append(c.part, payload...); h.flags&^flagMore != 0 || len(c.part) > maxControl+maxOptions {
			return fmt.Errorf("%w: control element of more than %d bytes, flags %x", errCorrupt, len(c.part), h.flags)
		}
		if h.flags != 0 {
			return nil
		}
		payload, c.part = c.part, nil
	}
	e, err := parseControl(payload)
	if err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed || c.err != nil {
		c.mu.Unlock()
		return nil
	}
	if c.ended {
		c.mu.Unlock()
		return fmt.Errorf("%w: control element after the end", errCorrupt)
	}
	c.ended = e.Kind == element.EndOfPartition
	urgent := e.Kind == element.Barrier && e.Align == element.Unaligned
	c.arrived++
	if f := (inFrame{n: c.arrived, control: e}); urgent {
		c.inbox.PushFront(f)
	} else {
		c.inbox.Push(f)
	}
	if e.Kind == element.Barrier && e.Align == element.Timed {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.timer = time.AfterFunc(time.Until(time.UnixMilli(e.Time)), func() { c.promote(e.Checkpoint) })
	}
	first := c.inbox.Len() == 1
	c.mu.Unlock()
	if first {
		c.gate.Ready(c.index)
	}
	if urgent {
		c.gate.Urgent(c.index)
	}
	return nil
}

// promote lets a barrier overtake that has waited here for too long.
func (c *channel) promote(checkpoint int64) {
	c.mu.Lock()
	found := false
	for i := range c.inbox.Len() {
		f := c.inbox.At(i)
		if found = f.buf == nil && f.control.Kind == element.Barrier && f.control.Checkpoint == checkpoint && f.control.Align == element.Timed; found {
			f.control.Align = element.Unaligned
			c.inbox.ToFront(i)
			break
		}
	}
	c.mu.Unlock()
	if found {
		c.gate.Urgent(c.index)
	}
}

// stopTimer keeps promote from running for nothing. The caller holds the mutex.
func (c *channel) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// PollUrgent takes a barrier that has overtaken, if it is the next element. Batches
// never have one within: the writer sends the rest of a batch first.
func (c *channel) PollUrgent() (e element.Element, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.inbox.First()
	if c.err != nil || f == nil || f.buf != nil || f.control.Kind != element.Barrier || f.control.Align != element.Unaligned {
		return e, false
	}
	e, c.over = f.control, f.n
	c.inbox.Pop()
	return e, true
}

// Overtaken gives the batches that came before the barrier polled last and were not
// taken, as they came.
func (c *channel) Overtaken() (batches [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := bytes.Clone(c.collect)
	for i := range c.inbox.Len() {
		f := c.inbox.At(i)
		if f.buf == nil {
			continue
		}
		if f.n > c.over {
			break
		}
		if open = append(open, f.buf[:f.size]...); !f.more {
			batches, open = append(batches, open), nil
		}
	}
	return batches
}

func (c *channel) checkSeq(h header) error {
	if h.seq != c.seq {
		return fmt.Errorf("%w: frame %d of channel %d, want %d", errCorrupt, h.seq, c.id, c.seq)
	}
	c.seq++
	return nil
}

// fail ends the channel with an error. A channel whose end has arrived cannot
// fail any more.
func (c *channel) fail(err error) {
	c.mu.Lock()
	if c.closed || c.ended || c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	c.stopTimer()
	c.drop()
	c.mu.Unlock()
	c.gate.Ready(c.index)
}

// lost is fail for a connection that broke.
func (c *channel) lost(err error) {
	sentinel := shuffle.ErrPeerLost
	if c.whole && !c.link.reached() {
		sentinel = shuffle.ErrPartitionNotFound // what was kept there is out of reach
	}
	c.fail(fmt.Errorf("read partition %s from %s: %w: %w", c.partition, c.link.name(), sentinel, err))
}

// drop puts back the buffers of frames that nobody will read. The caller holds
// the mutex.
func (c *channel) drop() {
	for f, ok := c.inbox.Pop(); ok; f, ok = c.inbox.Pop() {
		if f.buf != nil {
			c.pool.put(f.buf)
		}
	}
}

// Close gives up the channel and tells the producer, for whom it is the
// acknowledgement if the end of the partition has been taken.
func (c *channel) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	c.stopTimer()
	c.drop()
	c.pool.release(c.reserved)
	c.reserved = 0
	l := c.link
	c.mu.Unlock()
	if l != nil {
		l.remove(c.id)
	}
}
