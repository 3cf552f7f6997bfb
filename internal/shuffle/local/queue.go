package local

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/element"
)

// maxControls is how many control elements a queue keeps apart. Above it a
// watermark takes the place of the watermark just before it, which says less;
// so a channel that is not read for long costs no memory.
const maxControls = 1024

// A Queue is one subpartition: what a producer wrote for one consumer and the
// consumer has not taken yet.
//
// Invariant: batches <= depth of the partition and what it may spare; a queue that is done is empty.
// The producer's task puts, one consumer (a gate or a connection) takes.
type Queue struct {
	part *Partition
	sub  int

	mu       sync.Mutex
	items    FIFO[element.Element]
	batches  int   // of items
	full     bool  // the producer waits for room here
	attached bool  // has a consumer
	done     bool  // the consumer needs nothing more: what is put is dropped
	failed   error // what the consumer is told
	broken   error // what the producer is told
	ready    func()
	urgent   func()   // a barrier has overtaken; nil: nobody wants to know apart
	promised *promise // the barrier that will overtake if it is still here then; nil: none
}

// attach makes ready the call that tells the queue's one consumer that the
// queue is no longer empty, or has failed. Ready runs on the producer's
// goroutine, or on this one if there is something already.
func (q *Queue) attach(ready func()) error {
	q.mu.Lock()
	if q.attached {
		q.mu.Unlock()
		return fmt.Errorf("subpartition %d of partition %s has a consumer already", q.sub, q.part.id)
	}
	q.attached, q.ready = true, ready
	something := q.items.Len() > 0 || q.failed != nil
	q.mu.Unlock()
	if something {
		ready()
	}
	return nil
}

// put appends e, unless it is a batch and there is no room. Err says why
// nothing can be put any more; e's batch is then released.
func (q *Queue) put(e element.Element) (put bool, err error) {
	q.mu.Lock()
	switch {
	case q.broken != nil:
		err = q.broken
		q.mu.Unlock()
		release(e)
		return false, err
	case q.done:
		q.mu.Unlock()
		release(e)
		return true, nil
	case e.Kind == element.Data && !q.room():
		q.mu.Unlock()
		return false, nil
	}
	wasEmpty := q.items.Len() == 0
	if e.Kind == element.Data {
		q.batches++
		q.part.held.Add(1)
		q.items.Push(e)
	} else if last := q.items.Last(); e.Kind == element.Watermark && q.items.Len()-q.batches >= maxControls && last.Kind == element.Watermark {
		last.Time = e.Time
	} else {
		q.items.Push(e)
	}
	ready := q.ready
	q.mu.Unlock()
	if wasEmpty && ready != nil {
		ready()
	}
	return true, nil
}

// room reports whether one more batch fits, and otherwise notes that the
// producer waits. The caller holds the mutex.
//
// The partition's own limit is checked without a common lock: the producer
// first says that it waits and then looks once more, a consumer first takes
// and then looks whether somebody waits; one of them sees the other.
func (q *Queue) room() bool {
	return q.roomFor(q.part.spare)
}

// roomFor is room with so many batches more; negative: always.
func (q *Queue) roomFor(spare int) bool {
	p := q.part
	if spare < 0 {
		return true
	}
	if q.batches >= p.depth+spare {
		q.full = true
		return false
	}
	limit := p.limit + int32(spare)
	if p.held.Load() < limit {
		return true
	}
	p.waiting.Store(true)
	return p.held.Load() < limit
}

// Take takes the oldest element, unless it is a batch and batches are not
// wanted. Left is how many elements remain, backlog how many of them are
// batches. Err is why the producer failed; it comes at once, before what was
// written.
func (q *Queue) Take(batches bool) (e element.Element, ok bool, left, backlog int, err error) {
	q.mu.Lock()
	if q.failed != nil {
		err = q.failed
		q.mu.Unlock()
		return e, false, 0, 0, err
	}
	if first := q.items.First(); first == nil || first.Kind == element.Data && !batches {
		left, backlog = q.items.Len(), q.batches
		q.mu.Unlock()
		return e, false, left, backlog, nil
	}
	e, _ = q.items.Pop()
	wake := false
	if e.Kind == element.Data {
		q.batches--
		wake = q.gaveRoom(1)
	} else {
		q.left(e)
	}
	left, backlog = q.items.Len(), q.batches
	q.mu.Unlock()
	if wake {
		q.part.signal()
	}
	return e, true, left, backlog, nil
}

// gaveRoom notes that n batches have left the queue and reports whether the
// producer should look again. It waits until half is free, so that a pair of
// tasks does not change places at every batch. The caller holds the mutex.
func (q *Queue) gaveRoom(n int) bool {
	p := q.part
	held := p.held.Add(int32(-n))
	wake := false
	if q.full && q.batches <= p.depth/2 {
		q.full, wake = false, true
	}
	if held <= p.limit-int32(p.depth+1)/2 && p.waiting.Load() {
		p.waiting.Store(false)
		wake = true
	}
	return wake
}

// Detach is called by the consumer when it needs nothing more: it has had the
// end of the partition, or it gives up. What is there and what comes is
// released.
func (q *Queue) Detach() { q.finish(nil) }

// Break is Detach for a consumer that was lost: the producer gets the error.
func (q *Queue) Break(err error) { q.finish(err) }

// fail ends the queue from the producer's side: each side is told what it
// should know, the producer only if it writes on.
func (q *Queue) fail(toConsumer, toProducer error) {
	q.mu.Lock()
	if q.done || q.failed != nil {
		q.mu.Unlock()
		return
	}
	q.failed, q.broken = toConsumer, toProducer
	q.settle(nil, nil)
	drop, ready := q.empty(), q.ready
	q.mu.Unlock()
	q.dropped(drop)
	if ready != nil {
		ready()
	}
}

// unread reports whether no consumer has come for the queue, and keeps one from
// coming.
func (q *Queue) unread() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	unread := !q.attached
	q.attached = true
	return unread
}

func (q *Queue) finish(toProducer error) {
	q.mu.Lock()
	if q.done {
		q.mu.Unlock()
		return
	}
	q.done, q.ready, q.urgent = true, nil, nil
	q.settle(nil, nil)
	if q.broken == nil {
		q.broken = toProducer
	}
	drop := q.empty()
	q.mu.Unlock()
	q.dropped(drop)
	q.part.queueDone()
}

// empty takes everything out. The caller holds the mutex.
func (q *Queue) empty() FIFO[element.Element] {
	drop := q.items
	q.items = FIFO[element.Element]{}
	n := q.batches
	q.batches = 0
	q.gaveRoom(n)
	q.full = false
	return drop
}

// dropped releases what was taken out and lets the producer look again.
func (q *Queue) dropped(drop FIFO[element.Element]) {
	for e, ok := drop.Pop(); ok; e, ok = drop.Pop() {
		release(e)
	}
	q.part.signal()
}

func release(e element.Element) {
	if e.Batch != nil {
		e.Batch.Release()
	}
}
