package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
)

// custom is an aggregate function that is not built in. Its errors are aborts.
type custom struct{ expr.States }

func (a custom) grow(n int) { a.Grow(n) }

func (a custom) update(groups []int32, args []*batch.Column, rows []int32) {
	operator.Check(a.Update(groups, args, rows))
}

func (a custom) merge(groups []int32, states []*batch.Column) {
	operator.Check(a.Merge(groups, states))
}

func (a custom) states(out []*batch.Column, from, to int) {
	operator.Check(a.AppendStates(out, from, to))
}

func (a custom) results(out *batch.Column, from, to int) {
	operator.Check(a.AppendResults(out, from, to))
}

func (a custom) size() int { return a.Size() }
func (a custom) clear()    { a.Clear() }
