package spill

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

const (
	// ahead is how many reads a view has at most: one that is consumed while
	// the next one is made.
	ahead = 2
	// unread stands for the batches that are still in the file, when the
	// backlog is asked for: enough that the consumer lends what it can.
	unread = 8
)

// A view is one consumer's way through a range of subpartitions.
type view struct {
	part  *Partition
	subs  shuffle.Range
	ready func()

	cursor cursor // the scheduler's goroutine only, once wanted is true

	mu      sync.Mutex
	buffers local.FIFO[*buffer] // with blocks to be taken
	blocks  int                 // in buffers
	held    int                 // buffers that are not given back, those taken from included
	wanted  bool                // the scheduler was asked to read
	drained bool                // all has been read from the file
	end     []element.Element   // what follows the last block
	err     error
	closed  bool
}

var _ shuffle.View = (*view)(nil)

// start lets the view read.
func (v *view) start(data *Data, end []element.Element) {
	v.mu.Lock()
	if v.closed || v.err != nil || v.cursor.data != nil {
		v.mu.Unlock()
		return
	}
	v.cursor = cursor{data: data, subs: v.subs}
	v.end = end
	v.wanted = true
	v.mu.Unlock()
	v.part.store.scheduler.want(v)
}

// Take takes the next block, or what follows the last.
func (v *view) Take(batches bool) (e element.Element, ok bool, left, backlog int, err error) {
	v.mu.Lock()
	first := v.buffers.First()
	switch {
	case v.err != nil:
		err = v.err
	case v.blocks == 0 && v.drained && len(v.end) > 0:
		e, ok = v.end[0], true
		v.end = v.end[1:]
		left = len(v.end)
	case v.blocks > 0 && batches:
		b := *first
		block := &b.blocks[b.next]
		if b.next++; b.next == len(b.blocks) {
			v.buffers.Pop()
		}
		v.blocks--
		left, backlog = v.left()
		v.mu.Unlock()
		if err := v.verify(b, block); err != nil {
			block.Release()
			v.fail(err)
			return e, false, 0, 0, err
		}
		return element.Element{Kind: element.Data, Batch: &block.Encoded}, true, left, backlog, nil
	default:
		left, backlog = v.left()
	}
	v.mu.Unlock()
	return e, ok, left, backlog, err
}

// left is how much can be taken now, and how many batches wait. The caller holds
// the mutex.
func (v *view) left() (left, backlog int) {
	if v.drained {
		return v.blocks + len(v.end), v.blocks
	}
	return v.blocks, v.blocks + unread
}

// verify checks a block, on the consumer's goroutine, which will need it in its
// cache.
func (v *view) verify(b *buffer, block *block) error {
	if err := verify(block.whole, v.subs); err != nil {
		return fmt.Errorf("partition %s: %w", v.part.id, v.cursor.data.corrupt(b.at+int64(block.offset), err))
	}
	return nil
}

// wants reports whether the scheduler should be asked, and notes that it is. The
// caller holds the mutex.
func (v *view) wants() bool {
	if v.wanted || v.drained || v.closed || v.err != nil || v.held >= ahead {
		return false
	}
	v.wanted = true
	return true
}

// begin is called by the scheduler before it reads for the view. Starving says
// that the view has nothing, so that its consumer waits.
func (v *view) begin() (starving, open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held == 0, !v.closed && v.err == nil
}

// forgo is called by the scheduler when there is no memory to read for the view
// now. The view asks again when it has nothing.
func (v *view) forgo() {
	v.mu.Lock()
	v.wanted = false
	again := v.held == 0 && v.wants()
	v.mu.Unlock()
	if again {
		v.part.store.scheduler.want(v)
	}
}

// deliver is called by the scheduler with what it has read, nil if there was
// nothing more. Drained says that nothing follows.
func (v *view) deliver(b *buffer, drained bool) {
	v.mu.Lock()
	v.wanted = false
	if v.closed || v.err != nil {
		v.mu.Unlock()
		if b != nil {
			b.scheduler.put(b)
		}
		return
	}
	empty := v.blocks == 0
	if v.drained = drained; b != nil {
		b.view = v
		v.held++
		v.blocks += len(b.blocks)
		v.buffers.Push(b)
	}
	again := v.wants()
	v.mu.Unlock()
	if again {
		v.part.store.scheduler.want(v)
	}
	if empty {
		v.ready()
	}
}

// gaveBack is called when all blocks of a buffer are released.
func (v *view) gaveBack() {
	v.mu.Lock()
	v.held--
	again := v.wants()
	v.mu.Unlock()
	if again {
		v.part.store.scheduler.want(v)
	}
}

// fail ends the view with an error.
func (v *view) fail(err error) {
	v.mu.Lock()
	if v.closed || v.err != nil {
		v.mu.Unlock()
		return
	}
	v.err = err
	left := v.empty()
	v.mu.Unlock()
	v.part.forget(v)
	dropAll(left)
	v.ready()
}

// Detach says that the consumer needs nothing more.
func (v *view) Detach() {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return
	}
	v.closed = true
	left := v.empty()
	v.mu.Unlock()
	v.part.forget(v)
	dropAll(left)
}

// Break is Detach: the producer does not wait for its consumers, and others may
// come.
func (v *view) Break(error) { v.Detach() }

// empty takes out what was not taken. The caller holds the mutex.
func (v *view) empty() local.FIFO[*buffer] {
	left := v.buffers
	v.buffers, v.blocks = local.FIFO[*buffer]{}, 0
	return left
}

func dropAll(buffers local.FIFO[*buffer]) {
	for b, ok := buffers.Pop(); ok; b, ok = buffers.Pop() {
		b.drop()
	}
}
