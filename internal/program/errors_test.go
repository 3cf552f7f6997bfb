package program

import (
	"errors"
	"testing"
)

// What a program printed is shown once: an error of one line is its cause already.
func TestOutputIsNotRepeated(t *testing.T) {
	for _, test := range []struct{ cause, output, want string }{
		{"ended: no such dir (exit status 1)", "no such dir\n", "job: ended: no such dir (exit status 1)"},
		{"ended: no such dir (exit status 1)", "reading\nno such dir", "job: ended: no such dir (exit status 1)\nThe end of its output:\nreading\nno such dir"},
		{"time is up", "working", "job: time is up\nThe end of its output:\nworking"},
		{"time is up", " \n", "job: time is up"},
	} {
		e := &PlanError{Program: "job", Cause: errors.New(test.cause), Output: test.output}
		if got := e.Error(); got != test.want {
			t.Errorf("%q with output %q reads\n%s\nwant\n%s", test.cause, test.output, got, test.want)
		}
	}
}
