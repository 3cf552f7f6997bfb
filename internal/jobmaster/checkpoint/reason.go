package checkpoint

import "fmt"

// A Reason says why a checkpoint was not taken or failed; its text is Flink's.
type Reason uint8

// The reasons. Those up to IOProblem stand before anything was asked of a task.
const (
	SchedulerShutdown Reason = iota
	TooManyRequests
	MinimumPause
	TasksNotRunning
	IOProblem
	AsyncFailure
	Expired
	Subsumed
	Declined
	DeclinedNotReady
	DeclinedClosing
	DeclinedSubsumed
	DeclinedCanceled
	DeclinedEndOfInput
	CoordinatorShutdown
	CoordinatorSuspend
	Failover
	TaskFailure
	FinalizeFailure
	TriggerFailure
)

var reasons = [...]struct {
	name, text string
	counted    bool
}{
	SchedulerShutdown:   {"PERIODIC_SCHEDULER_SHUTDOWN", "Periodic checkpoint scheduler is shut down.", false},
	TooManyRequests:     {"TOO_MANY_CHECKPOINT_REQUESTS", "The maximum number of queued checkpoint requests exceeded", false},
	MinimumPause:        {"MINIMUM_TIME_BETWEEN_CHECKPOINTS", "The minimum time between checkpoints is still pending. Checkpoint will be triggered after the minimum time.", false},
	TasksNotRunning:     {"NOT_ALL_REQUIRED_TASKS_RUNNING", "Not all required tasks are currently running.", false},
	IOProblem:           {"IO_EXCEPTION", "An Exception occurred while triggering the checkpoint. IO-problem detected.", true},
	AsyncFailure:        {"CHECKPOINT_ASYNC_EXCEPTION", "Asynchronous task checkpoint failed.", true},
	Expired:             {"CHECKPOINT_EXPIRED", "Checkpoint expired before completing.", true},
	Subsumed:            {"CHECKPOINT_SUBSUMED", "Checkpoint has been subsumed.", false},
	Declined:            {"CHECKPOINT_DECLINED", "Checkpoint was declined.", true},
	DeclinedNotReady:    {"CHECKPOINT_DECLINED_TASK_NOT_READY", "Checkpoint was declined (tasks not ready)", false},
	DeclinedClosing:     {"CHECKPOINT_DECLINED_TASK_CLOSING", "Checkpoint was declined (task is closing)", false},
	DeclinedSubsumed:    {"CHECKPOINT_DECLINED_SUBSUMED", "Checkpoint was canceled because a barrier from newer checkpoint was received.", false},
	DeclinedCanceled:    {"CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER", "Task received cancellation from one of its inputs", false},
	DeclinedEndOfInput:  {"CHECKPOINT_DECLINED_INPUT_END_OF_STREAM", "Checkpoint was declined because one input stream is finished", false},
	CoordinatorShutdown: {"CHECKPOINT_COORDINATOR_SHUTDOWN", "CheckpointCoordinator shutdown.", false},
	CoordinatorSuspend:  {"CHECKPOINT_COORDINATOR_SUSPEND", "Checkpoint Coordinator is suspending.", false},
	Failover:            {"JOB_FAILOVER_REGION", "FailoverRegion is restarting.", false},
	TaskFailure:         {"TASK_FAILURE", "Task has failed.", false},
	FinalizeFailure:     {"FINALIZE_CHECKPOINT_FAILURE", "Failure to finalize checkpoint.", true},
	TriggerFailure:      {"TRIGGER_CHECKPOINT_FAILURE", "Trigger checkpoint failure.", false},
}

// Text is Flink's sentence for the reason.
func (r Reason) Text() string { return reasons[r].text }

// String is Flink's name for the reason.
func (r Reason) String() string { return reasons[r].name }

// Counted reports whether failures for this reason count against the number of
// failed checkpoints that is tolerated.
func (r Reason) Counted() bool { return reasons[r].counted }

// ParseReason finds a reason by its name.
func ParseReason(name string) (Reason, error) {
	for r := range reasons {
		if reasons[r].name == name {
			return Reason(r), nil
		}
	}
	return 0, fmt.Errorf("checkpoint failure reason %q is not known", name)
}

// An Error is why a checkpoint was not taken or failed.
type Error struct {
	Reason Reason
	// Detail goes before Flink's sentence; empty: none.
	Detail string
	Cause  error // nil: the reason says all
}

func (e *Error) Error() string {
	text := e.Reason.Text()
	if e.Detail != "" {
		text = e.Detail + " Failure reason: " + text
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }
