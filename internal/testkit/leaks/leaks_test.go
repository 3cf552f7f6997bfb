package leaks

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// A goroutine that takes a while to end is waited for, one that does not end is found.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		left  bool
	}{{patience / 2, false}, {time.Hour, true}} {
		synctest.Test(t, func(t *testing.T) {
			over := time.Now().Add(c.takes)
			err := find(patience, func() error {
				time.Sleep(400 * time.Millisecond) // goleak takes so long when there is one
				if time.Now().Before(over) {
					return errors.New("there is one")
				}
				return nil
			})
			if (err != nil) != c.left {
				t.Errorf("of one that takes %s is said: %v", c.takes, err)
			}
		})
	}
}
