package checkpoint

import (
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// RequestID names a wish for a checkpoint or savepoint. The owner chooses it,
// above zero and never twice.
type RequestID int64

// Serial names one triggering, before it has an id.
type Serial int64

// A Stop says what a savepoint does to the job.
type Stop uint8

// What a savepoint does to the job.
const (
	// KeepRunning: nothing.
	KeepRunning Stop = iota
	// Cancel: no periodic checkpoint is taken any more; who asked cancels the job
	// once it has the answer.
	Cancel
	// Suspend: the tasks end after it; timers stay in the state.
	Suspend
	// Drain: the same, after the highest watermark has fired all timers.
	Drain
)

// An Event is something that happened to the job or to a checkpoint.
type Event interface{ event() }

type (
	// JobStatus says that the job has entered a state.
	JobStatus struct{ State status.Job }

	// TaskStatus says that an attempt has entered a state. The newest attempt of
	// a subtask is the one that counts.
	TaskStatus struct {
		Attempt ident.AttemptID
		State   status.Execution
		Cause   *status.Failure // with FAILED
	}

	// Tick says that time has passed.
	Tick struct{}

	// Request asks for a checkpoint or a savepoint. It is answered once, by an
	// Answer.
	Request struct {
		ID   RequestID
		Kind snapshot.Kind
		// Full: refer to no older file. For checkpoints.
		Full bool
		// Format, Target and Stop are of savepoints. Target is the directory in
		// which the savepoint's own one is made.
		Format snapshot.Format
		Target fs.Location
		Stop   Stop
	}

	// IDDrawn answers DrawID.
	IDDrawn struct {
		Serial     Serial
		Checkpoint int64
		Err        error
	}

	// Located answers Locate. Dir is the savepoint's own directory.
	Located struct {
		Checkpoint int64
		Dir        fs.Location
		Err        error
	}

	// CoordinatorSnapshot is the state of one coordinator, as asked for by
	// SnapshotCoordinators.
	CoordinatorSnapshot struct {
		Checkpoint int64
		Operator   ident.OperatorID
		State      snapshot.Handle
		Err        error
	}

	// TriggerFailed says that a task could not be told to begin.
	TriggerFailed struct {
		Checkpoint int64
		Attempt    ident.AttemptID
		Err        error
	}

	// Ack is a task's part of a checkpoint.
	Ack struct {
		Checkpoint int64
		Attempt    ident.AttemptID
		States     []TaskState
		Figures    record.Figures
	}

	// Decline says that a task has no part to give.
	Decline struct {
		Checkpoint int64
		Attempt    ident.AttemptID
		Reason     Reason
		Err        error // nil: the reason says all
	}

	// MetadataWritten answers WriteMetadata.
	MetadataWritten struct {
		Checkpoint int64
		Err        error
	}

	// Stored answers Store. Uncertain says that after the error nobody knows
	// whether the pointer is there.
	Stored struct {
		Checkpoint int64
		Err        error
		Uncertain  bool
	}

	// Discarded answers Discard.
	Discarded struct {
		Discard DiscardID
		Err     error
	}

	// Recover begins the coordinator's life: what an earlier leader has stored,
	// oldest first, and the snapshot a person named, which counts only when there
	// is nothing stored. It is answered by one Restore or one FailJob.
	Recover struct {
		Stored []Pointer
		From   *Origin
	}

	// MetadataRead answers ReadMetadata.
	MetadataRead struct {
		Location fs.Location
		Metadata *snapshot.Metadata
		// Dir is the directory of the metadata.
		Dir fs.Location
		Err error
	}

	// Restart says that these tasks will be deployed anew; all of them when
	// Global. It is answered by one Restore or one FailJob, perhaps later.
	Restart struct {
		Vertices []ident.VertexID
		Global   bool
	}

	// Unreadable says that a task found a file of the checkpoint it restores
	// damaged or missing. The checkpoint is not restored from again.
	Unreadable struct {
		Checkpoint int64
		Err        error
	}

	// Rescaled says that the job goes on with other parallelisms. It comes
	// before the Restart of all tasks.
	Rescaled struct{ Graph *jobgraph.Graph }
)

func (JobStatus) event()           {}
func (TaskStatus) event()          {}
func (Tick) event()                {}
func (Request) event()             {}
func (IDDrawn) event()             {}
func (Located) event()             {}
func (CoordinatorSnapshot) event() {}
func (TriggerFailed) event()       {}
func (Ack) event()                 {}
func (Decline) event()             {}
func (MetadataWritten) event()     {}
func (Stored) event()              {}
func (Discarded) event()           {}
func (Recover) event()             {}
func (MetadataRead) event()        {}
func (Restart) event()             {}
func (Unreadable) event()          {}
func (Rescaled) event()            {}

// TaskState is the state of one operator of a task.
type TaskState struct {
	Operator ident.OperatorID
	State    snapshot.SubtaskState
}

// A Pointer is an entry of the store of completed checkpoints.
type Pointer struct {
	Checkpoint int64
	Location   fs.Location
}

// A Claim says who owns the snapshot a job begins from.
type Claim uint8

// The claim modes.
const (
	// NoClaim: a person owns it; the first checkpoint refers to none of its files.
	NoClaim Claim = iota
	// ClaimIt: the job owns it, and deletes it when it is subsumed.
	ClaimIt
)

// An Origin is the snapshot that a person starts a job from.
type Origin struct {
	Location         fs.Location
	AllowNonRestored bool
	Claim            Claim
}
