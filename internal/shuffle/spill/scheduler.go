package spill

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

const (
	// fullRead is the most that is read at once, and shortRead what is read for
	// a view that has nothing when memory is short. A longer block is read
	// alone.
	fullRead, shortRead = 256 << 10, 64 << 10
)

// A scheduler reads for the views of all partitions of a process, on one
// goroutine that ends when nobody wants anything.
//
// Bound: what is read ahead is at most budget, and besides one read a view.
type scheduler struct {
	budget int
	group  sync.WaitGroup

	mu      sync.Mutex
	used    int // bytes in buffers
	queue   local.FIFO[*Partition]
	running bool
	closed  bool

	idle [bits.UintSize]sync.Pool // of *buffer, by the logarithm of their size
}

var errClosed = errors.New("the data plane of this process is closed")

// want asks for a read for the view.
func (s *scheduler) want(v *view) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		v.fail(errClosed)
		return
	}
	p := v.part
	if p.wanting = append(p.wanting, v); len(p.wanting) == 1 {
		s.queue.Push(p)
	}
	if !s.running {
		s.running = true
		s.group.Go(s.run)
	}
	s.mu.Unlock()
}

// run serves the partitions in turn: all views of one that want something, in
// the order of what they want in the file.
func (s *scheduler) run() {
	var views []*view
	for {
		s.mu.Lock()
		p, ok := s.queue.Pop()
		if !ok {
			s.running = false
			s.mu.Unlock()
			return
		}
		clear(views)
		views, p.wanting = p.wanting, views[:0]
		s.mu.Unlock()
		slices.SortFunc(views, func(a, b *view) int {
			x, y := &a.cursor, &b.cursor
			return cmp.Or(cmp.Compare(x.region, y.region), cmp.Compare(x.subs.First, y.subs.First), cmp.Compare(x.at, y.at))
		})
		for _, v := range views {
			if b, drained, err := s.read(v); err != nil {
				v.fail(fmt.Errorf("partition %s: %w", p.id, err))
			} else if b != nil || drained {
				v.deliver(b, drained)
			} else {
				v.forgo()
			}
		}
	}
}

// read reads what the view needs next. B is nil when there is nothing more, or
// no memory now.
func (s *scheduler) read(v *view) (b *buffer, drained bool, err error) {
	starving, open := v.begin()
	c := &v.cursor
	if !open {
		return nil, false, nil
	}
	if more, err := c.advance(); !more || err != nil {
		return nil, true, err
	}
	for need := headerSize; ; {
		if b = s.take(min(int(c.end-c.at), max(fullRead, need)), starving, need); b == nil {
			return nil, false, nil
		}
		var used int
		if used, need, err = b.fill(c); err != nil {
			s.put(b)
			return nil, false, err
		}
		if used > 0 {
			c.at += int64(used)
			break
		}
		s.put(b) // not even one block fitted
	}
	more, err := c.advance()
	if err != nil {
		s.put(b)
		return nil, false, err
	}
	return b, !more, nil
}

// take gives a buffer for a read of so many bytes, or nil if that is too much
// now. For a view that has nothing there is always one, but maybe a smaller one
// that is good for what it needs.
func (s *scheduler) take(size int, starving bool, need int) *buffer {
	s.mu.Lock()
	if s.used+size > s.budget {
		if !starving {
			s.mu.Unlock()
			return nil
		}
		size = min(size, max(shortRead, need))
	}
	class := bits.Len(uint(size - 1))
	s.used += 1 << class
	s.mu.Unlock()
	b, _ := s.idle[class].Get().(*buffer)
	if b == nil {
		b = &buffer{scheduler: s, memory: make([]byte, 1<<class)}
	}
	b.size = size
	return b
}

// put gives a buffer back.
func (s *scheduler) put(b *buffer) {
	clear(b.blocks)
	b.blocks, b.next, b.view = b.blocks[:0], 0, nil
	s.mu.Lock()
	s.used -= len(b.memory)
	s.mu.Unlock()
	s.idle[bits.Len(uint(len(b.memory)-1))].Put(b)
}

// close waits for the goroutine. What is wanted later fails.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.group.Wait()
}

// A buffer holds one read.
type buffer struct {
	scheduler *scheduler
	memory    []byte // its length is a power of two
	size      int    // of the read
	at        int64  // where it was in the file
	view      *view  // whose it is
	blocks    []block
	next      int // block to be taken
	out       atomic.Int32
}

// A block is one encoded batch in a buffer.
type block struct {
	shuffle.Encoded
	whole  []byte // with its header
	offset int    // in the buffer
}

// fill reads at the cursor and finds the whole blocks: how many bytes they are,
// and how long the first one is that is not whole.
func (b *buffer) fill(c *cursor) (used, need int, err error) {
	memory := b.memory[:b.size]
	if err := c.data.readAt(memory, c.at); err != nil {
		return 0, 0, err
	}
	b.at = c.at
	for used < len(memory) {
		size, all, err := c.whole(memory[used:], used)
		if err != nil {
			return 0, 0, err
		}
		if !all {
			need = size
			break
		}
		whole := memory[used : used+size]
		b.blocks = append(b.blocks, block{Encoded: shuffle.Encoded{Bytes: whole[headerSize:], Records: parseHeader(whole).records, Owner: b}, whole: whole, offset: used})
		used += size
	}
	b.out.Store(int32(len(b.blocks)))
	return used, need, nil
}

// Unhold is called when one block is released.
func (b *buffer) Unhold() {
	if b.out.Add(-1) == 0 {
		b.giveBack()
	}
}

// drop releases the blocks that were not taken.
func (b *buffer) drop() {
	if n := int32(len(b.blocks) - b.next); b.out.Add(-n) == 0 {
		b.giveBack()
	}
}

func (b *buffer) giveBack() {
	v := b.view
	b.scheduler.put(b)
	v.gaveBack()
}
