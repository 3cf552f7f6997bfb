package bind

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

var joinKinds = map[ast.JoinKind]logical.JoinKind{
	ast.InnerJoin: logical.Inner, ast.CrossJoin: logical.Inner, ast.CommaJoin: logical.Inner,
	ast.LeftJoin: logical.Left, ast.RightJoin: logical.Right, ast.FullJoin: logical.Full,
}

// join binds two relations side by side.
func (b *binder) join(j *ast.Join, s *scope, before logical.Node) (logical.Node, error) {
	kind, ok := joinKinds[j.Kind]
	if !ok {
		return nil, expr.Refuse(j.Span, "%s JOIN is not supported", j.Kind)
	}
	if before != nil { // a join within a join: bound by itself
		inner := &scope{b: b, outer: s.outer, ctes: s.ctes}
		plan, err := b.join(j, inner, nil)
		if err != nil {
			return nil, err
		}
		shift(inner, s)
		return &logical.Join{Kind: logical.Inner, Left: before, Right: plan}, nil
	}
	switch {
	case j.Kind == ast.CrossJoin || j.Kind == ast.CommaJoin || j.Natural || j.On != nil || len(j.Using) > 0:
	default:
		return nil, expr.Refuse(ast.Span{Start: j.Left.Range().End + 1, End: j.Right.Range().Start - 1}, "INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)")
	}
	left, err := b.from(j.Left, s, nil)
	if err != nil {
		return nil, err
	}
	if u, ok := lateralOf(j.Right); ok {
		return b.applied(j, u, kind, left, s)
	}
	snap, relation := snapshotOf(j.Right)
	var at types.TimeAttribute
	if snap != nil {
		if at, err = b.asOf(snap, kind, s); err != nil {
			return nil, err
		}
	}
	right := &scope{b: b, outer: s.outer, ctes: s.ctes}
	plan, err := b.from(relation, right, nil)
	if err != nil {
		return nil, err
	}
	node := &logical.Join{Kind: kind, Left: left, Right: plan}
	width := s.width
	if err := twice(s, right, j.Right); err != nil {
		return nil, err
	}
	if err := b.using(j, s, right, kind, node); err != nil {
		return nil, err
	}
	if j.On != nil {
		if node.Condition, err = b.condition(j.On, s, "ON"); err != nil {
			return nil, err
		}
		if err := oneSided(node, j, width); err != nil {
			return nil, err
		}
	}
	if snap != nil && at == types.Rowtime {
		if err := b.versioned(relation, node.Condition, width); err != nil {
			return nil, err
		}
	}
	node.Temporal = snap != nil && b.Session.Streaming
	for i := range s.relations {
		r := &s.relations[i]
		may := kind == logical.Full || (kind == logical.Left) == (r.offset >= width) && kind != logical.Inner
		if may {
			r.fields = nullable(r.fields)
		}
	}
	return node, nil
}

// oneSided refuses sub-queries in the condition of an outer join that refer to both sides.
func oneSided(node *logical.Join, j *ast.Join, width int) (err error) {
	if node.Kind == logical.Inner {
		return nil
	}
	expr.Walk(node.Condition, func(e expr.Expr) bool {
		s, ok := e.(*logical.Subquery)
		if !ok {
			return true
		}
		if used := logical.UsedColumns(s); len(used) > 0 && used[0] < width && used[len(used)-1] >= width {
			err = expr.Refuse(s.Span(), "a sub-query in the condition of a %s JOIN can refer to columns of one side only", j.Kind)
		}
		return true
	})
	return err
}

// twice refuses a relation that is called as another is.
func twice(left, right *scope, r ast.Relation) error {
	for _, n := range right.relations {
		if len(n.path) > 0 && left.has(n.path[len(n.path)-1]) {
			return expr.Refuse(r.Range(), "Duplicate relation name '%s' in FROM clause", n.path[len(n.path)-1])
		}
	}
	return nil
}

func nullable(fields []types.Field) []types.Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Type = fields[i].Type.OrNull()
	}
	return fields
}

// shift puts the relations of one scope to the right of another's.
func shift(from, to *scope) {
	for _, r := range from.relations {
		r.offset += to.width
		to.relations = append(to.relations, r)
	}
	for _, m := range from.merged {
		moved := merged{m.name, moveBy(m.value, to.width), nil, m.natural}
		for _, c := range m.columns {
			moved.columns = append(moved.columns, c+to.width)
		}
		to.merged = append(to.merged, moved)
	}
	to.width += from.width
}

// moveBy is an expression over columns that lie further right.
func moveBy(e expr.Expr, by int) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok {
			moved := *in
			moved.Index += by
			return &moved
		}
		return e
	})
}

// using joins the scopes of both sides, and makes the condition of USING and NATURAL.
func (b *binder) using(j *ast.Join, left, right *scope, kind logical.JoinKind, node *logical.Join) error {
	names := j.Using
	if j.Natural {
		names = nil
		for _, f := range left.fields() {
			if slices.ContainsFunc(right.fields(), func(r types.Field) bool { return r.Name == f.Name }) {
				names = append(names, ast.Name{Span: j.Span, Text: f.Name})
			}
		}
	}
	var columns []merged
	for _, name := range names {
		l, err := left.joined(name)
		if err != nil {
			return err
		}
		r, err := right.joined(name)
		if err != nil {
			return err
		}
		r = moveBy(r, left.width)
		equal, err := b.call("=", name.Span, l, r)
		if err != nil {
			return err
		}
		if node.Condition == nil {
			node.Condition = equal
		} else if node.Condition, err = b.call("AND", name.Span, node.Condition, equal); err != nil {
			return err
		}
		value := l
		switch kind {
		case logical.Right:
			value = r
		case logical.Full:
			if value, err = b.call("COALESCE", name.Span, orNull(l), orNull(r)); err != nil {
				return err
			}
		}
		columns = append(columns, merged{name.Text, value, places(l, r), j.Natural})
	}
	left.merged = slices.DeleteFunc(left.merged, func(m merged) bool {
		return slices.ContainsFunc(columns, func(c merged) bool { return c.name == m.name })
	})
	shift(right, left)
	left.merged = append(columns, left.merged...)
	return nil
}

// joined is the column of a name that a join is by.
func (s *scope) joined(name ast.Name) (expr.Expr, error) {
	if m, ok := s.mergedColumn(name.Text); ok {
		return m.value, nil
	}
	e, _, err := s.Column([]ast.Name{name})
	return e, err
}

// orNull is a column that may be missing.
func orNull(e expr.Expr) expr.Expr {
	if in, ok := e.(*expr.Input); ok {
		c := *in
		c.T = c.T.OrNull()
		return &c
	}
	return e
}

// places are the columns that expressions are made of.
func places(of ...expr.Expr) (found []int) {
	for _, e := range of {
		expr.Walk(e, func(e expr.Expr) bool {
			if in, ok := e.(*expr.Input); ok {
				found = append(found, in.Index)
			}
			return true
		})
	}
	return found
}

// condition binds an expression that must be BOOLEAN.
func (b *binder) condition(e ast.Expr, s expr.Scope, where string) (expr.Expr, error) {
	c, err := b.expression(e, s)
	if err != nil {
		return nil, err
	}
	if k := c.Type().Kind; k != types.Boolean && k != types.Null {
		at := e.Range()
		if q, ok := e.(*ast.Subquery); ok {
			at = q.Query.Span
		}
		return nil, expr.Refuse(at, "%s clause must be a condition, and this is of type %s", where, c.Type().Text())
	}
	if l, ok := c.(*expr.Literal); ok && l.T.Kind == types.Null { // it is of the type that is wanted here
		typed := &expr.Literal{T: types.Of(types.Boolean), Value: batch.NewColumn(types.Of(types.Boolean)), At: l.At, Text: l.Text}
		typed.Value.AppendNull()
		return typed, nil
	}
	return c, nil
}
