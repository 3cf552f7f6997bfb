package resourcemanager

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/actor"
)

// hurry is how soon a ping that found nobody is repeated once the network said
// that the connection broke.
const hurry = 500 * time.Millisecond

// A pinger sends heartbeats to one target and says once when it is lost.
//
// Invariant: at most one of stop and lost ends it; after either it does
// nothing. It is used on the loop only.
type pinger struct {
	loop      actor.Loop
	interval  time.Duration
	timeout   time.Duration
	threshold int // of pings in a row that found nobody; negative: none
	// ping sends one heartbeat and calls back with its result.
	ping func(done func(error))
	lost func(cause string)
	// watch waits for the connection to break; it is a hint, and used up by it.
	watch func(broken func()) (stop func())

	last    time.Time // when the target was heard of last
	missed  int
	hurried bool
	next    actor.Timer
	expiry  actor.Timer
	unwatch func() // nil: the hint is used up
	ended   bool
}

// start begins with one interval of rest: the target has just been heard of.
func (p *pinger) start() {
	p.unwatch = p.watch(p.broken)
	p.alive()
	p.next = p.loop.After(p.interval, p.send)
}

// alive notes that the target was heard of.
func (p *pinger) alive() {
	if p.ended {
		return
	}
	p.last, p.missed, p.hurried = p.loop.Now(), 0, false
	if p.unwatch == nil {
		p.unwatch = p.watch(p.broken)
	}
	if p.expiry != nil {
		p.expiry.Stop()
	}
	p.expiry = p.loop.After(p.timeout, func() {
		p.end(fmt.Sprintf("no heartbeat for %s", p.timeout))
	})
}

// broken says that the connection broke: the next ping goes out now.
func (p *pinger) broken() {
	if !p.ended {
		p.unwatch, p.hurried = nil, true
		p.send()
	}
}

func (p *pinger) send() {
	if p.ended {
		return
	}
	p.next.Stop()
	p.next = p.loop.After(p.interval, p.send)
	p.ping(p.answered)
}

func (p *pinger) answered(err error) {
	switch {
	case p.ended:
	case err == nil:
		p.alive()
	case nobody(err):
		p.missed++
		if p.threshold > 0 && p.missed >= p.threshold {
			p.end(fmt.Sprintf("%d heartbeats in a row found nobody: %v", p.missed, err))
			return
		}
		if p.hurried {
			p.next.Stop()
			p.next = p.loop.After(min(hurry, p.interval), p.send)
		}
	}
}

func (p *pinger) end(cause string) {
	if p.ended {
		return
	}
	p.stop()
	p.lost(cause)
}

// stop ends the pinger without a word.
func (p *pinger) stop() {
	if p.ended {
		return
	}
	p.ended = true
	p.next.Stop()
	p.expiry.Stop()
	if p.unwatch != nil {
		p.unwatch()
	}
}
