package engine

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// alterSchema changes a table's columns, key, watermark or distribution.
func (st *statement) alterSchema(t *catalog.Table, action ast.AlterAction) error {
	switch a := action.(type) {
	case *ast.AddElements:
		if err := st.addElements(t, a); err != nil {
			return err
		}
		return st.settle(t)
	case *ast.AddDistribution:
		switch {
		case a.Modify && t.Distribution == nil:
			return expr.Refuse(a.Span, "The base table does not define any distribution. You might want to add a new one.")
		case !a.Modify && t.Distribution != nil:
			return expr.Refuse(a.Span, "The base table has already defined the distribution `%s`. You can modify it or drop it before adding a new one.", strings.TrimSpace(distributed(t.Distribution)))
		}
		return distribute(t, a.Distribution)
	case *ast.DropColumns:
		return st.dropColumns(t, a)
	case *ast.DropPart:
		return dropPart(t, a)
	case *ast.RenameColumn:
		return renameColumn(t, a)
	}
	return expr.Refuse(action.Range(), "a table cannot be altered so")
}

// addElements adds columns, a key or a watermark, or changes them.
func (st *statement) addElements(t *catalog.Table, a *ast.AddElements) error {
	for _, e := range a.Elements {
		if column, ok := e.(*ast.Column); ok {
			if err := st.placeColumn(t, column, a.Modify); err != nil {
				return err
			}
		}
	}
	for _, e := range a.Elements {
		var err error
		switch e := e.(type) {
		case *ast.Column:
			if e.Kind == ast.ComputedColumn {
				err = st.computeAltered(t, e)
			} else if e.Constraint != nil {
				err = alterKey(t, e.Constraint, e.Name.Parts, a.Modify)
			}
		case *ast.Constraint:
			err = alterKey(t, e, e.Columns, a.Modify)
		case *ast.Watermark:
			err = st.alterWatermark(t, e, a.Modify)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// computeAltered is compute, with the words of ALTER TABLE.
func (st *statement) computeAltered(t *catalog.Table, c *ast.Column) error {
	err := st.compute(t, c)
	if e, ok := err.(*expr.Error); ok {
		return expr.Refuse(e.At, "Invalid expression for computed column '%s'. %s", c.Name.Last(), e.Text)
	}
	return err
}

// placeColumn puts a column where it was asked for.
func (st *statement) placeColumn(t *catalog.Table, c *ast.Column, modify bool) error {
	made, err := declared(c)
	if err != nil {
		return err
	}
	old, at, there := t.Schema.Column(made.Name)
	switch {
	case there && !modify:
		return expr.Refuse(c.Name.Span, "Column `%s` already exists in the table.", made.Name)
	case !there && modify:
		return expr.Refuse(c.Name.Span, "Column `%s` does not exist in the table.", made.Name)
	}
	columns := t.Schema.Columns
	if modify {
		made.Type.Time = old.Type.Time
		if k := t.Schema.PrimaryKey; k != nil && slices.Contains(k.Columns, made.Name) {
			made.Type = made.Type.NotNull()
		}
		if c.Comment == nil {
			made.Comment = old.Comment
		}
		columns = slices.Delete(columns, at, at+1)
	}
	switch p := c.Position; {
	case p == nil && modify:
	case p == nil:
		at = len(columns)
	case p.After == nil:
		at = 0
	case modify && p.After.Last() == made.Name: // it stays where it is
	default:
		i := slices.IndexFunc(columns, func(c catalog.Column) bool { return c.Name == p.After.Last() })
		if i < 0 {
			return expr.Refuse(p.After.Span, "Referenced column `%s` by 'AFTER' does not exist in the table.", p.After.Last())
		}
		at = i + 1
	}
	t.Schema.Columns = slices.Insert(columns, at, made)
	return nil
}

func alterKey(t *catalog.Table, c *ast.Constraint, columns []ast.Name, modify bool) error {
	old := t.Schema.PrimaryKey
	switch {
	case c.Unique:
	case old != nil && !modify:
		return expr.Refuse(c.Span, "The current table has already defined the primary key constraint [%s]. You might want to drop it before adding a new one.", backQuoted(old.Columns))
	case old == nil && modify:
		return expr.Refuse(c.Span, "The current table does not define any primary key constraint. You might want to add a new one.")
	}
	t.Schema.PrimaryKey = nil
	for _, name := range columns {
		if _, _, ok := t.Schema.Column(name.Text); !ok {
			return expr.Refuse(name.Span, "Invalid primary key 'PK_%s'. Column '%s' does not exist.", name.Text, name.Text)
		}
	}
	return constrain(t, c, columns, false)
}

func (st *statement) alterWatermark(t *catalog.Table, w *ast.Watermark, modify bool) error {
	there := len(t.Schema.Watermarks) > 0
	switch {
	case there && !modify:
		old := t.Schema.Watermarks[0]
		return expr.Refuse(w.Span, "The current table has already defined the watermark strategy `%s` AS %s. You might want to drop it before adding a new one.", old.Column, old.Expression)
	case !there && modify:
		return expr.Refuse(w.Span, "The current table does not define any watermark. You might want to add a new one.")
	}
	unmark(t)
	return st.watermark(t, w)
}

// unmark takes the watermark away.
func unmark(t *catalog.Table) {
	t.Schema.Watermarks = nil
	for i := range t.Schema.Columns {
		if t.Schema.Columns[i].Type.Time == types.Rowtime {
			t.Schema.Columns[i].Type.Time = types.NoTime
		}
	}
}

// settle binds the computed columns and the watermark again, over columns that may have
// changed.
func (st *statement) settle(t *catalog.Table) error {
	for i, c := range t.Schema.Columns {
		if c.Kind != catalog.Computed {
			continue
		}
		e, err := parse.Expression(c.Expression)
		if err != nil {
			return err
		}
		value, err := bind.Column(st.binding(), e, t.Schema.Stored())
		if err != nil {
			return expr.Refuse(ast.Span{}, "Invalid expression for computed column '%s': %v", c.Name, err)
		}
		mark := c.Type.Time
		t.Schema.Columns[i].Type = value.Type()
		if mark == types.Rowtime {
			t.Schema.Columns[i].Type.Time = mark
		}
	}
	for _, w := range t.Schema.Watermarks {
		if c, _, ok := t.Schema.Column(w.Column); !ok || !timed(c.Type) {
			return expr.Refuse(ast.Span{}, "Invalid data type of time field for watermark definition: column '%s' is needed as TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3", w.Column)
		}
	}
	return nil
}

// refers reports whether an expression that is kept as text names a column.
func refers(text, column string) bool {
	e, err := parse.Expression(text)
	if err != nil {
		return false
	}
	found := false
	ast.Walk(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Identifier); ok && id.Parts[0].Text == column {
			found = true
		}
		return !found
	})
	return found
}

// inUse refuses to take away or rename a column that something else of the table needs;
// gone are those that are taken away with it.
func inUse(t *catalog.Table, name string, at ast.Span, gone []string) error {
	for _, c := range t.Schema.Columns {
		if c.Kind == catalog.Computed && !slices.Contains(gone, c.Name) && refers(c.Expression, name) {
			return expr.Refuse(at, "The column `%s` is referenced by computed column `%s`.", name, c.Name)
		}
	}
	for _, w := range t.Schema.Watermarks {
		if w.Column == name || refers(w.Expression, name) {
			return expr.Refuse(at, "The column `%s` is referenced by watermark expression.", name)
		}
	}
	return nil
}

func (st *statement) dropColumns(t *catalog.Table, d *ast.DropColumns) error {
	var gone []string
	for _, c := range d.Columns {
		name := c.Last()
		if _, _, ok := t.Schema.Column(name); !ok || len(c.Parts) > 1 {
			return expr.Refuse(c.Span, "The column `%s` does not exist in the base table.", catalog.Dotted(c.Strings()))
		}
		if slices.Contains(gone, name) {
			return expr.Refuse(c.Span, "Duplicate column `%s`.", name)
		}
		gone = append(gone, name)
	}
	for i, name := range gone {
		at := d.Columns[i].Span
		if err := inUse(t, name, at, gone); err != nil {
			return err
		}
		switch k := t.Schema.PrimaryKey; {
		case k != nil && slices.Contains(k.Columns, name):
			return expr.Refuse(at, "The column `%s` is used as the primary key.", name)
		case slices.Contains(t.Partitions, name):
			return expr.Refuse(at, "The column `%s` is used as the partition keys.", name)
		case t.Distribution != nil && slices.Contains(t.Distribution.Keys, name):
			return expr.Refuse(at, "The column `%s` is used as a distribution key.", name)
		}
	}
	t.Schema.Columns = slices.DeleteFunc(t.Schema.Columns, func(c catalog.Column) bool { return slices.Contains(gone, c.Name) })
	return nil
}

func dropPart(t *catalog.Table, d *ast.DropPart) error {
	key := t.Schema.PrimaryKey
	switch d.Part {
	case "WATERMARK":
		if len(t.Schema.Watermarks) == 0 {
			return expr.Refuse(d.Span, "The current table does not define any watermark strategy.")
		}
		unmark(t)
	case "PRIMARY KEY":
		if key == nil {
			return expr.Refuse(d.Span, "The current table does not define any primary key.")
		}
		t.Schema.PrimaryKey = nil
	case "CONSTRAINT":
		switch {
		case key == nil:
			return expr.Refuse(d.Span, "The current table does not define any primary key.")
		case d.Name != nil && d.Name.Text != key.Name:
			return expr.Refuse(d.Name.Span, "The current table does not define a primary key constraint named '%s'. Available constraint name: ['%s'].", d.Name.Text, key.Name)
		}
		t.Schema.PrimaryKey = nil
	case "DISTRIBUTION":
		if t.Distribution == nil {
			return expr.Refuse(d.Span, "The base table does not define any distribution.")
		}
		t.Distribution = nil
	}
	return nil
}

func renameColumn(t *catalog.Table, r *ast.RenameColumn) error {
	from, to := r.From.Last(), r.To.Last()
	_, i, ok := t.Schema.Column(from)
	if !ok || len(r.From.Parts) > 1 {
		return expr.Refuse(r.From.Span, "The column `%s` does not exist in the base table.", catalog.Dotted(r.From.Strings()))
	}
	if _, _, taken := t.Schema.Column(to); taken {
		return expr.Refuse(r.To.Span, "The column `%s` already existed in table schema.", to)
	}
	if err := inUse(t, from, r.From.Span, nil); err != nil {
		return err
	}
	if slices.Contains(t.Partitions, from) {
		return expr.Refuse(r.From.Span, "Can not rename column %s because it is used as the partition keys.", from)
	}
	t.Schema.Columns[i].Name = to
	renamed := func(names []string) {
		for k := range names {
			if names[k] == from {
				names[k] = to
			}
		}
	}
	if t.Schema.PrimaryKey != nil {
		renamed(t.Schema.PrimaryKey.Columns)
	}
	if t.Distribution != nil {
		renamed(t.Distribution.Keys)
	}
	return nil
}
