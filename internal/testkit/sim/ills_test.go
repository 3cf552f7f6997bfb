package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

func TestAClockThatJumpsRunsItsTimersInTheirOrder(t *testing.T) {
	w := New(1)
	p, other := w.Start("a"), w.Start("b")
	l := p.Loop("x")
	var ran []string
	note := func(what string) func() {
		return func() { ran = append(ran, fmt.Sprint(what, " ", l.Now().Sub(Epoch).Round(time.Second))) }
	}
	w.At(time.Second, "begin", func() {
		l.After(40*time.Second, note("late"))
		l.After(20*time.Second, note("second"))
		l.After(10*time.Second, note("first"))
		other.Loop("y").After(15*time.Second, note("other's"))
	})
	w.At(5*time.Second, "jump", func() { p.Jump(30 * time.Second) })
	w.RunUntil(time.Minute)
	want := []string{"first 35s", "second 35s", "late 41s", "other's 46s"}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if w.Now() != time.Minute {
		t.Errorf("the world is at %s", w.Now())
	}
}

func TestAClockThatGoesFast(t *testing.T) {
	w := New(1)
	p := w.Start("a")
	l := p.Loop("x")
	p.Drift(1) // twice as fast
	var at time.Duration
	l.After(10*time.Second, func() { at = w.Now() })
	w.RunUntil(time.Minute)
	if at != 5*time.Second || l.Now().Sub(Epoch) != 2*time.Minute {
		t.Errorf("10 s were over at %s; after a minute it shows %s", at, l.Now().Sub(Epoch))
	}
}

func TestTheTimeInWhichAProcessIsFrozen(t *testing.T) {
	w := New(1)
	p := w.Start("a")
	awake := func(at, want time.Duration) {
		w.RunUntil(at)
		if got := p.Awake(); got != want {
			t.Errorf("at %s it was awake for %s, want %s", at, got, want)
		}
	}
	awake(5*time.Second, 5*time.Second)
	p.Freeze(10 * time.Second)
	awake(8*time.Second, 5*time.Second)
	p.Freeze(2 * time.Second) // it is frozen for longer
	p.Freeze(9 * time.Second) // 2 s longer
	awake(17*time.Second, 5*time.Second)
	awake(20*time.Second, 8*time.Second)
}

func TestASlowDisk(t *testing.T) {
	w := New(1)
	p := w.Start("a")
	l := p.Loop("x")
	var done time.Duration
	p.SlowDisk(time.Minute, time.Minute, time.Second)
	l.Go(func() {}, func() { done = w.Now() })
	p.FailDisk(time.Second)
	if !p.DiskFails() {
		t.Error("the disk does not fail")
	}
	if left := p.HealDisk(); left < time.Minute || p.DiskFails() {
		t.Errorf("healed, with %s left; fails: %v", left, p.DiskFails())
	}
	w.RunUntil(2 * time.Minute)
	if done < time.Minute || done > time.Minute+3*time.Second {
		t.Errorf("the work was done at %s", done)
	}
}

// called is one process that calls another n times, and what came of it.
func called(t *testing.T, n int, prepare func(w *World)) (answered, executed []int, hits map[string]int) {
	t.Helper()
	w := New(7)
	hits = map[string]int{}
	w.SetWeather(Weather{Hit: func(kind, _ string) { hits[kind]++ }})
	a, b := w.Start("a"), w.Start("b")
	from, at := a.Loop("from"), b.Loop("at")
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.FreeSlot, func(q *pb.FreeSlotRequest, reply func(*pb.Empty, error)) {
		var i int
		fmt.Sscan(q.Cause, &i)
		executed = append(executed, i)
		reply(&pb.Empty{}, nil)
	})
	b.System().Serve("e", at, mux)
	prepare(w)
	from.Post(func() {
		for i := range n {
			gateway.FreeSlot.Call(a.System(), from, rpc.Address{Process: "sim:b", Endpoint: "e"}, ident.LeaderID{}, &pb.FreeSlotRequest{Cause: fmt.Sprint(i)}, time.Minute,
				func(_ *pb.Empty, err error) {
					if err == nil {
						answered = append(answered, i)
					}
				})
		}
	})
	w.RunUntil(2 * time.Minute)
	return answered, executed, hits
}

func TestAnswersThatAreLostWereExecuted(t *testing.T) {
	answered, executed, hits := called(t, 20, func(w *World) { w.LoseAnswers(gateway.FreeSlot.Name, 1) })
	if len(answered) != 0 || len(executed) != 20 || hits["lost answer"] != 20 {
		t.Errorf("%d answered, %d executed, hits %v", len(answered), len(executed), hits)
	}
}

func TestJitterKeepsTheOrderThatIsPromised(t *testing.T) {
	answered, executed, hits := called(t, 50, func(w *World) { w.Jitter(time.Second) })
	if len(answered) != 50 || slices.IsSorted(answered) || !slices.IsSorted(executed) || len(executed) != 50 {
		t.Errorf("answered %v, executed %v", answered, executed)
	}
	if hits["overtaking answer"] == 0 || hits["overtaking call"] != 0 {
		t.Errorf("hits %v", hits)
	}
}

func TestAClogIsOneWay(t *testing.T) {
	w := New(3)
	w.Clog("a", "b", time.Hour, time.Hour)
	n := &w.net
	if d := n.ail(link{"sim:a", "sim:b"}, false); d != time.Hour {
		t.Errorf("there: %s", d)
	}
	if d := n.ail(link{"sim:b", "sim:a"}, false) + n.ail(link{"sim:a", "sim:b"}, true); d != 0 {
		t.Errorf("back, and on one machine: %s", d)
	}
	w.Unclog("a", "b")
	if d := n.ail(link{"sim:a", "sim:b"}, false); d != 0 {
		t.Errorf("after the end: %s", d)
	}
}
