package checkpoint

import (
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot/record"
)

// A Retention says what becomes of the last checkpoints when a job ends that did
// not finish.
type Retention uint8

// The retentions, Flink's execution.checkpointing.externalized-checkpoint-retention.
const (
	// DeleteAlways: they are deleted however the job ends.
	DeleteAlways Retention = iota
	// DeleteOnCancel: deleted when it is canceled, kept when it fails.
	DeleteOnCancel
	// RetainOnCancel: kept in both cases.
	RetainOnCancel
)

// Options are a job's settings.
type Options struct {
	Version string // of this program, for metadata
	// Interval is from one periodic checkpoint to the next; 0: there are none.
	Interval time.Duration
	// FirstDelay is from when all tasks run to the first periodic checkpoint; the
	// owner draws it, so that many jobs do not begin at once.
	FirstDelay time.Duration
	// Timeout is how long a checkpoint may take.
	Timeout time.Duration
	// MinPause is the least time from a completion to the next periodic trigger.
	MinPause time.Duration
	// MaxConcurrent is how many may be pending, at least 1.
	MaxConcurrent int
	// Tolerable is how many may fail one after the other.
	Tolerable int
	// Retained is how many completed ones are kept, at least 1.
	Retained  int
	Retention Retention
	// Directory is where checkpoints go: each into <Directory>/<job>/chk-<id>.
	// Empty: into the memory of the JobManager.
	Directory   fs.Location
	ExactlyOnce bool
	// Unaligned lets barriers overtake records, at once or after AlignedTimeout.
	Unaligned      bool
	AlignedTimeout time.Duration
	// Incremental lets checkpoints refer to files of those before them.
	Incremental bool
	// Backend is the name of the state backend, for people.
	Backend string
	// AfterFinish lets checkpoints be taken when some tasks have finished.
	AfterFinish bool
	// History is how many are remembered for people.
	History int
}

// settings are the options as people see them.
func (o *Options) settings() record.Settings {
	return record.Settings{
		ExactlyOnce: o.ExactlyOnce, Interval: o.Interval, Timeout: o.Timeout, MinPause: o.MinPause,
		MaxConcurrent: o.MaxConcurrent, Tolerable: o.Tolerable, External: o.Retention != DeleteAlways,
		DeleteOnCancel: o.Retention != RetainOnCancel, Backend: o.Backend, InMemory: o.Directory == "",
		Unaligned: o.Unaligned, AlignedTimeout: o.AlignedTimeout, AfterFinish: o.AfterFinish,
	}
}
