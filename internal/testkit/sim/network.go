package sim

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/rpc"
)

// A link is the way from one process address to another; calls go along the
// caller's link, answers along the callee's.
type link struct{ from, to string }

// A channel is what keeps its order: the calls of one loop to one endpoint of
// one life of a process.
type channel struct {
	from     *Loop
	to       *Process
	endpoint string
}

// network is what lies between the systems of a world.
type network struct {
	world   *World
	reached map[link]*Process // the life that a process has a connection to
	cuts    map[link]*cut
	silent  map[string]bool   // addresses of machines that went down without a word
	hosts   map[string]string // machines of all addresses there ever were
	last    map[channel]time.Duration
	weather Weather
	// troubles are those of single methods, by name.
	troubles map[string]Trouble
	ills     ills
}

// Weather is how the network treats messages between machines; inside one
// nothing is lost or late.
type Weather struct {
	// LoseCall and LoseAnswer are the probabilities that a message is lost; the
	// caller then waits until its deadline.
	LoseCall, LoseAnswer float64
	// Aimed is a method of which a call or an answer is lost with the probability
	// LoseAimed, if that is more; empty: all methods are alike.
	Aimed     string
	LoseAimed float64
	// Slow is the probability that a message takes up to SlowBy.
	Slow   float64
	SlowBy time.Duration
	// Hit is told of every call or answer that was lost, slowed or overtaken; nil:
	// nobody.
	Hit func(kind, method string)
}

// SetWeather changes how messages are treated from now on.
func (w *World) SetWeather(weather Weather) { w.net.weather = weather }

// A cut keeps what was sent along a link, as a connection does that sends
// again, or loses it. What was on its way when the cut came and comes to its end
// meanwhile is older than what is still on its way when the cut is healed, and
// that is older than what was sent in between.
type cut struct {
	keep    bool
	arrived []func() // in order
	unsent  []func() // in order
}

// Cut breaks the way from one process to another, by name, in that direction.
// With keep, what is sent meanwhile arrives when the cut is healed.
func (w *World) Cut(from, to string, keep bool) {
	l := link{address(from), address(to)}
	if w.net.cuts[l] == nil {
		w.net.cuts[l] = &cut{keep: keep}
		w.Note(from, "cut off from "+to)
	}
}

// Heal ends a cut.
func (w *World) Heal(from, to string) {
	l := link{address(from), address(to)}
	c := w.net.cuts[l]
	if c == nil {
		return
	}
	delete(w.net.cuts, l)
	w.Note(from, "reaches "+to+" again")
	for _, arrive := range c.arrived {
		w.schedule(&event{at: w.now, tie: 0, what: Arrival, name: "held back", f: arrive})
	}
	for _, send := range c.unsent {
		send()
	}
}

// Reset breaks the connection that one process has to another, if it has one:
// its open calls end, and it sees the loss. What was on its way is lost or
// arrives nevertheless, as the seed says.
func (w *World) Reset(from, to string) (broken bool) {
	p := w.Process(from)
	if p == nil || w.net.reached[link{address(from), address(to)}] == nil {
		return false
	}
	w.Note(from, "connection to "+to+" reset")
	p.system.lose(address(to), "connection reset by peer", w.rand.IntN(2) == 0)
	return true
}

func address(name string) string { return "sim:" + name }

// pass sends a message along a link: arrive runs in an event of its own, when
// and if it comes through. It runs not before what was sent earlier in the same
// channel; zero: no channel, any order.
func (n *network) pass(l link, ch channel, lost float64, method string, arrive func()) {
	w := n.world
	if c := n.cuts[l]; c != nil {
		if c.keep {
			c.unsent = append(c.unsent, func() { n.pass(l, ch, 0, method, arrive) })
		}
		return
	}
	near := n.hosts[l.from] == n.hosts[l.to]
	if method == n.weather.Aimed {
		lost = max(lost, n.weather.LoseAimed)
	}
	lost = max(lost, n.troubles[method].Lose)
	if lost > 0 && !near && w.rand.Float64() < lost {
		n.hit("lost "+ch.kind(), method)
		return
	}
	if ch.to == nil && !near && n.swallows(method) {
		n.hit("lost answer", method)
		return
	}
	at := w.now + n.delay(method, near) + n.ail(l, near)
	if ch.to != nil {
		at = max(at, n.last[ch])
		n.last[ch] = at
	}
	n.overtakes(l, ch, at, method)
	var end func()
	end = func() {
		switch c := n.cuts[l]; {
		case c == nil:
			arrive()
		case c.keep:
			c.arrived = append(c.arrived, end)
		}
	}
	w.schedule(&event{at: at, tie: 1, what: Arrival, name: method, f: end})
}

func (n *network) hit(kind, method string) {
	n.world.Note(kind, method)
	if n.weather.Hit != nil {
		n.weather.Hit(kind, method)
	}
}

// delay draws how long a message takes: mostly below a millisecond, sometimes
// much longer.
func (n *network) delay(method string, near bool) time.Duration {
	w := n.world
	if !near && n.weather.Slow > 0 && w.rand.Float64() < n.weather.Slow {
		n.hit("slow message", method)
		return w.between(50*time.Millisecond, max(51*time.Millisecond, n.weather.SlowBy))
	}
	if t := n.troubles[method]; !near && t.Slow > 0 && w.rand.Float64() < t.Slow {
		n.hit("slow message", method)
		return w.between(time.Millisecond, max(2*time.Millisecond, t.SlowBy))
	}
	switch w.rand.IntN(16) {
	case 0:
		return w.between(time.Millisecond, 20*time.Millisecond)
	case 1, 2, 3:
		return w.between(200*time.Microsecond, time.Millisecond)
	default:
		return w.between(20*time.Microsecond, 200*time.Microsecond)
	}
}

// find gives the life a call would reach.
func (n *network) find(address string) *Process {
	for _, p := range n.world.processes {
		if p.system.self == address {
			return p
		}
	}
	return nil
}

// processEnded takes a process that has crashed out of the network.
func (n *network) processEnded(p *Process, silent bool) {
	self := p.system.self
	n.silent[self] = silent
	for ch := range n.last { // only lookups depend on it, so the order does not matter
		if ch.to == p || ch.from.proc == p {
			delete(n.last, ch)
		}
	}
	p.system.end()
	for _, other := range n.world.processes {
		if n.reached[link{other.system.self, self}] != p || silent {
			continue
		}
		system := other.system
		n.world.schedule(&event{at: n.world.now + n.world.between(20*time.Microsecond, 2*time.Millisecond), tie: 1, what: Notice,
			proc: other, name: "connection to " + p.name + " lost", f: func() {
				if n.reached[link{system.self, self}] == p {
					system.lose(self, "process "+self+" ended", true)
				}
			}})
	}
}

// connect gives the life that a call reaches, or why it reaches nobody; both
// nil: nobody says a word. A connection to an earlier life is lost first.
func (n *network) connect(s *System, to string) (*Process, error) {
	l := link{s.self, to}
	target, old := n.find(to), n.reached[l]
	if old != nil && target != nil && old != target {
		s.lose(to, "process "+to+" ended", true)
	}
	switch {
	case target != nil:
		if n.cuts[l] == nil || old == target {
			n.reached[l] = target
		}
		return target, nil
	case n.silent[to]:
		return nil, nil
	default:
		return nil, fmt.Errorf("no such process: %w", rpc.ErrUnreachable)
	}
}
