package operator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
)

// ends is a source whose reader the test is.
type ends struct {
	out    connector.Output[reading]
	splits [][]byte // of a checkpoint
}

func (e *ends) Bounded() bool { return false }

func (e *ends) Open(_ connector.SourceContext, out connector.Output[reading]) (connector.Reader, error) {
	e.out = out
	return e, nil
}

func (e *ends) Poll() (connector.Progress, error) { return connector.Wait, nil }
func (e *ends) Add(s []byte) error                { e.splits = append(e.splits, s); return nil }
func (e *ends) NoMore() error                     { return nil }
func (e *ends) Splits() ([][]byte, error)         { return e.splits, nil }
func (e *ends) Close() error                      { return nil }

// reading from splits, with watermarks behind the source.
func splitting(h *host, j *journal, e EventTime[reading]) *ends {
	source := &ends{}
	FromSource[reading](source).Open(h.context(), marking(h, j, e))
	return source
}

// The watermark is the least of those of the splits; one that ends leaves, one that
// begins holds it.
func TestEachSplitHasItsTime(t *testing.T) {
	var j journal
	h := &host{}
	out := splitting(h, &j, EventTime[reading]{Delay: 1, Interval: 200}).out
	a, b := out.Begin("a"), out.Begin("b")
	a.Emit(10, batch.NoTimestamp)
	h.advance(200) // nothing is known of b
	b.Emit(5, batch.NoTimestamp)
	h.advance(400)
	b.Emit(30, batch.NoTimestamp)
	b.End() // its time is behind that of a no more
	c := out.Begin("c")
	a.Emit(20, batch.NoTimestamp)
	h.advance(600)
	c.Emit(40, batch.NoTimestamp)
	a.End()
	h.advance(800)
	c.End()
	d := out.Begin("d")
	d.Emit(7, batch.NoTimestamp) // behind what has been told
	h.advance(1000)
	d.End()
	expect(t, &j, "10@10 5@5 W3 30@30 W8 20@20 40@40 W38 7@7")
}

// A split without records is idle by itself, and the stream when all are, or when
// there is none.
func TestASplitBecomesIdle(t *testing.T) {
	var j journal
	h := &host{}
	out := splitting(h, &j, EventTime[reading]{Interval: 200, IdleAfter: 1000}).out
	for now := int64(200); now <= 1000; now += 200 {
		h.advance(now)
	}
	a, b := out.Begin("a"), out.Begin("b")
	b.Emit(3, batch.NoTimestamp)
	for now := int64(1200); now <= 2000; now += 200 {
		a.Emit(reading(now), batch.NoTimestamp)
		h.advance(now)
	}
	h.advance(2200)
	b.Emit(5000, batch.NoTimestamp)
	for now := int64(2400); now <= 4000; now += 200 {
		h.advance(now)
	}
	expect(t, &j, "idle active 3@3 1200@1200 W2 1400@1400 1600@1600 1800@1800 2000@2000 W1999 5000@5000 W4999 idle")
}

// Records of no split are a time of their own, from the first one on.
func TestRecordsOfNoSplit(t *testing.T) {
	var j journal
	out := splitting(&host{}, &j, EventTime[reading]{}).out
	a := out.Begin("a")
	a.Emit(10, batch.NoTimestamp)
	out.Emit(4, batch.NoTimestamp)
	a.Emit(20, batch.NoTimestamp)
	out.Emit(30, batch.NoTimestamp)
	expect(t, &j, "10@10 W9 4@4 20@20 30@30 W19")
}

// A generator of the program's is made for each split.
func TestEachSplitHasAGenerator(t *testing.T) {
	var j journal
	h := &host{}
	out := splitting(h, &j, EventTime[reading]{Interval: 200, Generator: func(emit func(int64)) Generator[reading] { return punctual{emit} }}).out
	a, b := out.Begin("a"), out.Begin("b")
	a.Emit(4, batch.NoTimestamp)
	b.Emit(3, batch.NoTimestamp)
	b.Emit(2, batch.NoTimestamp)
	h.advance(200)
	expect(t, &j, "4@4 3@3 W2 2@2 W1099511627776")
}

// What the source knows of event time counts where the program gives no watermarks.
func TestASourceKnowsTheTimesOfItsSplits(t *testing.T) {
	var j journal
	h := &host{}
	source := &ends{}
	FromSource[reading](source).Open(h.context(), journalOf[reading](&j))
	a, b := source.out.Begin("a"), source.out.Begin("b")
	a.Advance(5)
	b.Advance(7)
	a.Idle()
	b.Idle()
	a.End()
	b.Advance(9)
	expect(t, &j, "W5 W7 idle active W9")
}

// Several operators behind a source tell its splits apart, or do not.
func TestSplitsReachSeveralOperators(t *testing.T) {
	var first, second, plain journal
	h := &host{}
	c := h.context()
	marked := func(j *journal, delay int64) any {
		return Watermarks(EventTime[reading]{Timestamp: at, Delay: delay}).Build(c, journalOf[reading](j))
	}
	source := &ends{}
	FromSource[reading](source).Open(c, NewStream[reading]().Fanout([]any{marked(&first, 0), journalOf[reading](&plain), marked(&second, 3)}))
	a, b := source.out.Begin("a"), source.out.Begin("b")
	a.Emit(9, batch.NoTimestamp)
	b.Emit(5, batch.NoTimestamp)
	b.End()
	source.out.Emit(20, batch.NoTimestamp)
	expect(t, &first, "9@9 5@5 W4 W8 20@20")
	expect(t, &second, "9@9 5@5 W1 W5 20@20")
	expect(t, &plain, "9 5 20")
}

// restarted runs a source again from a checkpoint with the splits a and b.
func restarted(j *journal, e EventTime[reading], times [][]byte) (*restoring, connector.Output[reading]) {
	h := &restoring{from: map[string][][]byte{"splits": {[]byte("a"), []byte("b")}, "times": times}}
	c := h.context()
	c.Runtime = h
	e.Timestamp = at
	source := &ends{}
	FromSource[reading](source).Open(c, Watermarks(e).Build(c, journalOf[reading](j)))
	return h, source.out
}

// The time of each split goes on where it was, wherever the split goes: without
// another record the watermark comes as it would have, and nothing is late or in time
// that would not have been.
func TestTimesOfSplitsAreRestored(t *testing.T) {
	var before, after, unread journal
	h := &host{}
	e := EventTime[reading]{Delay: 1, Interval: 200}
	out := splitting(h, &before, e).out
	a, b := out.Begin("a"), out.Begin("b")
	out.Begin("without a record")
	a.Emit(10, batch.NoTimestamp)
	b.Emit(20, batch.NoTimestamp)
	times := func(h *host) [][]byte { return h.kept[0].Lists[1].Save() }
	kept := times(h)
	if len(kept) != 2 {
		t.Fatalf("kept %q", kept)
	}
	again, out := restarted(&after, e, kept)
	a = out.Begin("a")
	if got := times(&again.host); len(got) != 2 {
		t.Errorf("one that has not begun yet is forgotten: %q", got)
	}
	b = out.Begin("b")
	if got := times(&again.host); !slices.EqualFunc(got, kept, slices.Equal) {
		t.Errorf("kept %q, and then %q", kept, got)
	}
	again.advance(1000)
	b.Emit(5, batch.NoTimestamp)
	a.Emit(40, batch.NoTimestamp)
	again.advance(2000)
	expect(t, &after, "W8 5@5 40@40 W18")

	again, out = restarted(&unread, e, kept)
	out.Begin("c")
	out.Begin("d")
	if got := times(&again.host); len(got) != 0 {
		t.Errorf("splits of others are kept: %q", got)
	}
}

// However splits begin, go on, fall silent and end, no watermark overtakes a record of
// a split that was in order, and it never goes back.
func TestNoSplitInOrderIsLate(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		told, h := int64(noTime), &host{}
		out := &Receiver[reading]{
			Push: func(v reading, ts int64) {},
			Watermark: func(w int64) {
				if w <= told {
					t.Fatalf("seed %d: the watermark went from %d to %d", seed, told, w)
				}
				told = w
			},
			Idle: func(bool) {},
		}
		source := &ends{}
		FromSource[reading](source).Open(h.context(), Watermarks(EventTime[reading]{Timestamp: at, Interval: 200 * random.Int64N(2)}).Build(h.context(), out))
		open, at, next := map[int]connector.SplitOutput[reading]{}, map[int]int64{}, 0
		for range 100 {
			ids := slices.Sorted(maps.Keys(open))
			switch act := random.IntN(10); {
			case act == 0 || len(ids) == 0:
				open[next], at[next] = source.out.Begin(fmt.Sprint(next)), max(0, told)+1
				next++
			case act == 1:
				id := ids[random.IntN(len(ids))]
				open[id].End()
				delete(open, id)
			case act == 2:
				h.advance(h.now + 200)
			default:
				id := ids[random.IntN(len(ids))]
				at[id] += 1 + random.Int64N(20)
				if at[id] <= told {
					t.Fatalf("seed %d: a record of split %d at %d is late: the watermark is %d", seed, id, at[id], told)
				}
				open[id].Emit(reading(at[id]), batch.NoTimestamp)
			}
		}
	}
}
