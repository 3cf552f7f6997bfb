package bind

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
)

// qualifying is the scope of QUALIFY: that of the list, and the list's own names where
// no column has them.
type qualifying struct{ *selecting }

// Column resolves a name.
func (q qualifying) Column(parts []ast.Name) (expr.Expr, int, error) {
	e, used, err := q.selecting.Column(parts)
	if err == nil {
		return e, used, nil
	}
	if i := slices.Index(q.names, parts[0].Text); i >= 0 {
		return q.exprs[i], 1, nil
	}
	return nil, 0, err
}

// qualify binds QUALIFY: a condition over the rows with their windows.
func (s *selecting) qualify(sel *ast.Select) (expr.Expr, error) {
	condition, err := s.b.condition(sel.Qualify, qualifying{s}, "QUALIFY")
	if err != nil {
		return nil, err
	}
	if !s.over.has(condition) {
		return nil, expr.Refuse(sel.Items[0].Range().To(sel.Qualify.Range()), "QUALIFY expression '%s' must contain a window function", ast.String(sel.Qualify))
	}
	return condition, nil
}
