package splits

import (
	"encoding/json/v2"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/splits/message"
)

// loop is a loop whose timers run when it is told.
type loop struct{ timers []func() }

func (l *loop) Post(f func())            { f() }
func (l *loop) Go(work func(), _ func()) { panic("there is nothing to do beside the loop") }
func (l *loop) Now() time.Time           { panic("no clock is needed") }
func (l *loop) Rand() *rand.Rand         { panic("nothing is random") }
func (l *loop) After(_ time.Duration, f func()) actor.Timer {
	l.timers = append(l.timers, f)
	return stopped{}
}

type stopped struct{}

func (stopped) Stop() {}

// expire runs all timers.
func (l *loop) expire() {
	all := l.timers
	l.timers = nil
	for _, f := range all {
		f()
	}
}

type world struct {
	t    *testing.T
	loop loop
	coordinator.Stateful
}

func newWorld(t *testing.T, spec string) *world {
	t.Helper()
	w := &world{t: t}
	c, err := Factory(coordinator.Context{Loop: &w.loop, Spec: spec, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w.Stateful = c.(coordinator.Stateful)
	w.Start()
	return w
}

// send gives the answer as it comes.
func (w *world) send(subtask, attempt int, r message.Request) *string {
	answer := "waits"
	request, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.HandleRequest(subtask, attempt, request, func(payload []byte, err error) {
		var r message.Response
		switch {
		case err != nil:
			answer = err.Error()
		case json.Unmarshal(payload, &r) != nil:
			answer = "broken: " + string(payload)
		case r.Later:
			answer = "later"
		case r.Data != nil:
			answer = string(r.Data)
		default:
			answer = fmt.Sprintf("state %s, done %v", r.State, r.Done)
		}
	})
	return &answer
}

func (w *world) next(subtask, attempt int, sequence int64) *string {
	return w.send(subtask, attempt, message.Request{Sequence: sequence, Parallelism: 2})
}

func (w *world) begin(attempt int, sequence int64) *string {
	return w.send(0, attempt, message.Request{Sequence: sequence, Begin: true})
}

func (w *world) found(attempt int, sequence int64, done bool, state string, splits ...string) *string {
	f := &message.Found{State: []byte(state), Done: done}
	for _, s := range splits {
		f.Splits = append(f.Splits, message.Split{ID: s, Data: []byte(s)})
	}
	return w.send(0, attempt, message.Request{Sequence: sequence, Found: f})
}

func (w *world) expect(what string, got *string, want string) {
	w.t.Helper()
	if *got != want && !(want != "" && strings.HasPrefix(*got, want)) {
		w.t.Errorf("%s: got %q, want %q", what, *got, want)
	}
}

func TestSplitsAreHandedOut(t *testing.T) {
	w := newWorld(t, "{}")
	early := w.next(1, 0, 1)
	w.expect("before any is found", early, "waits")
	w.expect("the enumerator begins", w.begin(0, 1), "state , done false")
	w.expect("the enumerator tells", w.found(0, 2, false, "2", "a", "b"), "state , done false")
	w.expect("it tells again", w.found(0, 2, false, "2", "a", "b"), "state , done false")
	w.expect("then", early, "a")
	w.expect("again", w.next(1, 0, 1), "a")
	w.expect("the next", w.next(0, 0, 1), "b")
	late := w.next(0, 0, 2)
	w.loop.expire()
	w.expect("for a while", late, "later")
	late = w.next(0, 0, 3)
	w.expect("one of another subtask", w.send(1, 0, message.Request{Sequence: 9, Begin: true}), "subtask 1 tells of splits")
	w.SubtaskFailed(0, 0)
	w.expect("who has failed", late, "attempt 0 of subtask 0 has ended")
	w.Reset(0)
	w.expect("the next enumerator", w.begin(1, 1), "state 2, done false")
	w.expect("the one before", w.found(0, 3, false, "3", "c"), "request 3 of the enumerator of attempt 0 comes after")
	w.expect("what was taken back", w.next(1, 0, 2), "b")
	last, other := w.next(0, 1, 1), w.next(1, 0, 3)
	w.found(1, 2, true, "3", "c")
	w.expect("the last", last, "c")
	w.expect("nothing more", other, "state , done true")
	w.expect("an old request", w.next(1, 0, 2), "request 2 of attempt 0 of subtask 1 comes after")
	w.Close()
	w.expect("at the end", w.next(1, 0, 4), "the job has ended")
}

// What has been found and the enumerator's state go back together.
func TestSplitsGoBackToACheckpoint(t *testing.T) {
	w := newWorld(t, "{}")
	w.begin(0, 1)
	w.found(0, 2, false, "3", "a", "b", "c")
	w.expect("before", w.next(0, 0, 1), "a")
	state, err := w.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	w.expect("after", w.next(0, 0, 2), "b")
	w.expect("the other", w.next(1, 0, 1), "c")
	w.found(0, 3, true, "4", "d")
	w.ResetTo(0, 1)
	w.expect("one subtask has gone back", w.next(0, 1, 1), "b")
	w.expect("the enumerator has not", w.begin(1, 1), "state 4, done true")
	for name, restored := range map[string]*world{"the same": w, "a new master": newWorld(t, "{}")} {
		if err := restored.Restore(state); err != nil {
			t.Fatal(err)
		}
		restored.expect(name+", an enumerator of before", restored.found(1, 2, true, "9", "x"), "request 2 of the enumerator of attempt 1 comes after")
		restored.expect(name+", the enumerator", restored.begin(2, 1), "state 3, done false")
		restored.expect(name+", the first", restored.next(1, 2, 1), "b")
		if _, err := restored.Snapshot(2); err != nil {
			t.Fatal(err)
		}
		restored.Completed(2)
		restored.expect(name+", the second", restored.next(1, 2, 2), "c")
		restored.ResetTo(1, 2)
		restored.expect(name+", the second again", restored.next(1, 3, 1), "c")
	}
	if err := w.Restore([]byte("{")); err == nil {
		t.Error("a damaged state was restored")
	}
}

// A split whose place is fixed is given to one subtask only, and each gets some.
func TestSplitsAreSpread(t *testing.T) {
	w := newWorld(t, `{"spread":true}`)
	w.begin(0, 1)
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprint("split ", i))
	}
	w.found(0, 2, true, "", all...)
	got := map[string]bool{}
	for subtask := range 2 {
		n := int64(1)
		for ; ; n++ {
			answer := *w.next(subtask, 0, n)
			if !strings.HasPrefix(answer, "split ") {
				break
			}
			got[answer] = true
		}
		if n < 5 {
			t.Errorf("subtask %d has got %d", subtask, n-1)
		}
	}
	if len(got) != len(all) {
		t.Errorf("%d splits were given", len(got))
	}
}

func TestTooManySplits(t *testing.T) {
	w := newWorld(t, "{}")
	w.begin(0, 1)
	w.expect("too many", w.found(0, 2, false, "", make([]string, maxFree+1)...), "131073 splits are found")
	w.expect("without a number", w.send(0, 0, message.Request{}), "the number of a request is 0")
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"sequence":1}`))
	f.Add([]byte(`{"sequence":1,"begin":true}`))
	f.Add([]byte(`{"sequence":1,"found":{"splits":[{"id":"a","data":"YQ=="}],"done":true}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		w := newWorld(t, "{}")
		w.begin(0, 1)
		answered := 0
		w.HandleRequest(0, 0, payload, func([]byte, error) { answered++ })
		w.loop.expire()
		if answered != 1 {
			t.Errorf("answered %d times", answered)
		}
	})
}
