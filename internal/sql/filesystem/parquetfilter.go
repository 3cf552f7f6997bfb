package filesystem

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/types"
)

// What is known of a column in a row group, by the places of the columns that a
// groupFilter computes with: column i of the scan has four from 4i on.
const (
	leastValue = iota
	greatestValue
	hasNulls  // BOOLEAN, NULL where it is not known
	hasValues // likewise
	knownOfColumn
)

// groupFilter tells of row groups whether a row of them can pass the filter of the scan.
type groupFilter struct {
	program *expr.Program
	used    []int // columns of the scan
	columns []*batch.Column
}

// groupFilter makes the scan's; nil: nothing of its filter can be held against what row
// groups say.
func (s *source) groupFilter() (*groupFilter, error) {
	b := filterBuilder{source: s}
	var all []expr.Expr
	for _, e := range conditions(s.scan.Filter) {
		if possible := b.possible(e); possible != nil {
			all = append(all, possible)
		}
	}
	if b.err != nil || len(all) == 0 {
		return nil, b.err
	}
	program, err := expr.Compile(s.session, all...)
	if err != nil {
		return nil, err
	}
	return &groupFilter{program: program, used: b.used, columns: make([]*batch.Column, knownOfColumn*len(s.scan.Fields))}, nil
}

// filterBuilder makes of a condition on rows one on what is known of many: it is FALSE only
// if the first is not TRUE for any of them.
type filterBuilder struct {
	*source
	used []int
	err  error
}

// possible gives the condition; nil: nothing can be said.
func (b *filterBuilder) possible(e expr.Expr) expr.Expr {
	call, ok := e.(*expr.Call)
	if !ok {
		return nil
	}
	switch call.Fn.Name {
	case "OR":
		return b.alternatives(call.Args)
	case "AND":
		var all expr.Expr
		for _, a := range call.Args {
			if p := b.possible(a); p != nil {
				all = b.and(all, p)
			}
		}
		return all
	case "IN":
		var equal []expr.Expr
		for _, value := range call.Args[1:] {
			equal = append(equal, b.call("=", call.Args[0], value))
		}
		if b.err != nil {
			return nil
		}
		return b.alternatives(equal)
	case "IS NULL":
		if in, ok := b.column(call.Args[0]).(*expr.Input); ok {
			return b.known(in, hasNulls)
		}
	case "IS NOT NULL":
		if in, ok := b.column(call.Args[0]).(*expr.Input); ok {
			return b.known(in, hasValues)
		}
	case "=", "<", "<=", ">", ">=":
		if len(call.Args) == 2 {
			return b.comparison(call)
		}
	}
	return nil
}

// alternatives is possible if one of them is.
func (b *filterBuilder) alternatives(all []expr.Expr) expr.Expr {
	var any expr.Expr
	for _, a := range all {
		p := b.possible(a)
		switch {
		case p == nil:
			return nil
		case any == nil:
			any = p
		default:
			any = b.call("OR", any, p)
		}
	}
	return any
}

var turned = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparison is one of a column with a constant.
func (b *filterBuilder) comparison(call *expr.Call) expr.Expr {
	operator, left, right := call.Fn.Name, call.Args[0], call.Args[1]
	if constant(left) {
		operator, left, right = turned[operator], right, left
	}
	if !constant(right) || b.column(left) == nil {
		return nil
	}
	in := b.column(left).(*expr.Input)
	values := b.known(in, hasValues)
	switch operator {
	case "<", "<=":
		return b.and(values, b.call(operator, b.at(left, leastValue), right))
	case ">", ">=":
		return b.and(values, b.call(operator, b.at(left, greatestValue), right))
	}
	return b.and(values, b.and(b.call("<=", b.at(left, leastValue), right), b.call(">=", b.at(left, greatestValue), right)))
}

// constant reports whether an expression is of no column.
func constant(e expr.Expr) bool {
	is := true
	expr.Walk(e, func(e expr.Expr) bool {
		_, column := e.(*expr.Input)
		is = is && !column
		return is
	})
	return is
}

// column is the column that an expression is, or that it makes a wider number of, which
// keeps the order; nil: it is another expression.
func (b *filterBuilder) column(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Input:
		switch t := e.T.Kind; {
		case b.partitions.of[b.scan.Fields[e.Index]]:
		case t.IsNumeric(), t.IsDatetime(), t == types.VarChar, t == types.Boolean:
			return e
		}
	case *expr.Call:
		if e.Fn.Name == "CAST" && len(e.Args) == 1 && e.T.Kind.IsNumeric() && e.Args[0].Type().Kind.IsExact() && widens(e.Args[0].Type().Kind, e.T.Kind) {
			return b.column(e.Args[0])
		}
	}
	return nil
}

// widens reports whether every number of a kind has its like in another.
func widens(from, to types.Kind) bool { return to == types.Decimal || to >= from && to != types.Float }

// at is the expression with what is known in the place of the column.
func (b *filterBuilder) at(e expr.Expr, what int) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok {
			known := *in
			known.Index, known.T = knownOfColumn*in.Index+what, in.T.OrNull()
			return &known
		}
		return e
	})
}

// known is what is known of a column's values being there.
func (b *filterBuilder) known(in *expr.Input, what int) expr.Expr {
	if !slices.Contains(b.used, in.Index) {
		b.used = append(b.used, in.Index)
	}
	return &expr.Input{Index: knownOfColumn*in.Index + what, Name: in.Name, T: types.Of(types.Boolean)}
}

func (b *filterBuilder) and(x, y expr.Expr) expr.Expr {
	if x == nil {
		return y
	}
	return b.call("AND", x, y)
}

func (b *filterBuilder) call(name string, args ...expr.Expr) expr.Expr {
	if b.err != nil || slices.Contains(args, nil) {
		return nil
	}
	e, err := b.registry.Call(b.session, name, ast.Span{}, args...)
	if err != nil {
		b.err = err
		return nil
	}
	return e
}

// wanted reports whether a row of a row group can pass. Places are those of the scan's
// columns in the reader.
func (f *groupFilter) wanted(r *parquet.Reader, group int, places []int) bool {
	for _, i := range f.used {
		b := r.Bounds(group, places[i])
		all := f.columns[knownOfColumn*i:]
		all[leastValue], all[greatestValue] = b.Least, b.Greatest
		all[hasNulls], all[hasValues] = known(b.Nulls, b.NoNulls), known(false, b.NoValues)
	}
	passed, err := f.program.Eval(&batch.Columns{N: 1, Cols: f.columns})
	if err != nil {
		return true // the filter itself fails, in the rows that it is asked for
	}
	for _, c := range passed {
		if !c.IsNull(0) && !c.Bool[0] {
			return false
		}
	}
	return true
}

// known is one BOOLEAN.
func known(yes, no bool) *batch.Column {
	c := batch.NewColumn(types.Of(types.Boolean))
	if yes || no {
		batch.Append(c, yes)
	} else {
		c.AppendNull()
	}
	return c
}
