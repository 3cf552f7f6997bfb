package operator

import (
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
)

// reading is a record of these tests: its event time.
type reading int64

func at(v reading) int64 { return int64(v) }

// marking builds the operator over a journal.
func marking(h *host, j *journal, e EventTime[reading]) *Receiver[reading] {
	e.Timestamp = at
	return Watermarks(e).Build(h.context(), journalOf[reading](j)).(*Receiver[reading])
}

func expect(t *testing.T, j *journal, want string) {
	t.Helper()
	if j.String() != want {
		t.Errorf("got  %s\nwant %s", j, want)
	}
}

// Watermarks follow the latest record at a distance, once an interval.
func TestWatermarksFollowTheLatestRecord(t *testing.T) {
	var j journal
	h := &host{}
	in := marking(h, &j, EventTime[reading]{Delay: 5, Interval: 200})
	h.advance(200)
	in.Push(10, batch.NoTimestamp)
	in.Push(20, batch.NoTimestamp)
	in.Push(12, batch.NoTimestamp)
	h.advance(400)
	h.advance(600)
	in.Push(18, batch.NoTimestamp)
	h.advance(800)
	in.Watermark(1000) // of the input
	in.Watermark(element.MaxWatermark)
	in.Finish()
	expect(t, &j, "10@10 20@20 12@12 W14 18@18 W9223372036854775807 end")
}

// With no interval there is a watermark with every record that advances it, years
// before the epoch as well.
func TestWatermarksWithEveryRecord(t *testing.T) {
	var j journal
	in := marking(&host{}, &j, EventTime[reading]{Delay: 1})
	for _, v := range []reading{-62135596800000, 5, 5, 3, 253402300799000} {
		in.Push(v, batch.NoTimestamp)
	}
	expect(t, &j, "-62135596800000@-62135596800000 W-62135596800002 5@5 W3 5@5 3@3 253402300799000@253402300799000 W253402300798998")
}

// A stream without records becomes idle, and active again before the next one.
func TestAStreamWithoutRecordsBecomesIdle(t *testing.T) {
	var j journal
	h := &host{}
	in := marking(h, &j, EventTime[reading]{Interval: 200, IdleAfter: 1000})
	in.Push(7, batch.NoTimestamp)
	for now := int64(200); now <= 2000; now += 200 {
		h.advance(now)
	}
	in.Push(8, batch.NoTimestamp)
	h.advance(2200)
	expect(t, &j, "7@7 W6 idle active 8@8 W7")
}

// A record from too far in the future is put aside and moves nothing.
func TestARecordFromTheFutureMovesNothing(t *testing.T) {
	var j, aside journal
	h := &host{now: 1000}
	c := h.context()
	tag := new(int)
	c.Sides = []Side{{Tag: tag, Out: journalOf[reading](&aside)}}
	in := Watermarks(EventTime[reading]{Timestamp: at, Ahead: 60, Future: tag}).Build(c, journalOf[reading](&j)).(*Receiver[reading])
	in.Push(1060, batch.NoTimestamp)
	in.Push(1061, batch.NoTimestamp)
	expect(t, &j, "1060@1060 W1059")
	expect(t, &aside, "1061@1061")
}

// punctual emits the time of each even record.
type punctual struct{ emit func(int64) }

func (p punctual) Event(v reading, ts int64) {
	if v%2 == 0 {
		p.emit(ts)
	}
}

func (p punctual) Periodic() { p.emit(1 << 40) }

func TestAGeneratorDecides(t *testing.T) {
	var j journal
	h := &host{}
	in := marking(h, &j, EventTime[reading]{Interval: 200, Generator: func(emit func(int64)) Generator[reading] { return punctual{emit} }})
	for _, v := range []reading{1, 4, 3, 2} {
		in.Push(v, batch.NoTimestamp)
	}
	h.advance(200)
	expect(t, &j, "1@1 W4 4@4 3@3 2@2 W1099511627776")
}
