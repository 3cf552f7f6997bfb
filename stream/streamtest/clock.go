package streamtest

import (
	"cmp"
	"slices"
	"sync"
)

// clock is processing time that stands still until it is advanced.
type clock struct {
	mu     sync.Mutex
	now    int64
	alarms map[*alarm]struct{}
	set    int // how many alarms have been set
}

type alarm struct {
	at   int64
	set  int
	ring func()
}

// Now is in Unix milliseconds.
func (c *clock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At runs f when time has reached at: now, or while it is advanced.
func (c *clock) At(at int64, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at <= c.now {
		f() // a letter, which the task reads later
		return func() {}
	}
	c.set++
	a := &alarm{at, c.set, f}
	c.alarms[a] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, a)
	}
}

// step advances time to the next alarm, or to the end if there is none before, and
// rings those of that time. It is false at the end.
func (c *clock) step(end int64) bool {
	c.mu.Lock()
	next := end
	for a := range c.alarms {
		next = min(next, a.at)
	}
	c.now = max(c.now, next)
	var due []*alarm
	for a := range c.alarms {
		if a.at <= c.now {
			due = append(due, a)
			delete(c.alarms, a)
		}
	}
	slices.SortFunc(due, func(a, b *alarm) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.set, b.set)) })
	more := c.now < end
	c.mu.Unlock()
	for _, a := range due {
		a.ring()
	}
	return more
}
