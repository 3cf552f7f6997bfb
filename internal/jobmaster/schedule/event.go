package schedule

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// RequestID names one request for a slot; it is never used twice.
type RequestID int64

// An Event is something that happened to the job.
type Event interface{ event() }

type (
	// Start says that everything is ready and the job may run. Layouts are those of
	// the vertices of a late graph.
	Start struct{ Layouts []execgraph.Layout }

	// SlotGranted says that a request got its slot.
	SlotGranted struct {
		Request RequestID
		Slot    *execgraph.Slot
	}

	// SlotsRefused says that requests cannot be met, and why. They are no
	// longer open.
	SlotsRefused struct {
		Requests []RequestID
		Cause    *status.Failure
	}

	// SlotsLost says that slots that were granted are gone, with all that ran in
	// them.
	SlotsLost struct {
		Allocations []ident.AllocationID
		Cause       *status.Failure
	}

	// TaskReport is what a TaskManager reports of an attempt: INITIALIZING,
	// RUNNING, or a terminal state.
	TaskReport struct {
		Attempt      ident.AttemptID
		State        status.Execution
		Failure      *status.Failure    // with FAILED
		Metrics      *execgraph.Metrics // may be nil
		Accumulators map[string]string  // with a terminal state
		// Sizes are, with FINISHED, the bytes in each subpartition of what the task
		// has produced, by produced data set.
		Sizes [][]int64
	}

	// SourceSized says what a source has to read, or that it cannot say. A source
	// whose parallelism the program leaves open waits for it.
	SourceSized struct {
		Vertex ident.VertexID
		Splits *execgraph.Splits // nil: it cannot say
	}

	// Measured is what a running attempt has counted so far.
	Measured struct {
		Attempt ident.AttemptID
		Metrics execgraph.Metrics
	}

	// DeployFailed says that the TaskManager did not take an attempt, or that it
	// is not known whether it did.
	DeployFailed struct {
		Attempt ident.AttemptID
		Cause   *status.Failure
	}

	// TaskLost says that an attempt runs no more, though nobody reported its end.
	TaskLost struct {
		Attempt ident.AttemptID
		Cause   *status.Failure
	}

	// OutputsLost says that what had been produced on a TaskManager for other
	// regions to read is gone: all of it, with the TaskManager, or that of some
	// attempts.
	OutputsLost struct {
		TaskManager ident.ResourceID
		Attempts    []ident.AttemptID // none: all
	}

	// RestartDue says that the pause of a RestartAfter is over.
	RestartDue struct{ Restart RestartID }
	// Rescale is the wish to run all of a late graph again, with other layouts. It
	// counts only while the job is RUNNING.
	Rescale struct{ Reason string }
	// AwaitSlots says that a job that restarts waits for slots.
	AwaitSlots struct{}
	// LayOut answers AskLayout: the subtasks run again with these layouts.
	LayOut struct {
		Restart RestartID
		Layouts []execgraph.Layout
	}
	// CancelJob is the user's wish. It is for a job that has not ended.
	CancelJob struct{}

	// FailJob is a failure of the job as a whole.
	FailJob struct{ Cause *status.Failure }

	// Suspend says that this master no longer leads the job.
	Suspend struct{}
)

func (Start) event()        {}
func (SlotGranted) event()  {}
func (SlotsRefused) event() {}
func (SlotsLost) event()    {}
func (TaskReport) event()   {}
func (SourceSized) event()  {}
func (Measured) event()     {}
func (DeployFailed) event() {}
func (TaskLost) event()     {}
func (OutputsLost) event()  {}
func (RestartDue) event()   {}
func (Rescale) event()      {}
func (AwaitSlots) event()   {}
func (LayOut) event()       {}
func (CancelJob) event()    {}
func (FailJob) event()      {}
func (Suspend) event()      {}

// An Effect is something the owner of the Scheduler must do, in the order
// given.
type Effect interface{ effect() }

type (
	// RequestSlots asks for all these slots. Each is answered by SlotGranted or
	// SlotsRefused, unless withdrawn before.
	RequestSlots struct {
		Region   *execgraph.Region
		Requests []SlotRequest
	}

	// WithdrawRequests takes requests back that are not granted.
	WithdrawRequests struct{ Requests []RequestID }

	// ReturnSlot gives a granted slot back. The request that got it is over.
	ReturnSlot struct{ Allocation ident.AllocationID }

	// Deploy tells the TaskManager of the attempt's slot to run it.
	Deploy struct{ Execution *execgraph.Execution }

	// CancelTask tells the TaskManager of the attempt's slot to stop it.
	CancelTask struct{ Execution *execgraph.Execution }

	// RestartAfter asks for a RestartDue after a pause; Tasks are what will run
	// again.
	RestartAfter struct {
		Restart RestartID
		Delay   time.Duration
		Tasks   []*execgraph.Vertex
	}
	// AskLayout says that all attempts of a late graph have ended, and that it is to
	// be laid out again. It is answered by LayOut, unless a failure makes another
	// plan to restart before.
	AskLayout struct{ Restart RestartID }
	// ReleaseOutputs gives up what attempts have produced for other regions:
	// nobody will read it.
	ReleaseOutputs struct{ Executions []*execgraph.Execution }

	// TasksReset says that subtasks have new attempts, which begin with none of
	// the work the ones before were given.
	TasksReset struct{ Executions []*execgraph.Execution }
	// LaidOut says that a vertex has got its subtasks: their number was not known
	// when the job began.
	LaidOut struct{ Vertex *execgraph.JobVertex }

	// TaskChanged says that an attempt has a new state.
	TaskChanged struct {
		Execution *execgraph.Execution
		From, To  status.Execution
		Reason    string // empty: the usual course
	}

	// JobChanged says that the job has a new state. A terminal one is the last
	// effect of all.
	JobChanged struct {
		From, To status.Job
		Reason   string
	}
)

func (RequestSlots) effect()     {}
func (WithdrawRequests) effect() {}
func (ReturnSlot) effect()       {}
func (Deploy) effect()           {}
func (CancelTask) effect()       {}
func (RestartAfter) effect()     {}
func (AskLayout) effect()        {}
func (ReleaseOutputs) effect()   {}
func (TasksReset) effect()       {}
func (LaidOut) effect()          {}
func (TaskChanged) effect()      {}
func (JobChanged) effect()       {}

// A SlotRequest asks for one slot, for the subtasks with one number of one slot
// sharing group.
type SlotRequest struct {
	ID    RequestID
	Group string
	Index int
	// Before is the slot that those subtasks had last, which they should get if
	// it is free; zero: none.
	Before ident.AllocationID
}

func (r SlotRequest) String() string { return fmt.Sprintf("request %d: %s/%d", r.ID, r.Group, r.Index) }
