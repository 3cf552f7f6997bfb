package estimate

import (
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// Which share of rows conditions hold for of whose values nothing is known.
const (
	equality   = 0.1
	comparison = 0.35
	pattern    = 0.1
	anything   = 0.5
)

// small is how many rows a table has of which each is likely to have a name of its own.
const small = 100

// Selectivity is for which share of rows a condition holds. Its columns are those of the
// operators, one after the other.
func (e *Estimator) Selectivity(condition expr.Expr, of ...logical.Node) float64 {
	share := 1.0
	for _, part := range expr.Conjuncts(condition) {
		share *= e.part(part, of)
	}
	return share
}

func (e *Estimator) part(condition expr.Expr, of []logical.Node) float64 {
	call, ok := condition.(*expr.Call)
	if !ok {
		return anything
	}
	switch call.Fn.Name {
	case "OR":
		none := 1.0
		for _, a := range call.Args {
			none *= 1 - e.Selectivity(a, of...)
		}
		return 1 - none
	case "NOT":
		return 1 - e.Selectivity(call.Args[0], of...)
	case "=":
		return e.equality(call, of)
	case "<>":
		return 1 - e.equality(call, of)
	case "<", "<=", ">", ">=":
		return comparison
	case "BETWEEN":
		return comparison / 2
	case "IN":
		return min(anything, e.equality(call, of)*float64(len(call.Args)-1))
	case "LIKE":
		return pattern
	case "IS NULL":
		return equality
	case "IS NOT NULL":
		return 1 - equality
	}
	return anything
}

// equality is the share of rows with one value of a column.
func (e *Estimator) equality(call *expr.Call, of []logical.Node) float64 {
	share := equality
	for _, a := range call.Args {
		in, ok := a.(*expr.Input)
		if !ok {
			continue
		}
		column := in.Index
		for _, n := range of {
			width := len(n.Fields())
			if column < width {
				if values, known := e.domain(n, column); known || values <= small {
					share = min(share, 1/values)
				}
				break
			}
			column -= width
		}
	}
	return share
}
