//go:build !race

package javaregex

import "testing"

// Under the race detector a sync.Pool drops some of what it is given.
func TestMatchingAllocatesNothing(t *testing.T) {
	p, err := Compile(`(&|^)channel_id=([^&]*)`)
	if err != nil {
		t.Fatal(err)
	}
	text, groups := []byte("https://www.nexmark.com/a/item.htm?query=1&channel_id=123"), make([]int, 0, 6)
	p.First(groups, text)
	if n := testing.AllocsPerRun(100, func() { groups = p.First(groups[:0], text) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
