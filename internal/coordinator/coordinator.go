// Package coordinator hosts, beside the JobMaster, the part of an operator that
// exists once a job: a source's enumerator, later a sink's committer.
//
// It promises that a Coordinator is called only on the JobMaster's loop, so it
// needs no lock, and that its input and output go through Context.Go. It never
// runs user code: only kinds that are registered by name are built in.
package coordinator

import (
	"log/slog"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
)

// Coordinator is one operator's coordinator. All its methods are called on the
// loop of Context and must not block.
type Coordinator interface {
	// Start is called once, before any subtask is deployed, and after Restore if the
	// job begins with a checkpoint.
	Start()
	// HandleRequest answers a request of a running subtask: reply is called
	// once, now or later, on the loop. An error fails the request, and with it
	// usually the task that made it. A request whose answer is lost is made again,
	// with the same payload, so it must say itself that it is the same one.
	HandleRequest(subtask, attempt int, payload []byte, reply func([]byte, error))
	// SubtaskFailed says that an attempt of a subtask has ended without
	// finishing. No request of that attempt follows.
	SubtaskFailed(subtask, attempt int)
	// Reset says that a subtask starts anew, with none of the work it was given.
	Reset(subtask int)
	// Close ends the coordinator. Answers still owed are errors; nothing is
	// called afterwards, but work begun by Context.Go may still return.
	Close()
}

// Stateful is a Coordinator that is part of checkpoints.
type Stateful interface {
	Coordinator
	// Snapshot gives the coordinator's state, as a checkpoint is begun. What
	// subtasks are given after it is held back until they have taken theirs.
	Snapshot(checkpoint int64) ([]byte, error)
	// Completed says that no checkpoint before this one is restored any more.
	Completed(checkpoint int64)
	// Restore goes back to a state that Snapshot gave. All subtasks begin anew, with
	// what they had then.
	Restore(state []byte) error
	// ResetTo says that a subtask begins anew with what it had at a checkpoint that
	// Snapshot was called with: what it was given since is free again.
	ResetTo(subtask int, checkpoint int64)
}

// Following is a Coordinator that wants to know when subtasks have finished.
type Following interface {
	Coordinator
	// SubtaskFinished says that no request of a subtask follows, unless it is Reset.
	SubtaskFinished(subtask int)
}

// Enumerating is a Coordinator that gives work to its subtasks.
type Enumerating interface {
	// Unassigned is how many splits nobody has; known is false until they have
	// been found.
	Unassigned() (splits int, known bool)
}

// Answering is a Coordinator that whoever has submitted the job may ask, too.
type Answering interface {
	Coordinator
	// Answer answers a request: reply is called once, now or later, on the loop.
	Answer(payload []byte, reply func([]byte, error))
}

// Sizing is a Coordinator that may know how much there is to read. How parallel its
// operator is may depend on it.
type Sizing interface {
	Coordinator
	// Sizing reports whether Sized, or Fail, will be called after Start. Where more is
	// found for ever nothing is the size of it all.
	Sizing() bool
}

// Context is what a coordinator is given.
type Context struct {
	// Loop is the JobMaster's: for time, randomness and work beside it.
	Loop actor.Loop
	// Operator and Name say whose coordinator it is.
	Operator ident.OperatorID
	Name     string
	// Parallelism is the number of the operator's subtasks; 0: it is decided later.
	Parallelism int
	// Spec is the coordinator's configuration, JSON text.
	Spec string
	// Fail is a failure of the whole job: it restarts, and Reset is called for
	// every subtask that had begun, or it ends. Called on the loop.
	Fail func(cause error)
	// Sized is how much the operator has to read in all, to be called on the loop
	// by a Sizing coordinator once it is known.
	Sized func(splits int, bytes int64)
	// Peers are the coordinators that the job has, this one among them. It is called on
	// the loop, from Start on.
	Peers func() []Coordinator
	Log   *slog.Logger
}

// Factory makes the coordinator of one operator, or says what is wrong with
// its Spec.
type Factory func(Context) (Coordinator, error)

// Kinds are the coordinators known to a master, by the name a job graph calls
// them.
type Kinds map[string]Factory
