package worker

import (
	"strings"
	"testing"
)

// What travels with an acknowledgement is bounded, and what is beyond is told with
// the option that lifts the bound.
func TestAPartInMemoryIsBounded(t *testing.T) {
	p, err := (&checkpoints{}).create("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(make([]byte, maxInline)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte{1}); err == nil || !strings.Contains(err.Error(), "5242880 bytes") || !strings.Contains(err.Error(), "execution.checkpointing.dir") {
		t.Errorf("got %v, want the bound and the option", err)
	}
	if h, err := p.commit(); err != nil || h.Length != maxInline || len(h.Inline) != maxInline {
		t.Errorf("got %d of %d bytes, %v", len(h.Inline), h.Length, err)
	}
}
