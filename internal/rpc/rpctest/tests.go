package rpctest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
)

func answer(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	c, loop := w.serve(b, "blob"), w.h.Loop(w, "caller")
	for _, text := range []string{"first", "", strings.Repeat("long ", 1<<18)} {
		resp, err := w.call(a, loop, c.at, echo, text)
		w.wantText(resp, err, text)
	}
}

func notShared(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	for _, sys := range []rpc.System{a, b} { // inside one process and between two
		c := w.serve(sys, "blob")
		resp := &response{}
		done := make(chan struct{})
		loop.Post(func() {
			req := &request{Sha256: "before"}
			a.Call(loop, c.at, rpc.Call{Method: keep.Name, Request: req, Timeout: long}, resp, func(err error) {
				if err != nil {
					w.Error(err)
				}
				close(done)
			})
			req.Sha256 = "after"
		})
		reply := w.takeKept(c)
		mine := &response{Data: []byte("before")}
		w.on(c.loop, func() {
			if c.seen[0] != "before" {
				w.Errorf("the callee saw %q", c.seen[0])
			}
			reply(mine, nil)
			copy(mine.Data, "after ")
		})
		w.h.Wait(w, done)
		if got := string(resp.Data); got != "before" {
			w.Errorf("the caller saw %q", got)
		}
	}
}

func insideOneProcess(w *world) {
	a, _ := w.h.Process(w)
	c, loop := w.serve(a, "blob"), w.h.Loop(w, "caller")
	resp, err := w.call(a, loop, c.at, echo, "hello")
	w.wantText(resp, err, "hello")
	_, err = w.call(a, loop, c.at, other, "")
	w.wantError(err, rpc.ErrUnknownEndpoint, other.Name)
	resp, err = w.call(a, c.loop, c.at, echo, "from its own loop")
	w.wantText(resp, err, "from its own loop")
	stop := a.Watch(loop, a.Self(), func(error) { w.Error("a process lost itself") })
	stop()
}

func refusals(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	for _, sys := range []rpc.System{a, b} {
		c := w.serve(sys, "blob")
		for text, fails := range map[string]error{
			"slot 3 is taken by job ü": rpc.Refuse("slot %d is taken by job %s", 3, "ü"),
			"offer: no such slot":      fmt.Errorf("offer: %w", rpc.Refuse("no such slot")),
			"disk full":                errors.New("disk full"),
		} {
			w.on(c.loop, func() { c.fail = fails })
			_, err := w.call(a, loop, c.at, fail, "")
			w.wantError(err, nil)
			if err != nil && err.Error() != text {
				w.Errorf("refused with %q, want %q", err, text)
			}
		}
	}
}

func kinds(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	for _, sys := range []rpc.System{a, b} {
		c := w.serve(sys, "blob")
		for _, kind := range []error{rpc.ErrFenced, rpc.ErrUnknownEndpoint, rpc.ErrUnreachable, rpc.ErrDisconnected, rpc.ErrTimeout} {
			w.on(c.loop, func() { c.fail = fmt.Errorf("passing it on: %w", kind) })
			_, err := w.call(a, loop, c.at, fail, "")
			w.wantError(err, kind, "passing it on", fail.Name, c.at.String())
			if kind == rpc.ErrUnreachable && errors.Is(err, rpc.ErrDisconnected) {
				w.Errorf("%v became %v", kind, err)
			}
		}
	}
}

func fencing(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	c, loop := w.serve(b, "blob"), w.h.Loop(w, "caller")
	mine, theirs := ident.LeaderID{ID: ident.ID{1}}, ident.LeaderID{ID: ident.ID{2}}
	w.on(c.loop, func() { c.term = mine })
	for fence, ok := range map[ident.LeaderID]bool{{}: true, mine: true, theirs: false} {
		resp, err := w.await(w.start(a, loop, c.at, echo, fence, "in term "+fence.String(), long))
		if ok {
			w.wantText(resp, err, "in term "+fence.String())
		} else {
			w.wantError(err, rpc.ErrFenced, mine.String(), theirs.String(), echo.Name)
		}
	}
	w.on(c.loop, func() {
		if slices.Contains(c.seen, "in term "+theirs.String()) {
			w.Error("a call for another term was executed")
		}
	})
}

func unknown(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	c, loop := w.serve(b, "blob"), w.h.Loop(w, "caller")
	_, err := w.call(a, loop, c.at, other, "")
	w.wantError(err, rpc.ErrUnknownEndpoint, other.Name, c.at.String())
	nobody := rpc.Address{Process: b.Self(), Endpoint: "nobody"}
	_, err = w.call(a, loop, nobody, echo, "")
	w.wantError(err, rpc.ErrUnknownEndpoint, echo.Name, nobody.String())
	resp, err := w.call(a, loop, c.at, echo, "still there")
	w.wantText(resp, err, "still there")
}

func timeout(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	for _, sys := range []rpc.System{a, b} {
		c := w.serve(sys, "blob")
		resp, err := w.call(a, loop, c.at, echo, "connected")
		w.wantText(resp, err, "connected")
		late := w.outlast(a, loop, c)
		reply := w.takeKept(c)
		w.on(c.loop, func() { reply(&response{Data: []byte("too late")}, nil) })
		resp, err = w.call(a, loop, c.at, echo, "after the late answer")
		w.wantText(resp, err, "after the late answer")
		w.wantOnce(loop, late)
	}
}

// outlast makes a call of Keep that comes to the callee and ends there without an
// answer. A call whose time is up before it was sent never comes; then the next
// one gets more time.
func (w *world) outlast(from rpc.System, loop actor.Loop, c *callee) (late *result) {
	for limit := 20 * time.Millisecond; limit < long; limit *= 2 {
		late = w.start(from, loop, c.at, keep, ident.LeaderID{}, "", limit)
		_, err := w.await(late)
		w.wantError(err, rpc.ErrTimeout, keep.Name, c.at.String())
		resp, err := w.call(from, loop, c.at, echo, "what was sent before has come")
		w.wantText(resp, err, "what was sent before has come")
		if len(c.kept) > 0 {
			return late
		}
	}
	w.Fatal("no call came to the callee within its time")
	return nil
}

func order(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	const calls = 300
	c := w.serve(b, "blob")
	loops := []string{"x", "y", "z"}
	var results [][]*result
	for _, name := range loops {
		loop := w.h.Loop(w, name)
		var mine []*result
		for i := range calls { // the first ones wait for the connection
			mine = append(mine, w.start(a, loop, c.at, echo, ident.LeaderID{}, numbered(name, i), long))
		}
		results = append(results, mine)
	}
	for l, mine := range results {
		for i, r := range mine {
			resp, err := w.await(r)
			w.wantText(resp, err, numbered(loops[l], i))
		}
	}
	w.on(c.loop, func() {
		next := map[string]int{}
		for _, text := range c.seen {
			from := text[:1]
			if want := numbered(from, next[from]); text != want {
				w.Errorf("call %s came where %s was next", text, want)
				return
			}
			next[from]++
		}
		if len(c.seen) != calls*len(loops) {
			w.Errorf("%d calls were executed", len(c.seen))
		}
	})
}

func withdrawn(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	for _, sys := range []rpc.System{a, b} {
		c := w.serve(sys, "blob")
		open := w.start(a, loop, c.at, keep, ident.LeaderID{}, "", long)
		reply := w.takeKept(c)
		var queued *result
		w.on(c.loop, func() { sys.Withdraw("blob") })
		_, err := w.await(open)
		w.wantError(err, rpc.ErrUnknownEndpoint, keep.Name, c.at.String())
		w.on(c.loop, func() { reply(&response{}, nil) }) // nobody waits for it
		queued = w.start(a, loop, c.at, echo, ident.LeaderID{}, "", long)
		_, err = w.await(queued)
		w.wantError(err, rpc.ErrUnknownEndpoint, echo.Name, c.at.String())
		w.wantOnce(loop, open, queued)

		again := w.serve(sys, "blob")
		resp, err := w.call(a, loop, again.at, echo, "again")
		w.wantText(resp, err, "again")
		w.on(again.loop, func() { sys.Withdraw("blob") })
	}
}

func processGone(w *world) {
	a, _ := w.h.Process(w)
	b, kill := w.h.Process(w)
	c, loop := w.serve(b, "blob"), w.h.Loop(w, "caller")
	lost := make(chan struct{})
	times := 0 // touched only on the loop
	a.Watch(loop, b.Self(), func(cause error) {
		if cause == nil || !strings.Contains(cause.Error(), b.Self()) {
			w.Errorf("lost for the cause %v", cause)
		}
		times++
		close(lost)
	})
	stop := a.Watch(loop, b.Self(), func(error) { w.Error("a watch that was stopped fired") })
	open := w.start(a, loop, c.at, keep, ident.LeaderID{}, "", long)
	w.takeKept(c)
	w.on(loop, stop)

	kill()
	_, err := w.await(open)
	w.wantError(err, rpc.ErrDisconnected, keep.Name, c.at.String())
	w.wantError(err, rpc.ErrUnreachable)
	w.h.Wait(w, lost)
	for range 3 {
		_, err = w.call(a, loop, c.at, echo, "")
		w.wantError(err, rpc.ErrUnreachable, echo.Name, c.at.String())
		if errors.Is(err, rpc.ErrDisconnected) {
			w.Errorf("a call that was never sent: %v", err)
		}
	}
	w.wantOnce(loop, open)
	w.on(loop, func() {
		if times != 1 {
			w.Errorf("lost %d times", times)
		}
	})
}

func neverThere(w *world) {
	a, _ := w.h.Process(w)
	b, kill := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	kill()
	a.Watch(loop, b.Self(), func(err error) { w.Errorf("lost a process that was never reached: %v", err) })
	for range 3 {
		_, err := w.call(a, loop, rpc.Address{Process: b.Self(), Endpoint: "blob"}, echo, "")
		w.wantError(err, rpc.ErrUnreachable, echo.Name, b.Self())
	}
	w.on(loop, func() {})
}

func callerGone(w *world) {
	a, kill := w.h.Process(w)
	b, _ := w.h.Process(w)
	c, loop := w.serve(b, "blob"), w.h.Loop(w, "caller")
	local := w.serve(a, "blob")
	open := w.start(a, loop, c.at, keep, ident.LeaderID{}, "", long)
	inside := w.start(a, loop, local.at, keep, ident.LeaderID{}, "", long)
	reply := w.takeKept(c)
	w.takeKept(local)
	kill()
	for _, r := range []*result{open, inside} {
		_, err := w.await(r)
		w.wantError(err, rpc.ErrUnreachable, keep.Name)
	}
	w.on(c.loop, func() { reply(&response{}, nil) })
	_, err := w.call(a, loop, c.at, echo, "")
	w.wantError(err, rpc.ErrUnreachable, echo.Name)
	w.wantOnce(loop, open, inside)
}

func tooLarge(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	loop := w.h.Loop(w, "caller")
	large := strings.Repeat("x", rpc.MaxMessage)
	for _, sys := range []rpc.System{a, b} {
		c := w.serve(sys, "blob")
		_, err := w.call(a, loop, c.at, echo, large)
		w.wantError(err, nil, "request of "+echo.Name, "67108869 bytes", "67108864")
		_, err = w.call(a, loop, c.at, huge, "")
		w.wantError(err, nil, "answer of "+huge.Name, "67108869 bytes", "67108864")
		resp, err := w.call(a, loop, c.at, echo, "small")
		w.wantText(resp, err, "small")
	}
}

// passedOn has a callee answer with what another process answered, as a
// TaskExecutor does for its workers.
func passedOn(w *world) {
	a, _ := w.h.Process(w)
	b, _ := w.h.Process(w)
	c, _ := w.h.Process(w)
	last, loop, middle := w.serve(c, "blob"), w.h.Loop(w, "caller"), w.h.Loop(w, "middle")
	mux := &rpc.Mux{}
	rpc.Handle(mux, echo, func(q *request, reply func(*response, error)) {
		echo.Call(b, middle, last.at, ident.LeaderID{}, q, long, reply)
	})
	rpc.Handle(mux, fail, func(q *request, reply func(*response, error)) {
		fail.Call(b, middle, last.at, ident.LeaderID{}, q, long, reply)
	})
	b.Serve("middle", middle, mux)
	at := rpc.Address{Process: b.Self(), Endpoint: "middle"}
	resp, err := w.call(a, loop, at, echo, "through")
	w.wantText(resp, err, "through")
	w.on(last.loop, func() { last.fail = rpc.Refuse("no") })
	_, err = w.call(a, loop, at, fail, "")
	w.wantError(err, nil)
	if err != nil && err.Error() != "no" {
		w.Errorf("refused with %q", err)
	}
}
