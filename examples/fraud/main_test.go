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
	h.Second.SendUntimed(rule{"spree", 6000, 10})
	pay("ada", 5, 1500)
	pay("bob", 6, 6000)
	pay("ada", 11, 4600)
	expect(`ada breaks "spree" at 2024-05-17T12:05:00Z: 6500 cents in 10 minutes`, `ada breaks "spree" at 2024-05-17T12:11:00Z: 6100 cents in 10 minutes`)
	h.Restore(h.Snapshot(), streamtest.Parallelism(3))
	pay("bob", 12, 1)
	expect(`bob breaks "spree" at 2024-05-17T12:12:00Z: 6001 cents in 10 minutes`)
	h.Second.SendUntimed(rule{"spree", 0, 0})
	pay("bob", 13, 1e6)
	expect()
	if event, _ := h.Timers(); event != 6 {
		t.Errorf("%d timers, want one for each payment", event)
	}
	if err := h.Failure(func() { h.Second.SendUntimed(rule{"ever", 1, 1441}) }); !strings.Contains(err.Error(), `rule "ever": got 1441 minutes, want 1 to 1440`) {
		t.Errorf("got %v", err)
	}
}
