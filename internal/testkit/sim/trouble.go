package sim

import "time"

// Trouble is what happens to the messages of one method between machines, calls
// and answers alike, beside the weather.
type Trouble struct {
	// Lose is the probability that a message is lost, Slow that it takes up to
	// SlowBy.
	Lose, Slow float64
	SlowBy     time.Duration
}

// Trouble begins for a method, instead of what there was for it before; a zero
// one ends it.
func (w *World) Trouble(method string, t Trouble) {
	if t == (Trouble{}) {
		delete(w.net.troubles, method)
		return
	}
	w.net.troubles[method] = t
}

// EndTroubles ends it for all methods.
func (w *World) EndTroubles() { clear(w.net.troubles) }
