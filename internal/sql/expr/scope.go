package expr

import "github.com/weirstream/weir/internal/sql/ast"

// Scope is what names mean where an expression stands.
type Scope interface {
	// Column resolves a dotted name: the longest beginning of it that names a column, and
	// how many of its parts that is. What follows are fields of a row. An error is a
	// refusal with a place: the name is unknown, or ambiguous.
	Column(parts []ast.Name) (column Expr, used int, err error)
	// Special gives the value of a node that whoever owns the scope computes elsewhere: a
	// key of GROUP BY, a call of an aggregate, a call with OVER, a sub-query. It is asked
	// for each node before anything below it; ok is false if the node is an ordinary one.
	Special(e ast.Expr) (value Expr, ok bool, err error)
}
