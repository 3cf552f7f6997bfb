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
	if u, alias, ok := unnestOf(r); ok {
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
	if a, ok := node.(*logical.Apply); ok {
		a.Condition = condition
	} else if l, ok := condition.(*expr.Literal); !ok || l.IsNull() || !l.Value.Bool[0] {
		if kind == logical.Left {
			return nil, expr.Refuse(j.On.Range(), "a LEFT JOIN with UNNEST takes ON TRUE only")
		}
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

func unnestOf(r ast.Relation) (*ast.Unnest, *ast.Aliased, bool) {
	if a, ok := r.(*ast.Aliased); ok {
		u, ok := a.Relation.(*ast.Unnest)
		return u, a, ok
	}
	u, ok := r.(*ast.Unnest)
	return u, nil, ok
}

// unnest binds UNNEST as the first relation of a FROM, or after a comma.
func (b *binder) unnest(u *ast.Unnest, s *scope, before logical.Node) (logical.Node, error) {
	if before == nil {
		before = nothing(s)
	}
	return b.unnested(u, nil, before, s, false)
}

// unnested adds the elements of a collection to the rows on the left.
func (b *binder) unnested(u *ast.Unnest, alias *ast.Aliased, left logical.Node, s *scope, outer bool) (logical.Node, error) {
	if len(u.Args) != 1 {
		return nil, expr.Refuse(u.Span, "UNNEST takes one collection, and there are %d", len(u.Args))
	}
	collection, err := b.expression(u.Args[0], s)
	if err != nil {
		return nil, err
	}
	elements, err := elementsOf(collection.Type(), u)
	if err != nil {
		return nil, err
	}
	if u.Ordinality {
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
	return &logical.Unnest{Input: left, Collection: collection, Elements: elements, Ordinality: u.Ordinality, Outer: outer}, nil
}

// elementsOf are the columns of a collection's element: the fields of a row, a map's key
// and value, or the element.
func elementsOf(t types.Type, u *ast.Unnest) ([]types.Field, error) {
	switch {
	case t.Kind == types.Map:
		return []types.Field{{Name: "KEY", Type: *t.Key}, {Name: "VALUE", Type: *t.Elem}}, nil
	case t.Kind != types.Array && t.Kind != types.Multiset:
		return nil, expr.Refuse(u.Span, "UNNEST takes an ARRAY, a MAP or a MULTISET, and this is of type %s", t.Text())
	case t.Elem.Kind.IsComposite():
		fields := slices.Clone(t.Elem.Fields)
		if t.Elem.Nullable {
			fields = nullable(fields)
		}
		return fields, nil
	}
	return []types.Field{{Name: "EXPR$0", Type: *t.Elem}}, nil
}
