package sim_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/rpc/rpctest"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// TestMain lets the collector run rarely: a world is small, and each event makes
// garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	leaks.Main(m)
}

// The simulated network keeps the promises of every rpc.System, in many orders.
func TestNetwork(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := sim.New(seed)
			bystander, processes := w.Start("bystander"), 0
			rpctest.Run(t, rpctest.Harness{
				Process: func(testing.TB) (rpc.System, func()) {
					processes++
					p := w.Start(fmt.Sprint("process", processes))
					return p.System(), func() { p.Crash(false) }
				},
				Loop: func(_ testing.TB, name string) actor.Loop { return bystander.Loop(name) },
				Wait: func(t testing.TB, done <-chan struct{}) {
					t.Helper()
					for {
						select {
						case <-done:
							return
						default:
						}
						if !w.Step() {
							t.Fatal("nothing more happens in the world")
						}
					}
				},
			})
		})
	}
}

func TestLoop(t *testing.T) {
	w := sim.New(1)
	p := w.Start("p")
	loop, other := p.Loop("loop"), p.Loop("other")
	var ran []string
	start := loop.Now()
	note := func(what string) func() {
		return func() { ran = append(ran, what+"@"+loop.Now().Sub(start).String()) }
	}
	loop.Post(func() {
		loop.After(2*time.Second, note("late"))
		loop.After(time.Second, note("first"))
		var victim actor.Timer
		loop.After(time.Second, func() { note("second")(); victim.Stop() })
		victim = loop.After(time.Second, note("stopped by its neighbour"))
		loop.After(time.Minute, note("stopped early")).Stop()
		loop.Post(note("letter 1"))
		loop.Post(note("letter 2"))
		loop.After(time.Hour, func() { loop.Post(note("after its end")); loop.Stop(); other.Post(note("end")) })
	})
	for w.Step() {
	}
	if got, want := strings.Join(ran, " "), "letter 1@0s letter 2@0s first@1s second@1s late@2s end@1h0m0s"; got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
}

// What is not promised to be in order comes in different orders.
func TestSeedsDiffer(t *testing.T) {
	run := func(seed uint64) (text string, hash uint64) {
		w := sim.New(seed)
		p := w.Start("p")
		for i := range 6 {
			p.Loop(fmt.Sprint(i)).Post(func() { text += fmt.Sprint(i) })
		}
		for w.Step() {
		}
		return text, w.Trace().Hash()
	}
	orders, hashes := map[string]bool{}, map[uint64]bool{}
	for seed := range uint64(20) {
		text, hash := run(seed)
		again, hashAgain := run(seed)
		if text != again || hash != hashAgain {
			t.Fatalf("seed %d gave %s, then %s", seed, text, again)
		}
		orders[text], hashes[hash] = true, true
	}
	if len(orders) < 15 || len(hashes) != len(orders) {
		t.Errorf("20 seeds gave %d orders and %d hashes", len(orders), len(hashes))
	}
}

// Calls that arrive arrive in order and once, whatever happens on the way, and
// every one comes back.
func TestOrderInBadWeather(t *testing.T) {
	echo := rpc.Method[*pb.ReadBlobRequest, *pb.ReadBlobResponse]{Name: "Test/Echo"}
	for seed := range uint64(50) {
		w := sim.New(seed)
		w.SetWeather(sim.Weather{LoseCall: 0.1, LoseAnswer: 0.1, Slow: 0.2, SlowBy: 5 * time.Second})
		a, b := w.Start("a"), w.Start("b")
		loop := a.Loop("caller")
		const calls = 200
		var seen []int64
		answered := 0
		mux := &rpc.Mux{}
		rpc.Handle(mux, echo, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
			seen = append(seen, q.Offset)
			reply(&pb.ReadBlobResponse{}, nil)
		})
		b.System().Serve("echo", b.Loop("callee"), mux)
		for i := range int64(calls) {
			w.At(time.Duration(i)*100*time.Millisecond, "call", func() {
				loop.Post(func() {
					echo.Call(a.System(), loop, rpc.Address{Process: b.System().Self(), Endpoint: "echo"}, ident.LeaderID{},
						&pb.ReadBlobRequest{Offset: i}, 30*time.Second, func(*pb.ReadBlobResponse, error) { answered++ })
				})
			})
		}
		w.At(2*time.Second, "", func() { w.Cut("a", "b", true) })
		w.At(4*time.Second, "", func() { w.Heal("a", "b") })
		w.At(6*time.Second, "", func() { w.Cut("b", "a", false) })
		w.At(8*time.Second, "", func() { w.Heal("b", "a") })
		w.At(10*time.Second, "", func() { w.Reset("a", "b") })
		w.At(12*time.Second, "", func() { b.Freeze(3 * time.Second) })
		for w.Step() {
		}
		if answered != calls {
			t.Errorf("seed %d: %d of %d calls came back", seed, answered, calls)
		}
		if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) || len(seen) < calls/2 {
			t.Errorf("seed %d: %d calls arrived, in the order %v", seed, len(seen), seen)
		}
	}
}
