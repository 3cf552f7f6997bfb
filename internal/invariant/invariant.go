// Package invariant is the one place that panics on purpose: a broken invariant
// is a bug of Weir, never of its input, and going on would do harm.
//
// It promises that the panic's text begins with "invariant broken:" and names
// the invariant. It never reports errors that a user or a peer can cause.
package invariant

import "fmt"

// Violation is the value a broken invariant panics with.
type Violation struct{ Text string }

func (v Violation) Error() string { return "invariant broken: " + v.Text }

// Check panics with a Violation unless holds.
func Check(holds bool, format string, args ...any) {
	if !holds {
		Broken(format, args...)
	}
}

// Broken panics with a Violation.
func Broken(format string, args ...any) {
	panic(Violation{Text: fmt.Sprintf(format, args...)})
}
