package expr

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

func (b *Binder) is(n *ast.Is) (Expr, error) {
	e, err := b.Expr(n.Operand)
	if err != nil {
		return nil, err
	}
	switch n.Test {
	case "NULL", "TRUE", "FALSE", "UNKNOWN":
		name := "IS "
		if n.Not {
			name = "IS NOT "
		}
		return b.apply(name+n.Test, n.Range(), e)
	case "JSON", "JSON VALUE", "JSON OBJECT", "JSON ARRAY", "JSON SCALAR":
		kind := "VALUE"
		if len(n.Test) > len("JSON ") {
			kind = n.Test[len("JSON "):]
		}
		tested, err := b.apply("IS JSON", n.Range(), e, symbolLiteral(kind, n.Range()))
		return b.negated(n.Not, n.Range(), tested, err)
	}
	tested, err := b.apply("IS "+n.Test, n.Range(), e)
	return b.negated(n.Not, n.Range(), tested, err)
}

// between is low <= operand AND operand <= high, in either order of the limits if it
// is symmetric.
func (b *Binder) between(n *ast.Between) (Expr, error) {
	args, err := b.all([]ast.Expr{n.Operand, n.Low, n.High})
	if err != nil {
		return nil, err
	}
	within := func(low, high Expr) (Expr, error) {
		above, err := b.apply(">=", n.Range(), args[0], low)
		if err != nil {
			return nil, err
		}
		below, err := b.apply("<=", n.Range(), args[0], high)
		if err != nil {
			return nil, err
		}
		return b.apply("AND", n.Range(), above, below)
	}
	e, err := within(args[1], args[2])
	if err == nil && n.Symmetric {
		var other Expr
		if other, err = within(args[2], args[1]); err == nil {
			e, err = b.apply("OR", n.Range(), e, other)
		}
	}
	return b.negated(n.Not, n.Range(), e, err)
}

func (b *Binder) like(n *ast.Like) (Expr, error) {
	list := []ast.Expr{n.Operand, n.Pattern}
	if n.Escape != nil {
		list = append(list, n.Escape)
	}
	if _, ok := b.Registry.Lookup(n.Kind); !ok {
		return nil, Refuse(n.Range(), "%s is not supported", n.Kind)
	}
	e, err := b.call(n.Kind, n.Range(), list...)
	return b.negated(n.Not, n.Range(), e, err)
}

func (b *Binder) in(n *ast.In) (Expr, error) {
	if n.Query != nil {
		return nil, Refuse(n.Range(), "a query cannot stand here")
	}
	if !slices.ContainsFunc(n.List, func(item ast.Expr) bool { _, _, ok := rows(n.Operand, item); return !ok }) {
		return b.inRows(n)
	}
	e, err := b.call("IN", n.Range(), append([]ast.Expr{n.Operand}, n.List...)...)
	return b.negated(n.Not, n.Range(), e, err)
}

// inRows is whether a row is one of a list of rows.
func (b *Binder) inRows(n *ast.In) (Expr, error) {
	var parts []Expr
	for _, item := range n.List {
		x, y, _ := rows(n.Operand, item)
		e, err := b.sameRows(x, y, n.Range())
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
	}
	e := parts[0]
	var err error
	if len(parts) > 1 {
		e, err = b.apply("OR", n.Range(), parts...)
	}
	return b.negated(n.Not, n.Range(), e, err)
}

// quantified compares with each value of a list: SOME is OR, ALL is AND.
func (b *Binder) quantified(n *ast.Quantified) (Expr, error) {
	if n.Query != nil {
		return nil, Refuse(n.Range(), "a query cannot stand here")
	}
	var parts []Expr
	for _, v := range n.List {
		e, err := b.call(string(n.Op), n.Range(), n.Operand, v)
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
	}
	switch {
	case len(parts) == 1:
		return parts[0], nil
	case n.All:
		return b.apply("AND", n.Range(), parts...)
	}
	return b.apply("OR", n.Range(), parts...)
}

// caseOf makes conditions of the values of CASE operand WHEN value.
func (b *Binder) caseOf(n *ast.Case) (Expr, error) {
	var args []Expr
	for _, w := range n.Whens {
		var conditions []Expr
		for _, c := range w.Conditions {
			var condition Expr
			var err error
			if n.Operand != nil {
				condition, err = b.call("=", c.Range(), n.Operand, c)
			} else {
				condition, err = b.Expr(c)
			}
			if err != nil {
				return nil, err
			}
			conditions = append(conditions, condition)
		}
		condition := conditions[0]
		if len(conditions) > 1 {
			var err error
			if condition, err = b.apply("OR", w.Range(), conditions...); err != nil {
				return nil, err
			}
		}
		result, err := b.Expr(w.Result)
		if err != nil {
			return nil, err
		}
		args = append(args, condition, result)
	}
	last := Expr(Null(types.Of(types.Null), n.Range()))
	if n.Else != nil {
		var err error
		if last, err = b.Expr(n.Else); err != nil {
			return nil, err
		}
	}
	return b.apply("CASE", n.Range(), append(args, last)...)
}

func (b *Binder) cast(n *ast.Cast) (Expr, error) {
	if n.Format != nil {
		return nil, Refuse(n.Format.Range(), "CAST has no FORMAT; use TO_DATE, TO_TIMESTAMP or DATE_FORMAT")
	}
	t, err := TypeOf(n.Type, b.Named)
	if err != nil {
		return nil, err
	}
	e, err := b.Expr(n.Operand)
	if err != nil {
		return nil, err
	}
	return b.Registry.ExplicitCast(b.Session, e, t, n.Try, n.Range())
}

// intervalOf is a whole number of units.
func (b *Binder) intervalOf(n *ast.IntervalOf) (Expr, error) {
	e, err := b.Expr(n.Operand)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf(n.Qualifier)
	if err != nil {
		return nil, err
	}
	if !e.Type().Kind.IsInteger() || len(fields) > 1 {
		return nil, Refuse(n.Range(), "an interval of a value that is no text is a whole number of one unit, and this is %s", e.Type().Text())
	}
	return b.apply("*", n.Range(), e, intervalConstant(fields, fields[0].size))
}

// difference is (a - b) with a unit.
func (b *Binder) difference(n *ast.Difference) (Expr, error) {
	fields, err := fieldsOf(n.Qualifier)
	if err != nil {
		return nil, err
	}
	if isMonths(fields) {
		return b.call(elapsedMonthsName, n.Range(), n.Left, n.Right)
	}
	return b.call(elapsedName, n.Range(), n.Left, n.Right)
}

// overlaps is whether two periods, each a row of a begin and an end or a length, have a
// time in common. A period whose end lies first is turned round.
func (b *Binder) overlaps(n *ast.Binary) (Expr, error) {
	first, err := b.period(n.Left)
	if err != nil {
		return nil, err
	}
	second, err := b.period(n.Right)
	if err != nil {
		return nil, err
	}
	one, err := b.apply(">=", n.Range(), first[1], second[0])
	if err != nil {
		return nil, err
	}
	other, err := b.apply(">=", n.Range(), second[1], first[0])
	if err != nil {
		return nil, err
	}
	return b.apply("AND", n.Range(), one, other)
}

// period is the begin and the end of a period.
func (b *Binder) period(n ast.Expr) (limits [2]Expr, err error) {
	row, ok := n.(*ast.Row)
	if !ok || len(row.Elements) != 2 {
		return limits, Refuse(n.Range(), "OVERLAPS takes periods: (begin, end) or (begin, interval)")
	}
	at := n.Range()
	parts, err := b.all(row.Elements)
	if err != nil {
		return limits, err
	}
	if parts[1].Type().Kind.IsInterval() {
		if parts[1], err = b.apply("+", at, parts...); err != nil {
			return limits, err
		}
	}
	ordered, err := b.apply("<=", at, parts...)
	if err != nil {
		return limits, err
	}
	if limits[0], err = b.apply("CASE", at, ordered, parts[0], parts[1]); err != nil {
		return limits, err
	}
	limits[1], err = b.apply("CASE", at, ordered, parts[1], parts[0])
	return limits, err
}
