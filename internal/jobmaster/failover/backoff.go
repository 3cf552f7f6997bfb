package failover

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Backoff decides whether, and after how long, a job that has failed is
// started again. It is told of each failure that is not the consequence of an
// earlier one, and asked afterwards.
//
// Its String is the name by which it appears in the text of a failure it did
// not let the job recover from. People and tools search for these texts: they
// are Flink's.
type Backoff interface {
	// Failed takes note of a failure and reports whether it counts as a new
	// attempt: false when it fell into the pause before a restart that is
	// already due.
	Failed(now time.Time) bool
	// MayRestart reports whether the job may be started again.
	MayRestart() bool
	// Delay is how long to wait before that.
	Delay(now time.Time) time.Duration
	// Refusal says, when it may not, why, as the end of a sentence.
	Refusal() string
	String() string
}

// None lets every failure end the job.
type None struct{}

// Failed counts each failure.
func (None) Failed(time.Time) bool { return true }

// MayRestart refuses.
func (None) MayRestart() bool { return false }

// Delay is zero: there is nothing to wait for.
func (None) Delay(time.Time) time.Duration { return 0 }

// Refusal says that nothing was configured.
func (None) Refusal() string { return "no restart strategy is set (restart-strategy.type)" }

func (None) String() string { return "NoRestartBackoffTimeStrategy" }

// FixedDelay restarts a job a number of times, each time after the same pause.
type FixedDelay struct {
	attempts, failures int
	delay              time.Duration
}

// NewFixedDelay allows exactly that many restarts.
func NewFixedDelay(attempts int, delay time.Duration) *FixedDelay {
	return &FixedDelay{attempts: attempts, delay: delay}
}

// Failed counts each failure.
func (f *FixedDelay) Failed(time.Time) bool {
	if f.failures < math.MaxInt {
		f.failures++
	}
	return true
}

// MayRestart reports whether restarts are left.
func (f *FixedDelay) MayRestart() bool { return f.failures <= f.attempts }

// Delay is always the same.
func (f *FixedDelay) Delay(time.Time) time.Duration { return f.delay }

// Refusal says how many restarts there were.
func (f *FixedDelay) Refusal() string {
	switch f.attempts {
	case 0:
		return "the restart strategy allows no restart (restart-strategy.fixed-delay.attempts)"
	case 1:
		return "its one restart is used up (restart-strategy.fixed-delay.attempts)"
	}
	return fmt.Sprintf("its %d restarts are used up (restart-strategy.fixed-delay.attempts)", f.attempts)
}

func (f *FixedDelay) String() string {
	return fmt.Sprintf("FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=%d, backoffTimeMS=%d)", f.attempts, f.delay.Milliseconds())
}

// FailureRate restarts a job as long as it does not fail too often.
//
// Invariant: times holds the newest failures, oldest first, at most one more
// than max.
type FailureRate struct {
	max             int
	interval, delay time.Duration
	times           []time.Time
}

// NewFailureRate allows max failures within any interval.
func NewFailureRate(max int, interval, delay time.Duration) *FailureRate {
	return &FailureRate{max: max, interval: interval, delay: delay}
}

// Failed counts each failure.
func (f *FailureRate) Failed(now time.Time) bool {
	if len(f.times) > f.max {
		f.times = f.times[1:]
	}
	f.times = append(f.times, now)
	return true
}

// MayRestart reports whether the newest failure was not one too many.
func (f *FailureRate) MayRestart() bool {
	n := len(f.times)
	return n <= f.max || f.times[n-1].Sub(f.times[0]) > f.interval
}

// Delay is always the same.
func (f *FailureRate) Delay(time.Time) time.Duration { return f.delay }

// Refusal says how often it failed.
func (f *FailureRate) Refusal() string {
	return fmt.Sprintf("it failed more than %d times within %s (restart-strategy.failure-rate.max-failures-per-interval)", f.max, f.interval)
}

// String is Flink's, which opens two brackets and closes one.
func (f *FailureRate) String() string {
	return fmt.Sprintf("FailureRateRestartBackoffTimeStrategy(FailureRateRestartBackoffTimeStrategy(failuresIntervalMS=%d,backoffTimeMS=%d,maxFailuresPerInterval=%d)",
		f.interval.Milliseconds(), f.delay.Milliseconds(), f.max)
}

// Exponential are the settings of ExponentialDelay.
type Exponential struct {
	Initial    time.Duration // the first pause
	Max        time.Duration // no pause is longer
	Multiplier float64       // of one pause to the one before
	// Reset is how long a job must run after a restart for the next pause to be
	// the first one again.
	Reset  time.Duration
	Jitter float64 // the part of a pause that is up to chance, in both directions
	// Attempts is how many restarts there may be before one such time; Endless:
	// any number.
	Attempts int
}

// Endless is the number of attempts that is no limit: Flink's "infinite".
const Endless = math.MaxInt32

// ExponentialDelay restarts a job after pauses that grow. Failures that come
// before the restart that is due are one with the failure it is due for.
type ExponentialDelay struct {
	Exponential
	// random gives a number in [0, n), each equally likely.
	random func(n int64) int64
	k      int       // restarts since the last reset
	next   time.Time // when the newest restart is or was due; zero: there was none
}

// NewExponentialDelay makes the strategy; random gives a number in [0, n).
func NewExponentialDelay(e Exponential, random func(n int64) int64) *ExponentialDelay {
	return &ExponentialDelay{Exponential: e, random: random}
}

// Failed counts a failure, unless it came before the restart that is due.
func (e *ExponentialDelay) Failed(now time.Time) bool {
	if !e.next.IsZero() && !now.After(e.next) {
		return false
	}
	if e.next.IsZero() || now.Sub(e.next) >= e.Reset {
		e.k = 0
	}
	e.next = now.Add(e.pause())
	e.k++
	return true
}

// hugeMillis is a pause that is longer than any maximum and whose double is
// still a number.
const hugeMillis = int64(1) << 61

// pause is how long to wait before restart k, in whole milliseconds. Chance may
// lengthen the first pause and not shorten it.
func (e *ExponentialDelay) pause() time.Duration {
	base := hugeMillis
	if f := float64(e.Initial.Milliseconds()) * math.Pow(e.Multiplier, float64(e.k)); f < float64(hugeMillis) {
		base = int64(f)
	}
	var chance int64
	if offset := int64(float64(base) * e.Jitter); offset > 0 {
		chance = e.random(2*offset+1) - offset
	}
	millis := max(e.Initial.Milliseconds(), min(base+chance, e.Max.Milliseconds()))
	return time.Duration(millis) * time.Millisecond
}

// MayRestart reports whether restarts are left.
func (e *ExponentialDelay) MayRestart() bool { return e.Attempts == Endless || e.k <= e.Attempts }

// Delay is what is left of the pause.
func (e *ExponentialDelay) Delay(now time.Time) time.Duration {
	return max(0, e.next.Sub(now))
}

// Refusal says how many restarts there were.
func (e *ExponentialDelay) Refusal() string {
	return fmt.Sprintf("its %d restarts are used up, and it never ran for %s between two (restart-strategy.exponential-delay.attempts-before-reset-backoff)",
		e.Attempts, e.Reset)
}

func (e *ExponentialDelay) String() string {
	next := int64(0)
	if !e.next.IsZero() {
		next = e.next.UnixMilli()
	}
	return fmt.Sprintf("ExponentialDelayRestartBackoffTimeStrategy(initialBackoffMS=%d, maxBackoffMS=%d, backoffMultiplier=%s, resetBackoffThresholdMS=%d, "+
		"jitterFactor=%s, attemptsBeforeResetBackoff=%d, currentRestartAttempt=%d, nextRestartTimestamp=%d)",
		e.Initial.Milliseconds(), e.Max.Milliseconds(), fraction(e.Multiplier), e.Reset.Milliseconds(), fraction(e.Jitter), e.Attempts, e.k, next)
}

// fraction writes a number as Java does: 2 is 2.0.
func fraction(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e7 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
