package exec

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// matchCondition is what rows of an element of a pattern must meet. If it looks at the row
// alone, it is computed for whole batches; otherwise for the runs that ask, of which the
// row is then taken to be the last one.
type matchCondition struct {
	element int
	// any says that every row meets it.
	any bool
	// alone, if not nil, looks at the row alone. held are its results by the place of rows
	// that are held, and fresh those of the last batch.
	alone       *evaluation
	fresh, held []truth
	one         *batch.Columns // a row by itself

	// values and program are for the others.
	values  *matchValues
	program *evaluation
	// tried are runs with the row, and counts theirs.
	tried  []pattern.Rows
	counts []int32
	which  []int32 // scratch
}

// truth is what a condition says of a row.
type truth uint8

const (
	isFalse truth = iota
	holds
	// fails says that it fails for rows of the batch, so that it is computed for this one
	// if it comes to that.
	fails
)

func (e *environment) newMatchCondition(n *plan.Match, element int, condition expr.Expr, schema []types.Type) matchCondition {
	c := matchCondition{element: element}
	if condition == nil {
		c.any = true
		return c
	}
	if of := ofRow(n, element, condition); of != nil {
		c.alone, c.one = e.compile(of), newBatch(schema)
		return c
	}
	c.values, c.program = e.newMatchValues(n, schema, condition), e.compile(condition)
	return c
}

// ofRow gives the condition of an element over the columns of the row, if it looks at
// nothing else; otherwise nil.
func ofRow(n *plan.Match, element int, condition expr.Expr) expr.Expr {
	alone := true
	of := expr.Rewrite(condition, func(e expr.Expr) expr.Expr {
		in, ok := e.(*expr.Input)
		if !ok {
			return e
		}
		v := &n.Values[in.Index]
		last := len(v.Elements) == 1 && v.Elements[0] == element || len(v.Elements) == len(n.Elements)
		if !last || v.Call.Function != "" || v.First || v.Offset > 0 || v.Time {
			alone = false
			return e
		}
		return &expr.Input{Index: v.Column, Name: in.Name, T: in.T, At: in.At}
	})
	if !alone {
		return nil
	}
	return of
}

// prepare computes the condition for a batch, if it looks at rows alone.
func (c *matchCondition) prepare(b *batch.Columns) {
	if c.alone == nil {
		return
	}
	c.fresh = resize(c.fresh, b.N)
	cols, err := c.alone.program.Eval(b)
	for i := range c.fresh {
		switch {
		case err != nil:
			c.fresh[i] = fails
		case isTrueAt(cols[0], i):
			c.fresh[i] = holds
		default:
			c.fresh[i] = isFalse
		}
	}
}

// isTrueAt reports whether a value is TRUE.
func isTrueAt(c *batch.Column, i int) bool {
	return c.Layout != batch.Nothing && !c.IsNull(i) && c.Bool[i]
}

// keep keeps the results of rows of the batch, which are held now.
func (c *matchCondition) keep(from, to int) {
	if c.alone != nil {
		c.held = append(c.held, c.fresh[from:to]...)
	}
}

// forget forgets the first rows that are held.
func (c *matchCondition) forget(n int) {
	if c.alone != nil {
		c.held = slices.Delete(c.held, 0, n)
	}
}

// plain tells whether the row in a place meets the condition, if that depends on no run.
func (c *matchCondition) plain(row int) (is, known bool) {
	if c.any || c.alone == nil {
		return c.any, c.any
	}
	return c.held[row] == holds, c.held[row] != fails
}

// test tells of which runs the row in a place may become the next one of the element. The
// runs count rows from first on.
func (c *matchCondition) test(rows *batch.Columns, row, first int, runs []pattern.Rows, is []bool) {
	if c.alone != nil {
		clearBatch(c.one)
		c.which = append(c.which[:0], int32(row))
		addRows(c.one, rows, c.which)
		met := isTrueAt(c.alone.eval(c.one)[0], 0)
		for i := range is {
			is[i] = met
		}
		return
	}
	c.tried, c.counts = c.tried[:0], slices.Grow(c.counts[:0], len(runs)*len(runs[0].Counts))
	for _, r := range runs {
		at := len(c.counts)
		c.counts = append(c.counts, r.Counts...)
		c.counts[at+c.element]++
		c.tried = append(c.tried, pattern.Rows{Start: r.Start + int64(first), Counts: c.counts[at:]})
	}
	c.values.fill(rows, c.tried)
	met := c.program.eval(c.values.batch)[0]
	for i := range is {
		is[i] = isTrueAt(met, i)
	}
}
