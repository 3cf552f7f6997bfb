package operator

import (
	"encoding/json/v2"
	"fmt"
	"math"

	"github.com/weirstream/weir/internal/coordinator/alignment/message"
	"github.com/weirstream/weir/internal/invariant"
)

// Alignment keeps the event time of several streams of a job together: who is ahead
// of the last one by more than Drift is not read until that one has caught up. Spans
// are in milliseconds.
type Alignment struct {
	Group string
	Drift int64
	// Interval is the processing time from one report to the next.
	Interval int64
	// Apart says that splits may go ahead whose source cannot pause them.
	Apart bool
}

// Spec is the specification of the stream's coordinator.
func (a *Alignment) Spec() string {
	text, err := json.Marshal(message.Spec{Group: a.Group, DriftMillis: a.Drift})
	invariant.Check(err == nil, "a specification can be written as JSON: %v", err)
	return string(text)
}

// aligned keeps the source of one subtask from going ahead. It reports to the
// coordinator once an interval; the answer says how far the subtask may go.
//
// The obvious way, to compare what has been emitted, lets a source run as far as it
// can from one watermark to the next. So what counts is how far the records have come,
// and the source is held between two polls.
type aligned struct {
	c        *Context
	interval int64
	drift    int64
	stream   advancing
	allowed  int64
	answered bool
	held     bool
}

// advancing is a stream that is aligned.
type advancing interface {
	// reached is how far its event time has come; idle: it does not matter.
	reached() (t int64, idle bool)
	// pause reads only those of its splits that are not beyond allowed.
	pause(allowed int64)
}

// align begins to align a stream; a nil Alignment does not.
func align(c *Context, a *Alignment, stream advancing) *aligned {
	if a == nil {
		return nil
	}
	s := &aligned{c: c, interval: a.Interval, drift: a.Drift, stream: stream, allowed: math.MinInt64}
	if c.Counts != nil {
		c.Counts.Aligned = true
	}
	c.Hold(s.hold)
	c.At(c.Now(), s.report)
	return s
}

// hold reports whether the source is to be left alone. Before the first answer it is:
// others may be far behind.
func (s *aligned) hold() bool {
	t, idle := s.stream.reached()
	s.held = !s.answered || !idle && t > s.allowed
	if !s.held {
		s.stream.pause(s.allowed)
	}
	return s.held
}

// measure tells how far the stream is ahead of the last one of the group.
func (s *aligned) measure() {
	if s.c.Counts == nil {
		return
	}
	s.c.Counts.Drift = 0
	if t, idle := s.stream.reached(); !idle && t != math.MinInt64 && s.allowed != math.MaxInt64 && s.allowed != math.MinInt64 {
		s.c.Counts.Drift = t - (s.allowed - s.drift)
	}
}

func (s *aligned) holds() bool { return s != nil && s.held }

func (s *aligned) report() {
	var r message.Report
	r.Watermark, r.Idle = s.stream.reached()
	text, err := json.Marshal(r)
	Check(err)
	s.c.Ask(s.c.OperatorID, text, s.receive)
}

// receive takes the coordinator's answer.
func (s *aligned) receive(answer []byte, err error) {
	var a message.Answer
	if err == nil {
		err = json.Unmarshal(answer, &a)
	}
	if err != nil {
		Abort(fmt.Errorf("align watermarks: %w", err))
	}
	s.allowed, s.answered = a.Allowed, true
	s.measure()
	s.c.At(s.c.Now()+s.interval, s.report)
}
