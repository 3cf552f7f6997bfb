package bind

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// subquery binds an expression that is or holds a query: around is the scope that it
// stands in. ok is false if it is none.
func (b *binder) subquery(e ast.Expr, around expr.Scope, ctes *commonTables) (value expr.Expr, ok bool, err error) {
	switch e := e.(type) {
	case *ast.Subquery:
		value, err = b.scalar(e, around, ctes)
	case *ast.Exists:
		var plan logical.Node
		b.typedAround(e.Query)
		plan, err = b.query(e.Query, around, ctes)
		value = &logical.Subquery{Kind: logical.Exists, Plan: plan, T: types.Of(types.Boolean).NotNull(), At: e.Span}
	case *ast.In:
		if e.Query == nil {
			return nil, false, nil
		}
		value, err = b.some(e.Operand, "=", e.Query, e.Span, around, ctes)
		if err == nil && e.Not {
			value, err = b.call("NOT", e.Span, value)
		}
	case *ast.Quantified:
		if e.Query == nil {
			return nil, false, nil
		}
		value, err = b.quantified(e, around, ctes)
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return value, true, nil
}

func (b *binder) scalar(e *ast.Subquery, around expr.Scope, ctes *commonTables) (expr.Expr, error) {
	plan, err := b.query(e.Query, around, ctes)
	if err != nil {
		return nil, err
	}
	fields := plan.Fields()
	if len(fields) != 1 {
		return nil, expr.Refuse(e.Query.Span, "a sub-query that is used as a value must have one column, this one has %d", len(fields))
	}
	return &logical.Subquery{Kind: logical.Scalar, Plan: plan, T: fields[0].Type.OrNull(), At: e.Span}, nil
}

// opposites are comparisons that hold where the other does not.
var opposites = map[ast.BinaryOp]ast.BinaryOp{
	ast.Equals: ast.NotEquals, ast.NotEquals: ast.Equals, ast.Less: ast.GreaterOrEqual, ast.GreaterOrEqual: ast.Less,
	ast.Greater: ast.LessOrEqual, ast.LessOrEqual: ast.Greater,
}

// quantified binds x op SOME (query); x op ALL (query) is NOT (x opposite SOME (query)).
func (b *binder) quantified(e *ast.Quantified, around expr.Scope, ctes *commonTables) (expr.Expr, error) {
	if !e.All {
		return b.some(e.Operand, string(e.Op), e.Query, e.Span, around, ctes)
	}
	some, err := b.some(e.Operand, string(opposites[e.Op]), e.Query, e.Span, around, ctes)
	if err != nil {
		return nil, err
	}
	return b.call("NOT", e.Span, some)
}

// some binds the question whether a comparison is true of a row of a query. The operand
// may be a row, which is compared column by column.
func (b *binder) some(operand ast.Expr, op string, q *ast.Query, at ast.Span, around expr.Scope, ctes *commonTables) (expr.Expr, error) {
	parts := []ast.Expr{operand}
	if row, ok := operand.(*ast.Row); ok {
		parts = row.Elements
	}
	var operands []expr.Expr
	for _, p := range parts {
		o, err := b.expression(p, around)
		if err != nil {
			return nil, err
		}
		operands = append(operands, o)
	}
	b.typedAround(q)
	plan, err := b.query(q, around, ctes)
	if err != nil {
		return nil, err
	}
	fields := plan.Fields()
	if len(fields) != len(operands) {
		return nil, expr.Refuse(at, "Values passed to IN operator must have compatible types: %d on the left, and the sub-query has %d columns", len(operands), len(fields))
	}
	var test expr.Expr
	for i, o := range operands {
		left := &expr.Input{Index: i, Name: "operand", T: o.Type(), At: o.Span()}
		right := input(len(operands)+i, fields[i], at)
		one, err := b.call(op, at, left, right)
		if err != nil {
			return nil, err
		}
		if test == nil {
			test = one
		} else if test, err = b.call("AND", at, test, one); err != nil {
			return nil, err
		}
	}
	return &logical.Subquery{Kind: logical.Some, Plan: plan, Operands: operands, Test: test, T: test.Type(), At: at}, nil
}
