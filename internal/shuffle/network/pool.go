package network

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/shuffle"
)

// BufferSize is the size of a network buffer, which holds a frame's header and
// its payload.
const BufferSize = 32 << 10

type buffer [BufferSize]byte

// A pool is a fixed number of network buffers. Buffers are set aside first and
// taken later, so that who has set one aside never waits for it. Memory is
// allocated when first used and then kept.
//
// Invariant: taken <= reserved <= total.
type pool struct {
	mu       sync.Mutex
	total    int
	reserved int
	taken    int
	free     []*buffer
}

// reserve sets n buffers aside for good, or none.
func (p *pool) reserve(n int, what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved+n > p.total {
		return fmt.Errorf("%s: %w: need %d, have %d of %d (taskmanager.memory.network.*)", what, shuffle.ErrInsufficientBuffers, n, p.total-p.reserved, p.total)
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
func (p *pool) take() *buffer {
	p.mu.Lock()
	p.taken++
	n := len(p.free)
	if n == 0 {
		p.mu.Unlock()
		return new(buffer)
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	p.mu.Unlock()
	return b
}

// put gives a buffer back; it stays set aside.
func (p *pool) put(b *buffer) {
	p.mu.Lock()
	p.taken--
	p.free = append(p.free, b)
	p.mu.Unlock()
}

// use is how many buffers are set aside and how many are taken.
func (p *pool) use() (reserved, taken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reserved, p.taken
}
