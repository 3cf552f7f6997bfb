package stream

import (
	"time"

	"github.com/weirstream/weir/config"
)

// CheckpointInterval sets the time from one checkpoint of a streaming job to the
// next: what its functions and sources keep is written down, and after a failure
// the job goes on from there. Zero, the default, takes none; below 10ms Execute
// returns an error. It is execution.checkpointing.interval.
func CheckpointInterval(d time.Duration) Option {
	return func(e *Env) {
		if d != 0 && d < 10*time.Millisecond {
			e.problem(callSite(), "checkpoint interval: got %s, want 0 or at least 10ms", d)
			return
		}
		e.set(config.CheckpointInterval.Key, millis(d))
	}
}

// CheckpointDirectory sets where checkpoints are written: an absolute path or a URL
// that all processes of the job reach. The default is the memory of the JobManager.
// It is execution.checkpointing.dir.
func CheckpointDirectory(dir string) Option {
	return func(e *Env) { e.set(config.CheckpointDirectory.Key, dir) }
}

// AtLeastOnce lets the inputs of a task go on while the barrier of a checkpoint is
// awaited on the others: checkpoints hold nobody up, and after a failure some records
// are processed again. The default is that each counts once. It is
// execution.checkpointing.mode.
func AtLeastOnce() Option {
	return func(e *Env) { e.set(config.CheckpointMode.Key, "AT_LEAST_ONCE") }
}

// checkpointed reports whether the program's settings ask for checkpoints of a job
// that can have some.
func (e *Env) checkpointed() bool {
	c, err := config.New(e.settings)
	if err != nil || e.graph.Batch {
		return false
	}
	return config.CheckpointInterval.In(c) > 0
}

// IncrementalCheckpoints makes checkpoints write only what has changed since the one
// before: those in a directory. It is execution.checkpointing.incremental.
func IncrementalCheckpoints() Option {
	return func(e *Env) { e.set(config.CheckpointIncremental.Key, "true") }
}

// UnalignedCheckpoints lets the barriers of checkpoints overtake records, which are then
// part of the checkpoint, so that it does not wait for slow functions. Each record still
// counts once. A barrier first waits in line for so long; with zero it never does. It is
// execution.checkpointing.unaligned.enabled, and the time
// execution.checkpointing.aligned-checkpoint-timeout.
func UnalignedCheckpoints(after time.Duration) Option {
	return func(e *Env) {
		e.set(config.CheckpointUnaligned.Key, "true")
		e.set(config.CheckpointAlignedTimeout.Key, millis(after))
	}
}
