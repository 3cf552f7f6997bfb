package network

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/shuffle"
)

// DefaultBufferSize is the size of a network buffer where nothing else is said, and
// LeastBufferSize the least that it may have.
const (
	DefaultBufferSize = 32 << 10
	LeastBufferSize   = 4 << 10
)

// A buffer holds a frame's header and its payload. All of a pool have its size.
type buffer []byte

// A pool is a fixed number of network buffers, until it is resized. Buffers are
// set aside first and taken later, so that who has set one aside never waits for
// it. Memory is allocated when first used and then kept.
//
// Invariant: taken <= reserved, and reserved <= total except after the pool has
// become smaller: then nothing is set aside until enough has come back.
type pool struct {
	size int // of a buffer, in bytes

	mu       sync.Mutex
	total    int
	reserved int
	taken    int
	free     []buffer
	share    string // what total is a part of; empty: it is all there is
}

// resize makes the pool larger or smaller. What is set aside beyond it comes back
// as its holders go on. It gives how many buffers there may be until then.
func (p *pool) resize(total int, share string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.share = total, share
	if keep := max(0, total-p.taken); len(p.free) > keep {
		clear(p.free[keep:])
		p.free = p.free[:keep]
	}
	return max(total, p.reserved)
}

// scarce reports whether more is set aside than there should be.
func (p *pool) scarce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reserved > p.total
}

// The options that the number of buffers follows from.
const fractionKey, minKey, maxKey = "taskmanager.memory.network.fraction", "taskmanager.memory.network.min", "taskmanager.memory.network.max"

// reserve sets n buffers aside for good, or none.
func (p *pool) reserve(n int, what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved+n > p.total {
		return fmt.Errorf("%s: %w: required %d, but only %d available. The total number of network buffers is currently set to %d of %d bytes each%s. You can increase this number by setting the configuration keys '%s', '%s', and '%s'",
			what, shuffle.ErrInsufficientBuffers, n, max(0, p.total-p.reserved), p.total, p.size, p.share, fractionKey, minKey, maxKey)
	}
	p.reserved += n
	return nil
}

// borrow sets up to n buffers aside and says how many. A quarter of the pool is
// not lent, so that new gates find what they cannot do without.
func (p *pool) borrow(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = max(0, min(n, p.total-p.total/4-p.reserved))
	p.reserved += n
	return n
}

// release ends what reserve or borrow began. The buffers have been put back.
func (p *pool) release(n int) {
	p.mu.Lock()
	p.reserved -= n
	p.mu.Unlock()
}

// take gives a buffer that was set aside.
func (p *pool) take() buffer {
	p.mu.Lock()
	p.taken++
	n := len(p.free)
	if n == 0 {
		p.mu.Unlock()
		return make(buffer, p.size)
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	p.mu.Unlock()
	return b
}

// put gives a buffer back; it stays set aside.
func (p *pool) put(b buffer) {
	p.mu.Lock()
	p.taken--
	if p.taken+len(p.free) < p.total {
		p.free = append(p.free, b)
	}
	p.mu.Unlock()
}

// use is how many buffers are set aside and how many are taken.
func (p *pool) use() (reserved, taken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reserved, p.taken
}
