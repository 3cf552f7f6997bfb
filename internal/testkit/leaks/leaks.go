// Package leaks finds goroutines that outlive the tests that started them.
//
// It promises to give those that are about to end the time to do so, on a machine
// where each has to wait for its turn, too. It never ends one.
package leaks

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end after the last test. goleak itself
// gives them less than half a second.
const patience = 20 * time.Second

// Main runs the tests of a package, as TestMain does, and ends the process: with a
// failure also if a goroutine is left.
func Main(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient are tests that are over when the goroutines have had the time to end.
type patient struct{ *testing.M }

// Run runs the tests and waits.
func (p patient) Run() int {
	code := p.M.Run()
	if code == 0 {
		_ = find(patience, func() error { return goleak.Find() }) // who runs the tests looks once more
	}
	return code
}

// find looks until there is nothing to find any more, or the time is over.
func find(within time.Duration, look func() error) error {
	for limit := time.Now().Add(within); ; {
		err := look()
		if err == nil || time.Now().After(limit) {
			return err
		}
	}
}
