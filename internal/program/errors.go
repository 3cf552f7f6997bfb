package program

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound: the store has no program with the id.
	ErrNotFound = errors.New("no such program")
	// ErrNoJob is what a *PlanError wraps when the program ended well without
	// describing a job.
	ErrNoJob = errors.New("no jobs included in the program: it ended without calling Execute")
)

// A RefusedError says why an uploaded file is no program that can run here.
// The sentence stands alone.
type RefusedError struct{ Sentence string }

func (e *RefusedError) Error() string { return e.Sentence }

func refuse(format string, args ...any) error {
	return &RefusedError{Sentence: fmt.Sprintf(format, args...)}
}

// A PlanError says why a program described no job.
type PlanError struct {
	// Program is its name as uploaded.
	Program string
	// Cause says what happened, in one line: a panic, an exit code, …
	Cause error
	// Output is the end of what it wrote to standard output and error.
	Output string
}

func (e *PlanError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Program, e.Cause)
	if output := strings.TrimSpace(e.Output); output != "" && !strings.Contains(text, output) { // not twice
		text += "\nThe end of its output:\n" + e.Output
	}
	return text
}

func (e *PlanError) Unwrap() error { return e.Cause }
