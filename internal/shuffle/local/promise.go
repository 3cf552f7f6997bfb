package local

import (
	"fmt"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

// A promise is that a barrier overtakes at its time in each queue where it still waits.
//
// Invariant: left is how many queues have it as theirs.
type promise struct {
	barrier element.Element
	kept    chan struct{} // closed when left is 0

	mu       sync.Mutex
	left     int
	inFlight [][][]byte // by queue
	err      error
	timer    *time.Timer
}

// Promise appends a barrier that will overtake.
func (p *Partition) Promise(barrier element.Element) (wait func() ([][][]byte, error), err error) {
	all := &promise{barrier: barrier, kept: make(chan struct{}), left: len(p.queues) + 1, inFlight: make([][][]byte, len(p.queues))}
	for i := range p.queues {
		p.queues[i].promise(all)
	}
	err = p.Control(barrier)
	if err == nil {
		all.mu.Lock()
		all.timer = time.AfterFunc(time.Until(time.UnixMilli(barrier.Time)), func() { p.keep(all) })
		all.mu.Unlock()
	}
	all.settle(-1, nil, nil)
	return func() ([][][]byte, error) {
		<-all.kept
		return all.inFlight, all.err
	}, err
}

// promise makes a promise the queue's, unless nobody reads it any more.
func (q *Queue) promise(p *promise) {
	q.mu.Lock()
	q.settle(nil, nil) // of an older one
	if q.promised = p; q.done || q.broken != nil {
		q.settle(nil, nil)
	}
	q.mu.Unlock()
}

// left notes that an element has been taken. The caller holds the mutex.
func (q *Queue) left(e element.Element) {
	if p := q.promised; p != nil && e.Kind == element.Barrier && e.Checkpoint == p.barrier.Checkpoint {
		q.settle(nil, nil)
	}
}

// settle ends the queue's promise, if it has one. The caller holds the mutex.
func (q *Queue) settle(inFlight [][]byte, err error) {
	if p := q.promised; p != nil {
		q.promised = nil
		p.settle(q.sub, inFlight, err)
	}
}

func (p *promise) settle(queue int, inFlight [][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if queue >= 0 {
		p.inFlight[queue] = inFlight
	}
	if p.err == nil {
		p.err = err
	}
	if p.left--; p.left > 0 {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	close(p.kept)
}

// keep makes the barrier overtake where it still waits.
func (p *Partition) keep(promised *promise) {
	serializer := p.newSerializer()
	for i := range p.queues {
		p.queues[i].keep(promised, serializer)
	}
}

func (q *Queue) keep(promised *promise, serializer shuffle.Serializer) {
	q.mu.Lock()
	if q.promised != promised {
		q.mu.Unlock()
		return
	}
	inFlight, err := q.promote(promised.barrier.Checkpoint, serializer)
	q.settle(inFlight, err)
	urgent := q.urgent
	q.mu.Unlock()
	if urgent != nil && err == nil {
		urgent()
	}
}

// promote moves a barrier to the front, and encodes the batches it overtakes. It runs
// user code outside of its task, whose panic must not end the process. The caller holds
// the mutex.
func (q *Queue) promote(checkpoint int64, serializer shuffle.Serializer) (inFlight [][]byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("partition %s: encode a batch that a barrier overtakes: panic: %v", q.part.id, r)
		}
	}()
	for i := range q.items.Len() {
		e := q.items.At(i)
		if e.Kind == element.Barrier && e.Checkpoint == checkpoint {
			e.Align = element.Unaligned
			q.items.ToFront(i)
			return inFlight, nil
		}
		if e.Kind == element.Data {
			b, err := encode(serializer, e.Batch)
			if err != nil {
				return nil, fmt.Errorf("partition %s: encode a batch that a barrier overtakes: %w", q.part.id, err)
			}
			inFlight = append(inFlight, b)
		}
	}
	return nil, nil
}
