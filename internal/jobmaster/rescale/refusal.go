package rescale

import (
	"errors"
	"strings"
)

// A RefusedError refuses wishes for the parallelism of a job, with all reasons.
type RefusedError struct{ Reasons []string }

func (e *RefusedError) Error() string { return strings.Join(e.Reasons, "\n") }

// Why the parallelism of a job cannot be changed while it runs, in Flink's words.
var (
	ErrFixed    = errors.New("The DefaultScheduler does not support changing the parallelism without a job restart. This feature is currently only expected to work with the AdaptiveScheduler.")
	ErrBatch    = errors.New("The AdaptiveBatchScheduler does not support changing the parallelism without a job restart. This feature is currently only expected to work with the AdaptiveScheduler.")
	ErrReactive = errors.New("Cannot change the parallelism of a job running in reactive mode.")
)
