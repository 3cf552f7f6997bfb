package rpc

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
)

// Mux is the Handler of an endpoint: its methods by name, and its fence.
//
// Invariant: methods are added before the endpoint is served and never after.
type Mux struct {
	// Term gives the leader term the endpoint is in, on its loop; nil: the
	// endpoint is not fenced. A call with a zero fence is let through: such a
	// call is one by which the caller learns the term.
	Term    func() ident.LeaderID
	methods map[string]method
}

type method struct {
	request func() proto.Message
	handle  func(proto.Message, func(proto.Message, error))
}

// Handle adds a method to the mux. h runs on the endpoint's loop and must call
// reply exactly once.
func Handle[Q, R proto.Message](m *Mux, name Method[Q, R], h func(req Q, reply func(R, error))) {
	if m.methods == nil {
		m.methods = map[string]method{}
	}
	_, twice := m.methods[name.Name]
	invariant.Check(!twice, "method %s handled twice", name.Name)
	m.methods[name.Name] = method{
		request: func() proto.Message { return newMessage[Q]() },
		handle: func(req proto.Message, reply func(proto.Message, error)) {
			h(req.(Q), func(resp R, err error) { reply(resp, err) })
		},
	}
}

// Request gives an empty request of the method.
func (m *Mux) Request(name string) (proto.Message, bool) {
	found, ok := m.methods[name]
	if !ok {
		return nil, false
	}
	return found.request(), true
}

// Handle runs the call, or refuses it when it is meant for another term.
func (m *Mux) Handle(c Call, reply func(proto.Message, error)) {
	if m.Term != nil && !c.Fence.IsZero() {
		if term := m.Term(); c.Fence != term {
			reply(nil, fmt.Errorf("%s: call for leader term %s, this is term %s: %w", c.Method, c.Fence, term, ErrFenced))
			return
		}
	}
	found, ok := m.methods[c.Method]
	if !ok {
		reply(nil, fmt.Errorf("method %s: %w", c.Method, ErrUnknownEndpoint))
		return
	}
	found.handle(c.Request, reply)
}
