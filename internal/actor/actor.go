// Package actor gives every endpoint of the control plane its one main thread.
//
// A Loop runs callbacks one after the other; all state of an endpoint is
// touched only inside them, so the control plane has no locks. It promises
// that callbacks never overlap, that posted callbacks run in the order posted,
// and that after Close none runs any more. Nothing else may be used for time,
// randomness or work on the side inside an endpoint: that is what lets a
// simulated loop replay the control plane from a seed.
package actor

import (
	"math/rand/v2"
	"time"
)

// Loop is one endpoint's main thread: the real one here, a simulated one in
// testkit/sim.
type Loop interface {
	// Post runs f on the loop after everything posted before. It may be
	// called from anywhere; after Close it does nothing.
	Post(f func())
	// After runs f on the loop once d has passed, unless stopped before.
	// Called only on the loop.
	After(d time.Duration, f func()) Timer
	// Go runs work, which may block, beside the loop, and then, with whatever
	// work left in its closure, then on the loop. work must not touch the
	// endpoint's state.
	Go(work func(), then func())
	// Now is the loop's clock. Called only on the loop.
	Now() time.Time
	// Rand is the loop's source of randomness. Used only on the loop.
	Rand() *rand.Rand
}

// Timer is a pending After.
type Timer interface {
	// Stop prevents the callback, if it has not run. Called only on the loop.
	Stop()
}
