package expr

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// Binder makes expressions of trees: it resolves names, infers types and puts
// implicit casts in.
type Binder struct {
	Registry *Registry
	Session  *Session
	Scope    Scope
	// Function finds a function that is not built in; nil if there are none.
	Function func(name *ast.ObjectName) (*Function, error)
	// Named resolves the name of a type that is no keyword; nil if there are none.
	Named func(*ast.NamedType) (types.Type, error)
}

// Expr makes the expression of a tree. An error is an *Error with its place.
func (b *Binder) Expr(n ast.Expr) (Expr, error) {
	if b.Scope != nil {
		if e, ok, err := b.Scope.Special(n); ok || err != nil {
			return e, err
		}
	}
	switch n := n.(type) {
	case *ast.NumberLiteral:
		return literal(numberLiteral(n, false, n.Range()))
	case *ast.StringLiteral:
		l := Text(n.Value)
		l.At = n.Range()
		return l, nil
	case *ast.BinaryLiteral:
		return literal(binaryLiteral(n))
	case *ast.BooleanLiteral:
		return booleanLiteral(n), nil
	case *ast.NullLiteral:
		return Null(types.Of(types.Null), n.Range()), nil
	case *ast.DateTimeLiteral:
		return literal(dateTimeLiteral(n))
	case *ast.IntervalLiteral:
		return literal(intervalLiteral(n))
	case *ast.Symbol:
		return symbolLiteral(n.Word, n.Range()), nil
	case *ast.Identifier:
		return b.identifier(n)
	case *ast.Unary:
		return b.unary(n)
	case *ast.Binary:
		return b.binary(n)
	case *ast.Call:
		return b.functionCall(n)
	}
	return b.form(n)
}

// literal makes an Expr of a literal that could not be read as well.
func literal(l *Literal, err error) (Expr, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// form makes the expressions that have a syntax of their own.
func (b *Binder) form(n ast.Expr) (Expr, error) {
	switch n := n.(type) {
	case *ast.Is:
		return b.is(n)
	case *ast.Between:
		return b.between(n)
	case *ast.Like:
		return b.like(n)
	case *ast.In:
		return b.in(n)
	case *ast.Quantified:
		return b.quantified(n)
	case *ast.Case:
		return b.caseOf(n)
	case *ast.Cast:
		return b.cast(n)
	case *ast.Row:
		return b.call("ROW", n.Range(), n.Elements...)
	case *ast.Collection:
		if n.Query == nil {
			return b.call(n.Kind, n.Range(), n.Elements...)
		}
	case *ast.Map:
		if n.Query == nil {
			return b.call("MAP", n.Range(), n.Entries...)
		}
	case *ast.Index:
		if n.Mode == "" {
			return b.call("ITEM", n.Range(), n.Operand, n.Index)
		}
		return nil, Refuse(n.Range(), "%s is not supported: an index is written [n], from 1", n.Mode)
	case *ast.Field:
		return b.field(n)
	case *ast.IntervalOf:
		return b.intervalOf(n)
	case *ast.Difference:
		return b.difference(n)
	case *ast.JSONExists, *ast.JSONValue, *ast.JSONQuery, *ast.JSONObject, *ast.JSONArray:
		return b.json(n)
	}
	return nil, Refuse(n.Range(), "this cannot stand here")
}

// all makes the expressions of a list.
func (b *Binder) all(list []ast.Expr) ([]Expr, error) {
	args := make([]Expr, len(list))
	for i, n := range list {
		e, err := b.Expr(n)
		if err != nil {
			return nil, err
		}
		args[i] = e
	}
	return args, nil
}

// call makes a call of a function of the registry.
func (b *Binder) call(name string, at ast.Span, list ...ast.Expr) (Expr, error) {
	args, err := b.all(list)
	if err != nil {
		return nil, err
	}
	return b.apply(name, at, args...)
}

func (b *Binder) apply(name string, at ast.Span, args ...Expr) (Expr, error) {
	return b.Registry.Call(b.Session, name, at, args...)
}

// negated wraps an expression into NOT if it was written.
func (b *Binder) negated(not bool, at ast.Span, e Expr, err error) (Expr, error) {
	if err != nil || !not {
		return e, err
	}
	return b.apply("NOT", at, e)
}

// identifier is a column, and fields of it.
func (b *Binder) identifier(n *ast.Identifier) (Expr, error) {
	if b.Scope == nil {
		return nil, Refuse(n.Range(), "there are no columns here, and %s would be one", n.Parts[0].Text)
	}
	e, used, err := b.Scope.Column(n.Parts)
	if err != nil {
		return nil, err
	}
	for _, part := range n.Parts[used:] {
		if e, err = b.fieldOf(e, part, n.Range()); err != nil {
			if refused, ok := err.(*Error); ok { // of a name, all of it is the place
				refused.At = n.Range()
			}
			return nil, err
		}
	}
	return e, nil
}

func (b *Binder) field(n *ast.Field) (Expr, error) {
	e, err := b.Expr(n.Operand)
	if err != nil {
		return nil, err
	}
	return b.fieldOf(e, n.Name, n.Range())
}

// fieldOf is a field of a row by its name.
func (b *Binder) fieldOf(e Expr, name ast.Name, at ast.Span) (Expr, error) {
	t := e.Type()
	if !t.Kind.IsComposite() {
		return nil, Refuse(at, "%s is no field: the value before it is %s, not a row", name.Text, t.Text())
	}
	var names []string
	for i, f := range t.Fields {
		if f.Name == name.Text {
			return b.apply("FIELD", at, e, Constant(types.Of(types.Int), int32(i)))
		}
		names = append(names, f.Name)
	}
	return nil, Refuse(name.Range(), "the row has no field %s; it has %s", name.Text, strings.Join(names, ", "))
}

func (b *Binder) unary(n *ast.Unary) (Expr, error) {
	switch n.Op {
	case ast.Not:
		return b.call("NOT", n.Range(), n.Operand)
	case ast.Plus:
		return b.call("PLUS", n.Range(), n.Operand)
	case ast.Negate:
		if number, ok := n.Operand.(*ast.NumberLiteral); ok {
			return literal(numberLiteral(number, true, n.Range()))
		}
		return b.call("NEGATE", n.Range(), n.Operand)
	}
	return nil, Refuse(n.Range(), "%s stands only in MATCH_RECOGNIZE", n.Op)
}

func (b *Binder) binary(n *ast.Binary) (Expr, error) {
	switch n.Op {
	case ast.And, ast.Or:
		return b.call(string(n.Op), n.Range(), chain(n, n.Op)...)
	case ast.Overlaps:
		return b.overlaps(n)
	}
	if _, ok := b.Registry.Lookup(string(n.Op)); !ok {
		return nil, Refuse(n.OpSpan, "the operator %s is not supported", n.Op)
	}
	if left, right, ok := rows(n.Left, n.Right); ok && (n.Op == ast.Equals || n.Op == ast.NotEquals) {
		e, err := b.sameRows(left, right, n.Range())
		return b.negated(n.Op == ast.NotEquals, n.Range(), e, err)
	}
	return b.call(string(n.Op), n.Range(), n.Left, n.Right)
}

// rows are two constructors of rows of one length.
func rows(a, b ast.Expr) (x, y *ast.Row, ok bool) {
	x, okX := a.(*ast.Row)
	y, okY := b.(*ast.Row)
	return x, y, okX && okY && len(x.Elements) == len(y.Elements) && len(x.Elements) > 1
}

// sameRows is that all elements of two rows are equal, NULL if one that is NULL decides.
func (b *Binder) sameRows(x, y *ast.Row, at ast.Span) (Expr, error) {
	var parts []Expr
	for i := range x.Elements {
		equal := &ast.Binary{Span: at, Op: ast.Equals, OpSpan: at, Left: x.Elements[i], Right: y.Elements[i]}
		e, err := b.Expr(equal)
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
	}
	return b.apply("AND", at, parts...)
}

// chain are the operands of one operator written several times.
func chain(n ast.Expr, op ast.BinaryOp) []ast.Expr {
	var reversed []ast.Expr
	for {
		b, ok := n.(*ast.Binary)
		if !ok || b.Op != op {
			reversed = append(reversed, n)
			break
		}
		reversed = append(reversed, b.Right)
		n = b.Left
	}
	operands := make([]ast.Expr, len(reversed))
	for i, e := range reversed {
		operands[len(reversed)-1-i] = e
	}
	return operands
}

// functionCall is a call by name. What follows an aggregate is for the scope.
func (b *Binder) functionCall(n *ast.Call) (Expr, error) {
	if a := n.Aggregation; a.Quantifier != "" || len(a.OrderBy) > 0 || a.Nulls != "" || len(a.WithinGroup) > 0 || len(a.WithinDistinct) > 0 || a.Filter != nil || a.Over != nil {
		return nil, Refuse(n.Range(), "%s is not called as an aggregate here: aggregates cannot be nested", n.Name.Last())
	}
	f, err := b.function(&n.Name)
	if err != nil {
		if len(n.Args) == 1 {
			if star, ok := n.Args[0].(*ast.Star); ok {
				return nil, Refuse(star.Span, "Unknown identifier '*': %v", err)
			}
		}
		return nil, err
	}
	if f.Name == "JSON" {
		return nil, Refuse(n.Range(), "JSON stands only as a value of JSON_OBJECT and JSON_ARRAY")
	}
	args, err := b.all(n.Args)
	if err != nil {
		return nil, err
	}
	return b.Registry.CallFunction(b.Session, f, n.Range(), args...)
}

// function finds a function by name: a built-in one that is called, or another.
func (b *Binder) function(name *ast.ObjectName) (*Function, error) {
	last := strings.ToUpper(name.Last())
	if f, ok := b.Registry.Lookup(last); ok && len(name.Parts) == 1 && (f.Form != Operator || f.Name != last) {
		return f, nil
	}
	if b.Function != nil {
		return b.Function(name)
	}
	if near := b.Registry.nearest(last); near != "" {
		return nil, Refuse(name.Range(), "there is no function %s; did you mean %s?", name.Last(), near)
	}
	return nil, Refuse(name.Range(), "there is no function %s", name.Last())
}
