package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// withoutNulls is a join under conditions: rows that are made up for a side need not be
// made where none of them fulfils the conditions.
func withoutNulls(n *logical.Join, conditions []expr.Expr) *logical.Join {
	width := len(n.Left.Fields())
	left := func(column int) bool { return column < width }
	right := func(column int) bool { return column >= width }
	j := *n
	if slices.ContainsFunc(conditions, func(e expr.Expr) bool { return refuses(e, right) }) {
		switch j.Kind {
		case logical.Left:
			j.Kind = logical.Inner
		case logical.Full:
			j.Kind = logical.Right
		}
	}
	if slices.ContainsFunc(conditions, func(e expr.Expr) bool { return refuses(e, left) }) {
		switch j.Kind {
		case logical.Right:
			j.Kind = logical.Inner
		case logical.Full:
			j.Kind = logical.Left
		}
	}
	return &j
}

// refuses reports whether a condition is surely not true where columns are NULL.
func refuses(condition expr.Expr, columns func(column int) bool) bool {
	call, ok := condition.(*expr.Call)
	if !ok || volatile(condition) {
		return false
	}
	switch call.Fn.Name {
	case "AND":
		return slices.ContainsFunc(call.Args, func(e expr.Expr) bool { return refuses(e, columns) })
	case "OR":
		return !slices.ContainsFunc(call.Args, func(e expr.Expr) bool { return !refuses(e, columns) })
	case "IS NOT NULL", "IS TRUE":
		return followsNull(call.Args[0], columns)
	}
	return followsNull(condition, columns)
}

// followsNull reports whether an expression is surely NULL where columns are.
func followsNull(e expr.Expr, columns func(column int) bool) bool {
	switch e := e.(type) {
	case *expr.Input:
		return columns(e.Index)
	case *expr.Call:
		return e.Fn.Lazy == nil && e.Fn.Nulls != expr.Own && slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return followsNull(a, columns) })
	}
	return false
}
