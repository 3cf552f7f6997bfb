package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// unnest makes the operator that gives each row once for each element of a collection.
func (e *environment) unnest(n *plan.Unnest) operator.Factory {
	if c, ok := n.Collection.(*expr.Call); ok && c.Fn.Generate != nil {
		return e.generate(n, c)
	}
	return transform(func(_ *operator.Context, emit emitter) stage {
		u := &unnesting{node: n, emit: emit, collection: e.compile(n.Collection), kind: n.Collection.Type().Kind}
		u.width = len(n.Inputs[0].Common().Schema)
		u.elements = newBatch(n.Types()[u.width:])
		return stage{push: u.push}
	})
}

type unnesting struct {
	node       *plan.Unnest
	emit       emitter
	collection *evaluation
	kind       types.Kind
	width      int            // of the input
	elements   *batch.Columns // of what is gathered
	rows       []int32        // of the input, beside them
}

func (u *unnesting) push(b *batch.Columns) {
	c := u.collection.eval(b)[0]
	for r := range b.Len() {
		row := at(b.Sel, r)
		from, to := 0, 0
		if !c.IsNull(row) {
			from, to = c.Span(row)
		}
		number := int32(0)
		for i := from; i < to; i++ {
			for range u.times(c, i) {
				number++
				u.add(b, int32(row), c, i, number)
			}
		}
		if number == 0 && u.node.Outer {
			u.add(b, int32(row), nil, 0, 0)
		}
	}
	u.flush(b)
}

// times is how often element i of c is given.
func (u *unnesting) times(c *batch.Column, i int) int {
	if u.kind == types.Multiset {
		return int(c.Children[1].I32[i])
	}
	return 1
}

// add gives a row with element i of c; nil: with none.
func (u *unnesting) add(b *batch.Columns, row int32, c *batch.Column, i int, number int32) {
	out := u.elements.Cols
	if u.node.Ordinality {
		if c == nil {
			out[len(out)-1].AppendNull()
		} else {
			batch.Append(out[len(out)-1], number)
		}
		out = out[:len(out)-1]
	}
	switch {
	case c == nil:
		for _, o := range out {
			o.AppendNull()
		}
	case u.kind == types.Map:
		out[0].AppendFrom(c.Children[0], i)
		out[1].AppendFrom(c.Children[1], i)
	case c.Children[0].Layout == batch.Structs:
		element := c.Children[0]
		for k, o := range out {
			if element.IsNull(i) {
				o.AppendNull()
			} else {
				o.AppendFrom(element.Children[k], i)
			}
		}
	default:
		out[0].AppendFrom(c.Children[0], i)
	}
	u.rows = append(u.rows, row)
	if len(u.rows) >= batch.MaxRows {
		u.flush(b)
	}
}

func (u *unnesting) flush(b *batch.Columns) {
	if len(u.rows) == 0 {
		return
	}
	out := &batch.Columns{N: len(u.rows)}
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Rows(u.rows))
	}
	out.Cols = append(out.Cols, u.elements.Cols...)
	u.emit(out)
	clearBatch(u.elements)
	u.rows = u.rows[:0]
}
