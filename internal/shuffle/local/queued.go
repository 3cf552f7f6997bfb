package local

// Queued is how many batches wait in all queues, and how many may. From any
// goroutine.
func (p *Partition) Queued() (batches, room int) { return int(p.held.Load()), int(p.limit) }

// Waits reports whether the producer waits for room. From any goroutine.
func (p *Partition) Waits() bool { return p.blockedSince.Load() != 0 }

// Queued is how many elements wait in the gate's channels. Taken is how many
// network buffers of its channels hold data, and room how many they have; a
// channel of the same process has none. From any goroutine.
func (g *Gate) Queued() (elements, taken, room int) {
	for _, s := range g.sources {
		if q, ok := s.(interface {
			Queued() (elements, taken, room int)
		}); ok {
			e, t, r := q.Queued()
			elements, taken, room = elements+e, taken+t, room+r
		}
	}
	return elements, taken, room
}

// Queued is how many elements wait in the queue the channel reads. A blocking
// partition is a file, and has none.
func (c *channel) Queued() (elements, taken, room int) {
	c.mu.Lock()
	view := c.view
	c.mu.Unlock()
	if q, ok := view.(interface{ queued() int }); ok {
		return q.queued(), 0, 0
	}
	return 0, 0, 0
}

func (q *Queue) queued() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.Len()
}
