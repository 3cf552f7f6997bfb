package operator

// AtEnd is the trigger that fires when time has come to the end of a window, and in
// event time again with each record that comes later.
type AtEnd[T any] struct{ Domain Domain }

// over says that the end of the window has passed, in event time; by the clock a
// record is never in such a window.
func (a AtEnd[T]) over(w Window, c *TriggerContext) bool {
	return a.Domain == OfEventTime && w.Last() <= c.Watermark
}

// Element fires if the window has ended.
func (a AtEnd[T]) Element(_ T, _ int64, w Window, c *TriggerContext) Verdict {
	if a.over(w, c) {
		return Fire
	}
	c.Register(a.Domain, w.Last())
	return Continue
}

// Timer fires at the end.
func (a AtEnd[T]) Timer(d Domain, at int64, w Window, _ *TriggerContext) Verdict {
	if d == a.Domain && at == w.Last() {
		return Fire
	}
	return Continue
}

// Merged waits for the end of the new window.
func (a AtEnd[T]) Merged(w Window, c *TriggerContext) {
	if !a.over(w, c) {
		c.Register(a.Domain, w.Last())
	}
}

// AtCount is the trigger that fires with every so many records of a window.
type AtCount[T any] int64

// Element counts.
func (n AtCount[T]) Element(_ T, _ int64, _ Window, c *TriggerContext) Verdict {
	if count := c.Number() + 1; count < int64(n) {
		c.SetNumber(count)
		return Continue
	}
	c.SetNumber(0)
	return Fire
}

// Timer does nothing.
func (AtCount[T]) Timer(Domain, int64, Window, *TriggerContext) Verdict { return Continue }

// Merged does nothing: the counts were added up.
func (AtCount[T]) Merged(Window, *TriggerContext) {}

// Every is the trigger that fires whenever so much time has passed since the last
// time, on a grid that all windows share, and at the end of a window in event
// time. The trigger's number is the next time.
type Every[T any] struct {
	Domain   Domain
	Interval int64 // milliseconds
}

// Element sets the next time, if none is.
func (e Every[T]) Element(_ T, ts int64, w Window, c *TriggerContext) Verdict {
	if e.Domain == OfEventTime {
		if w.Last() <= c.Watermark {
			return Fire
		}
		c.Register(OfEventTime, w.Last())
	} else {
		ts = c.Now()
	}
	if c.Number() == 0 {
		e.next(ts, w, c)
	}
	return Continue
}

// next waits for the first time on the grid behind ts.
func (e Every[T]) next(ts int64, w Window, c *TriggerContext) {
	at := ts - floorMod(ts, e.Interval) + e.Interval
	if e.Domain == OfEventTime && at > w.Last() {
		return // the end comes first
	}
	c.SetNumber(at)
	c.Register(e.Domain, at)
}

// Timer fires at the end and whenever it is time.
func (e Every[T]) Timer(d Domain, at int64, w Window, c *TriggerContext) Verdict {
	if d != e.Domain {
		return Continue
	}
	if at == c.Number() {
		c.SetNumber(0)
		e.next(at, w, c)
		return Fire
	}
	if d == OfEventTime && at == w.Last() {
		return Fire
	}
	return Continue
}

// Merged forgets the time, which the record that made the windows one sets again.
func (e Every[T]) Merged(_ Window, c *TriggerContext) { c.SetNumber(0) }

// Purging is a trigger that drops the contents of a window whenever it fires.
type Purging[T any] struct{ Trigger[T] }

// Element asks the trigger inside.
func (p Purging[T]) Element(v T, ts int64, w Window, c *TriggerContext) Verdict {
	return purging(p.Trigger.Element(v, ts, w, c))
}

// Timer asks the trigger inside.
func (p Purging[T]) Timer(d Domain, at int64, w Window, c *TriggerContext) Verdict {
	return purging(p.Trigger.Timer(d, at, w, c))
}

func purging(v Verdict) Verdict {
	if v&Fire != 0 {
		v |= Purge
	}
	return v
}

// floorMod is the remainder of a division that rounds down, so that it is right
// before the year 1970 as well.
func floorMod(a, b int64) int64 {
	if m := a % b; m < 0 {
		return m + b
	} else {
		return m
	}
}

// Never is the trigger that never fires.
type Never[T any] struct{}

// Element does nothing.
func (Never[T]) Element(T, int64, Window, *TriggerContext) Verdict { return Continue }

// Timer does nothing.
func (Never[T]) Timer(Domain, int64, Window, *TriggerContext) Verdict { return Continue }

// Merged does nothing.
func (Never[T]) Merged(Window, *TriggerContext) {}
