package local

import (
	"bytes"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

var (
	_ shuffle.OvertakingWriter = (*Partition)(nil)
	_ shuffle.OvertakenGate    = (*Gate)(nil)
)

// Spare makes Emit wait only when a queue has so many batches more than its depth, or
// never if more is negative.
func (p *Partition) Spare(more int) { p.spare = more }

// Roomy reports whether Emit would find room in every queue without what it may spare.
func (p *Partition) Roomy(wake func()) bool {
	if p.room.Load() == nil {
		p.room.Store(&wake)
	}
	for i := range p.queues {
		if !p.queues[i].roomy() {
			return false
		}
	}
	return true
}

func (q *Queue) roomy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.done || q.broken != nil || q.roomFor(0)
}

// Overtake puts a barrier before all that waits. The batches it has overtaken stay
// where they are, and are given, encoded, by subpartition.
func (p *Partition) Overtake(barrier element.Element) ([][][]byte, error) {
	serializer := p.newSerializer()
	inFlight := make([][][]byte, len(p.queues))
	for i := range p.queues {
		var err error
		if inFlight[i], err = p.queues[i].overtake(barrier, serializer); err != nil {
			return nil, err
		}
	}
	return inFlight, nil
}

// overtake encodes what waits while nobody can take it: from then on a batch is its
// consumer's.
func (q *Queue) overtake(barrier element.Element, serializer shuffle.Serializer) (inFlight [][]byte, err error) {
	q.mu.Lock()
	defer func() {
		wasEmpty, ready, urgent := q.items.Len() == 1, q.ready, q.urgent
		q.mu.Unlock()
		if err != nil || ready == nil {
			return
		}
		if wasEmpty {
			ready()
		}
		if urgent != nil {
			urgent()
		}
	}()
	switch {
	case q.broken != nil:
		return nil, q.broken
	case q.done:
		return nil, nil
	}
	for i := range q.items.Len() {
		e := q.items.At(i)
		if e.Kind != element.Data {
			continue
		}
		b, err := encode(serializer, e.Batch)
		if err != nil {
			return nil, fmt.Errorf("partition %s: encode a batch that a barrier overtakes: %w", q.part.id, err)
		}
		inFlight = append(inFlight, b)
	}
	q.items.PushFront(barrier)
	return inFlight, nil
}

func encode(serializer shuffle.Serializer, b batch.Batch) ([]byte, error) {
	if encoded, is := b.(*shuffle.Encoded); is {
		return bytes.Clone(encoded.Bytes), nil
	}
	return serializer.Append(nil, b)
}

// urgent reports whether an element is a barrier that has overtaken.
func urgent(e *element.Element) bool {
	return e != nil && e.Kind == element.Barrier && e.Align == element.Unaligned
}

// OnUrgent makes f the call that tells the consumer of a barrier that has overtaken,
// at once if there is one.
func (q *Queue) OnUrgent(f func()) {
	q.mu.Lock()
	if !q.done {
		q.urgent = f
	}
	now := urgent(q.items.First())
	q.mu.Unlock()
	if now {
		f()
	}
}

// TakeUrgent takes a barrier that has overtaken.
func (q *Queue) TakeUrgent() (e element.Element, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil || !urgent(q.items.First()) {
		return e, false
	}
	e, ok = q.items.Pop()
	q.left(e)
	return e, ok
}

// An urgentSource is a Source whose barriers may overtake.
type urgentSource interface {
	// PollUrgent takes such a barrier, if it is the next element.
	PollUrgent() (e element.Element, ok bool)
	// Overtaken is that of shuffle.OvertakenGate.
	Overtaken() [][]byte
}

// PollUrgent takes a barrier that has overtaken on this channel.
func (c *channel) PollUrgent() (e element.Element, ok bool) {
	c.mu.Lock()
	view := c.view
	c.mu.Unlock()
	if q, is := view.(interface {
		TakeUrgent() (element.Element, bool)
	}); is {
		return q.TakeUrgent()
	}
	return e, false
}

// Overtaken gives nothing: all that was overtaken waited in the writer.
func (c *channel) Overtaken() [][]byte { return nil }

// Urgent says that a barrier has overtaken on a channel.
func (g *Gate) Urgent(channel int) {
	g.mu.Lock()
	closed := g.closed
	if !closed {
		g.urgent.Push(channel)
		g.armed = false
	}
	g.mu.Unlock()
	if !closed {
		g.wake()
	}
}

// PollUrgent takes a barrier that has overtaken.
func (g *Gate) PollUrgent() (channel int, e element.Element, ok bool) {
	for {
		g.mu.Lock()
		channel, ok = g.urgent.Pop()
		g.mu.Unlock()
		if !ok {
			return 0, e, false
		}
		if s, is := g.sources[channel].(urgentSource); is {
			if e, ok = s.PollUrgent(); ok {
				return channel, e, true
			}
		}
	}
}

// Overtaken gives what the barrier polled last on a channel has overtaken on its way.
func (g *Gate) Overtaken(channel int) [][]byte {
	if s, is := g.sources[channel].(urgentSource); is {
		return s.Overtaken()
	}
	return nil
}
