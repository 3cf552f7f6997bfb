package dispatcher

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// A DuplicateError refuses a job whose id is taken.
type DuplicateError struct {
	Job ident.JobID
	// Terminated says that the job with the id has already ended.
	Terminated bool
}

// Error gives Flink's text for both cases.
func (e *DuplicateError) Error() string { return "Application has already been submitted." }

// A SubmissionError refuses a job graph that cannot be run.
type SubmissionError struct {
	Job    ident.JobID
	Reason string
}

func (e *SubmissionError) Error() string {
	return fmt.Sprintf("Failed to submit job %s: %s", e.Job, e.Reason)
}

// A NotFoundError says that no job has the id, or that it ended so long ago
// that it is forgotten.
type NotFoundError struct{ Job ident.JobID }

func (e *NotFoundError) Error() string { return fmt.Sprintf("Could not find Flink job (%s)", e.Job) }

// A TerminatedError refuses to cancel a job that has ended in another way.
type TerminatedError struct {
	Job   ident.JobID
	State status.Job
}

func (e *TerminatedError) Error() string {
	return fmt.Sprintf("job %s has already terminated without cancellation: it is %s", e.Job, e.State)
}

// ErrClosing refuses jobs while the process ends.
var ErrClosing = errors.New("the JobManager is shutting down and takes no more jobs")
