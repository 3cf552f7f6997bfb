package operator

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// noted is a record of a key: it is told from others by N.
type noted[K comparable] struct {
	Key K
	N   int64
}

// A digest tells in which order numbers were added, and has no pointers.
type digest struct{ Hash, Power, Count uint64 }

const digestBase = 1_000_003

func digesting[K comparable]() state.Aggregator[noted[K], digest, string] {
	return state.Aggregator[noted[K], digest, string]{
		Create: func() digest { return digest{Power: 1} },
		Add: func(d *digest, v noted[K]) {
			*d = digest{d.Hash*digestBase + uint64(v.N), d.Power * digestBase, d.Count + 1}
		},
		Merge: func(d *digest, o digest) {
			*d = digest{d.Hash*o.Power + o.Hash, d.Power * o.Power, d.Count + o.Count}
		},
		Result: func(d *digest) string { return fmt.Sprint(*d) },
	}
}

// A roll keeps all numbers, in memory that merging shares with what it was given
// wherever that is possible.
type roll struct {
	All []int64
	Sum *int64
}

func rolling[K comparable]() state.Aggregator[noted[K], roll, string] {
	return state.Aggregator[noted[K], roll, string]{
		Create: func() roll { return roll{} },
		Add: func(r *roll, v noted[K]) {
			r.All = append(r.All, v.N)
			if r.Sum == nil {
				r.Sum = new(int64)
			}
			*r.Sum += v.N
		},
		Merge: func(r *roll, o roll) {
			r.All = append(r.All, o.All...)
			switch {
			case r.Sum == nil:
				r.Sum = o.Sum
			case o.Sum != nil:
				*r.Sum += *o.Sum
				*o.Sum = -1
			}
			clear(o.All)
		},
		Result: func(r *roll) string { return fmt.Sprint(r.All, *r.Sum) },
	}
}

// A slidingWorld runs an operator of sliding windows in several subtasks, next to a
// model that has the records of each window.
type slidingWorld[K comparable, A any] struct {
	t      *testing.T
	r      *rand.Rand
	s      Sliding
	agg    state.Aggregator[noted[K], A, string]
	key    func(int) K
	hasher *keygroup.Hasher[K]
	pool   *state.Pool
	most   int64 // bytes that were held beside state

	hosts     []*host
	in        []*Receiver[noted[K]]
	got       []*journal
	watermark int64
	windows   map[Window]map[K][]entered
	n         int64
}

// An entered is a record as the model has it.
type entered struct{ slice, n int64 }

// start begins with so many subtasks and what others before them had.
func (w *slidingWorld[K, A]) start(parallelism int) {
	before := w.hosts
	w.hosts, w.in, w.got = nil, nil, nil
	for i := range parallelism {
		h, j := &host{}, &journal{}
		c := h.context()
		c.Subtask, c.Parallelism, c.MaxParallelism = i, parallelism, 16
		c.State.Pool = w.pool
		in := AggregateSlices(w.s, func(v noted[K]) K { return v.Key }, w.agg, nil, func(k K, window Window, out string) string {
			return fmt.Sprint(k, window, out)
		}).Build(c, &Receiver[string]{
			Push: func(v string, ts int64) { j.lines = append(j.lines, v) }, Watermark: func(int64) {}, Idle: func(bool) {}, Finish: func() {},
		}).(*Receiver[noted[K]])
		w.hosts, w.in, w.got = append(w.hosts, h), append(w.in, in), append(w.got, j)
	}
	for n, b := range before {
		w.move(b, fmt.Sprint(n))
	}
}

// move gives what a subtask had to those that have its key groups now.
func (w *slidingWorld[K, A]) move(from *host, name string) {
	from.kept[0].Prepare(1)
	var data bytes.Buffer
	if _, err := from.kept[0].Keyed.Freeze().Write(&data, name, nil); err != nil {
		w.t.Fatal(err)
	}
	f := new(state.File) // of a state without keys
	if data.Len() > 0 {
		var err error
		if f, err = state.OpenFile(name, bytes.NewReader(data.Bytes()), int64(data.Len())); err != nil {
			w.t.Fatal(err)
		}
	}
	for i, to := range w.hosts {
		if err := to.kept[0].Lists[0].Load(from.kept[0].Lists[0].Save()); err != nil {
			w.t.Fatal(err)
		}
		first, last := keygroup.Range(i, len(w.hosts), 16)
		for _, l := range f.Locations() {
			if l.Group >= first && l.Group <= last {
				if err := to.kept[0].Keyed.Restore(f, l); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
	for _, f := range from.closers {
		f(false)
	}
}

// push gives a record to the operator and to the model.
func (w *slidingWorld[K, A]) push(k K, ts int64) {
	w.n++
	group := keygroup.Group(w.hasher.Hash(k), 16)
	for i := range w.in {
		if first, last := keygroup.Range(i, len(w.in), 16); group >= first && group <= last {
			w.in[i].Push(noted[K]{k, w.n}, ts)
		}
	}
	for _, window := range w.s.Assign(nil, ts) {
		if w.watermark != batch.NoTimestamp && window.Last() <= w.watermark {
			continue
		}
		if w.windows[window] == nil {
			w.windows[window] = map[K][]entered{}
		}
		w.windows[window][k] = append(w.windows[window][k], entered{w.s.end(ts, w.s.slice()), w.n})
	}
}

// advance compares what the operator emits with what the model says.
func (w *slidingWorld[K, A]) advance(t int64) {
	w.watermark = t
	var want, got []string
	for window, keys := range w.windows {
		if window.Last() > t {
			continue
		}
		for k, all := range keys {
			slices.SortStableFunc(all, func(a, b entered) int { return int(a.slice - b.slice) })
			acc := w.agg.Create()
			for _, e := range all {
				w.agg.Add(&acc, noted[K]{k, e.n})
			}
			want = append(want, fmt.Sprint(k, window, w.agg.Result(&acc)))
		}
		delete(w.windows, window)
	}
	for i, in := range w.in {
		in.Watermark(t)
		got = append(got, w.got[i].lines...)
		w.got[i].lines = nil
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Fatalf("at %d: got\n%q\nwant\n%q", t, got, want)
	}
}

// run lets some time pass. Records of most keys are rare, and some of all are late.
func (w *slidingWorld[K, A]) run(rounds int) {
	hog, err := state.NewKeyed[int64](state.Options{Operator: "hog", Last: 0, Max: 1, Pool: w.pool})
	if err != nil {
		w.t.Fatal(err)
	}
	w.pool.SetLimit(1 << 40)
	w.start(1 + w.r.IntN(3))
	now := w.r.Int64N(200) - 100
	hold, late := 0, w.r.Float64()*w.r.Float64()
	for range rounds {
		for range w.r.IntN(60) {
			k := w.key(int(math.Pow(w.r.Float64(), 3) * 40))
			ts := now + w.r.Int64N(w.s.Size)
			if w.r.Float64() < late {
				ts = now - w.r.Int64N(2*w.s.Size)
			}
			w.push(k, ts)
		}
		switch step := w.r.IntN(20); {
		case step == 0:
			now += 3 * w.s.Size
		case step == 1:
			w.start(1 + w.r.IntN(3))
		case step == 2:
			hold = w.r.IntN(2) << 40
			hog.HoldBeside(hold)
		}
		now += w.r.Int64N(2*w.s.Slide + 1)
		w.advance(now)
		w.most = max(w.most, w.pool.Beside()-int64(hold))
	}
	hog.HoldBeside(0)
	w.advance(now + 3*w.s.Size)
	if left := w.pool.Beside(); left != 0 {
		w.t.Errorf("%d bytes of merged slices are held without a slice", left)
	}
}

func slidingAgainstModel[K comparable, A any](t *testing.T, name string, agg state.Aggregator[noted[K], A, string], key func(int) K) {
	t.Run(name, func(t *testing.T) {
		plan, err := codec.For[K]()
		if err != nil {
			t.Fatal(err)
		}
		hasher, err := keygroup.NewHasher(plan.AppendKey)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Sliding{{12, 1, 0}, {40, 4, 3}, {30, 7, 0}, {24, 8, -5}, {25, 10, 1}, {9, 9, 0}} {
			seed := uint64(time.Now().UnixNano())
			var most int64
			for n := range uint64(2) {
				t.Logf("%+v: seed %d", s, seed+n)
				w := &slidingWorld[K, A]{t: t, r: rand.New(rand.NewPCG(seed+n, 0)), s: s, agg: agg, key: key, hasher: hasher,
					pool: new(state.Pool), watermark: batch.NoTimestamp, windows: map[Window]map[K][]entered{}}
				w.run(100)
				most = max(most, w.most)
			}
			if shared := s.Size >= 3*s.Slide; shared != (most > 0) {
				t.Errorf("%+v: %d bytes were held of merged slices", s, most)
			}
		}
	})
}

// Windows whose slices are merged ahead are those of a model that keeps all records,
// whatever comes late, with slices as they were after another number of subtasks
// went on with them, with memory that comes and goes, and if the order of merging
// matters or accumulators share memory.
func TestSlidingAgainstModel(t *testing.T) {
	integer := func(i int) int64 { return int64(i) }
	text := func(i int) string { return fmt.Sprint("key ", i) }
	pair := func(i int) [2]string { return [2]string{fmt.Sprint(i % 5), fmt.Sprint(i)} }
	slidingAgainstModel(t, "integers", digesting[int64](), integer)
	slidingAgainstModel(t, "integers, pointers", rolling[int64](), integer)
	slidingAgainstModel(t, "strings", digesting[string](), text)
	slidingAgainstModel(t, "strings, pointers", rolling[string](), text)
	slidingAgainstModel(t, "encoded", digesting[[2]string](), pair)
	slidingAgainstModel(t, "encoded, pointers", rolling[[2]string](), pair)
}
