package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
)

// spilledGroups are the files of groups at one depth: the keys with the states of the
// calls that are not DISTINCT, and for each of the others the keys with arguments.
type spilledGroups struct {
	states *file
	pairs  []*file // by call; nil: it is not DISTINCT
}

// stateShape are the columns of the file of states.
func (g *groups) stateShape() []*batch.Column {
	var all []*batch.Column
	for _, c := range g.values {
		all = append(all, c.Empty())
	}
	for _, c := range g.calls {
		if c.distinct == nil {
			states, err := stateOf(c.AggregateCall)
			operator.Check(err)
			all = append(all, shape(states)...)
		}
	}
	return all
}

func (g *groups) pairShape(c *aggregateCall) []*batch.Column {
	var all []*batch.Column
	for _, v := range append(append([]*batch.Column(nil), g.values...), c.distinct.values...) {
		all = append(all, v.Empty())
	}
	return all
}

func (g *groups) createFiles() *spilledGroups {
	s := &spilledGroups{states: g.disk.create(parts, g.stateShape()), pairs: make([]*file, len(g.calls))}
	for i, c := range g.calls {
		if c.distinct != nil {
			s.pairs[i] = g.disk.create(parts, g.pairShape(c))
		}
	}
	return s
}

// spill moves all groups to the files of the depth.
func (g *groups) spill() {
	if g.spilled == nil {
		g.spilled = g.createFiles()
	}
	var picked [parts][]int32
	for from := 0; from < g.len(); from += batch.MaxRows {
		to := min(g.len(), from+batch.MaxRows)
		out := &batch.Columns{Cols: g.stateShape()}
		g.outKeys(out, from, to)
		at := len(g.values)
		for _, c := range g.calls {
			if c.distinct == nil {
				c.states(out.Cols[at:at+c.count], from, to)
				at += c.count
			}
		}
		g.spilled.states.split(out, g.table.hashes[from:to], g.depth, &picked)
	}
	for i, c := range g.calls {
		if c.distinct != nil {
			g.spillPairs(g.spilled.pairs[i], c.distinct)
		}
	}
	g.clear()
}

// spillPairs writes the arguments that groups have had, each beside the group's keys.
func (g *groups) spillPairs(f *file, d *distinct) {
	var picked [parts][]int32
	for from := 0; from < len(d.groups); from += batch.MaxRows {
		of := d.groups[from:min(len(d.groups), from+batch.MaxRows)]
		out := &batch.Columns{N: len(of)}
		hashes := make([]uint64, len(of))
		rows := make([]int32, len(of))
		for r, group := range of {
			hashes[r], rows[r] = g.table.hashes[group], int32(from+r)
		}
		for _, v := range g.values {
			out.Cols = append(out.Cols, v.Rows(of))
		}
		for _, v := range d.values {
			out.Cols = append(out.Cols, v.Rows(rows))
		}
		f.split(out, hashes, g.depth, &picked)
	}
}

// mergeSpilled emits the groups of the files of the depth, part by part. The table is
// empty.
func (g *groups) mergeSpilled() {
	from := g.spilled
	g.spilled = nil
	from.states.finish()
	for _, f := range from.pairs {
		if f != nil {
			f.finish()
		}
	}
	first := make([]int, len(g.values))
	for i := range first {
		first[i] = i
	}
	keys := *g.keys
	keys.columns = first
	for part := range parts {
		g.depth++
		from.states.each(part, func(b *batch.Columns) { g.mergeStates(b, &keys) })
		for i, f := range from.pairs {
			if f != nil {
				f.each(part, func(b *batch.Columns) { g.mergePairs(g.calls[i], b, &keys) })
			}
		}
		if g.spilled != nil {
			g.spill()
			g.mergeSpilled()
		} else {
			g.give()
		}
		g.depth--
	}
	from.states.discard()
	for _, f := range from.pairs {
		if f != nil {
			f.discard()
		}
	}
}

func (g *groups) mergeStates(b *batch.Columns, keys *keyer) {
	g.place(b, keys, keys.columns)
	at := len(g.values)
	for _, c := range g.calls {
		if c.distinct == nil {
			c.merge(g.number, b.Cols[at:at+c.count])
			at += c.count
		}
	}
	g.relieve()
}

func (g *groups) mergePairs(c *aggregateCall, b *batch.Columns, keys *keyer) {
	g.place(b, keys, keys.columns)
	args := b.Cols[len(g.values):]
	groups, rows := c.distinct.fresh(g.number, args, nil)
	c.update(groups, args, rows)
	g.relieve()
}
