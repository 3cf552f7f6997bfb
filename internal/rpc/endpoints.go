package rpc

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
)

// endpoints are what one process serves, with the requests they have not
// answered yet: the callee's side of every System here.
type endpoints struct {
	mu     sync.Mutex // guards the fields below and those of endpoint and incoming
	byName map[string]*endpoint
	closed bool
	last   uint64
}

type endpoint struct {
	name    string
	loop    actor.Loop
	handler Handler
	open    map[*incoming]struct{}
}

// An incoming request is answered exactly once: by its handler, or because its
// endpoint was withdrawn. It is open until then.
type incoming struct {
	number  uint64
	answer  func(resp proto.Message, err error)
	replied bool // touched only on the endpoint's loop
}

func (e *endpoints) serve(name string, loop actor.Loop, h Handler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if e.byName == nil {
		e.byName = map[string]*endpoint{}
	}
	invariant.Check(e.byName[name] == nil, "endpoint %s is served twice", name)
	e.byName[name] = &endpoint{name: name, loop: loop, handler: h, open: map[*incoming]struct{}{}}
}

// deliver hands a request to its endpoint. decode fills the request message
// before deliver returns. answer is called once, from any goroutine; err is
// what the caller is to see, encoded by encodeError. The requests of one
// goroutine reach an endpoint in the order delivered.
func (e *endpoints) deliver(name string, c Call, decode func(proto.Message) error, answer func(proto.Message, error)) {
	e.mu.Lock()
	ep := e.byName[name]
	e.mu.Unlock()
	if ep == nil {
		answer(nil, unknownEndpoint(name))
		return
	}
	req, ok := ep.handler.Request(c.Method)
	if !ok {
		answer(nil, fmt.Errorf("method %s of endpoint %s: %w", c.Method, name, ErrUnknownEndpoint))
		return
	}
	if err := decode(req); err != nil {
		answer(nil, err)
		return
	}
	c.Request = req
	in := &incoming{answer: answer}
	if !e.open(ep, in) {
		answer(nil, unknownEndpoint(name))
		return
	}
	ep.loop.Post(func() { e.run(ep, in, c) })
}

func (e *endpoints) open(ep *endpoint, in *incoming) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName[ep.name] != ep {
		return false
	}
	e.last++
	in.number = e.last
	ep.open[in] = struct{}{}
	return true
}

// run executes the request on the endpoint's loop, unless it was answered
// because the endpoint was withdrawn.
func (e *endpoints) run(ep *endpoint, in *incoming, c Call) {
	e.mu.Lock()
	_, open := ep.open[in]
	e.mu.Unlock()
	if !open {
		return
	}
	ep.handler.Handle(c, func(resp proto.Message, err error) {
		invariant.Check(!in.replied, "%s of endpoint %s was answered twice", c.Method, ep.name)
		in.replied = true
		e.mu.Lock()
		_, open := ep.open[in]
		delete(ep.open, in)
		e.mu.Unlock()
		if open {
			in.answer(resp, err)
		}
	})
}

// withdraw ends one endpoint.
func (e *endpoints) withdraw(name string) {
	e.mu.Lock()
	ep := e.byName[name]
	delete(e.byName, name)
	var open []*incoming
	if ep != nil {
		open = ep.takeOpen()
	}
	e.mu.Unlock()
	for _, in := range open {
		in.answer(nil, fmt.Errorf("endpoint %s ended before it answered: %w", name, ErrUnknownEndpoint))
	}
}

// close ends all endpoints, answering open requests with err.
func (e *endpoints) close(err error) {
	e.mu.Lock()
	e.closed = true
	var open []*incoming
	for _, ep := range e.byName {
		open = append(open, ep.takeOpen()...)
	}
	clear(e.byName)
	e.mu.Unlock()
	slices.SortFunc(open, byNumber)
	for _, in := range open {
		in.answer(nil, err)
	}
}

// takeOpen gives the open requests in the order they came; none is open after.
func (ep *endpoint) takeOpen() []*incoming {
	open := make([]*incoming, 0, len(ep.open))
	for in := range ep.open {
		open = append(open, in)
	}
	clear(ep.open)
	slices.SortFunc(open, byNumber)
	return open
}

func byNumber(x, y *incoming) int { return int(x.number) - int(y.number) }
