package rest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
)

// restartDescription says how a job's own settings let it restart, in Flink's
// words.
func restartDescription(job map[string]string) string {
	const cluster = "Cluster level default restart strategy"
	own := map[string]string{}
	for key, value := range job {
		if strings.HasPrefix(key, "restart-strategy") {
			own[key] = value
		}
	}
	c, err := config.New(own)
	if err != nil { // such a job does not run
		return cluster
	}
	switch config.RestartStrategy.In(c) {
	case "none", "off", "disable":
		return "Restart deactivated."
	case "fixed-delay", "fixeddelay":
		return fmt.Sprintf("Restart with fixed delay (%s). #%d restart attempts.", iso(config.RestartFixedDelay.In(c)), config.RestartFixedDelayAttempts.In(c))
	case "failure-rate", "failurerate":
		return fmt.Sprintf("Failure rate restart with maximum of %d failures within interval %s and fixed delay %s.",
			config.RestartFailureRateMax.In(c), iso(config.RestartFailureRateInterval.In(c)), iso(config.RestartFailureRateDelay.In(c)))
	case "exponential-delay", "exponentialdelay":
		return fmt.Sprintf("Restart with exponential delay: starting at %s, increasing by %f, with maximum %s. Delay resets after %s with jitter %f",
			iso(config.RestartExponentialInitial.In(c)), config.RestartExponentialMultiplier.In(c), iso(config.RestartExponentialMax.In(c)),
			iso(config.RestartExponentialReset.In(c)), config.RestartExponentialJitter.In(c))
	}
	return cluster
}

// iso writes a duration, which is not negative, as ISO 8601 does: PT1H30M, PT0.5S.
func iso(d time.Duration) string {
	if d == 0 {
		return "PT0S"
	}
	text := "PT"
	if h := d / time.Hour; h > 0 {
		text += fmt.Sprintf("%dH", h)
	}
	if m := d / time.Minute % 60; m > 0 {
		text += fmt.Sprintf("%dM", m)
	}
	if s := d % time.Minute; s > 0 {
		text += strconv.FormatFloat(s.Seconds(), 'f', -1, 64) + "S"
	}
	return text
}
