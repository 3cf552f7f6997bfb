package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// matchValues makes the columns that expressions of a Match are over: a row for each match,
// or run.
type matchValues struct {
	node *plan.Match
	// used are the values that the expressions use; the columns of others are empty.
	used  []*matchValue
	batch *batch.Columns
}

// matchValue is one of them.
type matchValue struct {
	*plan.MatchValue
	column *batch.Column
	// whole says that it looks at all rows of a match.
	whole bool

	// of an aggregate: its states, by group, of which some were used before
	accumulator accumulator
	groups      int
	// args computes the arguments, over input; nil: they are columns.
	args    *evaluation
	input   *batch.Columns
	uses    []int
	columns []*batch.Column
	members []int32 // the groups of rows, and rows
	rows    []int32
}

// mostGroups is how many groups an accumulator is used for before it is cleared.
const mostGroups = 4096

func (e *environment) newMatchValues(n *plan.Match, schema []types.Type, over ...expr.Expr) *matchValues {
	m := &matchValues{node: n, batch: &batch.Columns{}}
	for i := range n.Values {
		m.batch.Cols = append(m.batch.Cols, batch.NewColumn(n.Values[i].Type))
	}
	for _, i := range columnsOf(over...) {
		v := &matchValue{MatchValue: &n.Values[i], column: m.batch.Cols[i]}
		v.whole = len(v.Elements) == len(n.Elements)
		if v.Call.Function != "" {
			e.prepareAggregate(v, schema)
		}
		m.used = append(m.used, v)
	}
	return m
}

// columnsOf are the columns that expressions use, in ascending order.
func columnsOf(es ...expr.Expr) []int {
	var used []int
	seen := map[int]bool{}
	most := -1
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) bool {
			if in, ok := e.(*expr.Input); ok {
				seen[in.Index], most = true, max(most, in.Index)
			}
			return true
		})
	}
	for i := range most + 1 {
		if seen[i] {
			used = append(used, i)
		}
	}
	return used
}

func (e *environment) prepareAggregate(v *matchValue, schema []types.Type) {
	var err error
	v.accumulator, err = newAccumulator(&v.Call)
	operator.Check(err)
	v.columns = make([]*batch.Column, len(v.Args))
	for _, a := range v.Args {
		if _, plain := a.(*expr.Input); !plain {
			v.args, v.input, v.uses = e.compile(v.Args...), newBatch(schema), columnsOf(v.Args...)
		}
	}
}

// fill makes the values of some matches, whose starts are places in rows.
func (m *matchValues) fill(rows *batch.Columns, matches []pattern.Rows) {
	m.batch.N = len(matches)
	for _, v := range m.used {
		v.column.Reset(0)
		switch {
		case v.accumulator != nil:
			v.aggregate(rows, matches)
		case v.Time:
			times := rows.Cols[m.node.Order[0].Column]
			for _, r := range matches {
				if row := v.row(r); row < 0 || times.IsNull(row) {
					v.column.AppendNull()
				} else {
					v.column.AppendMoment(times.I64[row], 0)
				}
			}
		default:
			from := rows.Cols[v.Column]
			for _, r := range matches {
				if row := v.row(r); row < 0 {
					v.column.AppendNull()
				} else {
					v.column.AppendFrom(from, row)
				}
			}
		}
	}
}

// row is the place of the row that a value is of; below 0: there is none.
func (v *matchValue) row(r pattern.Rows) int {
	if v.whole {
		n := r.Len()
		switch {
		case int64(v.Offset) >= n:
			return -1
		case v.First:
			return int(r.Start) + v.Offset
		}
		return int(r.Start+n) - 1 - v.Offset
	}
	left := int64(v.Offset)
	for i := range v.Elements {
		e := v.Elements[i]
		if !v.First {
			e = v.Elements[len(v.Elements)-1-i]
		}
		from, to := r.Span(e)
		if n := to - from; left >= n {
			left -= n
			continue
		}
		if v.First {
			return int(from + left)
		}
		return int(to - 1 - left)
	}
	return -1
}

// aggregate computes an aggregate over the rows of each match.
func (v *matchValue) aggregate(rows *batch.Columns, matches []pattern.Rows) {
	if v.groups+len(matches) > mostGroups {
		v.accumulator.clear()
		v.groups = 0
	}
	v.members, v.rows = v.members[:0], v.rows[:0]
	for i, r := range matches {
		for _, e := range v.Elements {
			from, to := r.Span(e)
			for row := from; row < to; row++ {
				v.members, v.rows = append(v.members, int32(v.groups+i)), append(v.rows, int32(row))
			}
		}
	}
	n := v.groups + len(matches)
	v.accumulator.grow(n)
	if len(v.rows) > 0 {
		v.accumulator.update(v.members, v.arguments(rows), v.which())
	}
	v.accumulator.results(v.column, v.groups, n)
	v.groups = n
	if v.accumulator.size() > mostBytes {
		v.groups = mostGroups
	}
}

// mostBytes is how many the states of an aggregate may take before they are cleared.
const mostBytes = 1 << 20

// arguments are the columns of an aggregate's arguments.
func (v *matchValue) arguments(rows *batch.Columns) []*batch.Column {
	if v.args == nil {
		for i, a := range v.Args {
			v.columns[i] = rows.Cols[a.(*expr.Input).Index]
		}
		return v.columns
	}
	for _, c := range v.uses {
		v.input.Cols[c].Reset(0)
		v.input.Cols[c].AppendRows(rows.Cols[c], v.rows)
	}
	v.input.N = len(v.rows)
	return v.args.eval(v.input)
}

// which are the rows of the arguments that count; nil: all.
func (v *matchValue) which() []int32 {
	if v.args == nil {
		return v.rows
	}
	return nil
}
