package rest

import "testing"

func TestRestartDescription(t *testing.T) {
	for _, test := range []struct {
		settings map[string]string
		want     string
	}{
		{nil, "Cluster level default restart strategy"},
		{map[string]string{"parallelism.default": "2"}, "Cluster level default restart strategy"},
		{map[string]string{"restart-strategy.type": "off"}, "Restart deactivated."},
		{map[string]string{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "6 s", "restart-strategy.fixed-delay.attempts": "1000"},
			"Restart with fixed delay (PT6S). #1000 restart attempts."},
		{map[string]string{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "500 ms", "restart-strategy.fixed-delay.attempts": "2"},
			"Restart with fixed delay (PT0.5S). #2 restart attempts."},
		{map[string]string{"restart-strategy": "failure-rate", "restart-strategy.failure-rate.failure-rate-interval": "90 min"},
			"Failure rate restart with maximum of 1 failures within interval PT1H30M and fixed delay PT1S."},
		{map[string]string{"restart-strategy.type": "exponential-delay"},
			"Restart with exponential delay: starting at PT1S, increasing by 1.500000, with maximum PT1M. Delay resets after PT1H with jitter 0.100000"},
		{map[string]string{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 s"},
			"Restart with fixed delay (PT0S). #1 restart attempts."},
	} {
		if got := restartDescription(test.settings); got != test.want {
			t.Errorf("%v:\n got %s\nwant %s", test.settings, got, test.want)
		}
	}
}
