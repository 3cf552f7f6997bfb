package rescale

import (
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// An Event is something that happened to the job.
type Event interface{ event() }

type (
	// Start says that the job may begin as soon as it has slots.
	Start struct{}

	// Slots says how many slots the job has, used or not.
	Slots struct{ Present int }

	// SlotsLost says that slots are gone, and whether they may come back: their
	// TaskManager is only out of sight. It comes before the Slots that tells how many
	// are left.
	SlotsLost struct {
		Slots     int
		MayReturn bool
	}

	// Require sets the bounds of the vertices, in their order. They are valid.
	Require struct{ Bounds []execgraph.Bounds }

	// Restarting says that the job has failed and will begin again, or that it ends
	// its tasks for a Rescale.
	Restarting struct{}

	// Ended says that all tasks of a job that restarts have ended, and that it can
	// begin again. Restart is given back in Run.
	Ended struct{ Restart int64 }

	// Prepared answers Prepare.
	Prepared struct{ Serial int }

	// AllRun says that every task runs.
	AllRun struct{}

	// Checkpoint says that a checkpoint is complete, or has failed.
	Checkpoint struct{ Complete bool }

	// Stopping says that the job is being stopped with a savepoint, or no longer is:
	// meanwhile it is not rescaled.
	Stopping struct{ On bool }

	// JobEnded says that the job is over.
	JobEnded struct{ State status.Job }

	// Tick says that time has passed.
	Tick struct{}
)

func (Start) event()      {}
func (Slots) event()      {}
func (SlotsLost) event()  {}
func (Require) event()    {}
func (Restarting) event() {}
func (Ended) event()      {}
func (Prepared) event()   {}
func (AllRun) event()     {}
func (Checkpoint) event() {}
func (Stopping) event()   {}
func (JobEnded) event()   {}
func (Tick) event()       {}

// An Effect is something the owner must do, in the order given.
type Effect interface{ effect() }

type (
	// Declare says how many slots the job wants in all.
	Declare struct{ Slots int }

	// Await shows the job as one that waits for slots.
	Await struct{}

	// Prepare finds out what tasks of these layouts begin with. Answer: Prepared.
	Prepare struct {
		Serial  int
		Layouts []execgraph.Layout
	}

	// Run lets the job begin, with these layouts. Restart is that of Ended; 0: it
	// begins for the first time.
	Run struct {
		Restart int64
		Layouts []execgraph.Layout
	}

	// Rescale ends all tasks, to begin with another parallelism.
	Rescale struct{ Reason string }

	// TakeCheckpoint asks for a checkpoint, after which the job is rescaled.
	TakeCheckpoint struct{}

	// Fail lets the job fail, because it cannot have the slots it needs.
	Fail struct {
		Needed, Present int
		Waited          time.Duration
	}

	// Recorded tells of a rescale that is over.
	Recorded struct{ Rescale execgraph.Rescale }
)

func (Declare) effect()        {}
func (Await) effect()          {}
func (Prepare) effect()        {}
func (Run) effect()            {}
func (Rescale) effect()        {}
func (TakeCheckpoint) effect() {}
func (Fail) effect()           {}
func (Recorded) effect()       {}
