package status

import "strings"

// FailureKind says what sort of thing went wrong.
type FailureKind string

// The kinds of failure.
const (
	FailureError    FailureKind = "Error"         // a function returned an error
	FailurePanic    FailureKind = "Panic"         // a function panicked; Stack is its goroutine's
	FailureExit     FailureKind = "ProcessExit"   // the job's process ended by itself with ExitCode
	FailureSignal   FailureKind = "ProcessSignal" // the job's process was killed by Signal
	FailureMemory   FailureKind = "OutOfMemory"   // the job's process used more memory than it may
	FailureLost     FailureKind = "Lost"          // the TaskManager is gone
	FailureMismatch FailureKind = "GraphMismatch" // the program built another graph than was submitted
	FailureSlots    FailureKind = "NoResources"   // the slots asked for cannot be had
	FailureConsumer FailureKind = "PeerLost"      // a connection to another task broke: follows from another failure
)

// Failure is why a task, a process or a job ended: what the program said and
// what the operating system knows.
type Failure struct {
	Kind    FailureKind `json:"kind"`
	Message string      `json:"message"`          // the innermost cause, one line where possible
	Chain   []string    `json:"chain,omitempty"`  // the wrapping texts, outermost first
	Stack   string      `json:"stack,omitempty"`  // of the goroutine that panicked
	Stderr  string      `json:"stderr,omitempty"` // last lines of a dead process
	Exit    int         `json:"exit,omitempty"`   // exit code, with FailureExit
	Signal  string      `json:"signal,omitempty"` // name of the signal, with FailureSignal
}

// FailureOf makes the failure of an ordinary error; the innermost cause becomes
// the message, the texts around it the chain.
func FailureOf(err error) *Failure {
	f := &Failure{Kind: FailureError, Message: err.Error()}
	for inner := unwrap(err); inner != nil; inner = unwrap(inner) {
		f.Chain = append(f.Chain, strings.TrimSuffix(strings.TrimSuffix(f.Message, inner.Error()), ": "))
		f.Message = inner.Error()
	}
	return f
}

// unwrap gives what err wraps, if its text ends in that one's. An error of the
// operating system's, which are those that know Timeout, stays whole: what is in
// it does not say which file or address it was about.
func unwrap(err error) error {
	if _, system := err.(interface{ Timeout() bool }); system {
		return nil
	}
	u, ok := err.(interface{ Unwrap() error })
	if !ok {
		return nil
	}
	inner := u.Unwrap()
	if inner == nil || !strings.HasSuffix(err.Error(), inner.Error()) {
		return nil
	}
	return inner
}

// Error gives the whole text, outermost first, so that a Failure can be
// returned and wrapped as the error it records.
func (f *Failure) Error() string {
	if len(f.Chain) == 0 {
		return f.Message
	}
	return strings.Join(f.Chain, ": ") + ": " + f.Message
}
