//go:build !race

package functions_test

import "testing"

// Under the race detector a sync.Pool, in which patterns keep what they match with, drops
// some of what it is given.
func TestKernelsAllocateNothing(t *testing.T) {
	in := rows()
	for _, source := range free {
		p := program(t, source)
		run := func() {
			if _, err := p.Eval(in); err != nil {
				t.Fatalf("%s: %v", source, err)
			}
		}
		run()
		// What is made once per batch, such as a closure, is not per row.
		if n := testing.AllocsPerRun(5, run); n > 8 {
			t.Errorf("%s: %v allocations for %d rows", source, n, in.N)
		}
	}
}
