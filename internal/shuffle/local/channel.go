package local

import (
	"sync"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
)

// A channel reads a queue of the same process for a gate.
type channel struct {
	gate    *Gate
	index   int
	request *Request

	mu     sync.Mutex
	queue  *Queue // nil while the partition is not there
	err    error
	closed bool
}

// Connect makes a subpartition of the same process the source of a channel.
func (g *Gate) Connect(index int, r *Registry, id ident.PartitionID, sub int) {
	c := &channel{gate: g, index: index}
	g.Use(index, c)
	request := r.Request(id, sub, c.found)
	c.mu.Lock()
	c.request = request
	c.mu.Unlock()
}

// found is called when the partition is there, or does not come.
func (c *channel) found(q *Queue, err error) {
	if err == nil {
		err = q.Attach(func() { c.gate.Ready(c.index) })
	}
	c.mu.Lock()
	closed := c.closed
	if err == nil {
		c.queue = q
	}
	c.err = err
	c.mu.Unlock()
	if closed && err == nil {
		q.Detach()
		return
	}
	c.gate.Ready(c.index) // an earlier call may have found no queue yet
}

// Poll takes the next element of the queue.
func (c *channel) Poll() (e element.Element, ok, more bool, err error) {
	c.mu.Lock()
	q, err := c.queue, c.err
	c.mu.Unlock()
	if q == nil || err != nil {
		return e, false, false, err
	}
	e, ok, left, _, err := q.Take(true)
	if ok && e.Kind == element.EndOfPartition {
		q.Detach()
	}
	return e, ok, left > 0, err
}

// Close gives up the queue, or the wait for it.
func (c *channel) Close() {
	c.mu.Lock()
	c.closed = true
	q, request := c.queue, c.request
	c.mu.Unlock()
	if request != nil {
		request.Cancel()
	}
	if q != nil {
		q.Detach()
	}
}
