package state

import "math"

// A lifetime says when the values of a state have expired.
type lifetime struct {
	millis        int64 // 0: never
	onRead        bool  // reading keeps alive
	returnExpired bool
	clock         func() int64
	deadline      int64 // what was touched at or before it has expired; set by tick
}

// swept is how many entries each access to a state with a time to live looks at for
// others that have expired.
const swept = 4

func newLifetime(t TTL, clock func() int64) lifetime {
	return lifetime{
		millis: t.millis(), clock: clock, deadline: math.MinInt64,
		onRead: t.Update == OnReadAndWrite, returnExpired: t.Visibility == ReturnExpiredIfNotCleanedUp,
	}
}

// tick reads the clock.
func (l *lifetime) tick() (now int64) {
	now = l.clock()
	l.deadline = now - l.millis
	if l.deadline > now {
		l.deadline = math.MinInt64
	}
	return now
}

// expired says whether what was touched at this time had expired at the last tick.
func (l *lifetime) expired(at int64) bool { return l.millis > 0 && at <= l.deadline }

// A timed value is a value and when it was last touched.
type timed[V any] struct {
	v  V
	at int64
}
