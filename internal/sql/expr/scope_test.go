package expr_test

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
)

func (s columnsScope) Column(parts []ast.Name) (expr.Expr, int, error) {
	name := parts[0].Text
	if i := int(name[0] - 'a'); len(name) == 1 && i < len(s) {
		return &expr.Input{Index: i, Name: name, T: s[i], At: parts[0].Range()}, 1, nil
	}
	return nil, 0, expr.Refuse(parts[0].Range(), "there is no column %s", name)
}

func (columnsScope) Special(ast.Expr) (expr.Expr, bool, error) { return nil, false, nil }
