package status

import (
	"errors"
	"strings"
)

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
	FailureHung     FailureKind = "ProcessHung"   // the job's process was there and did not answer
	FailureMismatch FailureKind = "GraphMismatch" // the program built another graph than was submitted
	FailureSlots    FailureKind = "NoResources"   // the slots asked for cannot be had
	FailureConsumer FailureKind = "PeerLost"      // a connection to another task broke: follows from another failure
	// FailurePartition: what another task, that has ended, had produced is gone or
	// damaged.
	FailurePartition FailureKind = "PartitionLost"
	// FailureSnapshot: a file of the checkpoint that a task was to begin with is
	// gone or damaged.
	FailureSnapshot FailureKind = "SnapshotUnreadable"
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
	// PeakMemory is the most memory a dead process had used, in bytes; 0: not known.
	PeakMemory int64 `json:"peakMemory,omitempty"`
	// Fatal says that a restart would not help: see the function Fatal.
	Fatal bool `json:"fatal,omitempty"`
	// Partition is the attempt whose output could not be read; empty: no output is
	// to blame. With FailurePartition, and often with FailureConsumer.
	Partition string `json:"partition,omitempty"`
	// Record is the record that was being processed; nil: not known, or none was.
	Record *Record `json:"record,omitempty"`
	// Err is the error that this was made of; nil: there was none, or it is one of
	// another process.
	Err error `json:"-"`
}

// A Record is one record of the input, as people find it again.
type Record struct {
	// Origin is where it came from: "books/emma.txt, byte 4711" or "orders,
	// partition 3, offset 17".
	Origin string `json:"origin"`
	// Value is how it reads, at most MaxRecordValue bytes of it.
	Value string `json:"value,omitempty"`
}

// MaxRecordValue is how many bytes of a record's value a failure quotes.
const MaxRecordValue = 200

// RecordOf makes a Record of a value, of which it quotes the beginning.
func RecordOf(origin, value string) *Record {
	if len(value) > MaxRecordValue {
		value = value[:MaxRecordValue]
	}
	return &Record{Origin: origin, Value: strings.ToValidUTF8(value, "?")}
}

// Fatal marks err as one that comes again whenever the job runs: a restart
// cannot help, and the job must end. The text stays err's; nil stays nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return fatal{err}
}

type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// FailureOf makes the failure of an ordinary error; the innermost cause becomes
// the message, the texts around it the chain.
func FailureOf(err error) *Failure {
	f := &Failure{Kind: FailureError, Message: err.Error(), Err: err}
	_, f.Fatal = errors.AsType[fatal](err)
	for inner := unwrap(err); inner != nil; inner = unwrap(inner) {
		if around := strings.TrimSuffix(strings.TrimSuffix(f.Message, inner.Error()), ": "); around != "" {
			f.Chain = append(f.Chain, around)
		}
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

// ProcessDied reports whether the job's process ended, and the task with it.
func (f *Failure) ProcessDied() bool {
	switch f.Kind {
	case FailureExit, FailureSignal, FailureMemory, FailureHung:
		return true
	}
	return f.Kind == FailurePanic && f.Exit != 0
}

// Wrapped gives the failure with a text around it.
func (f *Failure) Wrapped(text string) *Failure {
	outer := *f
	outer.Chain = append([]string{text}, f.Chain...)
	return &outer
}

// Unwrap gives the error it was made of, if it was in this process.
func (f *Failure) Unwrap() error { return f.Err }

// Error gives the whole text, outermost first, so that a Failure can be
// returned and wrapped as the error it records.
func (f *Failure) Error() string {
	if len(f.Chain) == 0 {
		return f.Message
	}
	return strings.Join(f.Chain, ": ") + ": " + f.Message
}
