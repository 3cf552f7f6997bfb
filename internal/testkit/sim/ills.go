package sim

import "time"

// ills are what ails the network beside its weather.
type ills struct {
	clogs  map[link]clog
	jitter time.Duration
	newest map[link]time.Duration // when the last message of each link arrives
	// mute is a method of which answers are lost, with a probability.
	mute     string
	muteRate float64
}

// A clog is a link on which everything takes longer.
type clog struct{ least, most time.Duration }

func newIlls() ills { return ills{clogs: map[link]clog{}, newest: map[link]time.Duration{}} }

// Clog makes every message from one process to another take that much longer,
// in order, until Unclog.
func (w *World) Clog(from, to string, least, most time.Duration) {
	w.net.ills.clogs[link{address(from), address(to)}] = clog{least, most}
	w.Note(from, "clogged on the way to "+to)
}

// Unclog ends a clog.
func (w *World) Unclog(from, to string) {
	l := link{address(from), address(to)}
	if _, clogged := w.net.ills.clogs[l]; clogged {
		delete(w.net.ills.clogs, l)
		w.Note(from, "free on the way to "+to)
	}
}

// Jitter lets messages between machines take up to that much longer, each by
// chance: what has no promised order, such as the answers to two calls and the
// calls of two loops, comes in any. Zero ends it.
func (w *World) Jitter(most time.Duration) {
	w.net.ills.jitter = most
	w.Note("network", "jitter of up to "+most.String())
}

// LoseAnswers has answers to a method lost, with a probability: the call is
// executed, and the caller does not learn of it. Zero ends it.
func (w *World) LoseAnswers(method string, rate float64) {
	w.net.ills.mute, w.net.ills.muteRate = method, rate
}

// HealNetwork ends all ills.
func (w *World) HealNetwork() {
	newest := w.net.ills.newest
	w.net.ills = newIlls()
	w.net.ills.newest = newest
}

// swallows decides whether the answer to a method is lost.
func (n *network) swallows(method string) bool {
	return method == n.ills.mute && n.ills.muteRate > 0 && n.world.rand.Float64() < n.ills.muteRate
}

// ail is how much longer the next message of a link takes.
func (n *network) ail(l link, near bool) time.Duration {
	if near {
		return 0
	}
	more := time.Duration(0)
	if c, clogged := n.ills.clogs[l]; clogged {
		more = n.world.between(c.least, c.most)
	}
	if n.ills.jitter > 0 {
		more += n.world.between(0, n.ills.jitter)
	}
	return more
}

// overtakes notes a message that comes, in jitter, before one that was sent
// earlier on its link.
func (n *network) overtakes(l link, ch channel, at time.Duration, method string) {
	if n.ills.jitter == 0 {
		return
	}
	if newest := n.ills.newest[l]; at < newest {
		n.hit("overtaking "+ch.kind(), method)
	} else {
		n.ills.newest[l] = at
	}
}

// kind says whether a message that is sent in a channel is a call or an answer.
func (ch channel) kind() string {
	if ch.to == nil {
		return "answer"
	}
	return "call"
}
