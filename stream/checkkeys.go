package stream

import (
	"fmt"

	"github.com/weirstream/weir/internal/operator"
)

// CheckKeys calls each key function twice for each record, and fails the job, with the
// line of the KeyBy, if it gives two different keys: records of such a key would be
// looked for where they are not. It is for tests; package streamtest sets it.
func CheckKeys() Option { return func(e *Env) { e.checkKeys = true } }

// same says whether two keys are equal, which NaN is not to itself.
func same[K comparable](a, b K) bool { return a == b }

// twice is key, which fails the task if it gives two different keys for a record. Two
// NaNs are one key.
func twice[T any, K comparable](key func(T) K, site string) func(T) K {
	return func(v T) K {
		first, second := key(v), key(v)
		if !same(first, second) && (same(first, first) || same(second, second)) {
			operator.Abort(fmt.Errorf("the key function of the KeyBy at %s gave %v and then %v for the record %v: it must give the same each time", site, first, second, v))
		}
		return first
	}
}
