package exec

import (
	"bytes"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/operator"
)

// changing aggregates rows one after the other and tells of each how its group changes: the
// row of a new group is inserted, that of another is taken back and given anew, unless it
// stays what it is. Nothing is told of a group without rows.
type changing struct {
	*groups
	begun    bool // a row has come
	row      []int32
	old, now *batch.Columns // of one group
	was, is  []byte         // their bytes
	out      *batch.Columns
}

func newChanging(g *groups) stage {
	c := &changing{groups: g, row: make([]int32, 1), old: newBatch(g.node.Types()), now: newBatch(g.node.Types()), out: newBatch(g.node.Types())}
	return stage{push: c.push}
}

// push aggregates a batch of rows that were inserted.
func (c *changing) push(b *batch.Columns) {
	one := *b
	one.Sel = c.row
	for r := range b.Len() {
		if c.row[0] = int32(r); b.Sel != nil {
			c.row[0] = b.Sel[r]
		}
		c.add(&one)
		if c.out.N >= batch.MaxRows-1 {
			c.flush()
		}
	}
	c.flush()
	if size := c.size(); size > c.budget {
		operator.Abort(fmt.Errorf("the groups of an aggregation that runs as a stream take %d bytes, and it has %d of managed memory: fewer groups, or 'execution.runtime-mode' = 'batch'", size, c.budget))
	}
}

// add aggregates one row.
func (c *changing) add(row *batch.Columns) {
	before := c.table.len()
	c.place(row, c.keys, c.node.Keys)
	fresh := c.table.len() > before
	if len(c.node.Keys) == 0 {
		fresh = !c.begun
	}
	c.begun = true
	group := int(c.number[0])
	if !fresh {
		if len(c.calls) == 0 {
			return
		}
		c.was = c.result(c.old, group, c.was)
	}
	for _, call := range c.calls {
		call.rows(c.number, row)
	}
	c.is = c.result(c.now, group, c.is)
	switch {
	case fresh:
		c.tell(c.now, batch.Insert)
	case !bytes.Equal(c.was, c.is):
		c.tell(c.old, batch.UpdateBefore)
		c.tell(c.now, batch.UpdateAfter)
	}
}

// result makes the row of a group, and its bytes.
func (c *changing) result(to *batch.Columns, group int, text []byte) []byte {
	clearBatch(to)
	c.outKeys(to, group, group+1)
	for i, call := range c.calls {
		call.results(to.Cols[len(c.node.Keys)+i], group, group+1)
	}
	return columns.Append(text[:0], to)
}

func (c *changing) tell(row *batch.Columns, kind batch.RowKind) {
	addRows(c.out, row, nil)
	c.out.Kind = append(c.out.Kind, kind)
}

func (c *changing) flush() {
	c.emit(c.out)
	clearBatch(c.out)
}
