package collect

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

type answer struct {
	payload []byte
	err     error
	came    int
}

func (a *answer) take(payload []byte, err error) {
	a.payload, a.err = payload, err
	a.came++
}

func made(t *testing.T) *collector {
	t.Helper()
	c, err := Factory(coordinator.Context{})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*collector)
}

func (c *collector) give(attempt int, number int64, rows string, last bool) *answer {
	payload, _ := proto.Marshal(&pb.CollectedRows{Number: number, Rows: []byte(rows), Last: last})
	a := &answer{}
	c.HandleRequest(0, attempt, payload, a.take)
	return a
}

func (c *collector) read(from int64) *answer {
	payload, _ := proto.Marshal(&pb.CollectRequest{From: from})
	a := &answer{}
	c.Answer(payload, a.take)
	return a
}

func (a *answer) String() string {
	switch {
	case a.came == 0:
		return "waits"
	case a.err != nil:
		return "error"
	case a.payload == nil:
		return "ok"
	}
	m := &pb.CollectResponse{}
	if err := proto.Unmarshal(a.payload, m); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d%s %v", m.First, m.Rows, m.End)
}

func want(t *testing.T, what string, a *answer, text string) {
	t.Helper()
	if got := a.String(); got != text {
		t.Errorf("%s: got %s, want %s", what, got, text)
	}
}

func TestRowsReachTheClientInOrder(t *testing.T) {
	c := made(t)
	early := c.read(0)
	want(t, "before any row", early, "waits")
	want(t, "first batch", c.give(0, 0, "a", false), "ok")
	want(t, "then the reader", early, "0[a] false")
	want(t, "second", c.give(0, 1, "b", false), "ok")
	want(t, "second, again", c.give(0, 1, "b", false), "ok")
	want(t, "read again what was lost", c.read(0), "0[a b] false")
	last := c.give(0, 2, "", true)
	want(t, "the end waits", last, "waits")
	want(t, "read the end", c.read(1), "1[b] true")
	want(t, "the end has been read", last, "ok")
	c.Close()
	want(t, "after the end", c.read(2), "error")
}

func TestTheSinkWaitsForTheClient(t *testing.T) {
	c := made(t)
	full := c.give(0, 0, string(make([]byte, maxHeld)), false)
	want(t, "a batch that fills all", full, "waits")
	again := c.give(0, 0, string(make([]byte, maxHeld)), false)
	c.read(0)
	want(t, "given, but not known to have come", again, "waits")
	c.read(1)
	want(t, "there is room", again, "ok")
	want(t, "of the first request nobody knows any more", full, "waits")
	c.Close()
}

func TestRestart(t *testing.T) {
	c := made(t)
	var failed []error
	c.context.Fail = func(err error) { failed = append(failed, err) }
	c.give(0, 0, "a", false)
	c.Reset(0)
	want(t, "anew, before anybody has read", c.give(1, 0, "b", false), "ok")
	want(t, "the new attempt's", c.read(0), "0[b] false")
	pending := c.read(1)
	c.Reset(0)
	if !errors.Is(pending.err, ErrRestarted) {
		t.Errorf("reader after a restart: got %v", pending.err)
	}
	want(t, "anew, after", c.give(2, 0, "c", false), "error")
	if len(failed) != 1 || !errors.Is(failed[0], ErrRestarted) || !status.FailureOf(failed[0]).Fatal {
		t.Errorf("the job, which must not be restarted again and again: %v", failed)
	}
	want(t, "a gap", made(t).give(0, 3, "c", false), "error")
}

// Who asks for rows between the failure of an attempt and the next one's first rows is not
// given what the first has left.
func TestReadingBetweenTwoAttempts(t *testing.T) {
	for name, fail := range map[string]func(*collector){
		"the sink's task":  func(c *collector) { c.SubtaskFailed(0, 0) },
		"the whole job":    func(c *collector) { c.Reset(0) },
		"one after it all": func(c *collector) { c.give(0, 1, "", true); c.Reset(0) },
	} {
		c := made(t)
		c.give(0, 0, "a", false)
		fail(c)
		reading := c.read(0)
		want(t, name+" has failed", reading, "waits")
		want(t, name+" has failed, anew", c.give(1, 0, "b", false), "ok")
		want(t, name+" has failed, then the reader", reading, "0[b] false")
		c.SubtaskFailed(0, 0)
		want(t, name+" has failed, told late", c.read(0), "0[b] false")
	}
}

func TestEmptyResult(t *testing.T) {
	c := made(t)
	last := c.give(0, 0, "", true)
	want(t, "the end waits", last, "waits")
	want(t, "nothing", c.read(0), "0[] true")
	want(t, "the end has been read", last, "ok")
}

// looking is a loop that has nothing to do but to look.
type looking struct {
	actor.Loop
	look func()
}

func (l *looking) After(_ time.Duration, f func()) actor.Timer {
	l.look = f
	return l
}

func (l *looking) Stop() { l.look = nil }

func TestTheClientIsGone(t *testing.T) {
	loop := &looking{}
	var failed error
	made, err := Factory(coordinator.Context{Loop: loop, Fail: func(err error) { failed = err }})
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*collector)
	c.Start()
	alive, _ := proto.Marshal(&pb.CollectRequest{Alive: true})
	for range 3 { // it looks at what it has
		a := &answer{}
		c.Answer(alive, a.take)
		if a.err != nil || a.came != 1 {
			t.Errorf("alive: %+v", a)
		}
		loop.look()
		loop.look()
	}
	reading := c.read(0)
	for range looks {
		if failed != nil {
			t.Fatal(failed)
		}
		loop.look()
	}
	if failed != nil {
		t.Fatal("a request was heard of, and taken for none")
	}
	loop.look()
	if !errors.Is(failed, ErrGone) {
		t.Errorf("after %v: %v", Patience, failed)
	}
	want(t, "whoever has asked", reading, "waits")
	c.Close()
	if loop.look != nil {
		t.Error("it still looks after its end")
	}
}
