// Package registration says how an endpoint that must register at another one
// goes about it: how long an attempt may take, and how long to wait after one
// that failed.
//
//	attempt ─no answer in time─▶ at once, with twice the time
//	        ─refused───────────▶ after the long pause: the reason must go first
//	        ─anything else─────▶ after a pause that grows: nobody may be there yet
//
// It promises that equal attempts and errors get equal pauses. It never calls and
// never waits: the endpoint does, on its loop.
package registration

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/rpc"
)

// A Pace is how often and how patiently to try. A zero duration means Flink's
// default, which the comment names.
type Pace struct {
	// FirstTimeout is how long the first attempt may take; each further one may
	// take twice as long, up to LastTimeout. They are
	// cluster.registration.initial-timeout: 100 ms, and max-timeout: 30 s.
	FirstTimeout, LastTimeout time.Duration
	// ErrorDelay is the longest pause after an attempt that could not be made. It
	// is cluster.registration.error-delay: 10 s. Flink always waits that long; here
	// the first pauses are short, since most often a process has only just died
	// or begun.
	ErrorDelay time.Duration
	// RefusedDelay is the pause after an attempt that was refused. It is
	// cluster.registration.refused-registration-delay: 30 s.
	RefusedDelay time.Duration
}

// Complete puts the defaults where nothing is set.
func (p Pace) Complete() Pace {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&p.FirstTimeout, 100*time.Millisecond)
	set(&p.LastTimeout, 30*time.Second)
	set(&p.ErrorDelay, 10*time.Second)
	set(&p.RefusedDelay, 30*time.Second)
	return p
}

// Timeout is how long an attempt may take. They count from zero.
func (p Pace) Timeout(attempt int) time.Duration {
	d := min(p.FirstTimeout, p.LastTimeout)
	for range attempt {
		if d >= p.LastTimeout-d {
			return p.LastTimeout
		}
		d *= 2
	}
	return d
}

// Pause is how long to wait after an attempt that ended with an error.
func (p Pace) Pause(attempt int, err error) time.Duration {
	var refused *rpc.RefusedError
	switch {
	case errors.As(err, &refused):
		return p.RefusedDelay
	case errors.Is(err, rpc.ErrTimeout):
		return 0
	}
	return min(Growing(attempt), p.ErrorDelay)
}

// growing are pauses that grow to ten seconds.
var growing = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// Growing is the pause after an attempt to reach somebody who may not be there
// yet: short at first. Attempts count from zero.
func Growing(attempt int) time.Duration { return growing[min(attempt, len(growing)-1)] }
