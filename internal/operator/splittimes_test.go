package operator

import "testing"

func TestTimesOfSplitsAreMerged(t *testing.T) {
	var j journal
	out := journalOf[string](&j)
	s := newSplitTimes(out.Watermark, out.Idle)
	var a, b, c *splitTime
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { a, b = s.begin(), s.begin(); s.advance(a, 5) }, ""},
		{func() { s.advance(b, 3) }, "W3"},
		{func() { s.advance(b, 9) }, "W5"},
		{func() { s.advance(a, 4) }, ""}, // a watermark does not go back
		{func() { s.fallIdle(a) }, "W9"},
		{func() { s.fallIdle(b) }, "idle"},
		{func() { s.advance(a, 6) }, "active"}, // behind what has been told
		{func() { s.advance(a, 12) }, "W12"},
		{func() { s.together(func() { s.advance(a, 13); s.active(b); s.advance(b, 14); s.advance(a, 15) }) }, "W14"},
		{func() { c = s.begin(); s.advance(a, 20); s.advance(b, 21) }, ""},
		{func() { s.end(c); s.end(c) }, "W20"},
		{func() { s.fallIdle(b); s.end(a) }, "idle"},
		{func() { s.end(b) }, ""}, // nobody knows what comes next
		{func() { s.abandon() }, ""},
		{func() { a = s.begin() }, "active"},
		{func() { s.end(a); s.abandon() }, "idle"},
	} {
		j.lines = nil
		if step.do(); j.String() != step.want {
			t.Errorf("step %d: told %q, want %q", i, &j, step.want)
		}
	}
}
