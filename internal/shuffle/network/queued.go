package network

// Remote counts what came from other processes since the gate was made. From
// any goroutine.
func (g *Gate) Remote() (batches, bytes int64) { return g.batches.Load(), g.bytes.Load() }

// Queued is how many elements have arrived and wait; taken is how many of the
// channel's buffers they are in. From any goroutine.
func (c *channel) Queued() (elements, taken, room int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	elements = c.inbox.Len()
	return elements, max(0, c.reserved-c.announced-c.owed), c.reserved
}

// Use is how many network buffers there are, how many are set aside for
// channels and connections, and how many of those hold something.
func (e *Environment) Use() (total, reserved, taken int) {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	return e.pool.total, e.pool.reserved, e.pool.taken
}
