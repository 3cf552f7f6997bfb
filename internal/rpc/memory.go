package rpc

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
)

// Memory is a network of systems inside one process, for the embedded cluster
// and for tests. Messages are copied on the way, so that caller and callee
// never share one; nothing is lost or reordered.
type Memory struct {
	mu      sync.Mutex // guards systems
	systems map[string]*MemorySystem
}

// NewMemory makes a network without systems.
func NewMemory() *Memory { return &Memory{systems: map[string]*MemorySystem{}} }

// System gives the running system "mem:"+name of the network, started now if
// need be. Whoever starts it must Close it.
func (m *Memory) System(name string) *MemorySystem {
	m.mu.Lock()
	defer m.mu.Unlock()
	self := "mem:" + name
	s := m.systems[self]
	if s == nil {
		s = &MemorySystem{net: m, self: self, reached: map[string]bool{}}
		m.systems[self] = s
	}
	return s
}

func (m *Memory) find(process string) *MemorySystem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.systems[process]
}

// MemorySystem is one System of a Memory.
type MemorySystem struct {
	net       *Memory
	self      string
	endpoints endpoints
	calls     book    // made by this system
	watches   watches // of this system

	mu      sync.Mutex      // guards reached
	reached map[string]bool // the processes this one has a connection to
}

var _ System = (*MemorySystem)(nil)

// Self is "mem:" and the system's name.
func (s *MemorySystem) Self() string { return s.self }

// Serve makes an endpoint reachable.
func (s *MemorySystem) Serve(endpoint string, loop actor.Loop, h Handler) {
	s.endpoints.serve(endpoint, loop, h)
}

// Withdraw ends the endpoint.
func (s *MemorySystem) Withdraw(endpoint string) { s.endpoints.withdraw(endpoint) }

// Call delivers the call, if the process runs.
func (s *MemorySystem) Call(loop actor.Loop, to Address, c Call, resp proto.Message, then func(error)) {
	p := newPending(loop, to, c, resp, then)
	if err := s.calls.enter(p); err != nil {
		p.settle(nil, err)
		return
	}
	target := s.net.find(to.Process)
	if target == nil {
		p.settle(nil, fmt.Errorf("no such process: %w", ErrUnreachable))
		return
	}
	s.mu.Lock()
	s.reached[to.Process] = true
	s.mu.Unlock()
	callLocally(&target.endpoints, p, c)
}

// Watch waits for the Close of the process's system.
func (s *MemorySystem) Watch(loop actor.Loop, process string, lost func(error)) (stop func()) {
	if process == s.self {
		return func() {}
	}
	return s.watches.add(process, loop, lost)
}

// Close ends the system as the death of its process would: what it serves is
// gone, what it waits for comes back as ErrUnreachable, and others see that
// they lost it. A new system of the name may be started.
func (s *MemorySystem) Close() {
	s.net.mu.Lock()
	if s.net.systems[s.self] != s {
		s.net.mu.Unlock()
		return
	}
	delete(s.net.systems, s.self)
	var others []*MemorySystem
	for _, other := range s.net.systems {
		others = append(others, other)
	}
	s.net.mu.Unlock()

	s.endpoints.close(fmt.Errorf("process %s ended: %w", s.self, ErrDisconnected))
	for _, other := range others {
		other.lose(s.self)
	}
	s.watches.clear()
	closed := fmt.Errorf("process %s, the caller, has ended: %w", s.self, ErrUnreachable)
	s.calls.close(closed, func(*pending) error { return closed })
}

// lose breaks the connection to a process, if there is one.
func (s *MemorySystem) lose(process string) {
	s.mu.Lock()
	reached := s.reached[process]
	delete(s.reached, process)
	s.mu.Unlock()
	if reached {
		s.watches.fire(process, fmt.Errorf("process %s ended: %w", process, ErrUnreachable))
	}
}

// callLocally carries a call that is entered in a book to an endpoint of the
// same process. It gives the same errors as a call through the wire.
func callLocally(e *endpoints, p *pending, c Call) {
	name := p.to.Endpoint
	decode := func(req proto.Message) error { return transfer("request", c.Method, req, c.Request) }
	e.deliver(name, Call{Method: c.Method, Fence: c.Fence, Timeout: p.timeout}, decode, func(resp proto.Message, err error) {
		if err != nil {
			p.settle(nil, decodeError(encodeError(err)))
			return
		}
		p.settle(func(into proto.Message) error { return transfer("answer", c.Method, into, resp) }, nil)
	})
}
