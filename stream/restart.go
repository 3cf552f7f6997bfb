package stream

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/status"
)

// Fatal marks an error as one that comes again whenever the job runs, such as a
// setting that is wrong: a job that fails by it is not restarted. The error's
// text stays as it is; nil stays nil.
func Fatal(err error) error { return status.Fatal(err) }

// A RestartStrategy says whether and when a job that has failed is started
// again. What it sets wins over restart-strategy.* of the cluster's
// configuration. A job that restarts reads its input from the beginning: what it
// has written to a sink before may be written a second time.
type RestartStrategy struct{ settings map[string]string }

// NoRestart lets every failure end the job.
func NoRestart() RestartStrategy {
	return RestartStrategy{map[string]string{config.RestartStrategy.Key: "none"}}
}

// FixedDelayRestart restarts the job up to that many times, each time after the
// same pause. Neither may be below 0.
func FixedDelayRestart(attempts int, delay time.Duration) RestartStrategy {
	return RestartStrategy{map[string]string{
		config.RestartStrategy.Key:           "fixed-delay",
		config.RestartFixedDelayAttempts.Key: strconv.Itoa(attempts),
		config.RestartFixedDelay.Key:         millis(delay),
	}}
}

// FailureRateRestart restarts the job after a pause, unless it has failed more
// than max times within the interval. max is at least 1.
func FailureRateRestart(max int, interval, delay time.Duration) RestartStrategy {
	return RestartStrategy{map[string]string{
		config.RestartStrategy.Key:            "failure-rate",
		config.RestartFailureRateMax.Key:      strconv.Itoa(max),
		config.RestartFailureRateInterval.Key: millis(interval),
		config.RestartFailureRateDelay.Key:    millis(delay),
	}}
}

// ExponentialDelayRestart restarts the job any number of times, after pauses
// that grow from the first to the longest. Their growth, their jitter and when
// they begin anew are restart-strategy.exponential-delay.* of the configuration.
func ExponentialDelayRestart(first, longest time.Duration) RestartStrategy {
	return RestartStrategy{map[string]string{
		config.RestartStrategy.Key:           "exponential-delay",
		config.RestartExponentialInitial.Key: millis(first),
		config.RestartExponentialMax.Key:     millis(longest),
	}}
}

// millis writes a duration as the configuration takes it. Parts of a
// millisecond are cut off.
func millis(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// Restart sets what happens when the job fails; it is restart-strategy.type and
// the keys below it.
func Restart(s RestartStrategy) Option {
	return func(e *Env) {
		if _, err := config.New(s.settings); err != nil {
			e.problem(callSite(), "Restart: %w", err)
			return
		}
		if e.settings == nil {
			e.settings = map[string]string{}
		}
		delete(e.settings, config.RestartStrategy.OldKeys[0])
		maps.Copy(e.settings, s.settings)
	}
}
