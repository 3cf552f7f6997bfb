package exec

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// The aggregates that keep one value of each group: MIN, MAX, FIRST_VALUE, LAST_VALUE,
// none of which minds NULL, and SINGLE_VALUE, of groups that have one row.

func init() {
	value := func(c *plan.AggregateCall) []types.Type { return []types.Type{c.ArgTypes[0].OrNull()} }
	define(value, newPick, "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE")
	define(func(c *plan.AggregateCall) []types.Type {
		return []types.Type{c.ArgTypes[0].OrNull(), types.Of(types.BigInt).NotNull()}
	}, newPick, "SINGLE_VALUE")
}

// pick keeps the values in one column, of which each group refers to its own. What no
// group refers to any more is dropped now and then.
//
// Invariant: refs are one more than the value's place; 0: there is none.
type pick struct {
	function string
	vals     *batch.Column
	refs     []int32
	n        []int64 // rows, of SINGLE_VALUE
}

func newPick(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 {
		return nil, fmt.Errorf("%d arguments, want 1", len(c.ArgTypes))
	}
	return &pick{function: c.Function, vals: batch.NewColumn(c.ArgTypes[0])}, nil
}

func (a *pick) grow(n int) {
	a.refs = grown(a.refs, n)
	if a.function == "SINGLE_VALUE" {
		a.n = grown(a.n, n)
	}
}

var errSingle = errors.New("a scalar sub-query gave more than one row")

func (a *pick) update(groups []int32, args []*batch.Column, rows []int32) {
	if a.function == "SINGLE_VALUE" {
		for _, g := range groups {
			if a.n[g]++; a.n[g] > 1 {
				operator.Abort(errSingle)
			}
		}
	}
	a.take(groups, args[0], rows)
}

// take offers values to groups.
func (a *pick) take(groups []int32, c *batch.Column, rows []int32) {
	for r, g := range groups {
		i := at(rows, r)
		if c.IsNull(i) || a.refs[g] != 0 && !a.prefers(c, i, int(a.refs[g]-1)) {
			continue
		}
		a.vals.AppendFrom(c, i)
		a.refs[g] = int32(a.vals.Len)
	}
	if a.vals.Len > 2*len(a.refs)+4096 {
		a.compact()
	}
}

// prefers reports whether a new value takes the place of the one that is kept.
func (a *pick) prefers(c *batch.Column, i, kept int) bool {
	switch a.function {
	case "MIN":
		return compareValues(c, i, a.vals, kept) < 0
	case "MAX":
		return compareValues(c, i, a.vals, kept) > 0
	}
	return a.function == "LAST_VALUE"
}

func (a *pick) compact() {
	rows := []int32{} // not nil, which would be all
	for g, ref := range a.refs {
		if ref != 0 {
			rows = append(rows, ref-1)
			a.refs[g] = int32(len(rows))
		}
	}
	a.vals = a.vals.Rows(rows)
}

func (a *pick) merge(groups []int32, states []*batch.Column) {
	if a.function == "SINGLE_VALUE" {
		for r, g := range groups {
			if a.n[g] += states[1].I64[r]; a.n[g] > 1 {
				operator.Abort(errSingle)
			}
		}
	}
	a.take(groups, states[0], nil)
}

func (a *pick) states(out []*batch.Column, from, to int) {
	a.results(out[0], from, to)
	if a.function == "SINGLE_VALUE" {
		for _, n := range a.n[from:to] {
			batch.Append(out[1], n)
		}
	}
}

func (a *pick) results(out *batch.Column, from, to int) {
	for _, ref := range a.refs[from:to] {
		if ref == 0 {
			out.AppendNull()
		} else {
			out.AppendFrom(a.vals, int(ref-1))
		}
	}
}

func (a *pick) size() int { return 4*cap(a.refs) + 8*cap(a.n) + columnBytes(a.vals) }

func (a *pick) clear() {
	a.refs, a.n = nil, nil
	a.vals = a.vals.Empty()
}
