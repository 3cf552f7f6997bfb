package connector

import "math"

// SplitTimes is the event time of each split that a reader has. The watermark of its
// stream is the least of those of its splits that are not idle, so that a split which
// is behind is not late; when all are idle, so is the stream.
type SplitTimes struct {
	splits    map[string]splitTime
	watermark int64 // emitted last
	idle      bool
	emit      func(watermark int64)
	setIdle   func(idle bool)
}

type splitTime struct {
	watermark int64
	idle      bool
}

// NewSplitTimes makes the times of no split. emit is told each watermark of the
// stream, which only rise, and idle when the stream falls idle or is no longer.
func NewSplitTimes(emit func(watermark int64), idle func(bool)) *SplitTimes {
	return &SplitTimes{splits: map[string]splitTime{}, watermark: math.MinInt64, emit: emit, setIdle: idle}
}

// Begin says that a split is there: the watermark waits for its first one.
func (s *SplitTimes) Begin(split string) {
	s.splits[split] = splitTime{watermark: math.MinInt64}
	s.settle()
}

// Advance says that no record of the split at or before t, in Unix milliseconds,
// follows. A split that was idle is not any more.
func (s *SplitTimes) Advance(split string, t int64) {
	s.splits[split] = splitTime{watermark: max(t, s.splits[split].watermark)}
	s.settle()
}

// Idle says that nobody should wait for the split's next watermark.
func (s *SplitTimes) Idle(split string) {
	if now, known := s.splits[split]; known {
		now.idle = true
		s.splits[split] = now
		s.settle()
	}
}

// End says that the split has ended.
func (s *SplitTimes) End(split string) {
	delete(s.splits, split)
	s.settle()
}

func (s *SplitTimes) settle() {
	if len(s.splits) == 0 {
		return // what comes next is not known
	}
	least, idle := int64(math.MaxInt64), true
	for _, t := range s.splits {
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
