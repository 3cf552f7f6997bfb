package exec

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// generate makes the operator that gives each row once for each row that a table function
// gives for it. No more than a batch of those is held.
func (e *environment) generate(n *plan.Unnest, c *expr.Call) operator.Factory {
	return transform(func(_ *operator.Context, emit emitter) stage {
		give, err := c.Fn.Generate(expr.Bind(e.session, c))
		operator.Check(err)
		args := e.compile(c.Args...)
		u := &unnesting{node: n, emit: emit, width: len(n.Inputs[0].Common().Schema)}
		u.elements = newBatch(n.Types()[u.width:])
		return stage{push: func(b *batch.Columns) {
			rows := give(args.eval(b))
			for r := range b.Len() {
				row, any := at(b.Sel, r), false
				added := func() {
					any = true
					if u.rows = append(u.rows, int32(row)); len(u.rows) >= batch.MaxRows {
						u.flush(b)
					}
				}
				if err := rows(u.elements.Cols, row, added); err != nil {
					if failed, ok := errors.AsType[*expr.RowError](err); ok && failed.At == (ast.Span{}) {
						failed.At = c.At
					}
					abortAt(b, args.located(err))
				}
				if !any && n.Outer {
					u.add(b, int32(row), nil, 0, 0)
				}
			}
			u.flush(b)
		}}
	})
}
