package schedule

import (
	"time"

	"github.com/weirstream/weir/internal/status"
)

// A RestartStrategy says whether a job that failed is started again. It is
// asked once for each failure that is not the consequence of one before.
type RestartStrategy interface {
	// Decide takes note of a failure. ok says that the job may restart, after
	// backoff.
	Decide(cause *status.Failure, now time.Time) (backoff time.Duration, ok bool)
	// String is the strategy's name in the text of a failure that it did not
	// let the job recover from.
	String() string
}

// NoRestart is the strategy that lets every failure end the job.
type NoRestart struct{}

// Decide refuses.
func (NoRestart) Decide(*status.Failure, time.Time) (time.Duration, bool) { return 0, false }

func (NoRestart) String() string { return "NoRestartBackoffTimeStrategy" }

// suppressed is the failure of a job that may not recover from cause, with the
// text Flink wraps it in.
func suppressed(cause *status.Failure, by RestartStrategy) *status.Failure {
	f := *cause
	f.Chain = append([]string{"Recovery is suppressed by " + by.String()}, cause.Chain...)
	return &f
}
