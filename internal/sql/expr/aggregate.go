package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// Aggregate says how an aggregate function is computed that is not built in.
type Aggregate struct {
	// State are the columns of a state, by which groups are exchanged and spilled.
	State []types.Type
	// Open makes the states of one call, for arguments and a result of these types. What it
	// makes is used by one goroutine.
	Open func(args []types.Type, result types.Type) (States, error)
}

// States are those of all groups of one call. Groups are numbers from 0, and rows of a
// batch are given as pairs: the group of each, and the row; rows nil: all, in order.
type States interface {
	// Grow makes room for n groups; new ones have seen no row.
	Grow(n int)
	// Update adds rows to their groups. An error may be a *RowError.
	Update(groups []int32, args []*batch.Column, rows []int32) error
	// Merge adds states to their groups, as AppendStates has written them.
	Merge(groups []int32, states []*batch.Column) error
	// AppendStates appends the states of groups from to before to.
	AppendStates(out []*batch.Column, from, to int) error
	// AppendResults appends their results.
	AppendResults(out *batch.Column, from, to int) error
	// Size is about how many bytes all states take.
	Size() int
	// Clear forgets all groups and gives the memory back.
	Clear()
}
