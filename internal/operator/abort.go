package operator

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// abortion unwinds a chain from the record that could not be processed to the
// task's loop. The obvious way, an error result of every Push, costs a branch
// per record and operator.
type abortion struct{ cause error }

// Error is for a function of the user that recovers what passes through it.
func (a abortion) Error() string { return a.cause.Error() }

// Unwrap gives the cause.
func (a abortion) Unwrap() error { return a.cause }

// Abort ends the task with err as its cause. It does not return.
func Abort(err error) { panic(abortion{cause: err}) }

// Check aborts if err is not nil.
func Check(err error) {
	if err != nil {
		Abort(err)
	}
}

// Guard runs f and gives the failure it ended with: that of an Abort, or of a
// panic in user code with the line it came from and the stack of the goroutine.
// A broken invariant is not user code's and goes on.
func Guard(f func()) (failure error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case abortion:
			failure = v.cause
		case invariant.Violation:
			panic(v)
		default:
			cause, _ := v.(error)
			failure = &status.Failure{Kind: status.FailurePanic, Message: panicText(v) + culprit(), Stack: string(debug.Stack()), Err: cause}
		}
	}()
	f()
	return nil
}

func panicText(v any) string {
	if err, ok := v.(error); ok {
		return "panic: " + err.Error()
	}
	return fmt.Sprintf("panic: %v", v)
}

// AsFailure gives the Failure in err's chain, or makes one of err.
func AsFailure(err error) *status.Failure {
	if f, ok := errors.AsType[*status.Failure](err); ok {
		return f
	}
	return status.FailureOf(err)
}

// errNoEventTime is what an operator that needs event time says of a record
// without one.
var errNoEventTime = errors.New("a record has no event time: give the stream a strategy with Watermarks")
