package operator

import (
	"math"
	"slices"
)

// splitTimes merges the event times of the splits that one source reads, or of
// whatever else is to be told apart. The watermark of the stream is the least of
// those that are not idle, so that a split which is behind is not late; when all
// are idle, so is the stream. Without any, nothing is known of what comes next: the
// watermark stays.
//
// Invariant: but for a call of together, the least time of those that are not idle is
// at most the watermark.
type splitTimes struct {
	all       []*splitTime
	watermark int64 // emitted last; it only rises
	idle      bool
	waits     bool                  // settle is to do nothing
	emit      func(watermark int64) // is told each watermark
	setIdle   func(idle bool)       // when the stream falls idle or is no longer
}

// splitTime is the event time of one split.
type splitTime struct {
	watermark int64
	idle      bool
}

// noTime is before all times.
const noTime = math.MinInt64

func newSplitTimes(emit func(watermark int64), idle func(bool)) *splitTimes {
	return &splitTimes{watermark: noTime, emit: emit, setIdle: idle}
}

// begin adds a split, whose first watermark is waited for.
func (s *splitTimes) begin() *splitTime {
	t := &splitTime{watermark: noTime}
	s.all = append(s.all, t)
	s.settle()
	return t
}

// advance says that no record of the split at or before w follows. A split that was
// idle is not any more.
func (s *splitTimes) advance(t *splitTime, w int64) {
	before, idle := t.watermark, t.idle
	t.watermark, t.idle = max(w, before), false
	if idle || before <= s.watermark { // others keep the least where it is
		s.settle()
	}
}

// active says that records of an idle split come again.
func (s *splitTimes) active(t *splitTime) {
	t.idle = false
	s.settle()
}

// fallIdle says that nobody should wait for the split's next watermark.
func (s *splitTimes) fallIdle(t *splitTime) {
	t.idle = true
	s.settle()
}

// end takes a split out.
func (s *splitTimes) end(t *splitTime) {
	if i := slices.Index(s.all, t); i >= 0 {
		s.all = slices.Delete(s.all, i, i+1)
		s.settle()
	}
}

// abandon says that nobody should wait for a stream that has no splits.
func (s *splitTimes) abandon() {
	if len(s.all) == 0 && !s.idle {
		s.idle = true
		s.setIdle(true)
	}
}

// together makes many changes at once.
func (s *splitTimes) together(change func()) {
	s.waits = true
	change()
	s.waits = false
	s.settle()
}

// settle tells what has become of the watermark. That the stream is active again is
// told before its watermark, that it is idle after it.
func (s *splitTimes) settle() {
	if s.waits || len(s.all) == 0 {
		return
	}
	least, idle := int64(math.MaxInt64), true
	for _, t := range s.all {
		if !t.idle {
			least, idle = min(least, t.watermark), false
		}
	}
	if !idle && s.idle {
		s.idle = false
		s.setIdle(false)
	}
	if !idle && least > s.watermark {
		s.watermark = least
		s.emit(least)
	}
	if idle && !s.idle {
		s.idle = true
		s.setIdle(true)
	}
}
