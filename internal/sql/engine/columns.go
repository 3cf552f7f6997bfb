package engine

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// elements adds columns, keys and watermarks to a table: stored columns, then the computed
// ones over them. ofQuery says that the columns that are there are a query's, whose
// nullability a key cannot change.
func (st *statement) elements(t *catalog.Table, elements []ast.TableElement, ofQuery bool) error {
	there := t.Schema.Names()
	for _, e := range elements {
		column, ok := e.(*ast.Column)
		if !ok {
			continue
		}
		made, err := declared(column)
		if err != nil {
			return err
		}
		if _, _, twice := t.Schema.Column(made.Name); twice {
			if slices.Contains(there, made.Name) {
				return expr.Refuse(column.Span, "A column named '%s' already exists in the base table.", made.Name)
			}
			return expr.Refuse(column.Span, "A column named '%s' already exists in the table.", made.Name)
		}
		t.Schema.Columns = append(t.Schema.Columns, made)
	}
	if ofQuery { // declared columns come first
		own := slices.Clone(t.Schema.Columns[len(there):])
		t.Schema.Columns = append(own, t.Schema.Columns[:len(there)]...)
	}
	for _, e := range elements {
		if column, ok := e.(*ast.Column); ok && column.Kind == ast.ComputedColumn {
			if err := st.compute(t, column); err != nil {
				return err
			}
		}
	}
	for _, e := range elements {
		var err error
		switch e := e.(type) {
		case *ast.Column:
			if e.Constraint != nil {
				err = constrain(t, e.Constraint, []ast.Name{e.Name.Parts[len(e.Name.Parts)-1]}, false)
			}
		case *ast.Constraint:
			err = constrain(t, e, e.Columns, ofQuery)
		case *ast.Watermark:
			err = st.watermark(t, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// declared makes a column; a computed one has no type yet.
func declared(column *ast.Column) (catalog.Column, error) {
	made := catalog.Column{Name: column.Name.Last(), Comment: text(column.Comment)}
	if len(column.Name.Parts) > 1 {
		return made, expr.Refuse(column.Name.Span, "fields of a row cannot be declared as columns: %s", catalog.Dotted(column.Name.Strings()))
	}
	if column.Kind == ast.ComputedColumn {
		made.Kind = catalog.Computed
		return made, nil
	}
	if column.Type == nil {
		return made, expr.Refuse(column.Span, "column '%s' needs a type", made.Name)
	}
	typ, err := columnType(column.Type)
	if err != nil {
		return made, err
	}
	made.Type = typ
	if column.Kind == ast.MetadataColumn {
		made.Kind, made.MetadataKey, made.Virtual = catalog.Metadata, text(column.MetadataKey), column.Virtual
	}
	return made, nil
}

// columnType is the type of a stored column.
func columnType(t ast.DataType) (types.Type, error) {
	var raw *ast.RawType
	ast.Walk(t, func(n ast.Node) bool {
		if r, ok := n.(*ast.RawType); ok && raw == nil {
			raw = r
		}
		return raw == nil
	})
	if s, ok := t.(*ast.ScalarType); ok && s.Name == "NULL" {
		return types.Type{}, expr.Refuse(s.Span, "a column cannot be of type NULL")
	}
	if raw != nil {
		return types.Type{}, expr.Refuse(raw.Span, "values of the RAW type of class '%s' belong to Java programs and cannot be read", raw.Class.Value)
	}
	return expr.TypeOf(t, func(n *ast.NamedType) (types.Type, error) {
		return types.Type{}, expr.Refuse(n.Name.Span, "Unknown identifier '%s': there is no such type", n.Name.Last())
	})
}

// compute gives a computed column its type and its text.
func (st *statement) compute(t *catalog.Table, column *ast.Column) error {
	value, err := bind.Column(st.binding(), column.Expr, t.Schema.Stored())
	if err != nil {
		return err
	}
	_, i, _ := t.Schema.Column(column.Name.Last())
	c := &t.Schema.Columns[i]
	c.Type, c.Expression = value.Type(), ast.Quoted(column.Expr)
	return nil
}

// constrain gives a table its key.
func constrain(t *catalog.Table, c *ast.Constraint, columns []ast.Name, ofQuery bool) error {
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
		case ofQuery && column.Type.Nullable:
			return expr.Refuse(name.Span, "Invalid primary key 'PK_%s'. Column '%s' is nullable.", name.Text, name.Text)
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
	if slices.ContainsFunc(t.Schema.Watermarks, func(o catalog.Watermark) bool { return o.Column == column.Name }) {
		return expr.Refuse(w.Span, "There already exists a watermark spec for column '%s' in the base table. You might want to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS.", column.Name)
	}
	if len(t.Schema.Watermarks) > 0 {
		return expr.Refuse(w.Span, "Multiple watermark declarations are not supported")
	}
	t.Schema.Columns[i].Type.Time = types.Rowtime
	t.Schema.Watermarks = append(t.Schema.Watermarks, catalog.Watermark{Column: column.Name, Expression: ast.Quoted(w.Expr), Type: value.Type()})
	return nil
}

func timed(t types.Type) bool { return t.Kind.IsTimestamp() && t.Precision <= 3 }
