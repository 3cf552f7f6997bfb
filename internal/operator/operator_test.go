package operator

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/ident"
)

// host does for operators what their task would.
type host struct {
	flushers []func()
	closers  []func(failed bool)
	in       int
	now      int64
	timers   []timer
	kept     []Kept
	held     func() bool
}

type timer struct {
	at int64
	f  func()
}

// advance sets the processing time and runs what is due.
func (h *host) advance(now int64) {
	h.now = now
	for i := 0; i < len(h.timers); i++ {
		if t := h.timers[i]; t.f != nil && t.at <= now {
			h.timers[i].f = nil
			t.f()
		}
	}
}

func (h *host) Wake()                                             {}
func (h *host) Mail(func())                                       {}
func (h *host) Ask(ident.OperatorID, []byte, func([]byte, error)) {}
func (h *host) Call(ident.OperatorID, []byte) ([]byte, error)     { return nil, nil }
func (h *host) OnFlush(f func())                                  { h.flushers = append(h.flushers, f) }
func (h *host) OnClose(f func(failed bool))                       { h.closers = append(h.closers, f) }
func (h *host) Done() <-chan struct{}                             { return nil }
func (h *host) Now() int64                                        { return h.now }
func (h *host) At(at int64, f func()) (stop func()) {
	h.timers = append(h.timers, timer{at, f})
	i := len(h.timers) - 1
	return func() { h.timers[i].f = nil }
}
func (h *host) Keep(_ ident.OperatorID, k Kept) { h.kept = append(h.kept, k) }
func (h *host) CountIn(n int)                   { h.in += n }
func (h *host) CountOut(int)                    {}

func (h *host) Hold(held func() bool) { h.held = held }

func (h *host) flush() {
	for _, f := range slices.Backward(h.flushers) {
		f()
	}
}

func (h *host) context() *Context {
	return &Context{Runtime: h, Signal: NewSignal(h.flush), Operator: "Op", Vertex: "Source -> Op", Parallelism: 1, MaxParallelism: 128}
}

// journal writes down what a receiver is given.
type journal struct{ lines []string }

func (j *journal) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) String() string { return strings.Join(j.lines, " ") }

func journalOf[T any](j *journal) *Receiver[T] {
	return &Receiver[T]{
		Push: func(v T, ts int64) {
			if ts == batch.NoTimestamp {
				j.note("%v", v)
			} else {
				j.note("%v@%d", v, ts)
			}
		},
		Watermark: func(t int64) { j.note("W%d", t) },
		Idle: func(idle bool) {
			if idle {
				j.note("idle")
			} else {
				j.note("active")
			}
		},
		Finish: func() { j.note("end") },
	}
}

var sum = Aggregate[string, string, int, string]{
	Key:    func(v string) string { return v[:1] },
	Add:    func(acc *int, created bool, v string) { *acc += len(v) },
	Merge:  func(acc *int, created bool, other int) { *acc += other },
	Result: func(k string, acc int) string { return fmt.Sprint(k, acc) },
}

// Records that are kept to be folded together leave before a watermark, a flush
// and the end, in order and with their own times.
func TestAFoldKeepsOrderAndTimes(t *testing.T) {
	var j journal
	h := &host{}
	in := Keyed(sum).Build(h.context(), journalOf[string](&j)).(*Receiver[string])
	in.Push("a", batch.NoTimestamp)
	in.Push("bb", 7)
	in.Push("aa", batch.NoTimestamp)
	if j.String() != "" {
		t.Errorf("before anything asked for it: %s", &j)
	}
	in.Watermark(8)
	in.Push("a", 9)
	h.flush()
	h.flush()
	in.PushBatch(&batch.Rows[string]{Vals: []string{"b", "a"}})
	in.PushBatch(&batch.Rows[string]{Vals: []string{"b", "a"}, TS: []int64{1, 2}})
	in.Push("c", batch.NoTimestamp)
	in.Finish()
	if want := "a1 b2@7 a3 W8 a4@9 b3 a5 b4@1 a6@2 c1 end"; j.String() != want {
		t.Errorf("got  %s\nwant %s", &j, want)
	}
}

// In batch mode nothing leaves before the end, whatever is flushed.
func TestAFoldInBatchModeEmitsAtTheEnd(t *testing.T) {
	for name, f := range map[string]Factory{"keyed": Keyed(sum), "final": Final(sum)} {
		var j journal
		h := &host{}
		c := h.context()
		c.Batch = true
		switch in := f.Build(c, journalOf[string](&j)).(type) {
		case *Receiver[string]:
			in.PushBatch(&batch.Rows[string]{Vals: []string{"a", "b", "aa"}})
			in.Watermark(1)
			h.flush()
			in.Finish()
		case *Receiver[Partial[string, int]]:
			in.PushBatch(&batch.Rows[Partial[string, int]]{Vals: []Partial[string, int]{{"a", 1}, {"b", 1}, {"a", 2}}})
			in.Watermark(1)
			h.flush()
			in.Finish()
		}
		slices.Sort(j.lines)
		if want := "W1 a3 b1 end"; j.String() != want {
			t.Errorf("%s: got %s, want %s", name, &j, want)
		}
	}
}

// The first phase empties its table when it has grown to its budget, and what it
// emits adds up.
func TestTheFirstPhaseEmptiesAFullTable(t *testing.T) {
	h := &host{}
	counts, emitted := map[int64]int{}, 0
	out := &Receiver[Partial[int64, [64]int64]]{
		Push:   func(p Partial[int64, [64]int64], _ int64) { counts[p.Key] += int(p.Acc[0]); emitted++ },
		Finish: func() {},
	}
	const keys = 200_000
	in := Local(Aggregate[int64, int64, [64]int64, int64]{
		Key: func(v int64) int64 { return v % keys },
		Add: func(acc *[64]int64, _ bool, _ int64) { acc[0]++ },
	}).Build(h.context(), out).(*Receiver[int64])
	for v := range int64(2 * keys) {
		in.Push(v, batch.NoTimestamp)
	}
	if emitted == 0 {
		t.Error("the table of accumulators of 512 bytes was not emptied before the end")
	}
	in.Finish()
	for k := range int64(keys) {
		if counts[k] != 2 {
			t.Fatalf("key %d was counted %d times", k, counts[k])
		}
	}
}

// A flush in the middle of a batch, as a signal brings it, changes no result.
func TestASignalInTheMiddleOfABatch(t *testing.T) {
	var quiet, busy journal
	for _, j := range []*journal{&quiet, &busy} {
		h := &host{}
		c := h.context()
		inner := journalOf[string](j)
		push := inner.Push
		inner.Push = func(v string, ts int64) {
			if j == &busy {
				c.Signal.Raise()
			}
			push(v, ts)
		}
		c.Signal = NewSignal(func() { c.Signal.Lower(); h.flush() })
		last := Keyed(sum).Build(c, inner)
		first := FlatMap(func(v string) iter.Seq[string] {
			return func(yield func(string) bool) { _ = yield(v) && yield(v+v) }
		}).Build(c, last)
		in := Keyed(sum).Build(c, first).(*Receiver[string])
		for range 3 {
			for i := range 100 {
				in.Push(strings.Repeat("abc"[i%3:i%3+1], i%5+1), batch.NoTimestamp)
			}
		}
		in.Finish()
	}
	if quiet.String() != busy.String() || len(quiet.lines) != 601 {
		t.Errorf("%d results without a signal, %d with: they differ", len(quiet.lines), len(busy.lines))
	}
}

func TestBlocksGrowAndShrink(t *testing.T) {
	given := 0
	s := NewSignal(func() { given++ })
	var sizes []int
	for range 8 {
		sizes = append(sizes, s.Block())
	}
	s.Raise()
	sizes = append(sizes, s.Block())
	s.Lower()
	sizes = append(sizes, s.Block())
	if want := []int{2, 4, 8, 16, 32, 64, 64, 64, 1, 2}; !slices.Equal(sizes, want) || given != 1 {
		t.Errorf("blocks %v, want %v; attended %d times", sizes, want, given)
	}
}

// poll runs a source of subtask i of n to its end.
func poll[T any](f SourceFactory, i, n int) (got []T) {
	h := &host{}
	c := h.context()
	c.Subtask, c.Parallelism = i, n
	s := f.Open(c, &Receiver[T]{Push: func(v T, _ int64) { got = append(got, v) }})
	for s.Poll() == More {
	}
	return got
}

func TestSequenceSharesAreWhole(t *testing.T) {
	for _, test := range [][2]int64{
		{1, 10}, {5, 5}, {5, 4}, {-3, 3}, {0, 5000}, {math.MaxInt64 - 3000, math.MaxInt64}, {math.MinInt64, math.MinInt64 + 3}, {math.MaxInt64, math.MinInt64},
	} {
		for _, n := range []int{1, 2, 3, 7, 100} {
			var got []int64
			longest, shortest := 0, math.MaxInt
			for i := range n {
				part := poll[int64](Sequence(test[0], test[1]), i, n)
				longest, shortest = max(longest, len(part)), min(shortest, len(part))
				got = append(got, part...)
			}
			var want []int64
			if test[0] <= test[1] {
				for v := test[0]; ; v++ {
					if want = append(want, v); v == test[1] {
						break
					}
				}
			}
			if !slices.Equal(got, want) || longest-shortest > 1 {
				t.Errorf("%v in %d parts of %d to %d: got %d numbers, want %d", test, n, shortest, longest, len(got), len(want))
			}
		}
	}
	// Of all numbers there are, each of 4 has a quarter.
	for i, from := range []int64{math.MinInt64, math.MinInt64 / 2, 0, math.MaxInt64/2 + 1} {
		first, last, some := share(math.MinInt64, math.MaxInt64, i, 4)
		if first != from || last != from+math.MaxInt64/2 || !some {
			t.Errorf("part %d: %d to %d", i, first, last)
		}
	}
}

func TestASliceIsOfTheFirstSubtask(t *testing.T) {
	vals := make([]int, 2*batch.MaxRows+1)
	for i := range vals {
		vals[i] = i
	}
	if got := poll[int](Slice(vals), 0, 2); !slices.Equal(got, vals) {
		t.Errorf("got %d records", len(got))
	}
	if got := poll[int](Slice(vals), 1, 2); len(got) != 0 {
		t.Errorf("the second subtask got %d records", len(got))
	}
	if got := poll[int](Slice[int](nil), 0, 1); len(got) != 0 {
		t.Errorf("of nothing came %v", got)
	}
}

// What a sink took before a failure is flushed, and once.
func TestASinkFlushesBeforeItFails(t *testing.T) {
	for _, failed := range []bool{true, false} {
		h := &host{}
		var held, out []int
		in := Sink(func(*Context) (func(int) error, func() error, error) {
			take := func(v int) error {
				if v < 0 {
					return errors.New("negative")
				}
				held = append(held, v)
				return nil
			}
			return take, func() error { out, held = append(out, held...), nil; return nil }, nil
		}).Build(h.context(), nil).(*Receiver[int])
		err := Guard(func() {
			in.Push(1, batch.NoTimestamp)
			in.Push(2, batch.NoTimestamp)
			if failed {
				in.Push(-1, batch.NoTimestamp)
			}
			in.Finish()
		})
		if (err != nil) != failed || failed && err.Error() != "Op: negative" {
			t.Errorf("failed %v: %v", failed, err)
		}
		for _, f := range h.closers {
			f(failed)
		}
		if !slices.Equal(out, []int{1, 2}) {
			t.Errorf("failed %v: flushed %v", failed, out)
		}
	}
}

func TestAFunctionMayRecoverAndPassOnWhatEndsItsTask(t *testing.T) {
	cause := errors.New("downstream is gone")
	err := Guard(func() {
		defer func() {
			if v := recover(); v != nil {
				if err, ok := v.(error); !ok || !errors.Is(err, cause) || err.Error() != cause.Error() {
					t.Errorf("recovered %v", v)
				}
				panic(v)
			}
		}()
		Abort(cause)
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

type record struct {
	ID   int64
	Name string
	Tags []string
	Sub  *struct{ X float64 }
}

func rows() *batch.Rows[record] {
	return &batch.Rows[record]{
		Vals: []record{{ID: 1, Name: "a"}, {ID: -2, Tags: []string{"x", ""}, Sub: &struct{ X float64 }{2.5}}},
	}
}

// A batch comes back as it was, with times and kinds where it has them.
func TestABatchIsEncodedAndDecoded(t *testing.T) {
	plain, timed, kinds := rows(), rows(), rows()
	timed.TS = []int64{5, batch.NoTimestamp}
	kinds.TS, kinds.Kind = []int64{-1, 1}, []batch.RowKind{batch.UpdateBefore, batch.Delete}
	for _, want := range []*batch.Rows[record]{plain, timed, kinds, {}} {
		s := NewStream[record]().Serializer()
		text, err := s.Append([]byte("before"), want)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Decode(text[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		got := b.(*batch.Rows[record])
		if len(got.Vals) != len(want.Vals) || len(want.Vals) > 0 && !reflect.DeepEqual(got.Vals, want.Vals) || !slices.Equal(got.TS, want.TS) || !slices.Equal(got.Kind, want.Kind) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		b.Release()
	}
}

func TestAStreamThatCannotBeEncodedSaysWhy(t *testing.T) {
	s := NewStream[func()]()
	if s.Err() == nil || s.Type() != "func()" {
		t.Errorf("type %s, error %v", s.Type(), s.Err())
	}
	if _, err := s.Serializer().Append(nil, &batch.Rows[func()]{}); err == nil {
		t.Error("it was encoded")
	}
	if _, err := s.Serializer().Decode(nil); err == nil {
		t.Error("it was decoded")
	}
}

// Whatever comes from a peer is a batch or an error.
func FuzzDecode(f *testing.F) {
	s := NewStream[record]().Serializer()
	timed := rows()
	timed.TS, timed.Kind = []int64{5, 6}, []batch.RowKind{batch.Insert, batch.Delete}
	for _, b := range []*batch.Rows[record]{rows(), timed, {}} {
		text, err := s.Append(nil, b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte{255, 255, 255, 255, 3})
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := s.Decode(text)
		if err != nil {
			return
		}
		again, err := s.Append(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		same, err := s.Decode(again)
		if err != nil || same.Len() != b.Len() {
			t.Errorf("a decoded batch of %d was encoded to one of %v, error %v", b.Len(), same, err)
		}
	})
}
