package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// aggregate makes the operator of an Aggregate.
func (e *environment) aggregate(n *plan.Aggregate) (operator.Factory, error) {
	for i := range n.Calls {
		if _, err := newAccumulator(&n.Calls[i]); err != nil {
			return nil, err
		}
	}
	return managing{transform(func(c *operator.Context, emit emitter) stage {
		g := newGroups(c, n, emit)
		switch {
		case n.Phase == plan.Changing:
			return newChanging(g)
		case n.Sorted:
			return stage{g.pushSorted, g.finishSorted}
		case n.Phase == plan.Global:
			return stage{g.pushStates, g.finish}
		}
		return stage{g.pushRows, g.finish}
	})}, nil
}

// groups aggregates rows by their keys in a table. When that is as large as it may be, a
// Local one gives out what it has; the others put it on disk, by parts of the keys, and
// merge the parts one after the other at the end, cutting those again that are too large.
type groups struct {
	node   *plan.Aggregate
	emit   emitter
	budget int
	schema []types.Type // of the input, or the states, that keys are read from
	calls  []*aggregateCall

	keys   *keyer
	table  *table
	values []*batch.Column // the keys' values by group
	number []int32         // the group of each row of a batch
	sorted runs

	taken          int  // rows since the table was last emptied, of a Local one
	tried, passing bool // whether it has looked if it is of use, and found that it is not

	disk    *disk
	spilled *spilledGroups // nil: all is in memory
	depth   int
}

// aggregateCall is a call with its states.
type aggregateCall struct {
	*plan.AggregateCall
	accumulator
	// first is the column of its states, of a batch of states, and count how many.
	first, count int
	distinct     *distinct
	args         []*batch.Column // scratch
	filtered     []int32         // scratch: rows that count, and their groups
	members      []int32
}

func newGroups(c *operator.Context, n *plan.Aggregate, emit emitter) *groups {
	g := &groups{node: n, emit: emit, budget: budget(c), schema: n.Inputs[0].Common().Types(), disk: newDisk(c)}
	column := len(n.Keys)
	for i := range n.Calls {
		acc, err := newAccumulator(&n.Calls[i])
		operator.Check(err)
		states, err := stateOf(&n.Calls[i])
		operator.Check(err)
		call := &aggregateCall{AggregateCall: &n.Calls[i], accumulator: acc, first: column, count: len(states)}
		column += len(states)
		if call.Distinct {
			call.distinct = newDistinct(call.ArgTypes)
		}
		g.calls = append(g.calls, call)
	}
	g.keys = newKeyer(n.Keys, g.schema, grouping, nil)
	g.table = newTable(g.keys)
	for _, k := range n.Keys {
		g.values = append(g.values, batch.NewColumn(g.schema[k]))
	}
	if len(n.Keys) == 0 {
		g.growTo(1)
	}
	return g
}

// len is how many groups there are.
func (g *groups) len() int {
	if len(g.node.Keys) == 0 {
		return 1
	}
	return g.table.len()
}

func (g *groups) growTo(n int) {
	for _, c := range g.calls {
		c.grow(n)
	}
}

// place finds the group of each row of b that counts, by the keys.
func (g *groups) place(b *batch.Columns, keys *keyer, columns []int) {
	g.number = resize(g.number, b.Len())
	if len(columns) == 0 {
		clear(g.number)
		return
	}
	keys.of(b)
	g.table.near += g.table.touch(keys)
	var fresh []int32
	for r := range g.number {
		number, created := g.table.add(keys, r)
		if g.number[r] = number; created {
			row := int32(r)
			if b.Sel != nil {
				row = b.Sel[r]
			}
			fresh = append(fresh, row)
		}
	}
	if len(fresh) > 0 {
		for i, c := range columns {
			g.values[i].AppendRows(b.Cols[c], fresh)
		}
		g.growTo(g.table.len())
	}
}

// pushRows aggregates a batch of rows.
func (g *groups) pushRows(b *batch.Columns) {
	if g.taken += b.Len(); g.passing {
		g.pass(b)
		return
	}
	g.place(b, g.keys, g.node.Keys)
	for _, c := range g.calls {
		c.rows(g.number, b)
	}
	g.relieve()
}

// rows gives a call the rows of b that count for it.
func (c *aggregateCall) rows(groups []int32, b *batch.Columns) {
	rows := b.Sel
	if c.Filter >= 0 {
		rows = isTrue(c.filtered[:0], b, b.Cols[c.Filter])
		c.filtered = rows
		groups = c.ofRows(groups, b, rows)
	}
	c.args = c.args[:0]
	for _, a := range c.Args {
		c.args = append(c.args, b.Cols[a])
	}
	if c.distinct != nil {
		groups, rows = c.distinct.fresh(groups, c.args, rows)
	}
	if a, is := c.accumulator.(custom); is {
		if err := a.Update(groups, c.args, rows); err != nil {
			abortAt(b, err)
		}
		return
	}
	c.update(groups, c.args, rows)
}

// ofRows gives the groups of some of the rows of b that count; both are ascending.
func (c *aggregateCall) ofRows(groups []int32, b *batch.Columns, rows []int32) []int32 {
	c.members = c.members[:0]
	if b.Sel == nil {
		for _, i := range rows {
			c.members = append(c.members, groups[i])
		}
		return c.members
	}
	r := 0
	for _, i := range rows {
		for b.Sel[r] != i {
			r++
		}
		c.members = append(c.members, groups[r])
	}
	return c.members
}

// pushStates merges a batch of what a Local aggregate gave.
func (g *groups) pushStates(b *batch.Columns) {
	if b.Sel != nil {
		b = b.Compact()
	}
	g.place(b, g.keys, g.node.Keys)
	for _, c := range g.calls {
		c.merge(g.number, b.Cols[c.first:c.first+c.count])
	}
	g.relieve()
}

// size is about how many bytes all groups take.
func (g *groups) size() int {
	n := g.table.size()
	for _, c := range g.values {
		n += columnBytes(c)
	}
	for _, c := range g.calls {
		if n += c.accumulator.size(); c.distinct != nil {
			n += c.distinct.size()
		}
	}
	return n
}

// relieve empties the table if it is as large as it may be. It doubles when it grows, so
// half of the memory is the most that is safe.
func (g *groups) relieve() {
	if g.node.Phase == plan.Local && !g.tried && g.taken >= trial {
		if g.tried = true; g.scattered() {
			g.passing = true
			g.give()
			return
		}
	}
	if g.size() <= g.budget/2 || g.len() <= 1 && !g.hasDistinct() {
		return
	}
	switch {
	case g.node.Phase == plan.Local:
		g.passing = g.scattered()
		g.give()
	case g.depth < maxDepth && len(g.node.Keys) > 0:
		g.spill()
	}
}

// trial is how many rows a Local aggregate takes before it looks whether it is of use.
const trial = 64 << 10

// scattered reports whether most rows have a group of their own, so that it costs less to
// pass them on as they are. A Local aggregate tells rows from then on to others one by one.
func (g *groups) scattered() bool { return len(g.node.Keys) > 0 && g.len() > g.taken/2 }

// pass gives the state of each row by itself.
func (g *groups) pass(b *batch.Columns) {
	n := b.Len()
	if n == 0 {
		return
	}
	g.number = resize(g.number, n)
	for r := range g.number {
		g.number[r] = int32(r)
	}
	for i, k := range g.node.Keys {
		g.values[i].AppendRows(b.Cols[k], b.Sel)
	}
	g.growTo(n)
	for _, c := range g.calls {
		c.rows(g.number, b)
	}
	g.giveTo(n)
}

func (g *groups) hasDistinct() bool {
	for _, c := range g.calls {
		if c.distinct != nil {
			return true
		}
	}
	return false
}

// clear forgets all groups.
func (g *groups) clear() {
	g.taken = 0
	if g.table.len() > 0 {
		g.table.reset()
	}
	for i, c := range g.values {
		g.values[i] = c.Empty()
	}
	for _, c := range g.calls {
		c.accumulator.clear()
		if c.distinct != nil {
			c.distinct.clear()
		}
	}
	if len(g.node.Keys) == 0 {
		g.growTo(1)
	}
}

// give emits all groups, and forgets them.
func (g *groups) give() { g.giveTo(g.len()) }

// giveTo emits the first n groups, which are all, and forgets them.
func (g *groups) giveTo(n int) {
	for from := 0; from < n; from += batch.MaxRows {
		to := min(n, from+batch.MaxRows)
		out := newBatch(g.node.Types())
		g.outKeys(out, from, to)
		at := len(g.node.Keys)
		for _, c := range g.calls {
			if g.node.Phase == plan.Local {
				c.states(out.Cols[at:at+c.count], from, to)
				at += c.count
			} else {
				c.results(out.Cols[at], from, to)
				at++
			}
		}
		g.emit(out)
	}
	g.clear()
}

// outKeys appends the keys of groups from to before to.
func (g *groups) outKeys(out *batch.Columns, from, to int) {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	for i, c := range g.values {
		out.Cols[i].AppendRows(c, rows)
	}
	out.N = to - from
}

// finish emits all groups.
func (g *groups) finish() {
	if g.spilled == nil {
		g.give()
		return
	}
	g.spill()
	g.mergeSpilled()
}
