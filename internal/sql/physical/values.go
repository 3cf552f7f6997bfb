package physical

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
)

// call makes a call of a function or operator.
func (p *planner) call(name string, args ...expr.Expr) (expr.Expr, error) {
	return p.Registry.Call(p.Session, name, ast.Span{}, args...)
}

// nothing is a row that expressions of no column are computed over.
var nothing = &batch.Columns{N: 1}

// changing reports whether a row is another each time that it is computed, as with the
// time of day or at random.
func changing(rows [][]expr.Expr) (is bool) {
	for _, r := range rows {
		for _, e := range r {
			expr.Walk(e, func(e expr.Expr) bool {
				call, ok := e.(*expr.Call)
				is = is || ok && call.Fn.Volatility != expr.Stable
				return !is
			})
		}
	}
	return is
}

// values computes the rows of constants: here, or where the job runs if they are to be of
// that time.
func (p *planner) values(n *logical.Values) (planned, error) {
	if changing(n.Rows) {
		one, err := p.values(logical.Nothing())
		if err != nil {
			return one, err
		}
		return planned{node: &plan.Expand{Base: over(n.Row, one), Projects: n.Rows}, one: true}, nil
	}
	v := &plan.Values{Base: plan.Base{Schema: n.Row}}
	for first := 0; first < len(n.Rows); first += batch.MaxRows {
		rows := n.Rows[first:min(first+batch.MaxRows, len(n.Rows))]
		block := &batch.Columns{N: len(rows)}
		for c, f := range n.Row {
			column := batch.NewColumn(f.Type)
			for _, r := range rows {
				value, err := p.constant(r[c])
				if err != nil {
					return planned{}, err
				}
				column.AppendFrom(value, 0)
			}
			block.Cols = append(block.Cols, column)
		}
		v.Rows = append(v.Rows, block)
	}
	return planned{node: v, one: true}, nil
}

func (p *planner) constant(e expr.Expr) (*batch.Column, error) {
	if l, ok := e.(*expr.Literal); ok {
		return l.Value, nil
	}
	program, err := expr.Compile(p.Session, e)
	if err != nil {
		return nil, fmt.Errorf("compute a row of VALUES: %w", err)
	}
	columns, err := program.Eval(nothing)
	if err != nil {
		return nil, fmt.Errorf("compute a row of VALUES: %w", err)
	}
	return columns[0], nil
}
