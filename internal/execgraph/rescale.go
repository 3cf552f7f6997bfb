package execgraph

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// Bounds are how parallel a vertex is to be: at least Lower, at most Upper.
type Bounds struct{ Lower, Upper int }

// An AdaptiveView is what is shown of a job whose parallelism follows the slots
// there are. It is never changed.
type AdaptiveView struct {
	Settings AdaptiveSettings
	// Bounds are those of the vertices, in their order.
	Bounds []Bounds
	// Rescales are the newest, newest first, at most Settings.History of them; the
	// first may be in progress.
	Rescales []Rescale
	// Last is the newest completed one in which the job did not run for a while;
	// nil: there was none.
	Last *Rescale
	// InProgress, Completed, Failed and Ignored count all that there were.
	InProgress, Completed, Failed, Ignored int
	// Rescaled counts the restarts that were made to change the parallelism.
	Rescaled int
}

// AdaptiveSettings are how a job follows the slots there are.
type AdaptiveSettings struct {
	Reactive                                 bool
	History                                  int
	WaitTimeout, Stabilization, SlotIdle     time.Duration // a negative WaitTimeout is no limit
	Cooldown, RescaleStabilization, MaxDelay time.Duration
	CheckpointFailures                       int
}

// The causes of rescales, as Flink names them.
const (
	RescaleInitial      = "INITIAL_SCHEDULE"
	RescaleRequirements = "UPDATE_REQUIREMENT"
	RescaleNewSlots     = "NEW_RESOURCE_AVAILABLE"
	RescaleFailover     = "RECOVERABLE_FAILOVER"
)

// How rescales end, as Flink names it.
const (
	RescaleCompleted = "COMPLETED"
	RescaleFailed    = "FAILED"
	RescaleIgnored   = "IGNORED"
)

// A Rescale is one time that the parallelism of a job was decided: when it began,
// after a failure, or because slots or wishes had changed.
type Rescale struct {
	ID ident.ID
	// Requirements names the bounds that held, Attempt counts the rescales with them
	// from 1.
	Requirements ident.ID
	Attempt      int
	Cause        string
	// State is empty while it is in progress, Reason says how it ended.
	State, Reason string
	// Begin is when its cause was noticed, End when every task ran, or when it was
	// given up.
	Begin, End time.Time
	// Stopped is when the tasks were told to end, or failed; Ended when all had ended,
	// Placed when the new ones could be deployed. Zero: it did not come to that.
	Stopped, Ended, Placed time.Time
	Vertices               []RescaledVertex
	Groups                 []RescaledGroup
	// Spans are the states of the scheduler meanwhile.
	Spans []SchedulerSpan
}

// A RescaledVertex is a vertex of a Rescale. After is 0 until it is decided, Before
// is 0 when the job had not run.
type RescaledVertex struct {
	ID                                 ident.VertexID
	Name, Group                        string
	Desired, Sufficient, Before, After int
}

// A RescaledGroup is what a slot sharing group of a Rescale has of slots.
type RescaledGroup struct {
	Name                               string
	Desired, Sufficient, Before, After int
}

// A SchedulerSpan is how long the scheduler was in a state, named as Flink's
// adaptive scheduler names it.
type SchedulerSpan struct {
	State        string
	Enter, Leave time.Time // a zero Leave: it still is
}

// Outage is for how long the job did not run. It always did, or has not run before,
// if stopped is false.
func (r *Rescale) Outage() (d time.Duration, stopped bool) {
	if r.Stopped.IsZero() || r.State != RescaleCompleted {
		return 0, false
	}
	return r.End.Sub(r.Stopped), true
}

// Changes says which vertices got another parallelism: "Source 1 → 3, Sink 1 → 3".
func (r *Rescale) Changes() string {
	var all []string
	for _, v := range r.Vertices {
		switch {
		case v.After == 0 || v.After == v.Before:
		case v.Before == 0:
			all = append(all, fmt.Sprintf("%s %d", v.Name, v.After))
		default:
			all = append(all, fmt.Sprintf("%s %d → %d", v.Name, v.Before, v.After))
		}
	}
	return strings.Join(all, ", ")
}
