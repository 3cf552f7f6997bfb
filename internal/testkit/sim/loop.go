package sim

import (
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
)

// A Loop is the actor.Loop of a simulated process. Each letter and each timer
// is an event of the world of its own, so anything of other loops may come
// between two letters.
type Loop struct {
	proc    *Process
	name    string
	rand    *rand.Rand
	tie     uint64 // of its timers, so that two of one moment run as they were made
	mailbox []letter
	turn    bool // an event that runs the next letter is in the queue
	direct  bool // the next Post runs at once
	stopped bool
}

type letter struct {
	name string
	f    func()
}

var _ actor.Loop = (*Loop)(nil)

// Name is the loop's name.
func (l *Loop) Name() string { return l.name }

// Process is whose loop it is.
func (l *Loop) Process() *Process { return l.proc }

// Post runs f after everything posted before.
func (l *Loop) Post(f func()) { l.post(l.name, f) }

func (l *Loop) post(name string, f func()) {
	if l.stopped {
		return
	}
	if l.direct {
		l.direct = false
		f()
		return
	}
	l.mailbox = append(l.mailbox, letter{name, f})
	l.nextTurn()
}

func (l *Loop) nextTurn() {
	if l.turn || len(l.mailbox) == 0 || l.stopped {
		return
	}
	l.turn = true
	w := l.proc.world
	w.schedule(&event{at: w.now, tie: w.rand.Uint64(), what: Letter, proc: l.proc, name: l.mailbox[0].name, f: l.takeTurn})
}

func (l *Loop) takeTurn() {
	l.turn = false
	if l.stopped {
		return
	}
	next := l.mailbox[0]
	l.mailbox[0] = letter{}
	if l.mailbox = l.mailbox[1:]; len(l.mailbox) == 0 {
		l.mailbox = nil
	}
	next.f()
	l.nextTurn()
}

// Directly calls f, in which the first Post to the loop runs at once instead of
// in a later event. It is for actor.Query, which waits for its answer: called
// so, it has it when it begins to wait. It may be used where a letter of the
// loop could run, that is, not while one of its callbacks does.
func (l *Loop) Directly(f func()) {
	l.direct = true
	defer func() { l.direct = false }()
	f()
}

// After runs f once d has passed.
func (l *Loop) After(d time.Duration, f func()) actor.Timer {
	w := l.proc.world
	t := &timer{loop: l}
	if l.stopped {
		return t
	}
	t.event = w.schedule(&event{at: w.now + l.proc.clock.real(w.now, max(0, d)), tie: l.tie, what: Timer, proc: l.proc, name: l.name, f: func() {
		if !l.stopped {
			f()
		}
	}})
	return t
}

type timer struct {
	loop  *Loop
	event *event // nil: never ran, the loop had stopped
}

// Stop prevents the callback, if it has not run.
func (t *timer) Stop() {
	if t.event != nil {
		t.loop.proc.world.queue.remove(t.event)
	}
}

// Go runs work as an event of its own after a delay drawn from the seed, and
// then then on the loop.
func (l *Loop) Go(work func(), then func()) {
	if l.stopped {
		return
	}
	w := l.proc.world
	delay := w.between(10*time.Microsecond, 5*time.Millisecond)
	if w.rand.IntN(20) == 0 {
		delay = w.between(5*time.Millisecond, 2*time.Second)
	}
	delay += l.proc.disk.delay(w)
	l.proc.disk.busyUntil(w.now + delay)
	w.schedule(&event{at: w.now + delay, tie: w.rand.Uint64(), what: Work, proc: l.proc, name: l.name, f: func() {
		if l.stopped {
			return
		}
		work()
		l.post(l.name, then)
	}})
}

// Now is the process's clock. Who asks again and again within one event does not
// come back from it.
func (l *Loop) Now() time.Time {
	w := l.proc.world
	w.asked++
	invariant.Check(w.asked < stuck, "loop %s of %s does not come back from what it does at %s", l.name, l.proc, w.now)
	return Epoch.Add(l.proc.clock.shows(w.now))
}

// Rand is the loop's randomness; it follows from the seed, the process's life
// and the loop's name.
func (l *Loop) Rand() *rand.Rand { return l.rand }

// Stop ends the loop: the callback that runs now is the last one.
func (l *Loop) Stop() { l.stopped, l.mailbox = true, nil }
