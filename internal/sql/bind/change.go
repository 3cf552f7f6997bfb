package bind

import "github.com/weirstream/weir/internal/sql/ast"

// Change binds what an UPDATE or a DELETE says of the rows of a table: the condition, and
// the values of columns that the table has.
func Change(o Options, table *ast.ObjectName, alias *ast.Name, assigned []*ast.Assignment, where ast.Expr) error {
	b := &binder{Options: o}
	var from ast.Relation = &ast.TableName{Span: table.Span, Name: *table}
	if alias != nil {
		from = &ast.Aliased{Span: table.Span, Relation: from, Alias: *alias}
	}
	rows := &ast.Select{Span: table.Span, From: from, Where: where}
	for _, a := range assigned {
		rows.Items = append(rows.Items, &ast.SelectItem{Span: a.Span, Expr: a.Value})
	}
	if len(assigned) == 0 {
		rows.Items = []*ast.SelectItem{{Span: table.Span, Expr: &ast.Star{Span: table.Span}}}
	}
	q := &ast.Query{Span: table.Span, Body: rows}
	b.typedAround(q)
	plan, err := b.query(q, nil, nil)
	if err != nil || len(assigned) == 0 {
		return err
	}
	path, err := b.Catalog.Qualify(table.Strings())
	if err != nil {
		return err
	}
	t, err := b.Catalog.Table(path)
	if err != nil || t == nil {
		return err
	}
	for i, f := range plan.Fields() {
		column, _, _ := t.Schema.Column(assigned[i].Column.Last())
		if _, err := b.assign(input(i, f, assigned[i].Value.Range()), column.Type); err != nil {
			return err
		}
	}
	return nil
}
