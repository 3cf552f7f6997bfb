package schedule

import (
	"time"

	"github.com/weirstream/weir/internal/execgraph"
)

// A Backoff says whether a job that failed is started again, and when. It is
// told of each failure that is not the consequence of one before, and asked
// then. Package failover has those there are.
type Backoff interface {
	// Failed takes note of a failure. It is false for one that came before the
	// restart that is due.
	Failed(now time.Time) bool
	MayRestart() bool
	Delay(now time.Time) time.Duration
	// Refusal says why the job may not restart, as the end of a sentence.
	Refusal() string
	// String is the strategy's name in the text of a failure that it did not
	// let the job recover from.
	String() string
}

// A Failover says which subtasks run again when some have failed. Package
// failover has those there are.
type Failover interface {
	// Restart lists the subtasks to run again. lost says of a subtask that what
	// it produced for another region cannot be read any more.
	Restart(failed []*execgraph.Vertex, lost func(*execgraph.Vertex) bool) []*execgraph.Vertex
}
