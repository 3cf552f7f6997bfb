package record

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
)

// A View is what is remembered of a job's checkpoints at one moment. It never
// changes and may be read from anywhere.
type View struct {
	Settings Settings
	Counts   Counts
	Summary  Summary
	// Completed, Savepoint and Failed are the newest of each; Restored is what
	// tasks last began with. Nil: there was none.
	Completed, Savepoint, Failed *Checkpoint
	Restored                     *Restored
	// History is the newest ones, newest first.
	History []*Checkpoint
}

// All gives all checkpoints that are remembered, each once: the history, and the
// newest of each kind if they are older.
func (v *View) All() []*Checkpoint {
	all := slices.Clone(v.History)
	for _, c := range []*Checkpoint{v.Completed, v.Savepoint, v.Failed} {
		if c != nil && !slices.ContainsFunc(all, func(other *Checkpoint) bool { return other.ID == c.ID }) {
			all = append(all, c)
		}
	}
	return all
}

// Find gives a checkpoint that is remembered; nil: it is not, or never was.
func (v *View) Find(id int64) *Checkpoint {
	all := v.All()
	i := slices.IndexFunc(all, func(c *Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Settings are how a job's checkpoints are taken.
type Settings struct {
	ExactlyOnce              bool
	Interval                 time.Duration // 0: no periodic ones
	Timeout, MinPause        time.Duration
	MaxConcurrent, Tolerable int
	External, DeleteOnCancel bool
	Backend                  string // "hashmap", "rocksdb", …
	InMemory                 bool   // no directory: kept by the JobManager
	Unaligned                bool
	AlignedTimeout           time.Duration
	AfterFinish              bool
}

// Counts are how many there were.
type Counts struct{ Restored, Total, InProgress, Completed, Failed int }

// Summary is how the figures of the completed ones are distributed.
type Summary struct {
	Checkpointed, State, Millis, Processed, Persisted Spread
}

// A Status says how far a checkpoint is.
type Status uint8

// The states of a checkpoint.
const (
	InProgress Status = iota
	Completed
	Failed
)

func (s Status) String() string { return [...]string{"IN_PROGRESS", "COMPLETED", "FAILED"}[s] }

// A Checkpoint is one checkpoint or savepoint.
type Checkpoint struct {
	ID        int64
	Status    Status
	Kind      snapshot.Kind
	Format    snapshot.Format
	Triggered time.Time
	Tasks     []Task // in the order of the job's vertices
	Sums
	// Location is where a completed one is; empty: in the JobManager's memory.
	Location  fs.Location
	Discarded bool
	// Ended and Failure are when and why it failed.
	Ended   time.Time
	Failure string
}

// A Task is the part of one vertex.
type Task struct {
	Vertex   ident.VertexID
	Subtasks []Subtask
	Sums
}

// Sums are the figures of all that have acknowledged.
type Sums struct {
	Count, Acknowledged                       int
	LatestAck                                 time.Time // zero: none
	Checkpointed, State, Processed, Persisted int64
	Unaligned                                 bool
}

// Duration is from the trigger to the last acknowledgement; -1: there is none.
func (s *Sums) Duration(triggered time.Time) time.Duration {
	if s.LatestAck.IsZero() {
		return -1
	}
	return max(s.LatestAck.Sub(triggered), 0)
}

// Duration is how long the checkpoint took: to its failure, or to the last
// acknowledgement; -1: there is none yet.
func (c *Checkpoint) Duration() time.Duration {
	if c.Status == Failed {
		return max(c.Ended.Sub(c.Triggered), 0)
	}
	return c.Sums.Duration(c.Triggered)
}

// A Subtask is the part of one subtask. Acked is when it was acknowledged; zero:
// not yet, and there are no Figures.
type Subtask struct {
	Index int
	Acked time.Time
	Figures
}

// Restored is what tasks began with.
type Restored struct {
	ID       int64
	Kind     snapshot.Kind
	At       time.Time
	Location fs.Location
}
