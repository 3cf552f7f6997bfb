package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/stream/streamtest"
)

func TestRulesAreHeldAgainstPayments(t *testing.T) {
	h := streamtest.Through2(t, alerts)
	noon := time.Date(2024, 5, 17, 12, 0, 0, 0, time.UTC)
	pay := func(account string, minute int, cents int64) {
		h.First.SendUntimed(payment{account, noon.Add(time.Duration(minute) * time.Minute), cents})
	}
	expect := func(want ...string) {
		t.Helper()
		if got := h.Output(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	pay("ada", 0, 5000)
	h.Second.SendUntimed(rule{"spree", 6000, 10 * time.Minute})
	pay("ada", 5, 1500)
	pay("bob", 6, 6000)
	pay("ada", 11, 4600)
	expect(`ada breaks "spree" at 2024-05-17T12:05:00Z: 6500 cents in 10m0s`, `ada breaks "spree" at 2024-05-17T12:11:00Z: 6100 cents in 10m0s`)
	h.Restore(h.Snapshot(), streamtest.Parallelism(3))
	pay("bob", 12, 1)
	expect(`bob breaks "spree" at 2024-05-17T12:12:00Z: 6001 cents in 10m0s`)
	h.Second.SendUntimed(rule{"spree", 0, time.Minute})
	pay("bob", 13, 1e6)
	expect()
	if event, _ := h.Timers(); event != 6 {
		t.Errorf("%d timers, want one for each payment", event)
	}
}

func TestARuleIsChecked(t *testing.T) {
	for line, fine := range map[string]bool{"a,100,5": true, "a,100,0": false, "a,100,1441": false, "a,x,5": false} {
		if _, err := parseRule(strings.Split(line, ",")); (err == nil) != fine {
			t.Errorf("%q: %v", line, err)
		}
	}
}
