package engine

import (
	"errors"
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// createTable makes a table.
func (st *statement) createTable(c *ast.CreateTable) (*session.Result, error) {
	if c.Like != nil || c.As != nil || c.OrReplace || c.Replace {
		return nil, expr.Refuse(c.Span, "CREATE TABLE with LIKE, AS or REPLACE is not supported yet")
	}
	path, err := st.names.Qualify(c.Name.Strings())
	if err != nil {
		return nil, expr.Refuse(c.Name.Span, "%v", err)
	}
	t, err := st.table(c)
	if err != nil {
		return nil, err
	}
	if _, err := st.names.CreateTable(path, t, c.IfNotExists); err != nil {
		return nil, err
	}
	return done(), nil
}

// table makes what a catalog keeps of a CREATE TABLE.
func (st *statement) table(c *ast.CreateTable) (*catalog.Table, error) {
	t := &catalog.Table{Temporary: c.Temporary, Options: map[string]string{}, Comment: text(c.Comment)}
	for _, o := range c.Options {
		t.Options[o.Key.Value] = o.Value.Value
	}
	if err := st.columns(t, c); err != nil {
		return nil, err
	}
	for _, name := range c.PartitionBy {
		if _, _, ok := t.Schema.Column(name.Text); !ok {
			return nil, expr.Refuse(name.Span, "Partition column '%s' not defined in the table schema. Available columns: %s", name.Text, quotedList(t.Schema.Names()))
		}
		t.Partitions = append(t.Partitions, name.Text)
	}
	if d := c.Distribution; d != nil {
		t.Distribution = &catalog.Distribution{Kind: d.Kind}
		for _, name := range d.Columns {
			if column, _, ok := t.Schema.Column(name.Text); !ok || column.Kind != catalog.Physical {
				return nil, expr.Refuse(name.Span, "Invalid bucket key '%s'. A bucket key for a distribution must reference a physical column in the schema. Available columns are: %s", name.Text, quotedList(t.Schema.Names()))
			}
			t.Distribution.Keys = append(t.Distribution.Keys, name.Text)
		}
		if d.Buckets != nil {
			n, err := strconv.Atoi(d.Buckets.Text)
			if err != nil || n <= 0 {
				return nil, expr.Refuse(d.Buckets.Span, "the number of buckets must be a whole number above 0, and this is %s", d.Buckets.Text)
			}
			t.Distribution.Buckets = n
		}
	}
	return t, nil
}

func text(s *ast.StringLiteral) string {
	if s == nil {
		return ""
	}
	return s.Value
}

func quotedList(names []string) string {
	list := "["
	for i, n := range names {
		if i > 0 {
			list += ", "
		}
		list += "'" + n + "'"
	}
	return list + "]"
}

// columns lays out a table's schema: stored columns, then the computed ones over them,
// keys and watermarks.
func (st *statement) columns(t *catalog.Table, c *ast.CreateTable) error {
	for _, e := range c.Elements {
		column, ok := e.(*ast.Column)
		if !ok || column.Kind == ast.ComputedColumn {
			continue
		}
		if column.Type == nil {
			return expr.Refuse(column.Span, "column '%s' needs a type", column.Name.Last())
		}
		typ, err := expr.TypeOf(column.Type, nil)
		if err != nil {
			return err
		}
		stored := catalog.Column{Name: column.Name.Last(), Type: typ, Comment: text(column.Comment)}
		if column.Kind == ast.MetadataColumn {
			stored.Kind, stored.MetadataKey, stored.Virtual = catalog.Metadata, text(column.MetadataKey), column.Virtual
		}
		t.Schema.Columns = append(t.Schema.Columns, stored)
	}
	if err := st.computed(t, c); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, column := range t.Schema.Columns {
		if seen[column.Name] {
			return expr.Refuse(c.Name.Span, "A column named '%s' already exists in the table.", column.Name)
		}
		seen[column.Name] = true
	}
	for _, e := range c.Elements {
		var err error
		switch e := e.(type) {
		case *ast.Column:
			if e.Constraint != nil {
				err = constrain(t, e.Constraint, []ast.Name{e.Name.Parts[len(e.Name.Parts)-1]})
			}
		case *ast.Constraint:
			err = constrain(t, e, e.Columns)
		case *ast.Watermark:
			err = st.watermark(t, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// computed gives computed columns their types, and all columns the order in which they
// were written.
func (st *statement) computed(t *catalog.Table, c *ast.CreateTable) error {
	stored := t.Schema.Row()
	var all []catalog.Column
	next := 0
	for _, e := range c.Elements {
		column, ok := e.(*ast.Column)
		if !ok {
			continue
		}
		if column.Kind != ast.ComputedColumn {
			all, next = append(all, t.Schema.Columns[next]), next+1
			continue
		}
		value, err := bind.Column(st.binding(), column.Expr, stored)
		if err != nil {
			return err
		}
		all = append(all, catalog.Column{Name: column.Name.Last(), Type: value.Type(), Kind: catalog.Computed,
			Expression: column.Expr.Range().Text(st.text), Comment: text(column.Comment)})
	}
	t.Schema.Columns = all
	return nil
}

// constrain gives a table its key.
func constrain(t *catalog.Table, c *ast.Constraint, columns []ast.Name) error {
	switch {
	case c.Unique:
		return expr.Refuse(c.Span, "UNIQUE constraint is not supported yet")
	case c.Enforced == nil || *c.Enforced:
		return expr.Refuse(c.Span, "Weir does not own the data, so it cannot enforce a PRIMARY KEY: say NOT ENFORCED")
	case t.Schema.PrimaryKey != nil:
		return expr.Refuse(c.Span, "Duplicate primary key definition")
	}
	key := &catalog.PrimaryKey{Name: "PK"}
	for _, name := range columns {
		column, i, ok := t.Schema.Column(name.Text)
		switch {
		case !ok:
			return expr.Refuse(name.Span, "Primary key column '%s' is not defined in the schema", name.Text)
		case column.Kind != catalog.Physical:
			return expr.Refuse(name.Span, "Could not create a PRIMARY KEY with column '%s'. A PRIMARY KEY constraint must be declared on physical columns.", name.Text)
		case slices.Contains(key.Columns, name.Text):
			return expr.Refuse(name.Span, "Column '%s' is in the PRIMARY KEY twice", name.Text)
		}
		t.Schema.Columns[i].Type = column.Type.NotNull()
		key.Columns = append(key.Columns, name.Text)
		key.Name += "_" + name.Text
	}
	if c.Name != nil {
		key.Name = c.Name.Text
	}
	t.Schema.PrimaryKey = key
	return nil
}

// watermark says how event time is read from a column.
func (st *statement) watermark(t *catalog.Table, w *ast.Watermark) error {
	const form = "The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the %s is %s"
	if len(w.Column.Parts) > 1 {
		return expr.Refuse(w.Column.Span, "Invalid column name '%s' for rowtime attribute in watermark declaration. Available columns are: %s", catalog.Dotted(w.Column.Strings()), quotedList(t.Schema.Names()))
	}
	column, i, ok := t.Schema.Column(w.Column.Last())
	if !ok {
		return expr.Refuse(w.Column.Span, "The rowtime attribute field '%s' is not defined in the table schema. Available fields: %s", w.Column.Last(), quotedList(t.Schema.Names()))
	}
	if column.Type.Time == types.Proctime {
		return expr.Refuse(w.Column.Span, "A watermark can not be defined for a processing-time attribute.")
	}
	if !timed(column.Type) {
		return expr.Refuse(w.Column.Span, "Invalid data type of time field for watermark definition. "+form, "time field type", column.Type)
	}
	value, err := bind.Column(st.binding(), w.Expr, t.Schema.Row())
	if err != nil {
		return err
	}
	if !timed(value.Type()) {
		return expr.Refuse(w.Expr.Range(), "Invalid data type of expression for watermark definition. "+form, "watermark expression type", value.Type())
	}
	if len(t.Schema.Watermarks) > 0 {
		return expr.Refuse(w.Span, "Multiple watermark declarations are not supported")
	}
	t.Schema.Columns[i].Type.Time = types.Rowtime
	t.Schema.Watermarks = append(t.Schema.Watermarks, catalog.Watermark{Column: column.Name, Expression: w.Expr.Range().Text(st.text), Type: value.Type()})
	return nil
}

func timed(t types.Type) bool { return t.Kind.IsTimestamp() && t.Precision <= 3 }

// createView makes a view.
func (st *statement) createView(c *ast.CreateView) (*session.Result, error) {
	path, err := st.names.Qualify(c.Name.Strings())
	if err != nil {
		return nil, expr.Refuse(c.Name.Span, "%v", err)
	}
	bound, err := bind.Query(st.binding(), c.Query)
	if err != nil {
		return nil, err
	}
	fields := bound.Fields()
	v := &catalog.Table{Kind: catalog.View, Temporary: c.Temporary, Comment: text(c.Comment), Original: c.Query.Range().Text(st.text)}
	v.Query = v.Original
	if len(c.Columns) > 0 && len(c.Columns) != len(fields) {
		return nil, expr.Refuse(c.Span, "VIEW definition and input fields not match:\n\tDef fields: %d.\n\tInput fields: %d.", len(c.Columns), len(fields))
	}
	for i, f := range fields {
		name := f.Name
		if len(c.Columns) > 0 {
			name = c.Columns[i].Text
		}
		if _, _, twice := v.Schema.Column(name); twice {
			return nil, expr.Refuse(c.Query.Span, "A column with the same name `%s` has been defined.", name)
		}
		v.Schema.Columns = append(v.Schema.Columns, catalog.Column{Name: name, Type: f.Type})
	}
	_, err = st.names.CreateTable(path, v, c.IfNotExists)
	var there *catalog.Failure
	if errors.As(err, &there) && c.OrReplace {
		err = st.names.ReplaceTable(path, v)
	}
	if err != nil {
		return nil, err
	}
	return done(), nil
}
