package taskexecutor

import (
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// Launcher starts the worker of a job. Its methods are called on the Executor's
// loop and return at once; events come on that loop, never before Launch has
// returned.
type Launcher interface {
	// Launch starts a worker that is to register with the token, and may use
	// its share of the TaskManager's memory.
	Launch(job *pb.Job, token string, share memory.Share, events WorkerEvents) Worker
}

// Worker is one worker that was launched.
type Worker interface {
	// Stop asks the worker to end. It is called after its tasks have ended.
	Stop()
	// Kill ends the worker now. Both may be called more than once and after it
	// has ended.
	Kill()
	// Limit changes what the operating system lets the worker use.
	Limit(share memory.Share)
	// Condition says what the operating system knows of a worker that does not
	// answer, such as "stopped (state T)"; empty: nothing.
	Condition() string
}

// WorkerEvents is what a Launcher tells of one worker.
type WorkerEvents struct {
	// Started is called once the program runs: from then on it must register in
	// time. A launcher that has nothing to fetch or to start may never call it.
	Started func()
	// Exited is called exactly once, when the worker and all it left behind are
	// gone, or could not be started. A nil failure means that it ended as asked.
	Exited func(f *status.Failure)
}
