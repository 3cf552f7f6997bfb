package datagen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/connector"
)

// world runs generators in a time of its own.
type world struct {
	now   time.Time
	woken int
	got   []int64
	made  map[int64]uint64 // by number, what random gave
}

func (w *world) source(records, perSecond int64) Source[int64] {
	return Source[int64]{Records: records, PerSecond: perSecond, Seed: 7, Make: func(n int64, random *rand.Rand) int64 {
		drawn := random.Uint64()
		if before, again := w.made[n]; again && before != drawn {
			panic(fmt.Sprintf("record %d was made of %d and %d", n, before, drawn))
		}
		w.made[n] = drawn
		return n
	}}
}

func newWorld() *world { return &world{now: time.Unix(1000, 0), made: map[int64]uint64{}} }

func (w *world) open(t *testing.T, s Source[int64], subtask, parallelism int, splits [][]byte) connector.Reader {
	t.Helper()
	r, err := s.Open(connector.SourceContext{
		Subtask: subtask, Parallelism: parallelism, Restored: splits != nil, Now: func() time.Time { return w.now },
		Wake: func() {}, After: func(time.Duration, func() error) func() { w.woken++; return func() {} },
	}, connector.Output[int64]{Emit: func(v, _ int64) { w.got = append(w.got, v) }, Room: func() int { return 50 }, Count: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range splits {
		if err := r.Add(split); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func poll(t *testing.T, r connector.Reader) connector.Progress {
	t.Helper()
	p, err := r.Poll()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNumbersInOrder(t *testing.T) {
	w := newWorld()
	r := w.open(t, w.source(3000, 0), 0, 1, nil)
	for poll(t, r) != connector.Done {
	}
	if len(w.got) != 3000 || !slices.IsSorted(w.got) || w.got[2999] != 2999 {
		t.Errorf("%d numbers", len(w.got))
	}
}

// Wherever a checkpoint is taken, and at whatever parallelism it is gone on with,
// each number is emitted once, and its record is the same.
func TestEachNumberOnce(t *testing.T) {
	for _, from := range []int{1, 2, 3, 300} {
		for _, to := range []int{1, 2, 5, 300} {
			w := newWorld()
			s := w.source(20_000, 0)
			all := [][]byte{}
			for i := range from {
				r := w.open(t, s, i, from, nil)
				for range i % 3 {
					poll(t, r)
				}
				splits, err := r.Splits()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, splits...)
				before := len(w.got)
				poll(t, r) // is lost
				w.got = w.got[:before]
			}
			for i := range to {
				mine := all[i*len(all)/to : (i+1)*len(all)/to]
				r := w.open(t, s, i, to, append([][]byte{}, mine...))
				for poll(t, r) != connector.Done {
				}
			}
			slices.Sort(w.got)
			if len(w.got) != 20_000 || len(slices.Compact(w.got)) != 20_000 {
				t.Errorf("from %d to %d subtasks: %d numbers", from, to, len(w.got))
			}
		}
	}
}

func TestRate(t *testing.T) {
	for _, perSecond := range []int64{1, 10, 700, 100_000} {
		w := newWorld()
		s := w.source(0, perSecond)
		readers := []connector.Reader{w.open(t, s, 0, 2, nil), w.open(t, s, 1, 2, nil)}
		step := func(d time.Duration) {
			w.now = w.now.Add(d)
			for _, r := range readers {
				for poll(t, r) == connector.More {
				}
			}
		}
		for range 1000 {
			step(10 * time.Millisecond)
		}
		if got, want := int64(len(w.got)), 10*perSecond; got < want-2-perSecond/100 || got > want {
			t.Errorf("%d a second: %d in ten seconds", perSecond, got)
		}
		if w.woken == 0 {
			t.Errorf("%d a second: nobody is woken", perSecond)
		}
		before := int64(len(w.got))
		step(time.Hour)
		if got := int64(len(w.got)) - before; got > perSecond+1 {
			t.Errorf("%d a second: %d are caught up after a stall", perSecond, got)
		}
	}
}

func TestCheck(t *testing.T) {
	make := func(int64, *rand.Rand) int { return 0 }
	for want, s := range map[string]Source[int]{
		"Make is nil":     {},
		"Records is -1":   {Make: make, Records: -1},
		"PerSecond is -2": {Make: make, PerSecond: -2},
	} {
		if err := s.Check(true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	g := &generator[int]{}
	if err := g.Add([]byte("x")); err == nil {
		t.Error("a damaged split was taken")
	}
}
