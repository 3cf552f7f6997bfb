package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/stream/streamtest"
)

func TestOrdersWaitForTheirCustomers(t *testing.T) {
	h := streamtest.Through2(t, enrich)
	expect := func(want ...string) {
		t.Helper()
		got := h.Output()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	h.First.SendUntimed("1,c7,100", "2,c8,200", "3,c7,300")
	h.Second.SendUntimed("c8,Bob,Bonn")
	expect("2,Bob,Bonn,200")
	h.Restore(h.Snapshot(), streamtest.Parallelism(2))
	h.Second.SendUntimed("c7,Ada,Aachen")
	expect("1,Ada,Aachen,100", "3,Ada,Aachen,300")
	h.Second.SendUntimed("c8,Bob,Berlin")
	h.First.SendUntimed("4,c8,400")
	expect("4,Bob,Berlin,400")
	if err := h.Failure(func() { h.First.SendUntimed("5,c8") }); !strings.Contains(err.Error(), `"5,c8" has 2 fields, want 3`) {
		t.Errorf("got %v", err)
	}
}
