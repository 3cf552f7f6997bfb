package config

import (
	"errors"
	"math"
	"strings"
	"time"
)

// When and how checkpoints of a job are taken.
var (
	CheckpointInterval = declare(duration, Option[time.Duration]{
		Key: "execution.checkpointing.interval", NoDefault: true, Effect: NextJob, check: checkpointInterval,
		Doc: "The time from one checkpoint to the next. Without it, or with 0, there are none but those a person asks for.",
	})
	CheckpointMode = declare(choice[string]("EXACTLY_ONCE", "AT_LEAST_ONCE"), Option[string]{
		Key: "execution.checkpointing.mode", Default: "EXACTLY_ONCE", Effect: NextJob,
		Doc: "Whether the inputs of a task wait for each other at a checkpoint (EXACTLY_ONCE), or records may be processed again after a failure (AT_LEAST_ONCE).",
	})
	CheckpointTimeout = declare(duration, Option[time.Duration]{
		Key: "execution.checkpointing.timeout", Default: 10 * time.Minute, Effect: NextJob, check: positive,
		Doc: "How long a checkpoint may take before it is given up.",
	})
	CheckpointMinPause = declare(duration, Option[time.Duration]{
		Key: "execution.checkpointing.min-pause", Default: 0, Effect: NextJob, check: notNegative,
		Doc: "The least time from the end of a checkpoint to the beginning of the next periodic one.",
	})
	CheckpointMaxConcurrent = declare(integer, Option[int]{
		Key: "execution.checkpointing.max-concurrent-checkpoints", Default: 1, Effect: NextJob, check: atLeast(1),
		Doc: "How many checkpoints of a job may be under way at once.",
	})
	CheckpointTolerableFailures = declare(integer, Option[int]{
		Key: "execution.checkpointing.tolerable-failed-checkpoints", Default: 0, Effect: NextJob, check: between(0, math.MaxInt32),
		Doc: "How many checkpoints in a row may fail before the job does; 2147483647 is no limit.",
	})
	CheckpointRetention = declare(choice[string]("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION"), Option[string]{
		Key: "execution.checkpointing.externalized-checkpoint-retention", Default: "NO_EXTERNALIZED_CHECKPOINTS", Effect: NextJob,
		Doc: "What becomes of the last checkpoints of a job that does not finish: deleted; kept when it fails and deleted when it is canceled; or kept.",
	})
	CheckpointsRetained = declare(integer, Option[int]{
		Key: "execution.checkpointing.num-retained", Default: 1, Effect: NextJob, check: atLeast(1),
		OldKeys: []string{"state.checkpoints.num-retained"},
		Doc:     "How many complete checkpoints of a job are kept.",
	})
	CheckpointIncremental = declare(boolean, Option[bool]{
		Key: "execution.checkpointing.incremental", Default: false, Effect: NextJob,
		OldKeys: []string{"state.backend.incremental"},
		Doc:     "Whether a checkpoint writes only what has changed since the one before it.",
	})
	CheckpointUnaligned = declare(boolean, Option[bool]{
		Key: "execution.checkpointing.unaligned.enabled", Default: false, Effect: NextJob,
		OldKeys: []string{"execution.checkpointing.unaligned"},
		Doc:     "Whether the barriers of checkpoints overtake records, which then are part of the checkpoint, so that it does not wait for slow tasks. With EXACTLY_ONCE and one checkpoint at a time only.",
	})
	CheckpointAlignedTimeout = declare(duration, Option[time.Duration]{
		Key: "execution.checkpointing.aligned-checkpoint-timeout", Default: 0, Effect: NextJob, check: notNegative,
		OldKeys: []string{"execution.checkpointing.alignment-timeout"},
		Doc:     "With unaligned checkpoints: how long barriers wait in line before they overtake. With 0 they never wait.",
	})
	CheckpointsAfterTasksFinish = declare(boolean, Option[bool]{
		Key: "execution.checkpointing.checkpoints-after-tasks-finish", Default: true, Effect: NextJob,
		OldKeys: []string{"execution.checkpointing.checkpoints-after-tasks-finish.enabled"},
		Doc:     "Whether checkpoints are still taken when some tasks have read all their input.",
	})
	CheckpointInlineThreshold = declare(size, Option[Size]{
		Key: "execution.checkpointing.data-inline-threshold", Default: 20 << 10, Effect: NextJob, check: inlineThreshold,
		OldKeys: []string{"state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"},
		Doc:     "State up to this size has no file of its own, but lies in the metadata of the checkpoint. At most 1 mb.",
	})
)

// Where checkpoints and savepoints are.
var (
	CheckpointStorage = declare(choice[string]("jobmanager", "filesystem"), Option[string]{
		Key: "execution.checkpointing.storage", NoDefault: true, Effect: NextJob,
		OldKeys: []string{"state.checkpoint-storage"},
		Doc:     "Where checkpoints are kept: in the memory of the JobManager, or in files. Without it, in files if there is a directory for them.",
	})
	CheckpointDirectory = declare(text, Option[string]{
		Key: "execution.checkpointing.dir", NoDefault: true, Effect: NextJob, check: absolute,
		OldKeys: []string{"state.checkpoints.dir", "state.backend.fs.checkpointdir"},
		Doc:     "The directory that checkpoints are written to, a path or a URL, which all processes must reach. Each job has a directory in it.",
	})
	SavepointDirectory = declare(text, Option[string]{
		Key: "execution.checkpointing.savepoint-dir", NoDefault: true, Effect: NextJob, check: absolute,
		OldKeys: []string{"state.savepoints.dir", "savepoints.state.backend.fs.dir"},
		Doc:     "The directory that savepoints are written to when who asks for one names none.",
	})
	CheckpointHistory = declare(integer, Option[int]{
		Key: "web.checkpoints.history", Default: 10, Effect: NextJob, check: atLeast(0),
		OldKeys: []string{"jobmanager.web.checkpoints.history"},
		Doc:     "How many checkpoints of a job are remembered for its pages.",
	})
	StateBackend = declare(choice[string]("hashmap", "rocksdb", "pebble"), Option[string]{
		Key: "state.backend.type", Default: "hashmap", Effect: NextJob,
		OldKeys: []string{"state.backend"},
		Doc:     "Where a job keeps its state while it runs: in memory (hashmap), or in files with the managed memory before them (pebble; rocksdb is another name of it). All write the same checkpoints and savepoints.",
	})
)

// What a job begins with.
var (
	RecoveryPath = declare(text, Option[string]{
		Key: "execution.state-recovery.path", NoDefault: true, Effect: NextJob, check: absolute,
		OldKeys: []string{"execution.savepoint.path"},
		Doc:     "The savepoint or retained checkpoint a job begins with.",
	})
	RecoveryIgnoreUnclaimed = declare(boolean, Option[bool]{
		Key: "execution.state-recovery.ignore-unclaimed-state", Default: false, Effect: NextJob,
		OldKeys: []string{"execution.savepoint.ignore-unclaimed-state"},
		Doc:     "Whether state may be left out for which the program has no operator any more.",
	})
	RecoveryClaimMode = declare(choice[string]("NO_CLAIM", "CLAIM"), Option[string]{
		Key: "execution.state-recovery.claim-mode", Default: "NO_CLAIM", Effect: NextJob,
		OldKeys: []string{"execution.savepoint-restore-mode"},
		Doc:     "Who owns what a job begins with: a person (NO_CLAIM), or the job, which deletes it once it is not needed any more (CLAIM).",
	})
)

// checkpointInterval allows none, or what tasks can keep up with.
func checkpointInterval(d time.Duration) error {
	if d != 0 && d < 10*time.Millisecond {
		return errors.New("must be 0 or at least 10 ms")
	}
	return nil
}

func inlineThreshold(s Size) error {
	if s < 0 || s > 1<<20 {
		return errors.New("must be at most 1 mb")
	}
	return nil
}

// absolute allows a path from the root, and URLs.
func absolute(s string) error {
	if strings.HasPrefix(s, "/") || strings.Contains(s, ":/") {
		return nil
	}
	return errors.New("must be an absolute path or a URL such as file:///data")
}
