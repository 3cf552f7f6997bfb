package state

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// A Pool is memory that the backends of a process share. From any goroutine.
type Pool struct {
	limit  atomic.Int64
	used   atomic.Int64
	beside atomic.Int64
	// Advice says, in messages, what the limit comes from and what can be done.
	Advice string
}

// SetLimit changes how many bytes there are; 0: any number.
func (p *Pool) SetLimit(bytes int64) { p.limit.Store(bytes) }

// Used returns how many bytes of state the backends hold.
func (p *Pool) Used() int64 { return p.used.Load() }

// Beside returns how many bytes operators hold beside the state of their backends.
func (p *Pool) Beside() int64 { return p.beside.Load() }

// ErrMemory is wrapped by the error of a state for which there is no memory.
var ErrMemory = errors.New("the state does not fit into its memory")

// fit looks at the memory that the state takes, and puts what was not used of late on
// the disk if it is more than there is room for. It panics with an *Error when there
// is none. No pointer into a table may be held.
func (b *Backend) fit() {
	bytes := b.Bytes()
	grown := bytes - b.counted
	room := b.options.Room
	switch p := b.options.Pool; {
	case b.options.Disk != nil:
		if bytes > room {
			bytes = b.evict(bytes)
		}
		b.count(bytes)
	case p != nil:
		b.count(bytes)
		limit := p.limit.Load()
		if room = int(limit); limit > 0 && p.used.Load() > limit {
			b.exhausted(fmt.Errorf("%w: the keyed states of this process take %d bytes, and %d are allowed. %s", ErrMemory, p.used.Load(), limit, p.Advice))
		}
	default:
		b.count(bytes)
	}
	b.watch(grown, room)
}

// watch sets when the memory is looked at again: before it has grown by a sixteenth
// of what there is, if it goes on growing as it did.
func (b *Backend) watch(grown, room int) {
	keys := b.seq - b.looked
	step := 2 * keys
	if grown > 0 && room > 0 {
		step = min(step, uint64(float64(keys)*float64(room)/16/float64(grown)))
	}
	b.looked = b.seq
	b.due = b.seq + min(max(step, 1), mostKeys)
}

// mostKeys is how many keys are set at most between two looks at the memory.
const mostKeys = 1024

// count tells the pool, and whoever else counts, how many bytes the state takes now.
func (b *Backend) count(bytes int) {
	if b.options.Pool != nil {
		b.options.Pool.used.Add(int64(bytes - b.counted))
	}
	if b.options.Held != nil {
		*b.options.Held = int64(bytes + b.beside)
	}
	b.counted = bytes
}

// HoldBeside tells that an operator holds so many bytes of what it can make from its
// state again, and says whether there is memory for them. If not, the operator gives
// them up, and says so with another call: state comes first, and is neither refused
// nor put on the disk later for what lies beside it.
func (b *Backend) HoldBeside(bytes int) bool {
	grown := bytes - b.beside
	b.beside = bytes
	p := b.options.Pool
	if p != nil {
		p.beside.Add(int64(grown))
	}
	if b.options.Held != nil {
		*b.options.Held += int64(grown)
	}
	switch {
	case bytes == 0:
		return true
	case b.options.Disk != nil:
		return b.disk == nil && b.Bytes()+bytes <= b.options.Room
	case p != nil:
		limit := p.limit.Load()
		return limit == 0 || p.used.Load()+p.beside.Load() <= limit
	}
	return true
}

// exhausted panics with the name and the size of the largest state.
func (b *Backend) exhausted(err error) {
	name, bytes := b.largest()
	panic(&Error{State: name, Err: fmt.Errorf("it takes %d of the %d bytes of operator %s: %w", bytes, b.Bytes(), b.options.Operator, err)})
}

// evict puts keys on the disk, group by group, until the state takes no more than
// there is room for, and returns what it takes. One that is all on the disk but for
// what must stay in memory is left so.
func (b *Backend) evict(bytes int) int {
	if b.disk == nil {
		var err error
		if b.disk, err = b.options.Disk(); err != nil {
			b.exhausted(fmt.Errorf("put what exceeds %d bytes on the disk: %w", b.options.Room, err))
		}
	}
	groups := b.options.Last - b.options.First + 1
	for i := 0; i < groups && bytes > b.options.Room; i++ {
		group := b.options.First + b.turn
		b.turn = (b.turn + 1) % groups
		for _, s := range b.states {
			s.evict(group)
		}
		if err := b.disk.Commit(); err != nil {
			b.exhausted(err)
		}
		bytes = b.Bytes()
	}
	if bytes > b.options.Room {
		b.stays()
	}
	return bytes
}

// stays panics if what cannot leave the memory is too much for it.
func (b *Backend) stays() {
	timers := 0
	for _, s := range b.states {
		if t, ok := s.(*timerTable); ok {
			timers += t.Len() * timerBytes
		}
	}
	if timers > b.options.Room {
		b.exhausted(fmt.Errorf("%w: timers stay in memory, and there is room for %d bytes", ErrMemory, b.options.Room))
	}
}

// timerBytes is what a timer takes at least: two words in the heap, one to find it,
// and its time and key.
const timerBytes = 40

// largest returns the name of the state that takes the most memory, and how much.
func (b *Backend) largest() (name string, bytes int) {
	bytes = -1
	for _, s := range b.states {
		if n := s.bytes(); n > bytes {
			name, bytes = s.Descriptor().Name, n
		}
	}
	return name, bytes
}

// Close gives back the memory and the disk. Snapshots may still be written.
func (b *Backend) Close() error {
	b.HoldBeside(0)
	b.count(0)
	b.options.Pool, b.options.Held = nil, nil
	if b.disk == nil {
		return nil
	}
	err := b.disk.Close()
	b.disk = nil
	if err != nil {
		return fmt.Errorf("close the state of operator %s: %w", b.options.Operator, err)
	}
	return nil
}
