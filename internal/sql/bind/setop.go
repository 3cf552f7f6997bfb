package bind

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

var setKinds = map[string]logical.SetKind{"UNION": logical.Union, "INTERSECT": logical.Intersect, "EXCEPT": logical.Except}

// setOperation binds UNION, INTERSECT and EXCEPT: both sides are given the types that
// they have in common.
func (b *binder) setOperation(o *ast.SetOperation, outer expr.Scope, ctes *commonTables) (logical.Node, error) {
	var sides [2]logical.Node
	for i, body := range []ast.QueryBody{o.Left, o.Right} {
		b.typedAround(body)
		plan, err := b.body(body, outer, ctes)
		if err != nil {
			return nil, err
		}
		sides[i] = plan
	}
	fields := sides[0].Fields()
	if n := len(sides[1].Fields()); n != len(fields) {
		at := o.Right.Range()
		if s, ok := o.Right.(*ast.Select); ok && len(s.Items) > 0 {
			at = s.Items[0].Range().To(s.Items[len(s.Items)-1].Range())
		}
		return nil, expr.Refuse(at, "Column count mismatch in %s: %d on the left and %d here", o.Kind, len(fields), n)
	}
	columns := [2][]expr.Expr{all(fields), all(sides[1].Fields())}
	row := make([]types.Field, len(fields))
	for i := range row {
		pair := []expr.Expr{columns[0][i], columns[1][i]}
		if err := b.unify(pair, o.Span); err != nil {
			return nil, expr.Refuse(itemOf(o, i), "Type mismatch in column %d of %s: %s and %s", i+1, o.Kind, columns[0][i].Type(), columns[1][i].Type())
		}
		columns[0][i], columns[1][i] = pair[0], pair[1]
		row[i] = types.Field{Name: fields[i].Name, Type: pair[0].Type().WithNull(pair[0].Type().Nullable || pair[1].Type().Nullable)}
	}
	for i := range sides {
		sides[i] = project(sides[i], columns[i], fieldNames(row))
	}
	return &logical.SetOperation{Kind: setKinds[o.Kind], All: o.Quantifier == ast.All, Of: sides[:], Row: row}, nil
}

// project computes columns, unless they are those that are there.
func project(in logical.Node, exprs []expr.Expr, names []string) logical.Node {
	fields := in.Fields()
	same := len(exprs) == len(fields)
	for i := 0; same && i < len(exprs); i++ {
		e, ok := exprs[i].(*expr.Input)
		same = ok && e.Index == i && names[i] == fields[i].Name
	}
	if same {
		return in
	}
	return &logical.Project{Input: in, Exprs: exprs, Names: names}
}

// itemOf is the place of a column in the first query of a set operation, or the whole
// operation where a star has made the column.
func itemOf(o *ast.SetOperation, column int) ast.Span {
	var first ast.QueryBody = o
	for {
		switch body := first.(type) {
		case *ast.SetOperation:
			first = body.Left
		case *ast.Query:
			first = body.Body
		case *ast.Select:
			for i, item := range body.Items[:min(column+1, len(body.Items))] {
				if _, star := item.Expr.(*ast.Star); star {
					return o.Span
				}
				if i == column {
					return item.Expr.Range()
				}
			}
			return o.Span
		default:
			return o.Span
		}
	}
}
