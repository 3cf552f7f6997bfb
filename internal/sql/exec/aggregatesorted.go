package exec

import (
	"bytes"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
)

// runs numbers the groups of rows of which equal keys come together.
type runs struct {
	begun bool
	last  int32    // number of the group that goes on
	words []uint64 // its key
	bytes []byte
}

// mostRuns is how many groups are held at most before those that are over are given out.
const mostRuns = batch.MaxRows

// pushSorted aggregates a batch whose groups come one after the other: once enough are
// over, all are given out. The batch is cut there.
func (g *groups) pushSorted(b *batch.Columns) {
	if len(g.node.Keys) == 0 {
		g.takeRun(b, resize(g.number, b.Len()))
		return
	}
	g.keys.of(b)
	g.number = resize(g.number, b.Len())
	from := 0
	fresh := []int32{} // not nil, which would be all
	flush := func(to int) {
		for i, k := range g.node.Keys {
			g.values[i].AppendRows(b.Cols[k], fresh)
		}
		fresh = fresh[:0]
		if g.sorted.begun {
			g.growTo(int(g.sorted.last) + 1)
		}
		g.takeRun(part(b, from, to), g.number[from:to])
		from = to
	}
	for r := range g.number {
		if !g.continues(r) {
			if g.sorted.begun && g.sorted.last+1 >= mostRuns {
				flush(r)
				g.giveRuns()
			}
			row := int32(r)
			if b.Sel != nil {
				row = b.Sel[r]
			}
			fresh = append(fresh, row)
			g.beginRun(r)
		}
		g.number[r] = g.sorted.last
	}
	flush(len(g.number))
}

// takeRun gives rows to the calls.
func (g *groups) takeRun(b *batch.Columns, numbers []int32) {
	if len(numbers) == 0 {
		return
	}
	if len(g.node.Keys) == 0 {
		clear(numbers)
	}
	if g.node.Phase == plan.Global {
		b = b.Compact()
		for _, c := range g.calls {
			c.merge(numbers, b.Cols[c.first:c.first+c.count])
		}
		return
	}
	for _, c := range g.calls {
		c.rows(numbers, b)
	}
}

// continues reports whether row r of the keys is of the group that was last.
func (g *groups) continues(r int) bool {
	switch {
	case !g.sorted.begun:
		return false
	case g.keys.packed:
		return slices.Equal(g.sorted.words, g.keys.wordsAt(r))
	}
	return bytes.Equal(g.sorted.bytes, g.keys.key(r))
}

func (g *groups) beginRun(r int) {
	if g.sorted.begun {
		g.sorted.last++
	}
	g.sorted.begun = true
	if g.keys.packed {
		g.sorted.words = append(g.sorted.words[:0], g.keys.wordsAt(r)...)
	} else {
		g.sorted.bytes = append(g.sorted.bytes[:0], g.keys.key(r)...)
	}
}

// giveRuns emits all groups there are, and begins anew.
func (g *groups) giveRuns() {
	n := int(g.sorted.last) + 1
	if !g.sorted.begun {
		n = 0
	}
	if len(g.node.Keys) == 0 {
		n = 1
	}
	g.giveTo(n)
	g.sorted = runs{}
}

func (g *groups) finishSorted() { g.giveRuns() }
