package local

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// A channel reads a view of a partition of the same process for a gate.
type channel struct {
	gate       *Gate
	index      int
	id         ident.PartitionID
	subs       shuffle.Range
	whole      bool // the producer has finished
	request    *Request
	serializer shuffle.Serializer // decodes, in Poll only; made by the first batch that needs it

	mu        sync.Mutex
	partition shuffle.Partition // set with view
	view      shuffle.View      // nil while the partition is not there
	err       error
	closed    bool
}

// Connect makes subpartitions of a partition of the same process the source of a
// channel.
func (g *Gate) Connect(index int, r *Registry, id ident.PartitionID, subs shuffle.Range) {
	g.connect(&channel{gate: g, index: index, id: id, subs: subs}, r.Request)
}

// ConnectWhole is Connect for a partition whose producer has finished: one that
// is not there is not waited for.
func (g *Gate) ConnectWhole(index int, r *Registry, id ident.PartitionID, subs shuffle.Range) {
	g.connect(&channel{gate: g, index: index, id: id, subs: subs, whole: true}, r.RequestWhole)
}

func (g *Gate) connect(c *channel, ask func(ident.PartitionID, func(shuffle.Partition, error)) *Request) {
	g.Use(c.index, c)
	request := ask(c.id, c.found)
	c.mu.Lock()
	c.request = request
	c.mu.Unlock()
}

// found is called when the partition is there, or does not come.
func (c *channel) found(p shuffle.Partition, err error) {
	var view shuffle.View
	if err == nil {
		view, err = p.View(c.subs, func() { c.gate.Ready(c.index) })
	}
	c.mu.Lock()
	closed := c.closed
	if err == nil {
		c.partition, c.view = p, view
	}
	c.err = err
	c.mu.Unlock()
	if closed && err == nil {
		view.Detach()
		return
	}
	if q, is := view.(interface{ OnUrgent(func()) }); is {
		q.OnUrgent(func() { c.gate.Urgent(c.index) })
	}
	c.gate.Ready(c.index) // an earlier call may have found no view yet
}

// Poll takes the next element of the view.
func (c *channel) Poll() (e element.Element, ok, more bool, err error) {
	c.mu.Lock()
	view, err := c.view, c.err
	c.mu.Unlock()
	var left int
	if err == nil && view != nil {
		e, ok, left, _, err = view.Take(true)
	}
	if ok && e.Kind == element.EndOfPartition {
		view.Detach()
	} else if encoded, is := e.Batch.(*shuffle.Encoded); is {
		e.Batch, err = c.decode(encoded)
	}
	if err != nil {
		return element.Element{}, false, false, &shuffle.PartitionError{Partition: c.id, Whole: c.whole, Err: err}
	}
	return e, ok, left > 0, nil
}

// decode makes a batch of its encoding, which it releases.
func (c *channel) decode(encoded *shuffle.Encoded) (batch.Batch, error) {
	defer encoded.Release()
	if c.serializer == nil {
		c.serializer = c.partition.NewSerializer()
	}
	b, err := c.serializer.Decode(encoded.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read partition %s: decode a batch of %d bytes: %w", c.id, len(encoded.Bytes), err)
	}
	return b, nil
}

// Close gives up the view, or the wait for it.
func (c *channel) Close() {
	c.mu.Lock()
	c.closed = true
	view, request := c.view, c.request
	c.mu.Unlock()
	if request != nil {
		request.Cancel()
	}
	if view != nil {
		view.Detach()
	}
}
