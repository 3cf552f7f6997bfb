package exec

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// accumulator is one aggregate call's states of all groups of an operator. Groups are
// numbers from 0, and rows of a batch are given as pairs: the group of each, and the row;
// rows nil: all, in order.
type accumulator interface {
	// grow makes room for n groups; new ones have seen no row.
	grow(n int)
	// update adds rows to their groups.
	update(groups []int32, args []*batch.Column, rows []int32)
	// merge adds states to their groups, as states has written them.
	merge(groups []int32, states []*batch.Column)
	// states appends the states of groups from to before to.
	states(out []*batch.Column, from, to int)
	// results appends their results.
	results(out *batch.Column, from, to int)
	// size is about how many bytes all states take.
	size() int
	// clear forgets all groups and gives the memory back.
	clear()
}

// aggregates are the functions there are, by name.
var aggregates = map[string]struct {
	// state gives the columns of a state.
	state func(c *plan.AggregateCall) []types.Type
	make  func(c *plan.AggregateCall) (accumulator, error)
}{}

func define(state func(c *plan.AggregateCall) []types.Type, open func(c *plan.AggregateCall) (accumulator, error), names ...string) {
	for _, n := range names {
		entry := aggregates[n]
		entry.state, entry.make = state, open
		aggregates[n] = entry
	}
}

// StateSchema is what an Aggregate of phase Local gives: its keys, then the states of
// its calls.
func StateSchema(keys []types.Field, calls []plan.AggregateCall) ([]types.Field, error) {
	all := slices.Clone(keys)
	for i := range calls {
		states, err := stateOf(&calls[i])
		if err != nil {
			return nil, err
		}
		for k, t := range states {
			all = append(all, types.Field{Name: fmt.Sprintf("state$%d_%d", i, k), Type: t})
		}
	}
	return all, nil
}

// stateOf gives the columns of a call's state.
func stateOf(c *plan.AggregateCall) ([]types.Type, error) {
	if c.Custom != nil {
		return c.Custom.State, nil
	}
	a, known := aggregates[c.Function]
	if !known {
		return nil, unknownAggregate(c.Function)
	}
	return a.state(c), nil
}

func unknownAggregate(name string) error {
	return fmt.Errorf("there is no aggregate function %s", name)
}

// newAccumulator makes the accumulator of a call.
func newAccumulator(c *plan.AggregateCall) (accumulator, error) {
	if c.Custom != nil {
		states, err := c.Custom.Open(c.ArgTypes, c.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Function, err)
		}
		return custom{states}, nil
	}
	a, known := aggregates[c.Function]
	if !known {
		return nil, unknownAggregate(c.Function)
	}
	acc, err := a.make(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Function, err)
	}
	return acc, nil
}

// at is the row of the r-th pair.
func at(rows []int32, r int) int {
	if rows == nil {
		return r
	}
	return int(rows[r])
}

// counter is COUNT: of all rows, or of those whose arguments are all not NULL.
type counter struct{ n []int64 }

func init() {
	define(func(*plan.AggregateCall) []types.Type { return []types.Type{types.Of(types.BigInt).NotNull()} },
		func(*plan.AggregateCall) (accumulator, error) { return &counter{}, nil }, "COUNT")
}

func (a *counter) grow(n int) { a.n = grown(a.n, n) }

// grown is s with n values, the new ones zero.
func grown[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n > cap(s) {
		larger := make([]T, n, max(n, 2*cap(s), 16))
		copy(larger, s)
		return larger
	}
	old := len(s)
	s = s[:n]
	clear(s[old:])
	return s
}

func (a *counter) update(groups []int32, args []*batch.Column, rows []int32) {
	plain := true
	for _, c := range args {
		plain = plain && c.Valid == nil && c.Layout != batch.Nothing
	}
	if plain {
		for _, g := range groups {
			a.n[g]++
		}
		return
	}
next:
	for r, g := range groups {
		for _, c := range args {
			if c.IsNull(at(rows, r)) {
				continue next
			}
		}
		a.n[g]++
	}
}

func (a *counter) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		a.n[g] += states[0].I64[r]
	}
}

func (a *counter) states(out []*batch.Column, from, to int) { a.results(out[0], from, to) }

func (a *counter) results(out *batch.Column, from, to int) {
	for _, n := range a.n[from:to] {
		batch.Append(out, n)
	}
}

func (a *counter) size() int { return 8 * cap(a.n) }
func (a *counter) clear()    { a.n = nil }
