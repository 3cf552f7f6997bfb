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
	//lint:ignore ST1005 the text is Flink's, for whoever looks for it
	ErrFixed = errors.New("The DefaultScheduler does not support changing the parallelism without a job restart. This feature is currently only expected to work with the AdaptiveScheduler.")
	//lint:ignore ST1005 the text is Flink's, for whoever looks for it
	ErrBatch = errors.New("The AdaptiveBatchScheduler does not support changing the parallelism without a job restart. This feature is currently only expected to work with the AdaptiveScheduler.")
	//lint:ignore ST1005 the text is Flink's, for whoever looks for it
	ErrReactive = errors.New("Cannot change the parallelism of a job running in reactive mode.")
)
