// Package rpctest holds what every rpc.System must do, as tests that run over
// whatever carries the calls: memory, sockets or a simulated network.
//
// It promises to reach the network through its Harness only, and to wait for
// nothing but channels the Harness can wait for, so that a simulated world can
// run it step by step. It asserts no timings.
package rpctest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// Harness is how the tests reach a network.
type Harness struct {
	// Process starts a process of the network. kill ends it as its death would;
	// the harness kills at the test's end what still runs.
	Process func(t testing.TB) (sys rpc.System, kill func())
	// Loop starts a loop; the harness stops it at the test's end.
	Loop func(t testing.TB, name string) actor.Loop
	// Wait lets the world run until done is closed, and fails the test if that
	// does not happen.
	Wait func(t testing.TB, done <-chan struct{})
}

// Run runs all tests.
func Run(t *testing.T, h Harness) {
	for _, test := range []struct {
		name string
		run  func(*world)
	}{
		{"answer", answer},
		{"messages are not shared", notShared},
		{"inside one process", insideOneProcess},
		{"refusals keep their text", refusals},
		{"kinds of errors survive", kinds},
		{"fencing", fencing},
		{"unknown endpoint and method", unknown},
		{"time-out", timeout},
		{"order", order},
		{"withdrawn", withdrawn},
		{"process gone", processGone},
		{"process never there", neverThere},
		{"caller gone", callerGone},
		{"too large", tooLarge},
		{"passed on", passedOn},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&world{T: t, h: h}) })
	}
}

type (
	request  = pb.ReadBlobRequest
	response = pb.ReadBlobResponse
	method   = rpc.Method[*request, *response]
)

var (
	echo  = method{Name: "Test/Echo"}  // answers with the request's text
	keep  = method{Name: "Test/Keep"}  // answers when the test says so
	fail  = method{Name: "Test/Fail"}  // answers with the callee's error
	huge  = method{Name: "Test/Huge"}  // answers with more than can be sent
	other = method{Name: "Test/Other"} // is not served
)

type world struct {
	*testing.T
	h Harness
}

// A callee is an endpoint with the methods above.
type callee struct {
	sys  rpc.System
	loop actor.Loop
	at   rpc.Address
	term ident.LeaderID
	kept chan func(*response, error) // replies of Keep
	fail error                       // touched only on the loop
	seen []string                    // texts of Echo and Keep, touched only on the loop
}

func (w *world) serve(sys rpc.System, endpoint string) *callee {
	c := &callee{
		sys: sys, loop: w.h.Loop(w, "callee "+endpoint), at: rpc.Address{Process: sys.Self(), Endpoint: endpoint},
		kept: make(chan func(*response, error), 16),
	}
	mux := &rpc.Mux{Term: func() ident.LeaderID { return c.term }}
	rpc.Handle(mux, echo, func(q *request, reply func(*response, error)) {
		c.seen = append(c.seen, q.Sha256)
		reply(&response{Data: []byte(q.Sha256)}, nil)
	})
	rpc.Handle(mux, keep, func(q *request, reply func(*response, error)) {
		c.seen = append(c.seen, q.Sha256)
		c.kept <- reply
	})
	rpc.Handle(mux, fail, func(_ *request, reply func(*response, error)) { reply(nil, c.fail) })
	rpc.Handle(mux, huge, func(_ *request, reply func(*response, error)) {
		reply(&response{Data: make([]byte, rpc.MaxMessage)}, nil)
	})
	sys.Serve(endpoint, c.loop, mux)
	return c
}

// on runs f on a loop and waits for it.
func (w *world) on(loop actor.Loop, f func()) {
	w.Helper()
	done := make(chan struct{})
	loop.Post(func() { defer close(done); f() })
	w.h.Wait(w, done)
}

// A result is what one call came to.
type result struct {
	done  chan struct{} // closed by the continuation
	resp  *response
	err   error
	times int // how often the continuation ran; read it on the loop
}

// start makes a call without waiting for its answer.
func (w *world) start(sys rpc.System, loop actor.Loop, to rpc.Address, m method, fence ident.LeaderID, text string, timeout time.Duration) *result {
	r := &result{done: make(chan struct{})}
	loop.Post(func() {
		m.Call(sys, loop, to, fence, &request{Sha256: text}, timeout, func(resp *response, err error) {
			r.times++
			if r.times == 1 {
				r.resp, r.err = resp, err
				close(r.done)
			}
		})
	})
	return r
}

// long is a deadline no test reaches.
const long = time.Minute

// call makes a call and waits for its answer.
func (w *world) call(sys rpc.System, loop actor.Loop, to rpc.Address, m method, text string) (*response, error) {
	w.Helper()
	return w.await(w.start(sys, loop, to, m, ident.LeaderID{}, text, long))
}

func (w *world) await(r *result) (*response, error) {
	w.Helper()
	w.h.Wait(w, r.done)
	return r.resp, r.err
}

// takeKept waits for a call of Keep to arrive and gives its reply.
func (w *world) takeKept(c *callee) (reply func(*response, error)) {
	w.Helper()
	arrived := make(chan struct{})
	var look func()
	look = func() {
		select {
		case reply = <-c.kept:
			close(arrived)
		default:
			c.loop.After(time.Millisecond, look)
		}
	}
	c.loop.Post(look)
	w.h.Wait(w, arrived)
	return reply
}

// wantError checks an error's kind and words.
func (w *world) wantError(err, kind error, words ...string) {
	w.Helper()
	if err == nil {
		w.Errorf("no error, want %v", kind)
		return
	}
	var refused *rpc.RefusedError
	isRefusal := errors.As(err, &refused)
	if kind == nil && !isRefusal {
		w.Errorf("%v is not a refusal", err)
	}
	if kind != nil && (isRefusal || !errors.Is(err, kind)) {
		w.Errorf("%v is not the kind %q", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.Errorf("%q does not say %q", err, word)
		}
	}
}

func (w *world) wantText(resp *response, err error, text string) {
	w.Helper()
	if err != nil {
		w.Error(err)
	} else if got := string(resp.Data); got != text {
		w.Errorf("answer %q, want %q", got, text)
	}
}

// wantOnce checks on the loop that continuations ran once, after a later call
// has gone the same way.
func (w *world) wantOnce(loop actor.Loop, results ...*result) {
	w.Helper()
	w.on(loop, func() {
		for i, r := range results {
			if r.times != 1 {
				w.Errorf("continuation %d ran %d times", i, r.times)
			}
		}
	})
}

func numbered(prefix string, i int) string { return fmt.Sprintf("%s%d", prefix, i) }
