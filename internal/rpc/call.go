package rpc

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
)

// A pending call waits for its answer at the caller's side.
//
// Invariant: it is settled exactly once, by whichever comes first of answer,
// deadline and loss of the connection; only the settler touches resp and posts
// the continuation. What comes later is ignored.
type pending struct {
	loop    actor.Loop
	to      Address
	method  string
	timeout time.Duration
	resp    proto.Message
	then    func(error)
	timer   *time.Timer // started when the call is entered in a book
	settled atomic.Bool
	sent    atomic.Bool // it may have reached the callee
	book    *book       // nil until entered
	id      uint64
}

func newPending(loop actor.Loop, to Address, c Call, resp proto.Message, then func(error)) *pending {
	p := &pending{loop: loop, to: to, method: c.Method, timeout: c.Timeout, resp: resp, then: then}
	if p.timeout <= 0 {
		p.timeout = DefaultTimeout
	}
	return p
}

// settle ends the call with err or, if that is nil, with what fill puts into
// the response. fill may be nil.
func (p *pending) settle(fill func(resp proto.Message) error, err error) {
	if !p.settled.CompareAndSwap(false, true) {
		return
	}
	if p.book != nil {
		p.book.strike(p)
	}
	if err == nil && fill != nil {
		err = fill(p.resp)
	}
	err = p.explain(err)
	p.loop.Post(func() { p.then(err) })
}

// explain adds what was called where, except to the callee's own words.
func (p *pending) explain(err error) error {
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("call %s of %s: %w", p.method, p.to, err)
}

// A book holds the pending calls that share a fate: those over one connection,
// or those inside one process.
type book struct {
	mu   sync.Mutex // guards the fields below
	open map[uint64]*pending
	last uint64
	end  error // why no call can be entered any more
}

// enter gives the call its number and starts its deadline, or says why the book
// is closed.
func (b *book) enter(p *pending) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return b.end
	}
	if b.open == nil {
		b.open = map[uint64]*pending{}
	}
	b.last++
	p.book, p.id = b, b.last
	b.open[p.id] = p
	// The timer is made stopped, so that p.timer is set when it fires.
	p.timer = time.AfterFunc(1<<62, func() {
		p.settle(nil, fmt.Errorf("%w within %s", ErrTimeout, p.timeout))
	})
	p.timer.Reset(p.timeout)
	return nil
}

// find gives the pending call of that number, or nil if it is settled.
func (b *book) find(id uint64) *pending {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[id]
}

func (b *book) strike(p *pending) {
	b.mu.Lock()
	delete(b.open, p.id)
	b.mu.Unlock()
	p.timer.Stop()
}

// close ends the book: its calls, in the order they were made, end with what
// cause says of each, and later ones with end.
func (b *book) close(end error, cause func(*pending) error) {
	b.mu.Lock()
	if b.end == nil {
		b.end = end
	}
	var open []*pending
	for _, p := range b.open {
		open = append(open, p)
	}
	b.mu.Unlock()
	slices.SortFunc(open, func(x, y *pending) int { return int(x.id) - int(y.id) })
	for _, p := range open {
		p.settle(nil, cause(p))
	}
}
