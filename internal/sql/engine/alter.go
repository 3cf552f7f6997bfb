package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
)

// alter changes what was made.
func (st *statement) alter(a *ast.Alter) (*session.Result, error) {
	switch a.Kind {
	case ast.KindTable:
		return st.alterTable(a)
	case ast.KindView:
		return st.alterView(a)
	case ast.KindDatabase:
		return st.alterDatabase(a)
	case ast.KindCatalog:
		return st.alterCatalog(a)
	case ast.KindModel:
		return st.alterModel(a)
	case ast.KindMaterializedTable:
		return st.alterMaterialized(a)
	}
	return nil, st.lacks(a.Span, a.Kind)
}

// existing gives a copy of a table or view that is to be changed; nil if there is none and
// there need be none.
func (st *statement) existing(a *ast.Alter) (catalog.Path, *catalog.Table, error) {
	path, err := st.qualify(&a.Name)
	if err != nil {
		return path, nil, err
	}
	t, err := st.names.Table(path)
	if err != nil {
		return path, nil, err
	}
	kind := catalog.BaseTable
	if a.Kind == ast.KindView {
		kind = catalog.View
	}
	word := kind.String()
	switch {
	case (t == nil || t.Temporary) && a.IfExists:
		return path, nil, nil
	case t == nil || t.Temporary:
		return path, nil, expr.Refuse(a.Name.Span, "%s %s doesn't exist or is a temporary %s.", word, path.Quoted(), strings.ToLower(word))
	case t.Kind != kind && kind == catalog.View:
		return path, nil, expr.Refuse(a.Name.Span, "ALTER VIEW for a %s is not allowed", strings.ToLower(t.Kind.String()))
	case t.Kind != kind:
		return path, nil, expr.Refuse(a.Name.Span, "ALTER TABLE for a %s is not allowed", strings.ToLower(t.Kind.String()))
	}
	return path, t.Clone(), nil
}

func (st *statement) alterTable(a *ast.Alter) (*session.Result, error) {
	path, t, err := st.existing(a)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return done(), nil
	}
	switch action := a.Action.(type) {
	case *ast.RenameTo:
		return st.rename(path, action)
	case *ast.SetOptions:
		if t.Options == nil {
			t.Options = map[string]string{}
		}
		maps.Copy(t.Options, pairs(action.Options))
	case *ast.ResetOptions:
		err = resetOptions(t, action)
	case *ast.AddPartitions, *ast.DropPartitions:
		err = st.alterPartitions(path, t, action)
	default:
		err = st.alterSchema(t, action)
		if refused, ok := err.(*expr.Error); ok {
			err = expr.Refuse(refused.At, "Failed to execute ALTER TABLE statement.\n%s", refused.Text)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := st.names.ReplaceTable(path, t); err != nil {
		return nil, err
	}
	return done(), nil
}

// rename gives a table or view another name.
func (st *statement) rename(from catalog.Path, to *ast.RenameTo) (*session.Result, error) {
	path := catalog.Path{Catalog: from.Catalog, Database: from.Database, Object: to.Name.Last()}
	if len(to.Name.Parts) > 1 {
		var err error
		if path, err = st.qualify(&to.Name); err != nil {
			return nil, err
		}
	}
	if path.Catalog != from.Catalog || path.Database != from.Database {
		return nil, expr.Refuse(to.Name.Span, "a new name is in the same database, %s.%s", from.Catalog, from.Database)
	}
	if err := st.names.RenameTable(from, path); err != nil {
		return nil, err
	}
	return done(), nil
}

func resetOptions(t *catalog.Table, r *ast.ResetOptions) error {
	if len(r.Keys) == 0 {
		return expr.Refuse(r.Span, "ALTER TABLE RESET does not support empty key")
	}
	for _, k := range r.Keys {
		if k.Value == "connector" {
			return expr.Refuse(k.Span, "ALTER TABLE RESET does not support changing 'connector'")
		}
		delete(t.Options, k.Value)
	}
	return nil
}

// alterPartitions adds partitions, or drops them.
func (st *statement) alterPartitions(path catalog.Path, t *catalog.Table, action ast.AlterAction) error {
	switch action := action.(type) {
	case *ast.AddPartitions:
		for _, p := range action.Partitions {
			values, err := partition(path, t, p)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(t.Kept, func(o catalog.Partition) bool { return maps.Equal(o.Values, values) })
			if i < 0 {
				t.Kept = append(t.Kept, catalog.Partition{Values: values, Options: pairs(p.Options)})
			} else if !action.IfNotExists {
				return refused(session.ClassTable, "Could not execute ALTER TABLE %s ADD PARTITION (%s): Partition (%s) of table %s in catalog %s already exists.", path, partitionName(t, values), partitionName(t, values), path.InDatabase(), path.Catalog)
			}
		}
	case *ast.DropPartitions:
		for _, p := range action.Partitions {
			values, err := partition(path, t, p)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(t.Kept, func(o catalog.Partition) bool { return maps.Equal(o.Values, values) })
			if i >= 0 {
				t.Kept = slices.Delete(t.Kept, i, i+1)
			} else if !action.IfExists {
				return refused(session.ClassTable, "Could not execute ALTER TABLE %s DROP PARTITION (%s): Partition (%s) of table %s in catalog %s does not exist.", path, partitionName(t, values), partitionName(t, values), path.InDatabase(), path.Catalog)
			}
		}
	}
	return nil
}

// partition gives the values of a partition.
func partition(path catalog.Path, t *catalog.Table, p *ast.Partition) (map[string]string, error) {
	if len(t.Partitions) == 0 {
		return nil, refused(session.ClassTable, "Table %s in catalog %s is not partitioned.", path.InDatabase(), path.Catalog)
	}
	values := map[string]string{}
	for _, v := range p.Values {
		if !slices.Contains(t.Partitions, v.Column.Text) {
			return nil, expr.Refuse(v.Column.Span, "'%s' is no column that table %s is partitioned by; there is %s", v.Column.Text, path, strings.Join(t.Partitions, ", "))
		}
		values[v.Column.Text] = literalText(v.Value)
	}
	return values, nil
}

// literalText is a literal without its quotes.
func literalText(e ast.Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *ast.StringLiteral:
		return e.Value
	}
	return ast.String(e)
}

// partitionName writes the values of a partition as a path does.
func partitionName(t *catalog.Table, values map[string]string) string {
	var parts []string
	for _, k := range t.Partitions {
		if v, ok := values[k]; ok {
			parts = append(parts, k+"="+v)
		}
	}
	return strings.Join(parts, "/")
}

func (st *statement) alterView(a *ast.Alter) (*session.Result, error) {
	path, v, err := st.existing(a)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return done(), nil
	}
	switch action := a.Action.(type) {
	case *ast.RenameTo:
		return st.rename(path, action)
	case *ast.SetOptions:
		return nil, expr.Refuse(action.Span, "views have no options")
	case *ast.AlterQuery:
		made, err := st.view(action.Query, nil)
		if err != nil {
			return nil, err
		}
		made.Comment = v.Comment
		if err := st.names.ReplaceTable(path, made); err != nil {
			return nil, err
		}
		return done(), nil
	}
	return nil, expr.Refuse(a.Span, "a view can be renamed, or be given another query")
}

func (st *statement) alterDatabase(a *ast.Alter) (*session.Result, error) {
	in, name, err := st.names.QualifyDatabase(a.Name.Strings())
	if err != nil {
		return nil, expr.Refuse(a.Name.Span, "%v", err)
	}
	set, ok := a.Action.(*ast.SetOptions)
	if !ok {
		return nil, expr.Refuse(a.Action.Range(), "of a database, options can be SET")
	}
	if err := st.names.AlterDatabase(in, name, pairs(set.Options)); err != nil {
		return nil, err
	}
	return done(), nil
}

func (st *statement) alterCatalog(a *ast.Alter) (*session.Result, error) {
	name := a.Name.Last()
	old := st.names.Definition(name)
	if old == nil {
		return nil, refused(session.ClassValidation, "Could not execute ALTER CATALOG %s: Catalog %s does not exist in the catalog store.", name, name)
	}
	changed := &catalog.Definition{Comment: old.Comment, Options: maps.Clone(old.Options)}
	switch action := a.Action.(type) {
	case *ast.SetOptions:
		for _, o := range action.Options {
			if o.Key.Value == "type" {
				return nil, expr.Refuse(o.Span, "ALTER CATALOG SET does not support changing 'type'")
			}
			changed.Options[o.Key.Value] = o.Value.Value
		}
		if len(action.Options) == 0 {
			return nil, expr.Refuse(action.Span, "ALTER CATALOG SET does not support empty option")
		}
		if err := checkCatalog(changed.Options); err != nil {
			return nil, expr.Refuse(action.Span, "%v", err)
		}
	case *ast.ResetOptions:
		for _, k := range action.Keys {
			if k.Value == "type" {
				return nil, expr.Refuse(k.Span, "ALTER CATALOG RESET does not support changing 'type'")
			}
			delete(changed.Options, k.Value)
		}
		if len(action.Keys) == 0 {
			return nil, expr.Refuse(action.Span, "ALTER CATALOG RESET does not support empty key")
		}
	case *ast.SetComment:
		changed.Comment = action.Comment.Value
	default:
		return nil, expr.Refuse(a.Action.Range(), "of a catalog, options can be SET and RESET, and its COMMENT changed")
	}
	if err := st.names.AlterCatalog(name, changed); err != nil {
		return nil, &catalog.Failure{What: "ALTER CATALOG " + name, Why: err}
	}
	return done(), nil
}

// view makes what a catalog keeps of a view's query.
func (st *statement) view(q *ast.Query, columns []ast.Name) (*catalog.Table, error) {
	bound, expanded, err := bind.View(st.binding(), q)
	if err != nil {
		return nil, err
	}
	fields := bound.Fields()
	v := &catalog.Table{Kind: catalog.View, Original: q.Range().Text(st.text), Query: expanded}
	if len(columns) > 0 && len(columns) != len(fields) {
		var given, there []string
		for _, c := range columns {
			given = append(given, c.Text)
		}
		for _, f := range fields {
			there = append(there, f.Name)
		}
		return nil, expr.Refuse(columns[0].Span.To(columns[len(columns)-1].Span), "VIEW definition and input fields not match:\n\tDef fields: [%s].\n\tInput fields: [%s].", strings.Join(given, ", "), strings.Join(there, ", "))
	}
	for i, f := range fields {
		name := f.Name
		if len(columns) > 0 {
			name = columns[i].Text
		}
		if _, _, twice := v.Schema.Column(name); twice {
			return nil, expr.Refuse(itemAt(q, slices.Index(v.Schema.Names(), name)), "A column with the same name `%s` has been defined", name)
		}
		v.Schema.Columns = append(v.Schema.Columns, catalog.Column{Name: name, Type: f.Type})
	}
	return v, nil
}

// itemAt is where a column of a query was written, if it is an item of its list.
func itemAt(q *ast.Query, i int) ast.Span {
	if s, ok := q.Body.(*ast.Select); ok && len(s.Items) > i {
		return s.Items[i].Range()
	}
	return q.Span
}

// createView makes a view.
func (st *statement) createView(c *ast.CreateView) (*session.Result, error) {
	path, err := st.qualify(&c.Name)
	if err != nil {
		return nil, err
	}
	v, err := st.view(c.Query, c.Columns)
	if err != nil {
		return nil, err
	}
	v.Temporary, v.Comment = c.Temporary, text(c.Comment)
	if c.OrReplace {
		old, err := st.names.Table(path)
		switch {
		case err != nil:
			return nil, err
		case old != nil && old.Kind != catalog.View:
			return nil, refused(session.ClassValidation, "%s is a table, and CREATE OR REPLACE VIEW replaces views", path)
		case old != nil:
			if err := st.names.ReplaceTable(path, v); err != nil {
				return nil, err
			}
			return done(), nil
		}
	}
	if _, err := st.names.CreateTable(path, v, c.IfNotExists); err != nil {
		return nil, err
	}
	return done(), nil
}

// lacks refuses a statement about what there is none of.
func (st *statement) lacks(at ast.Span, kind ast.ObjectKind) error {
	why := "it is not supported"
	if kind == ast.KindConnection {
		why = "connections are not supported: give the options to the table"
	}
	return expr.Refuse(at, "%s", fmt.Sprintf("%s: %s", kind, why))
}
