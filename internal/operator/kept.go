package operator

import (
	"fmt"

	"github.com/weirstream/weir/internal/state"
)

// Kept is what an operator's instance wants to have again when its task has failed:
// a part of each checkpoint. All functions run on the task's goroutine.
type Kept struct {
	// Keyed is the keyed state, with all views open; nil: none.
	Keyed *state.Backend
	// Lists are the operator's lists, each by a name of its own.
	Lists []KeptList
	// Refuse, if not nil, is why the operator cannot be part of a checkpoint: the
	// first one fails the job with it.
	Refuse error
	// Prepare, if not nil, runs before the barrier of a checkpoint leaves the task:
	// what the operator has gathered and not yet added to its state is added, and
	// what it emits belongs to the checkpoint.
	Prepare func(checkpoint int64)
	// Complete, if not nil, runs when a checkpoint is complete: everything will be
	// restored from this one or a later one. It may be left out; then a later one
	// says the same.
	Complete func(checkpoint int64)
}

// KeptList is a list of elements that can be given to other subtasks.
type KeptList struct {
	Name string
	Mode ListMode
	// Schema says what elements are.
	Schema string
	// From, if not nil, is told the schema of the elements that Load will be given,
	// and refuses one that they cannot be read from. Without it that is Schema.
	From func(schema string) error
	// Save gives the elements, encoded. They are not changed afterwards.
	Save func() [][]byte
	// Load is given the elements to begin with, if a checkpoint has any.
	Load func(elements [][]byte) error
}

// Fits says why elements of another schema cannot be loaded; nil: they can.
func (l *KeptList) Fits(schema string) error {
	switch {
	case l.From != nil:
		return l.From(schema)
	case schema != l.Schema:
		return fmt.Errorf("its elements were %s and are now %s: they cannot change", schema, l.Schema)
	}
	return nil
}

// ListMode says which subtasks get which elements.
type ListMode uint8

// The modes, whose numbers are those of snapshots.
const (
	// Split gives each element to one subtask.
	Split ListMode = iota
	// Union gives all elements of all subtasks to each.
	Union
	// Same is of lists that are the same in each subtask, and gives each one of them.
	Same
	// Gathered is Union for lists of which nobody needs what a subtask held that has
	// finished.
	Gathered
)
