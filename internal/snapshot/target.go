package snapshot

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/internal/ident"
)

// A Target is an operator of the program that is to be restored.
type Target struct {
	ID   ident.OperatorID
	UID  string
	Name string
	// Task is the vertex it runs in, Vertex that one's name, for messages.
	Task                        ident.VertexID
	Vertex                      string
	Parallelism, MaxParallelism int
	// FixedMax says that the program itself set MaxParallelism. Otherwise the
	// task takes over the one of its keyed state.
	FixedMax bool
	// Inputs are those of the task, in order; only its first operator has them.
	Inputs []Input
}

// Rules are what whoever restores has allowed.
type Rules struct {
	// Source names the snapshot, for messages.
	Source string
	// AllowNonRestored lets state go that no operator of the program takes.
	AllowNonRestored bool
}

// An Assignment is what each operator restores.
type Assignment struct {
	// Operators has one entry for each Target, in their order.
	Operators []Assigned
	// Dropped are the operators of the snapshot whose state nobody takes; none
	// unless Rules allow it.
	Dropped []OperatorState
}

// Assigned is what one operator restores.
type Assigned struct {
	Target
	// Restored says that the snapshot knows the operator. Otherwise it begins
	// empty.
	Restored bool
	// Finished says that the operator had read all its input: it does not run
	// again.
	Finished bool
	// Subtasks has one entry for each subtask of the Target.
	Subtasks []SubtaskState
	// Coordinator is the state of its coordinator; zero: none.
	Coordinator Handle
}

// An IncompatibleError lists all reasons why a program cannot be restored from
// a snapshot.
type IncompatibleError struct {
	Source  string
	Reasons []Reason
}

// A Reason is one operator that does not fit.
type Reason struct {
	Operator ident.OperatorID
	Name     string // of the operator, as the snapshot has it
	// Gone says that the program has no such operator; allowing non-restored
	// state removes this reason.
	Gone bool
	Text string
}

func (e *IncompatibleError) Error() string {
	texts := make([]string, len(e.Reasons))
	for i, r := range e.Reasons {
		texts[i] = r.Text
	}
	return fmt.Sprintf("Failed to rollback to checkpoint/savepoint %s. %s", e.Source, strings.Join(texts, " "))
}
