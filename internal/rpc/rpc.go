// Package rpc carries calls between endpoints: by gRPC between processes, in
// memory inside one, through a simulated network in testkit/sim.
//
// It promises that a call's continuation runs exactly once on the caller's
// loop, with the answer or an error; that a served endpoint's handler runs only
// on the endpoint's loop; and that a call meant for another leader term is
// refused unexecuted. The calls of one loop to one endpoint arrive in the order
// they were made. It never retries: who needs that re-sends, and every method of
// this system may be executed twice.
//
// The caller's and the callee's side are the same whatever lies between: a call
// (call.go) and the endpoints of a process with their open requests
// (endpoints.go). Memory puts nothing between them; Server puts frames
// (frame.go) on one gRPC stream from each process to each other one
// (link.go, session.go). Package rpctest holds what every System must do.
package rpc

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
)

// Address names an endpoint: the process it lives in and its name there.
type Address struct {
	// Process is "host:port", "unix:/path" or "mem:name".
	Process string
	// Endpoint is "resourcemanager", "taskexecutor", "jobmanager_<job id>", …
	Endpoint string
}

func (a Address) String() string { return a.Process + "/" + a.Endpoint }

// System is one process's share of the network.
type System interface {
	// Self is the process address others reach this system under.
	Self() string
	// Serve makes an endpoint reachable: h runs on loop for every call.
	// Serving a name twice is a broken invariant.
	Serve(endpoint string, loop actor.Loop, h Handler)
	// Withdraw ends the endpoint; calls then fail with ErrUnknownEndpoint, also
	// those it has not answered yet, executed or not: answer first, then
	// withdraw.
	Withdraw(endpoint string)
	// Call sends req and runs then once on loop: resp is filled if err is nil,
	// and must not be touched before. The request may be changed as soon as Call
	// has returned. A timeout of zero means DefaultTimeout. It may be called
	// from any goroutine.
	Call(loop actor.Loop, to Address, c Call, resp proto.Message, then func(err error))
	// Watch runs lost on loop, at most once, when the connection to a process
	// that was once reached breaks. It is a hint that makes loss quick to see;
	// heartbeats decide. A process does not lose itself.
	Watch(loop actor.Loop, process string, lost func(cause error)) (stop func())
}

// MaxMessage is the most bytes a request or an answer may have, encoded. A larger
// one is refused with a *RefusedError that names the method and the size.
const MaxMessage = 64 << 20

// DefaultTimeout bounds a call that names no timeout: Flink's pekko.ask.timeout.
const DefaultTimeout = 10 * time.Second

// Call is what is sent: the method, the leader term the caller believes the
// callee to be in (zero: not fenced), the message and the deadline.
type Call struct {
	Method  string
	Fence   ident.LeaderID
	Request proto.Message
	Timeout time.Duration
}

// Handler executes one incoming call and must reply exactly once, now or later,
// on the endpoint's loop.
type Handler interface {
	// Request gives an empty request message of the method, or false if the
	// endpoint has no such method. It may be called from any goroutine.
	Request(method string) (proto.Message, bool)
	// Handle runs on the endpoint's loop.
	Handle(c Call, reply func(proto.Message, error))
}

// The ways a call fails without having been executed, or without an answer.
// Test with errors.Is; the text names callee and method.
var (
	// ErrUnreachable: no connection to the process. Not executed, unless the
	// error is ErrDisconnected as well.
	ErrUnreachable = errors.New("unreachable")
	// ErrDisconnected: the connection broke before the answer came. It may have
	// been executed. Every such error is also ErrUnreachable.
	ErrDisconnected = fmt.Errorf("connection lost before the answer: %w", ErrUnreachable)
	// ErrTimeout: no answer in time. It may have been executed.
	ErrTimeout = errors.New("no answer in time")
	// ErrUnknownEndpoint: the process does not serve that endpoint or method, or
	// no longer.
	ErrUnknownEndpoint = errors.New("unknown endpoint")
	// ErrFenced: the callee is in another leader term. Not executed.
	ErrFenced = errors.New("fenced off")
)

// RefusedError is the callee's own answer "no": any error of a handler that is
// none of the above arrives as one, with the text it had.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Refuse makes the error a handler answers with when it will not do as asked.
func Refuse(format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...)}
}

// Method is one typed call of an endpoint.
type Method[Q, R proto.Message] struct{ Name string }

// Call sends the typed call; see System.Call.
func (m Method[Q, R]) Call(s System, loop actor.Loop, to Address, fence ident.LeaderID, req Q, timeout time.Duration, then func(R, error)) {
	resp := newMessage[R]()
	s.Call(loop, to, Call{Method: m.Name, Fence: fence, Request: req, Timeout: timeout}, resp, func(err error) {
		if err != nil {
			var none R
			then(none, err)
			return
		}
		then(resp, nil)
	})
}

// Send is Call for a caller that needs no answer: a lost call is somebody
// else's business, such as the next heartbeat's.
func (m Method[Q, R]) Send(s System, loop actor.Loop, to Address, fence ident.LeaderID, req Q) {
	m.Call(s, loop, to, fence, req, 0, func(R, error) {})
}

func newMessage[M proto.Message]() M {
	var m M
	return m.ProtoReflect().Type().New().Interface().(M)
}
