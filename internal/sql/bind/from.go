package bind

import (
	"errors"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// from binds a relation and puts it to the right of s. before is what is there already,
// which a LATERAL relation may refer to; nil: nothing.
func (b *binder) from(r ast.Relation, s *scope, before logical.Node) (logical.Node, error) {
	switch r := r.(type) {
	case *ast.Join:
		return b.join(r, s, before)
	case *ast.Aliased:
		return b.aliased(r, s, before)
	case *ast.TableName:
		plan, path, err := b.table(&r.Name, r.Hints, s.ctes)
		b.full.table(&r.Name, path)
		return b.beside(plan, err, path, s, before)
	case *ast.DerivedTable:
		plan, err := b.query(r.Query, lateral(r.Lateral, s), s.ctes)
		return b.beside(plan, err, nil, s, before)
	case *ast.FunctionTable:
		if fn, err := b.tableFunction(&r.Call.Name); fn != nil || err != nil {
			if err != nil {
				return nil, err
			}
			return b.unnest(r, s, before)
		}
		plan, err := b.function(r, s)
		return b.beside(plan, err, nil, s, before)
	case *ast.Unnest:
		return b.unnest(r, s, before)
	case *ast.Snapshot:
		return nil, expr.Refuse(r.Span, "FOR SYSTEM_TIME AS OF stands on the right side of a join")
	case *ast.MatchRecognize:
		plan, err := b.matchRecognize(r, s)
		return b.beside(plan, err, nil, s, before)
	}
	return nil, expr.Refuse(r.Range(), "this kind of relation is not supported yet")
}

// lateral is the scope that a sub-query in FROM sees: none, unless it is LATERAL.
func lateral(is bool, s *scope) expr.Scope {
	if is && s.width > 0 {
		return s
	}
	return s.outer // of the right side of a join, it is the scope of the left one
}

// beside puts a plan to the right of what is there.
func (b *binder) beside(plan logical.Node, err error, path []string, s *scope, before logical.Node) (logical.Node, error) {
	if err != nil {
		return nil, err
	}
	s.add(path, plan.Fields())
	if before == nil {
		return plan, nil
	}
	return &logical.Join{Kind: logical.Inner, Left: before, Right: plan}, nil
}

// aliased gives what it binds another name, and its columns too.
func (b *binder) aliased(r *ast.Aliased, s *scope, before logical.Node) (logical.Node, error) {
	first, width := len(s.relations), s.width
	plan, err := b.from(r.Relation, s, before)
	if err != nil {
		return nil, err
	}
	for first < len(s.relations) && s.relations[first].hidden {
		width += len(s.relations[first].fields)
		first++
	}
	var fields []types.Field
	for _, added := range s.relations[first:] {
		fields = append(fields, added.fields...)
	}
	if len(r.Columns) > 0 {
		if len(r.Columns) != len(fields) {
			return nil, expr.Refuse(r.Columns[0].Span.To(r.Columns[len(r.Columns)-1].Span), "List of column aliases must have same degree as table; table has %d columns, whereas alias list has %d columns", len(fields), len(r.Columns))
		}
		fields = append([]types.Field(nil), fields...)
		for i, c := range r.Columns {
			fields[i].Name = c.Text
		}
	}
	s.relations, s.width = s.relations[:first], width
	s.add([]string{r.Alias.Text}, fields)
	return plan, nil
}

// table binds the name of a table, a view or a query of WITH, and gives what it may be
// called.
func (b *binder) table(name *ast.ObjectName, hints []*ast.Hint, ctes *commonTables) (logical.Node, []string, error) {
	if len(name.Parts) == 1 {
		if plan, ok := ctes.find(name.Last()); ok {
			return plan, []string{name.Last()}, nil
		}
	}
	path, err := b.Catalog.Qualify(name.Strings())
	if err != nil {
		return nil, nil, expr.Refuse(name.Span, "%v", err)
	}
	t, err := b.Catalog.Table(path)
	if err == nil && t == nil && b.Side != nil {
		t, err = b.Side(path)
	}
	if err != nil {
		return nil, nil, err
	}
	if t == nil {
		return nil, nil, b.noTable(name, path)
	}
	called := []string{path.Catalog, path.Database, path.Object}
	if t.Kind == catalog.View {
		if err := tableHints(hints, path.Quoted()); err != nil {
			return nil, nil, err
		}
		plan, err := b.view(path, t, name.Span)
		return plan, called, err
	}
	if err := tableHints(hints, ""); err != nil {
		return nil, nil, err
	}
	plan, err := b.scan(path, t, hints, name.Span)
	return plan, called, err
}

// noTable refuses a name, and suggests one that is near.
func (b *binder) noTable(name *ast.ObjectName, path catalog.Path) error {
	near := ""
	if names, err := b.Catalog.Tables(path.Catalog, path.Database, func(*catalog.Table) bool { return true }); err == nil {
		near = nearest(path.Object, names)
	}
	if len(name.Parts) == 1 {
		return expr.Refuse(name.Span, "Object '%s' not found%s", name.Last(), near)
	}
	return expr.Refuse(name.Span, "Object '%s' not found within '%s.%s'%s", path.Object, path.Catalog, path.Database, near)
}

// view binds the query that a view stands for.
func (b *binder) view(path catalog.Path, t *catalog.Table, at ast.Span) (logical.Node, error) {
	if b.views++; b.views > maxViews {
		return nil, expr.Refuse(at, "view %s refers to itself, or to more than %d views within views", path, maxViews)
	}
	defer func() { b.views-- }()
	q, err := b.Parse(t.Query)
	if err != nil {
		return nil, expr.Refuse(at, "the query of view %s cannot be read: %v", path, err)
	}
	plan, err := b.query(q, nil, nil)
	if err != nil {
		var refused *expr.Error
		if errors.As(err, &refused) {
			return nil, expr.Refuse(at, "view %s: %s", path, refused.Text)
		}
		return nil, err
	}
	fields := plan.Fields()
	if len(fields) != len(t.Schema.Columns) {
		return nil, expr.Refuse(at, "view %s was made with %d columns, and its query has %d now", path, len(t.Schema.Columns), len(fields))
	}
	return project(plan, all(fields), t.Schema.Names()), nil
}

// scan reads a table: what its connector gives, and then what is computed.
func (b *binder) scan(path catalog.Path, t *catalog.Table, hints []*ast.Hint, at ast.Span) (logical.Node, error) {
	read := &logical.Scan{Path: path, Table: t, Hints: options(hints)}
	places := map[string]int{}
	computed := false
	for i, c := range t.Schema.Columns {
		if c.Kind == catalog.Computed {
			computed = true
			continue
		}
		places[c.Name] = len(read.Columns)
		read.Columns = append(read.Columns, i)
	}
	if !computed {
		return read, nil
	}
	fields := read.Fields()
	s := &scope{b: b}
	s.add([]string{path.Object}, fields)
	p := &logical.Project{Input: read, Names: t.Schema.Names()}
	for _, c := range t.Schema.Columns {
		if c.Kind != catalog.Computed {
			i := places[c.Name]
			p.Exprs = append(p.Exprs, input(i, fields[i], at))
			continue
		}
		e, err := b.computed(c, s)
		if err != nil {
			return nil, expr.Refuse(at, "column %s of table %s: %v", c.Name, path, err)
		}
		p.Exprs = append(p.Exprs, e)
	}
	return p, nil
}

func (b *binder) computed(c catalog.Column, s *scope) (expr.Expr, error) {
	text, err := b.Expression(c.Expression)
	if err != nil {
		return nil, err
	}
	return b.expression(text, s)
}

// options are those of an OPTIONS hint.
func options(hints []*ast.Hint) map[string]string {
	var found map[string]string
	for _, h := range hints {
		if !strings.EqualFold(h.Name.Text, "OPTIONS") {
			continue
		}
		for _, o := range h.Options {
			if found == nil {
				found = map[string]string{}
			}
			found[o.Key.Value] = o.Value.Value
		}
	}
	return found
}
