// Package record is what is remembered of a job's checkpoints for people: how
// many there were, what the last ones held and how long they took.
//
// It promises Flink's counts, latest checkpoints, bounded history and
// percentiles, and that a View never changes after it is made. It never decides
// anything about a checkpoint.
package record

import "time"

// Figures are what a subtask measured while it took its part of a checkpoint.
type Figures struct {
	// Sync is how long the task stood still, Async how long its files were
	// written beside it.
	Sync, Async time.Duration
	// Alignment is from the first barrier to the last; StartDelay from the
	// trigger to the first barrier.
	Alignment, StartDelay time.Duration
	// Processed are the bytes the task read during alignment, Persisted the
	// bytes in flight that it wrote.
	Processed, Persisted int64
	// Checkpointed are the bytes written for this checkpoint, State all bytes it
	// refers to.
	Checkpointed, State int64
	Unaligned           bool
}
