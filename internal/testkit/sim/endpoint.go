package sim

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/rpc"
)

// An endpoint is what a system serves under one name, with the requests it has
// not answered.
type endpoint struct {
	name    string
	loop    actor.Loop
	handler rpc.Handler
	open    []*incoming // oldest first
}

// An incoming request is answered once: by its handler, or because its endpoint
// ended. Then answer is nil.
type incoming struct {
	answer  func(proto.Message, error)
	replied bool // by the handler
}

// deliver hands a request to its endpoint; answer is called once, unless the
// process ends before.
func (s *System) deliver(k *call, c rpc.Call, answer func(proto.Message, error)) {
	e := s.endpoints[k.to.Endpoint]
	if e == nil {
		answer(nil, carried(unknownEndpoint(k.to.Endpoint)))
		return
	}
	want, ok := e.handler.Request(c.Method)
	if !ok {
		answer(nil, carried(fmt.Errorf("method %s of endpoint %s: %w", c.Method, e.name, rpc.ErrUnknownEndpoint)))
		return
	}
	if err := sameType("request", c.Method, want, c.Request); err != nil {
		answer(nil, err)
		return
	}
	if c.Request == nil {
		c.Request = want
	}
	in := &incoming{answer: answer}
	e.open = append(e.open, in)
	post(e.loop, c.Method, func() {
		if s.Heard != nil && in.answer != nil {
			s.Heard(e.name, c)
		}
		e.run(in, c)
	})
}

func (e *endpoint) run(in *incoming, c rpc.Call) {
	if in.answer == nil {
		return
	}
	e.handler.Handle(c, func(resp proto.Message, err error) {
		invariant.Check(!in.replied, "%s of endpoint %s was answered twice", c.Method, e.name)
		in.replied = true
		answer := in.answer
		if answer == nil {
			return
		}
		in.answer = nil
		e.open = slices.DeleteFunc(e.open, func(o *incoming) bool { return o == in })
		if err == nil {
			err = checkSize("answer", c.Method, resp)
		}
		if err != nil {
			answer(nil, carried(err))
			return
		}
		answer(copied(resp), nil)
	})
}

// close answers what is open with err.
func (e *endpoint) close(err error) {
	open := e.open
	e.open = nil
	for _, in := range open {
		answer := in.answer
		in.answer = nil
		answer(nil, carried(err))
	}
}

// kinds are the errors that keep their identity on the way, the narrower before
// the wider.
var kinds = []error{rpc.ErrUnknownEndpoint, rpc.ErrFenced, rpc.ErrDisconnected, rpc.ErrUnreachable, rpc.ErrTimeout}

// carried is an error as the caller will see it: one of the kinds or a refusal,
// in the callee's words.
func carried(err error) error {
	var refused *rpc.RefusedError
	if !errors.As(err, &refused) {
		for _, kind := range kinds {
			if errors.Is(err, kind) {
				return &answeredError{text: err.Error(), kind: kind}
			}
		}
	}
	return &rpc.RefusedError{Text: err.Error()}
}

// answeredError is one of the kinds, in the callee's words.
type answeredError struct {
	text string
	kind error
}

func (e *answeredError) Error() string { return e.text }
func (e *answeredError) Unwrap() error { return e.kind }

// explain adds what was called where, except to the callee's own words.
func explain(k *call, err error) error {
	var refused *rpc.RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("call %s of %s: %w", k.method, k.to, err)
}

func unknownEndpoint(name string) error {
	return fmt.Errorf("endpoint %s: %w", name, rpc.ErrUnknownEndpoint)
}

func copied(m proto.Message) proto.Message {
	if m == nil {
		return nil
	}
	return proto.Clone(m)
}

// checkSize refuses a message that no network of Weir carries.
func checkSize(what, method string, m proto.Message) error {
	if m == nil {
		return nil
	}
	if size := proto.Size(m); size > rpc.MaxMessage {
		return rpc.Refuse("%s of %s: %d bytes, more than the %d bytes a message may have", what, method, size, rpc.MaxMessage)
	}
	return nil
}

func sameType(what, method string, want, got proto.Message) error {
	if got == nil {
		return nil
	}
	if w, g := want.ProtoReflect().Descriptor(), got.ProtoReflect().Descriptor(); w != g {
		return rpc.Refuse("%s of %s: want a %s, got a %s", what, method, w.FullName(), g.FullName())
	}
	return nil
}

// fill puts an answer into the message the caller waits with.
func fill(what, method string, into, from proto.Message) error {
	proto.Reset(into)
	if from == nil {
		return nil
	}
	if err := sameType(what, method, into, from); err != nil {
		return err
	}
	proto.Merge(into, from)
	return nil
}
