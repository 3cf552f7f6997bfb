package heartbeat

import (
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
)

// A Monitor is the side that is pinged: it notices when a pinger falls silent.
// It is used only on its loop.
type Monitor[K comparable] struct {
	loop      actor.Loop
	timeout   time.Duration
	lost      func(pinger K)
	deadlines map[K]actor.Timer
}

// NewMonitor makes a monitor without pingers. lost is called once for a pinger
// that was silent for timeout, after it was forgotten.
func NewMonitor[K comparable](loop actor.Loop, timeout time.Duration, lost func(K)) *Monitor[K] {
	invariant.Check(timeout > 0, "heartbeat timeout %s is positive", timeout)
	return &Monitor[K]{loop: loop, timeout: timeout, lost: lost, deadlines: map[K]actor.Timer{}}
}

// Add begins to wait for a pinger's pings.
func (m *Monitor[K]) Add(key K) {
	m.Remove(key)
	m.deadlines[key] = m.loop.After(m.timeout, func() {
		delete(m.deadlines, key)
		m.lost(key)
	})
}

// Beat notes a ping. It reports false, and does nothing, for a pinger that is
// not waited for.
func (m *Monitor[K]) Beat(key K) bool {
	if !m.Has(key) {
		return false
	}
	m.Add(key)
	return true
}

// Remove forgets a pinger. Removing an unknown one does nothing.
func (m *Monitor[K]) Remove(key K) {
	if deadline := m.deadlines[key]; deadline != nil {
		deadline.Stop()
		delete(m.deadlines, key)
	}
}

// Has reports whether the pinger is waited for.
func (m *Monitor[K]) Has(key K) bool { return m.deadlines[key] != nil }

// Stop forgets all pingers.
func (m *Monitor[K]) Stop() {
	for key := range m.deadlines {
		m.Remove(key)
	}
}
