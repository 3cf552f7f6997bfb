package operator

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// stage is the runtime of a chain without a task.
type stage struct {
	Runtime // the rest is not used
	closers []func(bool)
	flushes []func()
}

func (s *stage) OnFlush(f func())     { s.flushes = append(s.flushes, f) }
func (s *stage) OnClose(f func(bool)) { s.closers = append(s.closers, f) }

func (s *stage) close(failed bool) {
	for _, f := range s.closers {
		f(failed)
	}
}

func (s *stage) context(space scratch.Space, managed int64) *Context {
	return &Context{
		Runtime: s, Signal: NewSignal(func() {}), Operator: "Count", Parallelism: 1, MaxParallelism: 128, Batch: true,
		ManagedBytes: managed, Scratch: space, Logger: slog.New(slog.DiscardHandler),
	}
}

// event is a record of the tests.
type event struct {
	key   int
	value int64
}

type point struct {
	X, Y int32
	Name string
}

// history is an accumulator of which only an ordered merge gives the same.
type history struct {
	Count int64
	Texts []string
}

// aggregated runs an aggregate over events with a budget and compares with a map.
func aggregated[K comparable, A any, R comparable](t *testing.T, managed int64, events []event, a Aggregate[K, event, A, R]) (spilled bool) {
	t.Helper()
	want := map[K]A{}
	for _, e := range events {
		acc, some := want[a.Key(e)]
		a.Add(&acc, !some, e)
		want[a.Key(e)] = acc
	}
	wanted := map[R]int{}
	for k, acc := range want {
		wanted[a.Result(k, acc)]++
	}
	for name, run := range map[string]func(c *Context, out *Receiver[R]){
		"keyed": func(c *Context, out *Receiver[R]) {
			in := Keyed(a).Build(c, out).(*Receiver[event])
			feed(in, events, false)
		},
		"one by one": func(c *Context, out *Receiver[R]) {
			in := Keyed(a).Build(c, out).(*Receiver[event])
			feed(in, events, true)
		},
		"local and final": func(c *Context, out *Receiver[R]) {
			last := Final(a).Build(c, out)
			in := Local(a).Build(c, last).(*Receiver[event])
			feed(in, events, false)
		},
	} {
		directory := t.TempDir()
		space := &counted{Space: scratch.In(directory)}
		s := &stage{}
		got := map[R]int{}
		ended := 0
		run(s.context(space, managed), &Receiver[R]{
			Push:      func(r R, _ int64) { got[r]++ },
			Watermark: func(int64) {},
			Finish:    func() { ended++ },
		})
		if !maps.Equal(got, wanted) || ended != 1 {
			t.Errorf("%s with %d bytes: %d results, want %d; %d ends", name, managed, len(got), len(wanted), ended)
		}
		if files := space.Space.(*scratch.Directories); files.Files() != 0 {
			t.Errorf("%s: %d files after the end", name, files.Files())
		} else if err := files.Close(); err != nil {
			t.Error(err)
		}
		spilled = spilled || space.made > 0
		s.close(false)
	}
	return spilled
}

// feed gives a receiver all events and the end.
func feed(in *Receiver[event], events []event, single bool) {
	for i := 0; i < len(events); {
		if single {
			in.Push(events[i], batch.NoTimestamp)
			i++
			continue
		}
		n := min(1000, len(events)-i)
		in.PushBatch(&batch.Rows[event]{Vals: events[i : i+n]})
		i += n
	}
	in.Watermark(1 << 62)
	in.Finish()
}

// counted counts files.
type counted struct {
	scratch.Space
	made int
}

func (c *counted) Create(name string) (scratch.File, error) {
	c.made++
	return c.Space.Create(name)
}

func TestAggregatesOnDiskAreThoseInMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, keys := range []int{1, 15_000} {
		events := make([]event, 16_000)
		for i := range events {
			events[i] = event{r.IntN(keys), int64(r.IntN(100))}
		}
		count := Aggregate[int64, event, int64, string]{
			Key:    func(e event) int64 { return int64(e.key) },
			Add:    func(n *int64, _ bool, e event) { *n += e.value },
			Merge:  func(n *int64, _ bool, other int64) { *n += other },
			Result: func(k, n int64) string { return fmt.Sprint(k, "=", n) },
		}
		least := Aggregate[string, event, int64, string]{
			Key: func(e event) string { return strings.Repeat("k", e.key%40) + fmt.Sprint(e.key) },
			Add: func(n *int64, created bool, e event) {
				if created || e.value < *n {
					*n = e.value
				}
			},
			Merge: func(n *int64, created bool, other int64) {
				if created || other < *n {
					*n = other
				}
			},
			Result: func(k string, n int64) string { return fmt.Sprint(k, "=", n) },
		}
		told := Aggregate[point, event, history, string]{
			Key: func(e event) point { return point{int32(e.key), int32(-e.key), fmt.Sprint("p", e.key%7)} },
			Add: func(h *history, _ bool, e event) {
				h.Count++
				h.Texts = append(h.Texts, fmt.Sprint(e.value))
			},
			Merge: func(h *history, _ bool, other history) {
				h.Count += other.Count
				h.Texts = append(h.Texts[:len(h.Texts):len(h.Texts)], other.Texts...)
			},
			Result: func(k point, h history) string { return fmt.Sprint(k, h.Count, h.Texts) },
		}
		wide := Aggregate[uint16, event, [64]int64, string]{ // which needs a second cut
			Key:    func(e event) uint16 { return uint16(e.key) },
			Add:    func(acc *[64]int64, _ bool, e event) { acc[e.key%64] += e.value },
			Merge:  func(acc *[64]int64, _ bool, other [64]int64) { addAll(acc, other) },
			Result: func(k uint16, acc [64]int64) string { return fmt.Sprint(k, acc) },
		}
		for _, managed := range []int64{1, 1 << 20, 1 << 30} {
			spilled := []bool{aggregated(t, managed, events, count), aggregated(t, managed, events, least),
				aggregated(t, managed, events, told), aggregated(t, managed, events, wide)}
			for i, was := range spilled {
				if was && managed == 1<<30 || !was && keys == 15_000 && managed == 1 {
					t.Errorf("%d keys in %d bytes, aggregate %d: on disk %t", keys, managed, i, was)
				}
			}
		}
	}
}

func addAll(acc *[64]int64, other [64]int64) {
	for i, n := range other {
		acc[i] += n
	}
}

func TestAggregatesOnDiskNeedWhatTheyNeed(t *testing.T) {
	aggregate := Aggregate[int64, event, int64, int64]{
		Key:    func(e event) int64 { return int64(e.key) },
		Add:    func(n *int64, _ bool, e event) { *n++ },
		Merge:  func(n *int64, _ bool, other int64) { *n += other },
		Result: func(_, n int64) int64 { return n },
	}
	events := make([]event, 16_000)
	for i := range events {
		events[i].key = i
	}
	run := func(a Aggregate[int64, event, int64, int64], space scratch.Space, signal func()) error {
		s := &stage{}
		c := s.context(space, 1)
		if signal != nil {
			c.Signal = NewSignal(signal)
		}
		err := Guard(func() {
			in := Keyed(a).Build(c, &Receiver[int64]{Push: func(int64, int64) {}, Watermark: func(int64) {}, Finish: func() {}}).(*Receiver[event])
			if signal != nil {
				c.Signal.Raise()
			}
			feed(in, events, false)
		})
		s.close(err != nil)
		return err
	}
	if err := run(aggregate, nil, nil); err == nil || !strings.Contains(err.Error(), "io.tmp.dirs") {
		t.Errorf("without a directory: %v", err)
	}
	space := scratch.In(t.TempDir())
	without := aggregate
	without.Merge = nil
	if err := run(without, space, nil); err == nil || !strings.Contains(err.Error(), "Merge") {
		t.Errorf("without Merge: %v", err)
	}
	canceled := errors.New("canceled")
	if err := run(aggregate, space, func() { Abort(canceled) }); !errors.Is(err, canceled) {
		t.Errorf("got %v", err)
	}
	full := errors.New("no space left on device")
	err := run(aggregate, broken{space, full}, nil)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "Count") || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("got %v", err)
	}
	if n := space.Files(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if err := space.Close(); err != nil {
		t.Error(err)
	}

	unencodable := Aggregate[int64, event, func(), int64]{Key: aggregate.Key, Add: func(*func(), bool, event) {}, Merge: func(*func(), bool, func()) {}}
	s := &stage{}
	err = Guard(func() { Keyed(unencodable).Build(s.context(nil, 0), &Receiver[int64]{}) })
	if err == nil || !strings.Contains(err.Error(), "Count") || !strings.Contains(err.Error(), "func()") {
		t.Errorf("an accumulator that cannot be encoded: %v", err)
	}
}

// broken is a space whose files cannot be written.
type broken struct {
	scratch.Space
	err error
}

func (b broken) Create(name string) (scratch.File, error) {
	f, err := b.Space.Create(name)
	return brokenFile{f, b.err}, err
}

type brokenFile struct {
	scratch.File
	err error
}

func (b brokenFile) Write([]byte) (int, error) { return 0, b.err }

// What an operator holds of its managed memory can be read, and is never more
// than its share by much.
func TestManagedMemoryIsCounted(t *testing.T) {
	const managed = 8 << 20
	count := Aggregate[int, event, int64, int64]{
		Key: func(e event) int { return e.key }, Add: func(acc *int64, _ bool, _ event) { *acc++ },
		Result: func(_ int, acc int64) int64 { return acc }, Merge: func(acc *int64, _ bool, other int64) { *acc += other },
	}
	var most int64
	s := &stage{}
	c := s.context(scratch.In(t.TempDir()), managed)
	c.Counts = &Counts{}
	in := Keyed(count).Build(c, &Receiver[int64]{Push: func(int64, int64) {}, Watermark: func(int64) {}, Finish: func() {}}).(*Receiver[event])
	for batchOf := range 300 {
		events := make([]event, 1000)
		for i := range events {
			events[i].key = batchOf*1000 + i
		}
		in.PushBatch(&batch.Rows[event]{Vals: events})
		most = max(most, c.Counts.Managed)
	}
	if most < managed/4 || most > 2*managed {
		t.Errorf("it held %d at most, its share is %d", most, managed)
	}
	in.Finish()
	s.close(false)

	held := int64(0)
	s = &stage{}
	c = s.context(scratch.In(t.TempDir()), managed)
	c.Counts = &Counts{}
	sorter := newSorter(c, cmp.Compare[int64])
	for i := range 600_000 {
		sorter.push(int64(i), 0)
		held = max(held, c.Counts.Managed)
	}
	if held < managed/4 || held > managed || len(sorter.runs) == 0 {
		t.Errorf("the sorter held %d at most, its share is %d, and has %d runs on disk", held, managed, len(sorter.runs))
	}
	s.close(false)
}
