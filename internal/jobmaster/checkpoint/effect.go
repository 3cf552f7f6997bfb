package checkpoint

import (
	"log/slog"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// DiscardID names one Discard.
type DiscardID int64

// An Effect is something the owner must do, in the order given.
type Effect interface{ effect() }

type (
	// DrawID takes the next checkpoint id, which is above After and was never given
	// before, not even to another leader. Answer: IDDrawn.
	DrawID struct {
		Serial Serial
		After  int64
	}

	// Locate makes sure that a savepoint can be written into a new directory in
	// Target, whose name nobody had. Answer: Located.
	Locate struct {
		Checkpoint int64
		Target     fs.Location
	}

	// SnapshotCoordinators asks the coordinators of these operators for their
	// state, and holds back what they send to tasks until those have acknowledged.
	// Answer: one CoordinatorSnapshot each.
	SnapshotCoordinators struct {
		Checkpoint int64
		Operators  []ident.OperatorID
	}

	// TriggerTasks tells tasks to begin.
	TriggerTasks struct {
		Barrier
		Attempts []ident.AttemptID
	}

	// WriteMetadata writes the metadata, the last file of a checkpoint. Answer:
	// MetadataWritten.
	WriteMetadata struct {
		Checkpoint int64
		Dir        fs.Location
		Metadata   *snapshot.Metadata
	}

	// Store enters a checkpoint into the store of completed ones. Answer: Stored.
	Store struct {
		Pointer
		Metadata *snapshot.Metadata
	}

	// Discard takes a checkpoint out of the store, if Unstore is not 0, then
	// deletes Metadata, if there is one, and only then Files and all below Tree, if
	// there is one. One is begun when the one before it has ended. Answer: Discarded.
	Discard struct {
		ID       DiscardID
		Unstore  int64
		Metadata fs.Location
		Files    []fs.Location
		Tree     fs.Location
	}

	// NotifyComplete tells tasks and coordinators that a checkpoint is complete,
	// upon which they commit. Subsumed is the newest id of those that are gone; 0:
	// none.
	NotifyComplete struct {
		Checkpoint, Subsumed int64
		Attempts             []ident.AttemptID
		Operators            []ident.OperatorID
	}

	// NotifyAborted tells tasks and coordinators that a checkpoint will not be.
	// Completed is the newest complete one; 0: none.
	NotifyAborted struct {
		Checkpoint, Completed int64
		Attempts              []ident.AttemptID
		Operators             []ident.OperatorID
	}

	// Answer answers a Request: with the checkpoint and where it is, or an *Error.
	// A SyncSavepoint is answered when it is complete; the job has stopped once it
	// is FINISHED too, and should it fail instead, who asked wants to know the
	// savepoint's location.
	Answer struct {
		Request    RequestID
		Checkpoint int64
		Location   fs.Location
		Err        error
	}

	// FailJob is a failure of the whole job.
	FailJob struct{ Cause *status.Failure }

	// FailTask is the failure of one attempt.
	FailTask struct {
		Attempt ident.AttemptID
		Cause   *status.Failure
	}

	// ReadMetadata reads the metadata that lies at, or in, a location. Answer:
	// MetadataRead.
	ReadMetadata struct{ Location fs.Location }

	// Restore says what tasks begin with: those of Vertices, or all. Coordinators
	// are given their state when Global; otherwise they take back what they gave to
	// the tasks after the checkpoint.
	Restore struct {
		// Checkpoint and Assignment are what is restored; 0 and nil: all begin
		// empty.
		Checkpoint int64
		Assignment *snapshot.Assignment
		Vertices   []ident.VertexID
		Global     bool
	}

	// Acknowledged says what became of an Ack.
	Acknowledged struct {
		Checkpoint int64
		Attempt    ident.AttemptID
		Outcome    Outcome
	}

	// Report is to be logged.
	Report struct {
		Level      slog.Level
		Message    string
		Checkpoint int64 // 0: none
		Err        error
	}
)

func (DrawID) effect()               {}
func (Locate) effect()               {}
func (SnapshotCoordinators) effect() {}
func (TriggerTasks) effect()         {}
func (WriteMetadata) effect()        {}
func (Store) effect()                {}
func (Discard) effect()              {}
func (NotifyComplete) effect()       {}
func (NotifyAborted) effect()        {}
func (Answer) effect()               {}
func (FailJob) effect()              {}
func (FailTask) effect()             {}
func (ReadMetadata) effect()         {}
func (Restore) effect()              {}
func (Acknowledged) effect()         {}
func (Report) effect()               {}

// A Barrier is what travels with a checkpoint through the job.
type Barrier struct {
	Checkpoint int64
	// Millis is when it was triggered, in Unix milliseconds.
	Millis int64
	Kind   snapshot.Kind
	Format snapshot.Format
	// Dir is where the checkpoint's own files go, Shared where those go that later
	// checkpoints may refer to. Empty: state is sent with the acknowledgement.
	Dir, Shared fs.Location
	// Base is the checkpoint to whose files this one may refer; they stay at least
	// until it is over. A task that did not take part in it, and was not restored
	// from it, writes everything. 0: all do.
	Base int64
	// Drain: the highest watermark and the end of data go before the barrier.
	Drain bool
	// Unaligned barriers overtake records; with an AlignedTimeout above zero they
	// do so only after that time.
	Unaligned            bool
	AlignedTimeoutMillis int64
	// ExactlyOnce: channels wait for each other's barriers.
	ExactlyOnce bool
}

// An Outcome is what became of an acknowledgement.
type Outcome uint8

// The outcomes.
const (
	// Success: it counts.
	Success Outcome = iota
	// Duplicate: it was there already, and is ignored.
	Duplicate
	// Unknown: the task has no part in the checkpoint; its files are discarded.
	Unknown
	// Late: the checkpoint is over; the files are discarded.
	Late
)

func (o Outcome) String() string {
	return [...]string{"SUCCESS", "DUPLICATE", "UNKNOWN", "DISCARDED"}[o]
}
