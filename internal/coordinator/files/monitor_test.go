package files

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// clock is a loop whose time moves when it is told.
type clock struct {
	still
	now    time.Duration
	timers []*timer
}

type timer struct {
	at      time.Duration
	f       func()
	stopped bool
}

func (t *timer) Stop() { t.stopped = true }

func (l *clock) Go(work, then func()) { l.Post(func() { work(); then() }) }

func (l *clock) After(d time.Duration, f func()) actor.Timer {
	t := &timer{at: l.now + d, f: f}
	l.timers = append(l.timers, t)
	return t
}

// advance moves time by d, timer by timer.
func (l *clock) advance(d time.Duration) {
	end := l.now + d
	for l.run(); ; l.run() {
		i := -1
		for j, t := range l.timers {
			if t.at <= end && (i < 0 || t.at < l.timers[i].at) {
				i = j
			}
		}
		if i < 0 {
			break
		}
		t := l.timers[i]
		l.timers = slices.Delete(l.timers, i, i+1)
		if l.now = t.at; !t.stopped {
			t.f()
		}
	}
	l.now = end
}

// growing is a source over a directory that grows; names and sizes are there.
type growing struct {
	*source
	clock *clock
	there []Found
	err   error
}

func grow(t *testing.T) *growing {
	g := &growing{source: &source{t: t}, clock: &clock{}}
	c, err := Factory(func(string) ([]Found, error) { return g.there, g.err })(coordinator.Context{
		Loop: g.clock, Name: "Source", Parallelism: 2, Spec: `{"patterns":["in"],"splitBytes":10,"monitorMillis":1000}`,
		Fail: func(err error) { g.failed = err }, Sized: func(splits int, bytes int64) { g.sized = fmt.Sprint(splits, bytes) }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	g.c = c
	return g
}

// begin asks and gives the answer as it comes: also "later".
func (g *growing) begin(subtask, attempt int, sequence int64) *string {
	answer := "waits"
	request, _ := json.Marshal(split.Request{Sequence: sequence})
	g.c.HandleRequest(subtask, attempt, request, func(payload []byte, err error) {
		var response split.Response
		switch {
		case err != nil:
			answer = err.Error()
		case json.Unmarshal(payload, &response) != nil || response.Done:
			answer = "unexpected: " + string(payload)
		case response.Later:
			answer = "later"
		default:
			answer = show(response.Split)
		}
	})
	return &answer
}

func TestADirectoryGrows(t *testing.T) {
	g := grow(t)
	g.c.Start()
	first := g.begin(0, 0, 1)
	g.clock.advance(time.Second)
	g.expect("nothing is there", first, "waits")
	g.there = []Found{{"in/b", 4}, {"in/.tmp", 3}, {"in/_tmp", 3}, {"in/empty", 0}, {"in/large", 20}}
	g.clock.advance(time.Second)
	g.expect("then", first, "in/b[0+4]")
	g.expect("the next", g.begin(1, 0, 1), "in/large[0+10]")
	g.expect("the next", g.begin(1, 0, 2), "in/large[10+10]")
	second, other := g.begin(0, 0, 2), g.begin(1, 0, 3)
	again := g.begin(0, 0, 2) // the answer may have been lost
	g.there = append(g.there, Found{"in/a", 5})
	g.clock.advance(time.Second)
	if s, is := g.c.(coordinator.Sizing); !is || s.Sizing() || g.sized != "" {
		t.Errorf("the size of a directory that grows: %q", g.sized)
	}
	g.expect("a new one", second, "in/a[0+5]")
	g.expect("a new one once more", again, "in/a[0+5]")
	g.expect("for the other", other, "waits")
	g.clock.advance(4 * time.Second)
	g.expect("after a while", other, "later")
	late := g.begin(1, 0, 4)
	g.c.SubtaskFailed(1, 0)
	g.expect("of one that has failed", late, "attempt 0 of subtask 1 has ended")
	g.c.Reset(1)
	g.expect("what was taken back", g.begin(0, 0, 3), "in/large[0+10]")
	last := g.begin(0, 0, 4)
	g.expect("what was taken back", last, "in/large[10+10]")
	last = g.begin(0, 0, 5)
	g.c.Close()
	g.expect("at the end", last, "the job has ended")
	g.clock.advance(time.Hour)
	if g.failed != nil {
		t.Error(g.failed)
	}
}

// A checkpoint has which files have been found; those found since are found again.
func TestADirectoryGoesBackToACheckpoint(t *testing.T) {
	g := grow(t)
	c := g.c.(coordinator.Stateful)
	g.there = []Found{{"in/a", 1}, {"in/b", 10}}
	g.c.Start()
	g.clock.advance(0)
	g.expect("first", g.begin(0, 0, 1), "in/a[0+1]")
	state, err := c.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	g.expect("second", g.begin(0, 0, 2), "in/b[0+10]")
	g.there = append(g.there, Found{"in/c", 9})
	g.clock.advance(time.Second)
	g.expect("third", g.begin(0, 0, 3), "in/c[0+9]")
	for name, restored := range map[string]*growing{"the same": g, "a new master": grow(t)} {
		restored.there = g.there
		if err := restored.c.(coordinator.Stateful).Restore(state); err != nil {
			t.Fatal(err)
		}
		restored.expect(name+", second", restored.begin(0, 1, 1), "in/b[0+10]")
		waits := restored.begin(0, 1, 2)
		restored.clock.advance(time.Second)
		restored.expect(name+", third", waits, "in/c[0+9]")
		waits = restored.begin(0, 1, 3)
		restored.clock.advance(3 * time.Second)
		restored.expect(name+", then", waits, "waits")
	}
}

func TestFilesThatChangeOrGo(t *testing.T) {
	g := grow(t)
	g.there = []Found{{"in/a", 1}}
	g.c.Start()
	g.clock.advance(0)
	g.expect("first", g.begin(0, 0, 1), "in/a[0+1]")
	waits := g.begin(0, 0, 2)
	g.there = nil
	g.clock.advance((forgetAfter - 1) * time.Second)
	g.there = []Found{{"in/a", 1}}
	g.clock.advance(time.Second)
	g.expect("one that was missed", waits, "waits")
	g.there = nil
	g.clock.advance(forgetAfter * time.Second)
	g.there = []Found{{"in/a", 2}}
	waits = g.begin(0, 0, 3)
	g.clock.advance(time.Second)
	g.expect("one that was gone", waits, "in/a[0+2]")
	g.there = []Found{{"in/a", 3}}
	g.clock.advance(time.Second)
	if g.failed == nil || !strings.Contains(g.failed.Error(), "file in/a had 2 bytes when it was found and has 3 now") {
		t.Errorf("one that has grown: %v", g.failed)
	}
}

func TestTooManyFiles(t *testing.T) {
	g := grow(t)
	for i := range maxSeen + 1 {
		g.there = append(g.there, Found{fmt.Sprint("in/", i), 1})
	}
	g.c.Start()
	g.clock.advance(0)
	if g.failed == nil || !strings.Contains(g.failed.Error(), "hold 131073 files, and at most 131072") {
		t.Errorf("got %v", g.failed)
	}
}

// A directory that cannot be listed for a while is listed again when the job goes on.
func TestALookFails(t *testing.T) {
	g := grow(t)
	g.there = []Found{{"in/a", 1}}
	g.c.Start()
	g.clock.advance(0)
	g.err = errors.New("stale file handle")
	g.clock.advance(time.Second)
	if g.failed == nil || !strings.Contains(g.failed.Error(), "stale file handle") {
		t.Fatalf("got %v", g.failed)
	}
	g.err = nil
	g.there = append(g.there, Found{"in/b", 1})
	g.c.Reset(0)
	g.c.Reset(1)
	g.clock.advance(0)
	g.expect("after it", g.begin(0, 1, 1), "in/a[0+1]")
	g.expect("after it", g.begin(0, 1, 2), "in/b[0+1]")
}
