package actor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestLettersRunInOrderAndNeverOverlap(t *testing.T) {
	r := Start("test")
	defer r.Close()
	const senders, letters = 8, 1000
	running := 0 // the race detector sees an overlap
	last := make([]int, senders)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := 1; i <= letters; i++ {
				r.Post(func() {
					running++
					if last[s] != i-1 {
						t.Errorf("sender %d: letter %d came after letter %d", s, i, last[s])
					}
					last[s] = i
					running--
				})
			}
		})
	}
	wg.Wait()
	total, err := Query(t.Context(), r, func() (n int) {
		for _, l := range last {
			n += l
		}
		return n + running
	})
	if total != senders*letters || err != nil {
		t.Fatalf("%d letters, error %v", total, err)
	}
}

func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := StartSeeded("test", 1)
		defer r.Close()
		start := time.Now()
		var ran []string
		note := func(what string) func() {
			return func() { ran = append(ran, what+"@"+r.Now().Sub(start).String()) }
		}
		r.Post(func() {
			r.After(2*time.Second, note("late"))
			r.After(time.Second, note("first"))
			var victim Timer
			r.After(time.Second, func() { note("second")(); victim.Stop() })
			victim = r.After(time.Second, note("stopped by its neighbour"))
			r.After(time.Minute, note("stopped early")).Stop()
			r.After(0, func() {
				note("at once")()
				r.After(-time.Second, note("in the past"))
			})
		})
		time.Sleep(time.Hour)
		got, _ := Query(t.Context(), r, func() string { return strings.Join(ran, " ") })
		if want := "at once@0s in the past@0s first@1s second@1s late@2s"; got != want {
			t.Errorf("ran %s\nwant %s", got, want)
		}
	})
}

// A timer that makes another one that is due at once must not keep letters out.
func TestTimersDoNotStarveLetters(t *testing.T) {
	r := Start("test")
	defer r.Close()
	var again func()
	again = func() { r.After(0, again) }
	r.Post(again)
	for range 100 {
		if _, err := Query(t.Context(), r, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoComesBackToTheLoop(t *testing.T) {
	r := Start("test")
	defer r.Close()
	state := 0
	got, err := Ask(t.Context(), r, func(reply func(int)) {
		var found int
		r.Go(func() { found = 41 }, func() {
			state = found + 1
			reply(state)
		})
	})
	if got != 42 || err != nil {
		t.Fatal(got, err)
	}
}

func TestNothingRunsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start("test")
		release := make(chan struct{})
		var wrong, finished bool
		r.Post(func() {
			r.After(time.Second, func() { wrong = true })
			r.Go(func() { <-release; finished = true }, func() { wrong = true })
			r.Post(func() { wrong = true })
			r.Stop() // on the loop: the letter above must not run
			r.Go(func() { wrong = true }, func() { wrong = true })
		})
		<-r.Done()
		go func() { time.Sleep(time.Minute); close(release) }()
		r.Close()
		if !finished {
			t.Error("Close did not wait for the work beside the loop")
		}
		r.Post(func() { wrong = true })
		time.Sleep(time.Minute)
		if wrong {
			t.Error("something ran after Stop")
		}
		if _, err := Query(t.Context(), r, func() int { return 0 }); !errors.Is(err, ErrStopped) {
			t.Errorf("query of a stopped loop: %v", err)
		}
		r.Close() // twice is fine
	})
}

func TestAskEndsWithItsContext(t *testing.T) {
	r := Start("test")
	defer r.Close()
	impatient := errors.New("impatient")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Ask(ctx, r, func(reply func(int)) { cancel(impatient) })
	if !errors.Is(err, impatient) {
		t.Errorf("got %v", err)
	}
}

func TestRandomnessFollowsTheSeed(t *testing.T) {
	draw := func(r *Real) uint64 {
		defer r.Close()
		v, err := Query(t.Context(), r, func() uint64 { return r.Rand().Uint64() })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if a, b := draw(StartSeeded("a", 7)), draw(StartSeeded("b", 7)); a != b {
		t.Errorf("seed 7 gave %d and %d", a, b)
	}
	if a, b := draw(Start("a")), draw(Start("b")); a == b {
		t.Errorf("two loops drew %d", a)
	}
}

// A panic must end the process and name the loop; the child of this test is the
// process that ends.
func TestAPanicNamesTheLoop(t *testing.T) {
	if where := os.Getenv("WEIR_TEST_PANIC"); where != "" {
		r := Start("dispatcher")
		if where == "loop" {
			r.Post(func() { panic("boom") })
		} else {
			r.Post(func() { r.Go(func() { panic("boom") }, func() {}) })
		}
		select {}
	}
	for where, want := range map[string]string{
		"loop": "loop dispatcher: boom",
		"work": "work beside loop dispatcher: boom",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAPanicNamesTheLoop$")
		cmd.Env = append(os.Environ(), "WEIR_TEST_PANIC="+where)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "TestAPanicNamesTheLoop") {
			t.Errorf("panic in %s: %v\n%s", where, err, out)
		}
	}
}

func TestALongCallbackIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start("test")
		defer r.Close()
		var told []time.Duration
		r.WarnAfter(time.Second, func(took time.Duration) { told = append(told, took) })
		r.Post(func() { time.Sleep(time.Second) })
		r.Post(func() { time.Sleep(2 * time.Second) })
		r.Post(func() { r.After(time.Minute, func() { time.Sleep(3 * time.Second) }) })
		time.Sleep(2 * time.Minute)
		got, err := Query(t.Context(), r, func() []time.Duration { return told })
		if err != nil || len(got) != 2 || got[0] != 2*time.Second || got[1] != 3*time.Second {
			t.Errorf("told of %v, error %v", got, err)
		}
	})
}

func TestWorkThatHangsIsNotWaitedForAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start("test")
		hangs := make(chan struct{})
		r.Post(func() { r.Go(func() { <-hangs }, func() { t.Error("work goes on after the end") }) })
		synctest.Wait()
		began := time.Now()
		if err := r.CloseWithin(time.Minute); err == nil || time.Since(began) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		close(hangs)
		if err := r.CloseWithin(time.Minute); err != nil {
			t.Error(err)
		}
	})
}
