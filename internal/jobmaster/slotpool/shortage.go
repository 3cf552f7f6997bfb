package slotpool

import (
	"fmt"
	"slices"
	"time"
)

// turn gives the bulks that may be served now. In a bounded pool it is those that get all
// they lack, oldest first, up to one that does not: two regions, or two jobs, that had a part
// of what they need each would wait for one another for ever.
func (p *Pool) turn() []*bulk {
	if !p.opts.Bounded {
		return p.bulks
	}
	left := p.idle
	for i, b := range p.bulks {
		if left -= len(b.pending); left < 0 {
			return p.bulks[:i]
		}
	}
	return p.bulks
}

// unusedTimeout is how long a bounded pool keeps slots none of which is used, because those it
// waits for need more of them, and restTime how long it then leaves them to others.
const unusedTimeout, restTime = 5 * time.Second, time.Second

// giveWay gives slots back that are too few to use any, and asks for none for a while. Another
// job may be in the same position, or need no more than these.
func (p *Pool) giveWay() {
	if p.waiting == 0 || !p.now.Before(p.resting) {
		p.resting = time.Time{}
	}
	switch {
	case !p.opts.Bounded || p.waiting == 0 || p.idle == 0 || p.idle < len(p.slots):
		p.unused = time.Time{}
	case p.unused.IsZero():
		p.unused = p.now
	case p.now.Sub(p.unused) >= unusedTimeout:
		p.unused, p.resting = time.Time{}, p.now.Add(restTime)
		p.declare() // first, so that they do not come again
		p.remove(func(h *held) bool {
			p.gone[h.slot.Allocation] = true
			p.emit(Free{Slot: h.slot, Cause: "the job needs more slots than it has, and others may need this one"})
			return true
		})
	}
}

// notEnough refuses what is pending, if the word is about what is needed now. Bounded tasks
// wait for slots that others use, unless there are fewer than they need at the same time, or
// what was granted waits for more itself.
func (p *Pool) notEnough(ev NotEnough) {
	if ev.Needed != p.Requirement() || p.pending() == 0 {
		return
	}
	p.look = time.Time{}
	for _, b := range slices.Clone(p.bulks) {
		if p.opts.Bounded && len(b.requests) <= ev.Registered && (ev.Working || p.idle == len(p.slots)) {
			p.shortage, p.look = ev, p.now.Add(shortageCheck)
			continue
		}
		p.refuse(b, fmt.Sprintf("Could not acquire the minimum required resources. (need %d slots, have %d, free %d, slot sharing group %q)",
			ev.Needed, ev.Registered, ev.Free, b.pending[0].Group))
	}
}

// shortageCheck is how often a pool that waits although there are not enough slots looks
// whether what it has granted is still in use.
const shortageCheck = time.Second

// lookAgain is about the ResourceManager's last word, while that is waited out.
func (p *Pool) lookAgain(t Tick) {
	if p.look.IsZero() || p.now.Before(p.look) {
		return
	}
	p.look = time.Time{}
	p.shortage.Working = t.Working
	p.notEnough(p.shortage)
}

// checkBulks refuses the bulks that could not be met for too long.
func (p *Pool) checkBulks() {
	var due []*bulk // of which there is something new to be said
	for _, b := range slices.Backward(p.bulks) {
		if b.seen && !p.moved {
			break // those before were looked at, too, and nothing has changed for them
		}
		due = append(due, b)
	}
	for _, b := range slices.Backward(due) {
		b.seen = true
		switch {
		case p.reachable(b):
			b.unmet = time.Time{}
		case b.unmet.IsZero():
			b.unmet = p.now
		case p.now.Sub(b.unmet) >= p.opts.RequestTimeout:
			p.refuse(b, fmt.Sprintf("Slot request bulk is not fulfillable! Could not allocate the required slot within slot request timeout (%v: need %d slots, have %d, free %d, slot sharing group %q)",
				p.opts.RequestTimeout, len(b.requests), len(p.slots), p.free(), b.pending[0].Group))
		}
	}
}

// reachable reports whether the known slots can meet a bulk in the end: those
// that other requests use will be free again only when the tasks in them are
// bounded.
func (p *Pool) reachable(b *bulk) bool {
	usable := b.held + p.idle
	if p.opts.Bounded {
		usable = len(p.slots)
	}
	return usable >= len(b.requests)
}
