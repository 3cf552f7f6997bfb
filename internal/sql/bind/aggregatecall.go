package bind

import (
	"github.com/weirstream/weir/internal/sql/aggregate"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// aggregateCall is a call of an aggregate function as it was written.
type aggregateCall struct {
	fn   *expr.Function
	args []ast.Expr
	ast.Aggregation
	at ast.Span
}

// aggregate gives the call of an aggregate without OVER that e is; nil: it is none.
func (b *binder) aggregate(e ast.Expr) *aggregateCall {
	call := b.called(e)
	if call == nil || call.Over != nil || aggregate.OnlyOver(call.fn) {
		return nil
	}
	return call
}

// called gives the call of a function that no kernel computes: an aggregate, or one that
// needs OVER.
func (b *binder) called(e ast.Expr) *aggregateCall {
	var call aggregateCall
	var name string
	switch e := e.(type) {
	case *ast.Call:
		name, call = e.Name.Last(), aggregateCall{args: e.Args, Aggregation: e.Aggregation, at: e.Span}
		if _, known := b.Registry.Lookup(name); !known || len(e.Name.Parts) != 1 {
			return b.calledOfUser(e, call)
		}
	case *ast.JSONObject:
		if !e.Aggregate {
			return nil
		}
		name, call = "JSON_OBJECTAGG", aggregateCall{args: []ast.Expr{e.Entries[0].Key, e.Entries[0].Value}, Aggregation: e.Aggregation, at: e.Span}
		name += onNull(e.OnNull, "NULL")
	case *ast.JSONArray:
		if !e.Aggregate {
			return nil
		}
		name, call = "JSON_ARRAYAGG", aggregateCall{args: []ast.Expr{e.Elements[0].Value}, Aggregation: e.Aggregation, at: e.Span}
		name += onNull(e.OnNull, "ABSENT")
	default:
		return nil
	}
	fn, ok := b.Registry.Lookup(name)
	if !ok || fn.Kernel != nil || fn.Lazy != nil {
		return nil
	}
	call.fn = fn
	return &call
}

// calledOfUser is called for a function that is not built in.
func (b *binder) calledOfUser(e *ast.Call, call aggregateCall) *aggregateCall {
	if b.Function == nil {
		return nil
	}
	fn, path, err := b.Function(e.Name.Strings())
	if err != nil || fn == nil || fn.Aggregate == nil { // whoever binds it as another call says why
		return nil
	}
	b.full.function(&e.Name, path)
	call.fn = fn
	return &call
}

// onNull is the end of the name of a JSON aggregate: what it does with NULL is part of it.
func onNull(said, otherwise string) string {
	if said == "" {
		said = otherwise
	}
	return "_" + said + "_ON_NULL"
}

// aggregateIn gives the first call of an aggregate in an expression, not looking into
// sub-queries; nil: there is none.
func aggregateIn(b *binder, e ast.Expr) (found ast.Expr) {
	ast.Walk(e, func(n ast.Node) bool {
		if _, query := n.(*ast.Query); query || found != nil {
			return false
		}
		if x, ok := n.(ast.Expr); ok && b.aggregate(x) != nil {
			found = x
			return false
		}
		return true
	})
	return found
}

// bindAggregate binds a call over the rows of a scope; row makes an expression a column of
// what the call works on, and gives its place.
func (b *binder) bindAggregate(c *aggregateCall, rows expr.Scope, row func(expr.Expr) int) (logical.AggregateCall, error) {
	call := logical.AggregateCall{Fn: c.fn, Filter: -1, Distinct: c.Quantifier == ast.Distinct, IgnoreNulls: c.Nulls == "IGNORE NULLS"}
	if name := c.fn.Name; c.Over == nil && c.Nulls != "" && (name == "FIRST_VALUE" || name == "LAST_VALUE") {
		return call, expr.Refuse(c.at, "Cannot specify IGNORE NULLS or RESPECT NULLS following '%s'", name)
	}
	var args []expr.Expr
	for _, a := range c.args {
		if _, star := a.(*ast.Star); star {
			if c.fn.Name != "COUNT" {
				return call, expr.Refuse(a.Range(), "only COUNT takes *")
			}
			continue
		}
		if c.Over == nil && aggregateIn(b, a) != nil { // OVER looks at rows that may be groups
			return call, expr.Refuse(c.at, "Aggregate expressions cannot be nested")
		}
		e, err := b.expression(a, rows)
		if err != nil {
			return call, err
		}
		args = append(args, e)
	}
	if c.fn.Name == "COUNT" && len(c.args) == 0 {
		return call, expr.Refuse(c.at, "Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments, or *")
	}
	typed, err := b.Registry.CallFunction(b.Session, c.fn, c.at, args...)
	if err != nil {
		return call, err
	}
	call.T = typed.Type()
	for _, a := range typed.(*expr.Call).Args {
		call.Args = append(call.Args, row(a))
		constant, _ := expr.Fold(a, b.Session).(*expr.Literal)
		call.Constants = append(call.Constants, constant)
	}
	if c.Filter != nil {
		filter, err := b.condition(c.Filter, rows, "FILTER")
		if err != nil {
			return call, err
		}
		call.Filter = row(filter)
	}
	order := c.WithinGroup
	if len(order) == 0 {
		order = c.OrderBy
	}
	for _, item := range order {
		e, err := b.expression(item.Expr, rows)
		if err != nil {
			return call, err
		}
		call.Order = append(call.Order, sortKey(row(e), item))
	}
	return call, nil
}
