package streamtest_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/stream/streamtest"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// record is what these tests send: one type, of what there is to compile.
type record struct {
	Key string
	N   int64
}

func (r record) key() string { return r.Key }

func at(ms int64) time.Time { return time.UnixMilli(ms) }

// alarmed counts the records of each key, and tells the count 10ms of event time after
// the last, and with a minute of processing time after the first.
type alarmed struct {
	n    *stream.ValueState[int64]
	last *stream.ValueState[int64]
}

func (a *alarmed) Open(c *stream.OpenContext) error {
	a.n, a.last = stream.NewValueState[int64](c, "n"), stream.NewValueState[int64](c, "last")
	return nil
}

func (a *alarmed) Process(_ record, c *stream.KeyedContext[string], _ func(string)) error {
	now, _ := c.Timestamp()
	if old, some := a.last.Value(); some {
		c.DeleteEventTimer(at(old + 10))
	} else {
		c.RegisterProcessingTimer(c.Now().Add(time.Minute))
	}
	n, _ := a.n.Value()
	a.n.Update(n + 1)
	a.last.Update(now.UnixMilli())
	c.RegisterEventTimer(now.Add(10 * time.Millisecond))
	return nil
}

func (a *alarmed) OnTimer(t stream.Timer, c *stream.KeyedContext[string], emit func(string)) error {
	n, _ := a.n.Value()
	emit(fmt.Sprint(c.Key(), n, map[bool]string{true: " quiet", false: " waited"}[t.EventTime]))
	return nil
}

func newAlarmed() stream.KeyedProcessFunction[string, record, string] { return &alarmed{} }

// expect compares what has come out, sorted: subtasks are in no order.
func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// State, timers and their times go through snapshots to any parallelism.
func TestKeyed(t *testing.T) {
	h := streamtest.Keyed(t, newAlarmed, record.key)
	begin := h.Now()
	for _, key := range []string{"a", "b", "c", "d"} {
		h.Process(record{Key: key}, at(0))
	}
	h.Process(record{Key: "a"}, at(5))
	h.Watermark(at(9))
	expect(t, "before the timers", h.Output())
	if event, processing := h.Timers(); event != 4 || processing != 4 {
		t.Errorf("%d and %d timers, want 4 and 4", event, processing)
	}
	s := h.Snapshot()
	if n := s.Rows("n"); n != 4 {
		t.Errorf("%d keys have a count, want 4", n)
	}
	h.Watermark(at(10))
	expect(t, "at 10", h.Output(), "b1 quiet", "c1 quiet", "d1 quiet")
	h.Process(record{Key: "a"}, at(20)) // is forgotten by what follows
	for _, p := range []int{3, 2, 1} {
		h.Restore(s, streamtest.Parallelism(p))
		h.Process(record{Key: "b"}, at(7))
		h.Watermark(at(12))
		expect(t, fmt.Sprint("at 12, parallelism ", p), h.Output(), "c1 quiet", "d1 quiet")
		s2 := h.Snapshot()
		h.Watermark(at(20))
		expect(t, fmt.Sprint("at 20, parallelism ", p), h.Output(), "a2 quiet", "b2 quiet")
		h.Restore(s2)
		h.Watermark(at(20))
		expect(t, fmt.Sprint("at 20 once more, parallelism ", p), h.Output(), "a2 quiet", "b2 quiet")
	}
	h.AdvanceTime(59 * time.Second)
	expect(t, "after 59 s", h.Output())
	h.AdvanceTime(time.Second)
	expect(t, "after a minute", h.Output(), "a2 waited", "b2 waited", "c1 waited", "d1 waited")
	if d := h.Now().Sub(begin); d != time.Minute {
		t.Errorf("%s have passed", d)
	}
	h.Finish()
}

// A snapshot holds what all subtasks keep, however soon the barrier reaches them, and
// nothing of what comes later.
func TestSnapshotsAreWhole(t *testing.T) {
	h := streamtest.Keyed(t, newAlarmed, record.key, streamtest.Parallelism(8))
	for n := range 40 {
		h.Process(record{Key: fmt.Sprint(n)}, at(0))
		s := h.Snapshot()
		h.Process(record{Key: fmt.Sprint("after ", n)}, at(0))
		if got := s.Rows("n"); got != 2*n+1 {
			t.Fatalf("snapshot %d has the counts of %d keys, want %d", n, got, 2*n+1)
		}
	}
}

// A key function must not give two keys for a record, nor panic.
func TestKeyFunctionsAreChecked(t *testing.T) {
	n := 0
	h := streamtest.Keyed(t, newAlarmed, func(r record) string {
		if r.N == 7 {
			panic("no key for seven")
		}
		n++
		return fmt.Sprint(n)
	})
	err := h.Failure(func() { h.Process(record{N: 1}, at(0)) })
	if text := err.Error(); !strings.Contains(text, "streamtest_test.go:") || !strings.Contains(text, "gave 1 and then 2 for the record { 1}: it must give the same each time") {
		t.Errorf("got %v", err)
	}
	h.Restore(nil)
	err = h.Failure(func() { h.Process(record{N: 7}, at(0)) })
	if text := err.Error(); !strings.Contains(text, "panic: no key for seven") || !strings.Contains(text, "streamtest_test.go:") {
		t.Errorf("got %v", err)
	}
}

// Records of an interval join are late below the watermark, and are forgotten when it
// has passed all that they could meet.
func TestIntervalJoinForgets(t *testing.T) {
	late := stream.NewSideOutput[record]("late")
	first, second := streamtest.NewInput[record]("first"), streamtest.NewInput[record]("second")
	pairs, lates := streamtest.NewOutput[string]("pairs"), streamtest.NewOutput[record]("late")
	h := streamtest.New(t, func(h *streamtest.Harness) {
		s := first.Stream(h).KeyBy(record.key).IntervalJoin(second.Stream(h).KeyBy(record.key), -5*time.Millisecond, 10*time.Millisecond).
			LateTo(late, stream.SideOutput[record]{}).
			Join(func(a, b record) string { return fmt.Sprint(a.N, "+", b.N) })
		pairs.Of(h, s)
		lates.Of(h, s.SideOutput(late))
	})
	send := func(in *streamtest.Input[record], n, ts int64) { in.Send(record{"k", n}, at(ts)) }
	watermark := func(ts int64) {
		first.Watermark(at(ts))
		second.Watermark(at(ts))
	}
	send(first, 1, 100)
	send(second, 2, 95)
	send(second, 3, 94)
	send(second, 4, 110)
	send(second, 5, 111)
	if got := pairs.Records(); len(got) != 2 || got[0].Value != "1+2" || !got[0].At.Equal(at(100)) || got[1].Value != "1+4" || !got[1].At.Equal(at(110)) {
		t.Errorf("got %v", got)
	}
	watermark(104)
	send(first, 6, 104) // it is not late, and 4 and 5 are there
	send(first, 7, 103)
	send(second, 8, 103) // late as well, to nowhere
	expect(t, "at 104", pairs.Values(), "6+4", "6+5")
	if got := lates.Values(); len(got) != 1 || got[0].N != 7 {
		t.Errorf("late: %v", got)
	}
	s := h.Snapshot()
	for _, p := range []int{3, 1} {
		h.Restore(s, streamtest.Parallelism(p))
		watermark(109)
		send(second, 9, 109)
		expect(t, "before the first is forgotten", pairs.Values(), "1+9", "6+9")
		watermark(110)
		send(second, 10, 110)
		expect(t, "the first is forgotten", pairs.Values(), "6+10")
	}
	watermark(200)
	if s := h.Snapshot(); s.Rows("first")+s.Rows("second") != 0 {
		t.Errorf("%d and %d rows are left", s.Rows("first"), s.Rows("second"))
	}
}

// named tells which records are in a window.
type named struct{}

func (named) CoGroup(c *stream.WindowContext[string], first, second iter.Seq[record], emit func(string)) error {
	text := fmt.Sprintf("[%d,%d)", c.Start.UnixMilli(), c.End.UnixMilli())
	for _, side := range []iter.Seq[record]{first, second} {
		text += " "
		for r := range side {
			text += fmt.Sprint(r.N)
		}
	}
	emit(text)
	return nil
}

// Windows over two streams fire with the watermark of both, again for records within
// their lateness, and not for later ones.
func TestWindowCoGroup(t *testing.T) {
	late := stream.NewSideOutput[record]("late")
	first, second := streamtest.NewInput[record]("first"), streamtest.NewInput[record]("second")
	groups, lates := streamtest.NewOutput[string]("groups"), streamtest.NewOutput[record]("late")
	for _, windows := range []stream.Windows{stream.Tumbling(10 * time.Millisecond), stream.Session(10 * time.Millisecond)} {
		h := streamtest.New(t, func(h *streamtest.Harness) {
			s := first.Stream(h).KeyBy(record.key).Connect(second.Stream(h).KeyBy(record.key)).Window(windows).
				AllowedLateness(5*time.Millisecond).LateTo(stream.SideOutput[record]{}, late).
				CoGroup(func() stream.CoGroupFunction[string, record, record, string] { return named{} })
			groups.Of(h, s)
			lates.Of(h, s.SideOutput(late))
		})
		first.Send(record{"k", 1}, at(-10))
		second.Send(record{"k", 2}, at(-1))
		s := h.Snapshot()
		h.Restore(s, streamtest.Parallelism(2))
		first.Watermark(at(30))
		expect(t, "with one watermark", groups.Values())
		second.Watermark(at(9))
		if windows == stream.Tumbling(10*time.Millisecond) {
			expect(t, "tumbling", groups.Values(), "[-10,0) 1 2")
			second.Send(record{"k", 3}, at(5))
			second.Send(record{"k", 4}, at(-1))
			expect(t, "tumbling, late", groups.Values(), "[0,10)  3")
			if got := lates.Values(); len(got) != 1 || got[0].N != 4 {
				t.Errorf("late: %v", got)
			}
			continue
		}
		expect(t, "session", groups.Values(), "[-10,9) 1 2")
		second.Send(record{"k", 3}, at(8))
		expect(t, "session, longer", groups.Values())
		second.Watermark(at(17))
		expect(t, "session, again", groups.Values(), "[-10,18) 1 23")
	}
}

// recount tells how many records a window has.
type recount struct{}

func (recount) Process(c *stream.WindowContext[string], records iter.Seq[record], emit func(string)) error {
	n := 0
	for range records {
		n++
	}
	emit(fmt.Sprint(c.Start.UnixMilli(), ": ", n))
	return nil
}

// What has been late is late after a restore as well, though a record of one input comes
// before the watermark of another: a window that was over is not emitted once more.
func TestLateRecordsStayLate(t *testing.T) {
	late := stream.NewSideOutput[record]("late")
	tumbling := func(s stream.DataStream[record]) stream.WindowedStream[string, record] {
		return s.KeyBy(record.key).Window(stream.Tumbling(10 * time.Millisecond)).LateTo(late)
	}
	type both = func(first, second stream.DataStream[record]) (results stream.DataStream[string], lates stream.DataStream[record])
	for name, build := range map[string]both{
		"records": func(first, second stream.DataStream[record]) (stream.DataStream[string], stream.DataStream[record]) {
			s := tumbling(first.Union(second)).Process(func() stream.WindowFunction[string, record, string] { return recount{} })
			return s, s.SideOutput(late)
		},
		"slices": func(first, second stream.DataStream[record]) (stream.DataStream[string], stream.DataStream[record]) {
			s := tumbling(first.Union(second)).Count()
			return s.Map(func(w stream.Windowed[string, int64]) string { return fmt.Sprint(w.Start.UnixMilli(), ": ", w.Value) }), s.SideOutput(late)
		},
		"two streams": func(first, second stream.DataStream[record]) (stream.DataStream[string], stream.DataStream[record]) {
			s := first.KeyBy(record.key).Connect(second.KeyBy(record.key)).Window(stream.Tumbling(10*time.Millisecond)).LateTo(late, late).
				CoGroup(func() stream.CoGroupFunction[string, record, record, string] { return named{} })
			return s, s.SideOutput(late)
		},
		"an interval join": func(first, second stream.DataStream[record]) (stream.DataStream[string], stream.DataStream[record]) {
			s := first.KeyBy(record.key).IntervalJoin(second.KeyBy(record.key), 0, time.Millisecond).LateTo(late, late).
				Join(func(a, b record) string { return fmt.Sprint(a.N, "+", b.N) })
			return s, s.SideOutput(late)
		},
	} {
		first, second := streamtest.NewInput[record]("first"), streamtest.NewInput[record]("second")
		results, lates := streamtest.NewOutput[string]("results"), streamtest.NewOutput[record]("late")
		h := streamtest.New(t, func(h *streamtest.Harness) {
			s, side := build(first.Stream(h), second.Stream(h))
			results.Of(h, s)
			lates.Of(h, side)
		})
		watermark := func(ms int64) {
			first.Watermark(at(ms))
			second.Watermark(at(ms))
		}
		first.Send(record{"k", 1}, at(5))
		second.Send(record{"k", 2}, at(5))
		watermark(20)
		if got := results.Values(); len(got) != 1 {
			t.Errorf("%s: got %q", name, got)
		}
		snapshot := h.Snapshot()
		for _, p := range []int{1, 3} {
			h.Restore(snapshot, streamtest.Parallelism(p))
			first.Send(record{"k", 3}, at(5))
			watermark(12) // less than there has been
			second.Send(record{"k", 4}, at(5))
			watermark(40)
			if got, n := results.Values(), len(lates.Values()); len(got) != 0 || n != 2 {
				t.Errorf("%s, parallelism %d: %q once more, %d of 2 records are late", name, p, got, n)
			}
		}
	}
}

// limits answers with the limit that was broadcast for a key.
type limits struct {
	all *stream.BroadcastState[string, int64]
	n   *stream.ValueState[int64]
}

func (l *limits) Open(c *stream.OpenContext) error {
	l.all, l.n = stream.NewBroadcastState[string, int64](c, "limits"), stream.NewValueState[int64](c, "n")
	return nil
}

func (l *limits) Process(r record, _ *stream.KeyedContext[string], emit func(string)) error {
	limit, _ := l.all.Get(r.Key[:1])
	l.n.Update(r.N)
	emit(fmt.Sprint(r.Key, " ", limit))
	return nil
}

func (l *limits) ProcessBroadcast(r record, c *stream.KeyedBroadcastContext[string], emit func(string)) error {
	l.all.Put(c, r.Key, r.N)
	return c.EachKey(l.n, func(key string) error {
		if n, _ := l.n.Value(); n > r.N && strings.HasPrefix(key, r.Key) {
			emit(fmt.Sprint(key, " is above"))
		}
		return nil
	})
}

// Broadcast state is in every subtask, also in those that are new.
func TestBroadcastIsRescaled(t *testing.T) {
	h := streamtest.Through2(t, func(a, b stream.DataStream[record]) stream.DataStream[string] {
		return a.KeyBy(record.key).ConnectBroadcast(b).
			Process(func() stream.KeyedBroadcastProcessFunction[string, record, record, string] { return &limits{} })
	}, streamtest.Parallelism(2))
	h.Second.Send(record{"a", 100}, at(0))
	h.Second.Send(record{"b", 200}, at(0))
	keys := []record{{"a1", 1}, {"a2", 20}, {"a3", 30}, {"b1", 1}, {"b2", 20}}
	want := []string{"a1 100", "a2 100", "a3 100", "b1 200", "b2 200"}
	h.First.SendUntimed(keys...)
	expect(t, "parallelism 2", h.Output(), want...)
	for _, p := range []int{4, 1, 3} {
		h.Restore(h.Snapshot(), streamtest.Parallelism(p))
		h.First.SendUntimed(keys...)
		expect(t, fmt.Sprint("parallelism ", p), h.Output(), want...)
		h.Second.SendUntimed(record{"a", 10})
		expect(t, fmt.Sprint("a lower limit, parallelism ", p), h.Output(), "a2 is above", "a3 is above")
		h.Second.SendUntimed(record{"a", 100})
	}
}

// lists keeps records in lists of both kinds.
type lists struct {
	split, union *stream.OperatorListState[int64]
	subtask      int
}

func (l *lists) Open(c *stream.OpenContext) error {
	l.split, l.union = stream.NewSplitListState[int64](c, "split"), stream.NewUnionListState[int64](c, "union")
	l.subtask = c.Subtask
	return nil
}

func (l *lists) Process(r record, _ *stream.ProcessContext, emit func(string)) error {
	if r.N == 0 {
		emit(fmt.Sprint(l.split.Len(), " of ", l.union.Len()))
		return nil
	}
	l.split.Add(r.N)
	l.union.Add(r.N)
	return nil
}

// Each element of a list goes to one subtask, or to all.
func TestListsAreRescaled(t *testing.T) {
	h := streamtest.Through(t, func(s stream.DataStream[record]) stream.DataStream[string] {
		return s.Broadcast().Process(func() stream.ProcessFunction[record, string] { return &lists{} })
	})
	for n := range int64(7) {
		h.ProcessUntimed(record{N: n + 1})
	}
	s := h.Snapshot()
	for p, want := range map[int][]string{1: {"7 of 7"}, 2: {"3 of 7", "4 of 7"}, 3: {"2 of 7", "2 of 7", "3 of 7"}} {
		h.Restore(s, streamtest.Parallelism(p))
		h.ProcessUntimed(record{})
		expect(t, fmt.Sprint("parallelism ", p), h.Output(), want...)
	}
}

// Records whose calls have not come back are in a snapshot, in their order, and are
// called for again by other subtasks.
func TestAsyncIsRescaled(t *testing.T) {
	block := make(chan struct{})
	call := func(ctx context.Context, r record) ([]string, error) {
		select {
		case <-block:
		case <-ctx.Done():
		}
		return []string{fmt.Sprint(r.N)}, nil
	}
	h := streamtest.Through(t, func(s stream.DataStream[record]) stream.DataStream[string] {
		return s.Rebalance().AsyncOrdered(stream.AsyncCall(call), stream.AsyncOptions{Capacity: 3})
	}, streamtest.Parallelism(3))
	for n := range int64(7) {
		h.Process(record{N: n}, at(n))
	}
	s := h.Snapshot()
	expect(t, "while calls wait", h.Output())
	h.Restore(s, streamtest.Parallelism(1)) // more than it has room for
	s = h.Snapshot()
	h.Restore(s, streamtest.Parallelism(2))
	close(block)
	h.Process(record{N: 7}, at(7))
	h.Finish()
	all := h.Records()
	slices.SortFunc(all, func(a, b streamtest.Record[string]) int { return strings.Compare(a.Value, b.Value) })
	for i, r := range all {
		if r.Value != fmt.Sprint(i) || !r.At.Equal(at(int64(i))) {
			t.Errorf("got %v at %d", r, i)
		}
	}
	if len(all) != 8 {
		t.Errorf("%d results, want 8", len(all))
	}
}

// Windows by the clock end after a restore as well.
func TestClockWindowsAreRestored(t *testing.T) {
	h := streamtest.Through(t, func(s stream.DataStream[record]) stream.DataStream[string] {
		return s.KeyBy(record.key).Window(stream.Tumbling(time.Minute).InProcessingTime()).Count().
			Map(func(w stream.Windowed[string, int64]) string { return fmt.Sprint(w.Key, w.Value) })
	})
	h.ProcessUntimed(record{Key: "a"}, record{Key: "a"}, record{Key: "b"})
	h.Restore(h.Snapshot(), streamtest.Parallelism(2))
	h.AdvanceTime(time.Minute)
	expect(t, "after a minute", h.Output(), "a2", "b1")
}
