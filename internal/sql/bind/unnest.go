package bind

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// lateralOf is a relation that may refer to those on its left, below its alias.
func lateralOf(r ast.Relation) (ast.Relation, bool) {
	in := r
	if a, ok := in.(*ast.Aliased); ok {
		in = a.Relation
	}
	switch in := in.(type) {
	case *ast.Unnest:
		return r, true
	case *ast.DerivedTable:
		return r, in.Lateral
	case *ast.FunctionTable:
		return r, in.Lateral
	}
	return nil, false
}

// applied binds a join with a relation that refers to its left side.
func (b *binder) applied(j *ast.Join, r ast.Relation, kind logical.JoinKind, left logical.Node, s *scope) (logical.Node, error) {
	if kind != logical.Inner && kind != logical.Left {
		return nil, expr.Refuse(j.Span, "a %s JOIN cannot have a side that refers to the other: use LEFT, INNER or CROSS", j.Kind)
	}
	before := s.width
	var node logical.Node
	var err error
	if u, alias, ok := b.elementsOf(r); ok && (kind != logical.Left || j.On == nil || isTrue(j.On)) {
		node, err = b.unnested(u, alias, left, s, kind == logical.Left)
	} else {
		right := &scope{b: b, outer: s, ctes: s.ctes}
		var plan logical.Node
		if plan, err = b.from(r, right, nil); err == nil {
			shift(right, s)
			node = &logical.Apply{Kind: kind, Left: left, Right: plan}
		}
	}
	if err != nil || j.On == nil {
		return node, err
	}
	condition, err := b.condition(j.On, s, "ON")
	if err != nil {
		return nil, err
	}
	asks := subqueryIn(condition)
	switch a, ok := node.(*logical.Apply); {
	case asks != nil && kind == logical.Left:
		return nil, expr.Refuse(asks.Span(), "the condition of a LEFT JOIN with a side that refers to the other cannot have a sub-query")
	case ok && asks == nil:
		a.Condition = condition
	case !isTrue(j.On):
		node = &logical.Filter{Input: node, Condition: condition}
	}
	if kind == logical.Left {
		for i := range s.relations {
			if r := &s.relations[i]; r.offset >= before {
				r.fields = nullable(r.fields)
			}
		}
	}
	return node, nil
}

// subqueryIn is the first sub-query in an expression; nil: there is none.
func subqueryIn(e expr.Expr) (found *logical.Subquery) {
	expr.Walk(e, func(e expr.Expr) bool {
		if s, ok := e.(*logical.Subquery); ok && found == nil {
			found = s
		}
		return found == nil
	})
	return found
}

func isTrue(e ast.Expr) bool {
	l, ok := e.(*ast.BooleanLiteral)
	return ok && l.Value == ast.True
}

// elementsOf gives a relation whose rows are the elements of a collection: UNNEST, or the
// call of a table function, with its alias.
func (b *binder) elementsOf(r ast.Relation) (ast.Relation, *ast.Aliased, bool) {
	alias, ok := r.(*ast.Aliased)
	if ok {
		r = alias.Relation
	}
	switch in := r.(type) {
	case *ast.Unnest:
		return in, alias, true
	case *ast.FunctionTable:
		fn, _ := b.tableFunction(&in.Call.Name)
		return in, alias, fn != nil
	}
	return nil, nil, false
}

// TableFunction is the category of functions whose result, an ARRAY, is the rows of a
// table: they stand in FROM only.
const TableFunction = "table"

// tableFunction finds a user's function that gives a table; nil: there is none.
func (b *binder) tableFunction(name *ast.ObjectName) (*expr.Function, error) {
	if b.Function == nil {
		return nil, nil
	}
	fn, path, err := b.Function(name.Strings())
	if err != nil {
		return nil, expr.Refuse(name.Span, "%v", err)
	}
	if fn == nil || fn.Category != TableFunction {
		return nil, nil
	}
	b.full.function(name, path)
	return fn, nil
}

// collection binds the collection of UNNEST or of a table function.
func (b *binder) collection(r ast.Relation, s *scope) (expr.Expr, error) {
	if u, ok := r.(*ast.Unnest); ok {
		if len(u.Args) != 1 {
			return nil, expr.Refuse(u.Span, "UNNEST takes one collection, and there are %d", len(u.Args))
		}
		return b.expression(u.Args[0], s)
	}
	call := r.(*ast.FunctionTable).Call
	fn, err := b.tableFunction(&call.Name)
	if err != nil {
		return nil, err
	}
	var args []expr.Expr
	for _, a := range call.Args {
		e, err := b.expression(a, s)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return b.Registry.CallFunction(b.Session, fn, call.Span, args...)
}

// unnest binds UNNEST, or a table function, as the first relation of a FROM, or after a
// comma.
func (b *binder) unnest(u ast.Relation, s *scope, before logical.Node) (logical.Node, error) {
	if before == nil {
		before = nothing(s)
	}
	return b.unnested(u, nil, before, s, false)
}

// unnested adds the elements of a collection to the rows on the left.
func (b *binder) unnested(r ast.Relation, alias *ast.Aliased, left logical.Node, s *scope, outer bool) (logical.Node, error) {
	collection, err := b.collection(r, s)
	if err != nil {
		return nil, err
	}
	elements, err := elementsOf(collection.Type(), r)
	if err != nil {
		return nil, err
	}
	u, ok := r.(*ast.Unnest)
	ordinality := ok && u.Ordinality
	if ordinality {
		elements = append(elements, types.Field{Name: "ORDINALITY", Type: types.Of(types.Int).NotNull()})
	}
	elements = slices.Clone(elements)
	path := []string{}
	if alias != nil {
		path = []string{alias.Alias.Text}
		if n := len(alias.Columns); n > 0 && n != len(elements) {
			return nil, expr.Refuse(alias.Columns[0].Span.To(alias.Columns[n-1].Span), "List of column aliases must have same degree as table; table has %d columns, whereas alias list has %d columns", len(elements), n)
		}
		for i, c := range alias.Columns {
			elements[i].Name = c.Text
		}
	}
	s.add(path, elements)
	return &logical.Unnest{Input: left, Collection: collection, Elements: elements, Ordinality: ordinality, Outer: outer}, nil
}

// elementsOf are the columns of a collection's element: the fields of a row, a map's key
// and value, or the element.
func elementsOf(t types.Type, u ast.Relation) ([]types.Field, error) {
	switch {
	case t.Kind == types.Map:
		return []types.Field{{Name: "KEY", Type: *t.Key}, {Name: "VALUE", Type: *t.Elem}}, nil
	case t.Kind != types.Array && t.Kind != types.Multiset:
		return nil, expr.Refuse(u.Range(), "UNNEST takes an ARRAY, a MAP or a MULTISET, and this is of type %s", t.Text())
	case t.Elem.Kind.IsComposite():
		fields := slices.Clone(t.Elem.Fields)
		if t.Elem.Nullable {
			fields = nullable(fields)
		}
		return fields, nil
	}
	return []types.Field{{Name: "EXPR$0", Type: *t.Elem}}, nil
}
