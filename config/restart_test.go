package config

import (
	"strings"
	"testing"
	"time"
)

func TestRestartKeys(t *testing.T) {
	c := must(t, map[string]string{
		"restart-strategy":                      "FixedDelay",
		"restart-strategy.fixed-delay.attempts": "3", "restart-strategy.fixed-delay.delay": "0 s",
		"restart-strategy.exponential-delay.initial-backoff": "2 min", // contradicts the longest, and is not used
	})
	if RestartStrategy.In(c) != "fixeddelay" || RestartFixedDelayAttempts.In(c) != 3 || RestartFixedDelay.In(c) != 0 || RestartExponentialMax.In(c) != time.Minute {
		t.Errorf("%q %d %s", RestartStrategy.In(c), RestartFixedDelayAttempts.In(c), RestartFixedDelay.In(c))
	}
	if len(c.Ignored()) > 0 {
		t.Errorf("without effect: %v", c.Ignored())
	}
}

func TestWrongRestartKeys(t *testing.T) {
	for _, test := range []struct{ key, value, want string }{
		{"restart-strategy.type", "sometimes", "one of none, off, disable, fixed-delay"},
		{"restart-strategy", "fallback", "one of none, off, disable, fixed-delay"},
		{"restart-strategy.fixed-delay.attempts", "-1", "must be at least 0"},
		{"restart-strategy.fixed-delay.attempts", "infinite", "no valid integer"},
		{"restart-strategy.fixed-delay.delay", "soon", "no valid duration"},
		{"restart-strategy.failure-rate.max-failures-per-interval", "0", "must be at least 1"},
		{"restart-strategy.failure-rate.failure-rate-interval", "0 s", "must be longer than zero"},
		{"restart-strategy.exponential-delay.initial-backoff", "0 ms", "must be at least 1 ms"},
		{"restart-strategy.exponential-delay.initial-backoff", "2 min", "the first pause (2 min) is longer than restart-strategy.exponential-delay.max-backoff (1 min)"},
		{"restart-strategy.exponential-delay.backoff-multiplier", "1.0", "must be greater than 1"},
		{"restart-strategy.exponential-delay.jitter-factor", "1.5", "must be from 0 to 1"},
		{"restart-strategy.exponential-delay.attempts-before-reset-backoff", "-5", "must be at least 0"},
		{"jobmanager.execution.failover-strategy", "individual", "one of region, full"},
	} {
		_, err := New(map[string]string{test.key: test.value})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.key) {
			t.Errorf("%s: %s: %v, want %q", test.key, test.value, err, test.want)
		}
	}
}
