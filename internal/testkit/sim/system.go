package sim

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/rpc"
)

// A System is one process's share of the simulated network.
type System struct {
	proc      *Process
	self      string
	endpoints map[string]*endpoint
	open      []*call // made and not settled, oldest first
	watchers  []*watcher
	ended     bool
	// Tap is told of each call that this process makes, before it is sent.
	Tap func(loop actor.Loop, to rpc.Address, c rpc.Call)
	// Heard is told of each call that an endpoint of this process takes, just
	// before it does.
	Heard func(endpoint string, c rpc.Call)
}

var _ rpc.System = (*System)(nil)

// A call waits for its answer.
//
// Invariant: it is in its system's open list until it is settled, once.
type call struct {
	sys      *System
	loop     actor.Loop
	to       rpc.Address
	method   string
	timeout  time.Duration
	resp     proto.Message
	then     func(error)
	target   *Process // nil: nobody there
	deadline *event
	settled  bool
	void     bool // the connection it was on its way in has broken
}

type watcher struct {
	process string
	loop    actor.Loop
	lost    func(error)
	stopped bool
}

func newSystem(p *Process) *System {
	return &System{proc: p, self: address(p.name), endpoints: map[string]*endpoint{}}
}

// Self is "sim:" and the process's name.
func (s *System) Self() string { return s.self }

// Serve makes an endpoint reachable.
func (s *System) Serve(name string, loop actor.Loop, h rpc.Handler) {
	if s.ended {
		return
	}
	invariant.Check(s.endpoints[name] == nil, "endpoint %s is served twice", name)
	s.endpoints[name] = &endpoint{name: name, loop: loop, handler: h}
}

// Withdraw ends an endpoint, with all requests it has not answered.
func (s *System) Withdraw(name string) {
	e := s.endpoints[name]
	if e == nil {
		return
	}
	delete(s.endpoints, name)
	e.close(fmt.Errorf("endpoint %s ended before it answered: %w", name, rpc.ErrUnknownEndpoint))
}

// Call sends a call.
func (s *System) Call(loop actor.Loop, to rpc.Address, c rpc.Call, resp proto.Message, then func(error)) {
	if s.Tap != nil {
		s.Tap(loop, to, c)
	}
	w := s.proc.world
	k := &call{sys: s, loop: loop, to: to, method: c.Method, timeout: c.Timeout, resp: resp, then: then}
	if k.timeout <= 0 {
		k.timeout = rpc.DefaultTimeout
	}
	c.Timeout = k.timeout
	if s.ended {
		k.settle(fmt.Errorf("process %s, the caller, has ended: %w", s.self, rpc.ErrUnreachable))
		return
	}
	s.open = append(s.open, k)
	k.deadline = w.schedule(&event{at: w.now + k.timeout, tie: w.rand.Uint64(), what: Notice, proc: s.proc, name: c.Method,
		f: func() { k.settle(fmt.Errorf("%w within %s", rpc.ErrTimeout, k.timeout)) }})
	if err := checkSize("request", c.Method, c.Request); err != nil {
		k.settle(err)
		return
	}
	c.Request = copied(c.Request)
	if to.Process == s.self {
		k.target = s.proc
		s.deliver(k, c, func(resp proto.Message, err error) { k.answer(resp, err) })
		return
	}
	s.send(k, c)
}

// send puts a call into the network.
func (s *System) send(k *call, c rpc.Call) {
	w := s.proc.world
	n := &w.net
	there, back := link{s.self, k.to.Process}, link{k.to.Process, s.self}
	target, err := n.connect(s, k.to.Process)
	if err != nil {
		w.schedule(&event{at: w.now + w.between(20*time.Microsecond, 2*time.Millisecond), tie: w.rand.Uint64(), what: Notice, proc: s.proc,
			name: c.Method, f: func() { k.settle(err) }})
		return
	}
	if target == nil {
		return // its machine is down: the deadline will tell
	}
	k.target = target
	from, _ := k.loop.(*Loop)
	n.pass(there, channel{from, target, k.to.Endpoint}, n.weather.LoseCall, c.Method, func() {
		if k.void || !target.alive {
			return
		}
		target.system.deliver(k, c, func(resp proto.Message, err error) {
			n.pass(back, channel{}, n.weather.LoseAnswer, c.Method, func() {
				if !k.void {
					k.answer(resp, err)
				}
			})
		})
	})
}

// answer ends the call with what the callee said.
func (k *call) answer(resp proto.Message, err error) {
	if k.settled {
		return
	}
	if err == nil {
		err = fill("answer", k.method, k.resp, resp)
	}
	k.settle(err)
}

// settle ends the call: the continuation is posted with err, explained.
func (k *call) settle(err error) {
	if k.settled {
		return
	}
	k.settled = true
	s := k.sys
	if k.deadline != nil {
		s.proc.world.queue.remove(k.deadline)
	}
	if i := slices.Index(s.open, k); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
	err = explain(k, err)
	post(k.loop, "answer "+k.method, func() { k.then(err) })
}

// post names the letter, for the trace, where the loop is a simulated one.
func post(loop actor.Loop, name string, f func()) {
	if l, ok := loop.(*Loop); ok {
		l.post(name, f)
		return
	}
	loop.Post(f)
}

// Watch runs lost when the connection to a process breaks.
func (s *System) Watch(loop actor.Loop, process string, lost func(error)) (stop func()) {
	if process == s.self || s.ended {
		return func() {}
	}
	one := &watcher{process: process, loop: loop, lost: lost}
	s.watchers = append(s.watchers, one)
	return func() {
		one.stopped = true
		s.watchers = slices.DeleteFunc(s.watchers, func(o *watcher) bool { return o == one })
	}
}

// lose breaks the connection to a process: calls over it end as disconnected,
// and who watches is told. With void, what is on its way is lost.
func (s *System) lose(process, why string, void bool) {
	delete(s.proc.world.net.reached, link{s.self, process})
	cause := fmt.Errorf("connection to %s: %s", process, why)
	for _, k := range slices.Clone(s.open) {
		if k.to.Process == process && k.target != nil {
			k.void = k.void || void
			k.settle(fmt.Errorf("%w: %w", rpc.ErrDisconnected, cause))
		}
	}
	var told []*watcher
	s.watchers = slices.DeleteFunc(s.watchers, func(o *watcher) bool {
		if o.process == process {
			told = append(told, o)
			return true
		}
		return false
	})
	for _, one := range told {
		post(one.loop, "lost "+process, func() {
			if !one.stopped {
				one.lost(cause)
			}
		})
	}
}

// end is the end of the process: nothing is served any more, and what was asked
// from here ends.
func (s *System) end() {
	s.ended = true
	clear(s.endpoints) // who waits for their answers sees the connection break
	s.watchers = nil
	gone := fmt.Errorf("process %s, the caller, has ended: %w", s.self, rpc.ErrUnreachable)
	for _, k := range slices.Clone(s.open) {
		k.settle(gone)
	}
	for l := range s.proc.world.net.reached { // only looked up by key, so the order does not matter
		if l.from == s.self {
			delete(s.proc.world.net.reached, l)
		}
	}
}
