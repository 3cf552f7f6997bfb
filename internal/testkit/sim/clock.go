package sim

import (
	"slices"
	"time"
)

// A clock is a process's own. It is monotonic, as those of Go's processes are: the
// time of day may be set back without their noticing. It may go too fast or too
// slow, and it may jump forward.
type clock struct {
	rate  float64 // how much faster than the world's it goes: 0.01 is 1 %
	since time.Duration
	shown time.Duration // at since
}

// shows is the clock's time at a moment of the world.
func (c *clock) shows(now time.Duration) time.Duration {
	if c.rate == 0 && c.shown == c.since {
		return now
	}
	passed := now - c.since
	return c.shown + passed + time.Duration(float64(passed)*c.rate)
}

// real is how long it takes in the world until d has passed on the clock: no
// timer runs before its time.
func (c *clock) real(now, d time.Duration) time.Duration {
	if c.rate == 0 {
		return d
	}
	passes, then := time.Duration(float64(d)/(1+c.rate)), c.shows(now)+d
	for c.shows(now+passes) < then {
		passes++
	}
	return passes
}

// Drift lets the process's clock go faster, by that share, from now on; or slower,
// if it is below zero. What timers wait for already is not changed.
func (p *Process) Drift(rate float64) {
	now := p.world.now
	p.clock = clock{rate: rate, shown: p.clock.shows(now), since: now}
}

// Jump puts the process's clock forward. Timers that were to run meanwhile run
// now, in their order.
func (p *Process) Jump(d time.Duration) {
	w := p.world
	p.clock = clock{rate: p.clock.rate, shown: p.clock.shows(w.now) + d, since: w.now}
	w.Note(p.text, "clock jumps forward by "+d.String())
	earlier := p.clock.real(w.now, d)
	var timers []*event
	for _, e := range w.queue {
		if e.proc == p && e.what == Timer {
			timers = append(timers, e)
		}
	}
	slices.SortFunc(timers, func(a, b *event) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for i, e := range timers {
		w.queue.remove(e)
		e.at = max(w.now+time.Duration(i), e.at-earlier) // the nanoseconds keep those in order that fall together
		w.queue.push(e)
	}
}
