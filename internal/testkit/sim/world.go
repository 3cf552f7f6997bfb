package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/internal/invariant"
)

// Epoch is the time at which every world begins.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// stuck is how many events may happen at one moment, and how often one of them
// may ask for the time, before the world is taken to be in an endless loop.
const stuck = 200_000

// held is how much real time one event may take, on a machine with much else to do.
const held = 30 * time.Second

// A World is processes and a network under one clock. One goroutine owns it.
type World struct {
	seed  uint64
	rand  *rand.Rand // of orders, delays and losses
	now   time.Duration
	made  uint64 // events so far
	steps uint64
	still int // events since the clock last moved
	asked int // how often the event that happens has asked for the time
	queue queue

	processes []*Process // alive, in the order started
	lives     map[string]int
	net       network
	trace     *Trace
	observers []func(Event)
}

// An Event is one event that has just happened.
type Event struct {
	At   time.Duration
	What Kind
	// Process is whose event it was; nil: the world's.
	Process *Process
	// Name is the loop's, or says what the event was about.
	Name string
}

// New makes an empty world whose course follows from seed.
func New(seed uint64) *World {
	w := &World{seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), lives: map[string]int{}, trace: newTrace()}
	w.net = network{world: w, ills: newIlls(), reached: map[link]*Process{}, cuts: map[link]*cut{}, silent: map[string]bool{}, hosts: map[string]string{}, last: map[channel]time.Duration{}, troubles: map[string]Trouble{}}
	return w
}

// Seed is the number the world follows from.
func (w *World) Seed() uint64 { return w.seed }

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// Steps is how many events have happened.
func (w *World) Steps() uint64 { return w.steps }

// Rand is the world's own randomness, for whoever drives it.
func (w *World) Rand() *rand.Rand { return w.rand }

// Trace is what has happened.
func (w *World) Trace() *Trace { return w.trace }

// Observe has f called after every event.
func (w *World) Observe(f func(Event)) { w.observers = append(w.observers, f) }

// At makes an event of the world itself, after d.
func (w *World) At(d time.Duration, name string, f func()) {
	w.schedule(&event{at: w.now + max(0, d), tie: w.rand.Uint64(), what: Scripted, name: name, f: f})
}

func (w *World) schedule(e *event) *event {
	w.made++
	e.seq = w.made
	w.queue.push(e)
	return e
}

// Step lets the next event happen. It reports false when there is none.
func (w *World) Step() bool {
	for len(w.queue) > 0 {
		e := w.queue.pop()
		if p := e.proc; p != nil && !p.alive {
			continue
		} else if p != nil && p.frozen > e.at {
			e.at = p.frozen // it keeps tie and number, so that the order within the process is kept
			w.queue.push(e)
			continue
		}
		w.happen(e)
		return true
	}
	return false
}

func (w *World) happen(e *event) {
	if e.at > w.now {
		w.now, w.still = e.at, 0
	}
	w.still++
	invariant.Check(w.still < stuck, "time does not pass: %d events at %s, the last one %s %s", w.still, w.now, e.what, e.name)
	w.steps++
	w.asked = 0
	w.trace.event(w.now, e)
	began := time.Now()
	e.f()
	took := time.Since(began)
	invariant.Check(took < held, "%s %s took %s of real time: it waits for something outside the world, or has far too much to do", e.what, e.name, took)
	if len(w.observers) > 0 {
		happened := Event{At: w.now, What: e.what, Process: e.proc, Name: e.name}
		for _, f := range w.observers {
			f(happened)
		}
	}
}

// RunUntil lets everything happen that happens up to the moment at.
func (w *World) RunUntil(at time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= at {
		if !w.Step() {
			break
		}
	}
	w.now = max(w.now, at)
}

// Note adds a line to the trace and to its hash: a state that changed, a
// fault, a decision of whoever drives the world.
func (w *World) Note(subject, text string) { w.trace.note(w.now, subject, text) }

// Process finds the living process of a name; nil: there is none.
func (w *World) Process(name string) *Process {
	for _, p := range w.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Processes lists the living processes in the order they were started.
func (w *World) Processes() []*Process { return w.processes }

// between draws a duration from [low, high).
func (w *World) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(w.rand.Int64N(int64(high-low)))
}

func (w *World) String() string { return fmt.Sprintf("world of seed %d at %s", w.seed, w.now) }
