package config

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Whether and when a job that has failed is started again. What a job sets wins
// over what the cluster sets.
var (
	RestartStrategy = declare(choice[string](
		"none", "off", "disable", "fixed-delay", "fixeddelay", "failure-rate", "failurerate", "exponential-delay", "exponentialdelay"), Option[string]{
		Key: "restart-strategy.type", NoDefault: true, Effect: NextJob,
		OldKeys: []string{"restart-strategy"},
		Doc:     "Whether and when a failed job is started again. Without it, a job that has no checkpoints is not.",
	})
	RestartFixedDelayAttempts = declare(integer, Option[int]{
		Key: "restart-strategy.fixed-delay.attempts", Default: 1, Effect: NextJob, check: atLeast(0),
		Doc: "With fixed-delay: how often a job is restarted before a failure ends it.",
	})
	RestartFixedDelay = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.fixed-delay.delay", Default: time.Second, Effect: NextJob, check: notNegative,
		Doc: "With fixed-delay: the pause before each restart.",
	})
	RestartFailureRateMax = declare(integer, Option[int]{
		Key: "restart-strategy.failure-rate.max-failures-per-interval", Default: 1, Effect: NextJob, check: atLeast(1),
		Doc: "With failure-rate: how many failures within the interval a job is restarted after.",
	})
	RestartFailureRateInterval = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.failure-rate.failure-rate-interval", Default: time.Minute, Effect: NextJob, check: positive,
		Doc: "With failure-rate: the interval in which failures are counted.",
	})
	RestartFailureRateDelay = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.failure-rate.delay", Default: time.Second, Effect: NextJob, check: notNegative,
		Doc: "With failure-rate: the pause before each restart.",
	})
	RestartExponentialInitial = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.exponential-delay.initial-backoff", Default: time.Second, Effect: NextJob, check: aMillisecond,
		Doc: "With exponential-delay: the first pause.",
	})
	RestartExponentialMax = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.exponential-delay.max-backoff", Default: time.Minute, Effect: NextJob, check: aMillisecond,
		Doc: "With exponential-delay: the longest pause.",
	})
	RestartExponentialMultiplier = declare(decimal, Option[float64]{
		Key: "restart-strategy.exponential-delay.backoff-multiplier", Default: 1.5, Effect: NextJob, check: aboveOne,
		Doc: "With exponential-delay: how much longer each pause is than the one before.",
	})
	RestartExponentialJitter = declare(decimal, Option[float64]{
		Key: "restart-strategy.exponential-delay.jitter-factor", Default: 0.1, Effect: NextJob, check: aPart,
		Doc: "With exponential-delay: the part of a pause that is added or taken away by chance, so that jobs which failed together do not restart together.",
	})
	RestartExponentialReset = declare(duration, Option[time.Duration]{
		Key: "restart-strategy.exponential-delay.reset-backoff-threshold", Default: time.Hour, Effect: NextJob, check: aMillisecond,
		Doc: "With exponential-delay: how long a job must run for its next pause to be the first one again.",
	})
	RestartExponentialAttempts = declare(integer, Option[int]{
		Key: "restart-strategy.exponential-delay.attempts-before-reset-backoff", Default: math.MaxInt32, Effect: NextJob, check: atLeast(0),
		Doc: "With exponential-delay: how often a job is restarted, without having run that long, before a failure ends it; 2147483647 is no limit.",
	})
	FailoverStrategy = declare(choice[string]("region", "full"), Option[string]{
		Key: "jobmanager.execution.failover-strategy", Default: "region", Effect: ProcessRestart,
		Doc: "What is restarted when a task fails: region, the tasks connected with it by pipelined exchanges and all that read from those; or full, the whole job.",
	})
)

func notNegative(d time.Duration) error {
	if d < 0 {
		return errors.New("must not be below zero")
	}
	return nil
}

func aMillisecond(d time.Duration) error {
	if d < time.Millisecond {
		return errors.New("must be at least 1 ms")
	}
	return nil
}

func aboveOne(f float64) error {
	if f <= 1 {
		return errors.New("must be greater than 1")
	}
	return nil
}

func aPart(f float64) error {
	if f < 0 || f > 1 {
		return errors.New("must be from 0 to 1")
	}
	return nil
}

// restartContradictions reports a first pause that is longer than the longest.
func (c *Config) restartContradictions() []Problem {
	initial, longest := RestartExponentialInitial.In(c), RestartExponentialMax.In(c)
	kind, set := RestartStrategy.Lookup(c)
	if initial <= longest || set && kind != "exponential-delay" && kind != "exponentialdelay" {
		return nil
	}
	return []Problem{{
		Key: RestartExponentialInitial.Key, Value: formatDuration(initial),
		What: fmt.Sprintf("the first pause (%s) is longer than %s (%s)", formatDuration(initial), RestartExponentialMax.Key, formatDuration(longest)),
		Fix:  "make it at most as long",
	}}
}
