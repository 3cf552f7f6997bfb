package chaos

import (
	"fmt"
	"testing"
)

// failures is a test that remembers what has failed, so that it can be said once
// more below the logs, which are long.
type failures struct {
	*testing.T
	said []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.T.Helper()
	f.said = append(f.said, fmt.Sprintf(format, args...))
	f.T.Errorf(format, args...)
}

func (f *failures) Fatalf(format string, args ...any) {
	f.T.Helper()
	f.said = append(f.said, fmt.Sprintf(format, args...))
	f.T.Fatalf(format, args...)
}

func (f *failures) Fatal(err error) {
	f.T.Helper()
	f.Fatalf("%v", err)
}
