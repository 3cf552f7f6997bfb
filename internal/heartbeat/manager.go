package heartbeat

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/invariant"
)

// Options say how patient the pinging side is.
type Options struct {
	// Interval lies between two pings: heartbeat.interval.
	Interval time.Duration
	// Timeout without an answer makes a target dead: heartbeat.timeout.
	Timeout time.Duration
	// FailureThreshold is how many pings in a row must find nobody until a
	// target is dead before its timeout: heartbeat.rpc-failure-threshold. -1:
	// only the timeout counts.
	FailureThreshold int
	// Unreachable tells whether an error of a ping means that it found nobody.
	// Other errors, such as a missing answer, say nothing, so that the timeout
	// decides. Nil: every error does.
	Unreachable func(error) bool
}

// A Ping asks a target whether it lives and calls done once on the loop, later,
// with nil if it answered. Its deadline is best the heartbeat timeout.
type Ping[K comparable] func(target K, done func(error))

// A Loss is why a target is dead.
type Loss struct {
	// Unreachable: Failures pings in a row found nobody, the last one because
	// of Cause. Otherwise there was no answer for Silence.
	Unreachable bool
	Failures    int
	Silence     time.Duration
	Cause       error // of the latest failed ping; may be nil
}

func (l *Loss) Error() string {
	if l.Unreachable {
		return fmt.Sprintf("%d heartbeats in a row found nobody: %v", l.Failures, l.Cause)
	}
	if l.Cause != nil {
		return fmt.Sprintf("no heartbeat for %s; the last one failed: %v", l.Silence, l.Cause)
	}
	return fmt.Sprintf("no heartbeat for %s", l.Silence)
}

func (l *Loss) Unwrap() error { return l.Cause }

// A Manager is the pinging side. It is used only on its loop.
type Manager[K comparable] struct {
	loop    actor.Loop
	options Options
	ping    Ping[K]
	dead    func(target K, loss *Loss)
	targets map[K]*target
}

// A target is alive until it is taken out of the manager's map.
type target struct {
	next     actor.Timer // the next regular ping
	deadline actor.Timer
	failures int   // pings in a row that found nobody
	cause    error // of the latest failed ping since the last answer
	urgent   int   // pings made by a hint whose outcome is open
	gone     bool
}

// NewManager makes a manager without targets. dead is called once for a target
// that is lost, after it was forgotten.
func NewManager[K comparable](loop actor.Loop, o Options, ping Ping[K], dead func(K, *Loss)) *Manager[K] {
	invariant.Check(o.Interval > 0 && o.Timeout > 0, "heartbeat interval %s and timeout %s are positive", o.Interval, o.Timeout)
	invariant.Check(o.FailureThreshold > 0 || o.FailureThreshold == -1, "heartbeat failure threshold %d is positive or -1", o.FailureThreshold)
	return &Manager[K]{loop: loop, options: o, ping: ping, dead: dead, targets: map[K]*target{}}
}

// Add begins to ping a target, now and each interval. A target that is there
// already begins anew: what was asked before no longer counts.
func (m *Manager[K]) Add(key K) {
	m.Remove(key)
	t := &target{}
	m.targets[key] = t
	m.restart(key, t)
	m.beat(key, t)
}

// Remove forgets a target. Removing an unknown one does nothing.
func (m *Manager[K]) Remove(key K) {
	t := m.targets[key]
	if t == nil {
		return
	}
	t.gone = true
	t.next.Stop()
	t.deadline.Stop()
	delete(m.targets, key)
}

// Has reports whether the target is pinged.
func (m *Manager[K]) Has(key K) bool { return m.targets[key] != nil }

// Stop forgets all targets.
func (m *Manager[K]) Stop() {
	for key := range m.targets {
		m.Remove(key)
	}
}

// PingNow asks a target at once, because something hints that it is gone: the
// connection to its process broke. While these pings find nobody they follow
// each other without waiting, until the threshold is reached or one is
// answered. Without a threshold it is one more ping. A hint that comes while
// such a ping is on its way adds nothing.
func (m *Manager[K]) PingNow(key K) {
	if t := m.targets[key]; t != nil && t.urgent == 0 {
		m.hurry(key, t)
	}
}

func (m *Manager[K]) hurry(key K, t *target) {
	t.urgent++
	m.send(key, t, func(found bool) {
		t.urgent--
		if !found && m.options.FailureThreshold > 0 {
			m.hurry(key, t)
		}
	})
}

// beat makes the regular pings.
func (m *Manager[K]) beat(key K, t *target) {
	t.next = m.loop.After(m.options.Interval, func() { m.beat(key, t) })
	m.send(key, t, func(bool) {})
}

// send makes one ping; then is told, if the target is still alive, whether
// somebody was found.
func (m *Manager[K]) send(key K, t *target, then func(found bool)) {
	m.ping(key, func(err error) {
		if t.gone {
			return
		}
		if err == nil {
			t.failures, t.cause = 0, nil
			m.restart(key, t)
			then(true)
			return
		}
		t.cause = err
		if m.options.Unreachable != nil && !m.options.Unreachable(err) {
			then(true)
			return
		}
		t.failures++
		if t.failures == m.options.FailureThreshold {
			m.lose(key, &Loss{Unreachable: true, Failures: t.failures, Cause: err})
			return
		}
		then(false)
	})
}

// restart begins the target's timeout anew.
func (m *Manager[K]) restart(key K, t *target) {
	if t.deadline != nil {
		t.deadline.Stop()
	}
	t.deadline = m.loop.After(m.options.Timeout, func() {
		m.lose(key, &Loss{Silence: m.options.Timeout, Cause: t.cause})
	})
}

func (m *Manager[K]) lose(key K, loss *Loss) {
	m.Remove(key)
	m.dead(key, loss)
}
