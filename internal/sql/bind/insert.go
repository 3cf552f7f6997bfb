package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// Insert binds INSERT: the columns of the query become those of the table.
func Insert(o Options, s *ast.Insert) (*logical.Sink, error) {
	b := &binder{Options: o}
	if s.Upsert {
		return nil, expr.Refuse(s.Span, "UPSERT INTO statement is not supported. Please use INSERT INTO instead.")
	}
	path, err := b.Catalog.Qualify(s.Table.Strings())
	if err != nil {
		return nil, expr.Refuse(s.Table.Span, "%v", err)
	}
	t, err := b.Catalog.Table(path)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, expr.Refuse(s.Table.Span, "Cannot find table '%s' in any of the catalogs, nor as a temporary table.", path.Quoted())
	case t.Kind == catalog.View:
		return nil, expr.Refuse(s.Table.Span, "%s is a view, and a view cannot be written to", path)
	case t.Kind == catalog.MaterializedTable:
		return nil, expr.Refuse(s.Table.Span, "%s is a materialized table, which its query fills", path)
	case s.OnConflict != "" && t.Schema.PrimaryKey == nil:
		return nil, expr.Refuse(s.Table.Span, "ON CONFLICT clause is only allowed for upsert sinks, and %s has no PRIMARY KEY", path)
	}
	b.typedAround(s.Query)
	plan, err := b.query(s.Query, nil, nil)
	if err != nil {
		return nil, err
	}
	sink := &logical.Sink{Path: path, Table: t, Overwrite: s.Overwrite, Static: map[string]string{}, Hints: options(s.Hints)}
	var static []staticValue
	var values []*ast.PartitionValue
	if s.Partition != nil {
		values = s.Partition.Values
	}
	for _, p := range values {
		v, err := b.static(p, t)
		if err != nil {
			return nil, err
		}
		static = append(static, v)
		sink.Static[v.column] = v.text
	}
	sink.Input, err = b.toTable(plan, t.Schema.Persisted(), s.Columns, static, path, s.Query.Span)
	return sink, err
}

// staticValue is a column that PARTITION gives a value.
type staticValue struct {
	column, text string
	value        expr.Expr
}

func (b *binder) static(p *ast.PartitionValue, t *catalog.Table) (v staticValue, err error) {
	if !slices.Contains(t.Partitions, p.Column.Text) {
		return v, expr.Refuse(p.Column.Span, "Unknown target column '%s': the table is not partitioned by it%s", p.Column.Text, nearest(p.Column.Text, t.Partitions))
	}
	column, _, _ := t.Schema.Column(p.Column.Text)
	if p.Value == nil {
		return v, expr.Refuse(p.Span, "PARTITION must give '%s' a value", p.Column.Text)
	}
	value, err := b.expression(p.Value, &scope{b: b})
	if err != nil {
		return v, err
	}
	if value, err = b.assign(value, column.Type); err != nil {
		return v, err
	}
	c, ok := expr.Fold(value, b.Session).(*expr.Literal)
	if !ok {
		return v, expr.Refuse(p.Value.Range(), "the value of '%s' must be a constant", p.Column.Text)
	}
	return staticValue{p.Column.Text, expr.Display(c.T, c.Value, 0), c}, nil
}

// toTable lays the columns of a query out as those of a table: by the list of names if
// there is one, else in order; the others are NULL.
func (b *binder) toTable(plan logical.Node, target []types.Field, listed []ast.Name, static []staticValue, path catalog.Path, at ast.Span) (logical.Node, error) {
	fields := plan.Fields()
	columns := make([]expr.Expr, len(target))
	for _, s := range static {
		columns[slices.IndexFunc(target, func(f types.Field) bool { return f.Name == s.column })] = s.value
	}
	var open []int // the target columns that the query gives, in its order
	for _, name := range listed {
		i := slices.IndexFunc(target, func(f types.Field) bool { return f.Name == name.Text })
		switch {
		case i < 0:
			return nil, expr.Refuse(name.Span, "Unknown target column '%s'%s", name.Text, nearest(name.Text, fieldNames(target)))
		case slices.Contains(open, i) || columns[i] != nil:
			return nil, expr.Refuse(name.Span, "Target column '%s' is assigned more than once", name.Text)
		}
		open = append(open, i)
	}
	if len(listed) == 0 {
		for i, c := range columns {
			if c == nil {
				open = append(open, i)
			}
		}
	}
	if len(open) != len(fields) {
		return nil, expr.Refuse(at, "Column types of query result and sink for '%s' do not match.\nCause: Different number of columns.\n%s", path, schemas(fields, open, target))
	}
	for i, to := range open {
		e, err := b.assign(input(i, fields[i], at), target[to].Type)
		if err != nil {
			return nil, expr.Refuse(at, "Column types of query result and sink for '%s' do not match.\nCause: Incompatible types for sink column '%s' at position %d.\n%s", path, target[to].Name, i+1, schemas(fields, open, target))
		}
		columns[to] = e
	}
	for i, c := range columns {
		if c == nil {
			if !target[i].Type.Nullable {
				return nil, expr.Refuse(at, "Column '%s' has no default value and does not allow NULLs", target[i].Name)
			}
			columns[i] = expr.Null(target[i].Type, at)
		}
	}
	return b.enforced(plan, columns, target)
}

// schemas writes the columns of a query and those of the table that it is to give.
func schemas(query []types.Field, open []int, target []types.Field) string {
	sink := make([]types.Field, len(open))
	for i, to := range open {
		sink[i] = target[to]
	}
	return "Query schema: " + schema(query) + "\nSink schema:  " + schema(sink)
}

func schema(fields []types.Field) string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = f.Name + ": " + f.Type.String()
	}
	return "[" + strings.Join(columns, ", ") + "]"
}

// enforced keeps NULL from columns that are NOT NULL: such rows fail, or are left out.
func (b *binder) enforced(plan logical.Node, columns []expr.Expr, target []types.Field) (logical.Node, error) {
	var keep []expr.Expr
	for i, c := range columns {
		if target[i].Type.Nullable || !c.Type().Nullable {
			continue
		}
		var err error
		if b.DropNulls {
			var there expr.Expr
			if there, err = b.call("IS NOT NULL", c.Span(), c); err == nil {
				keep = append(keep, there)
			}
		} else {
			columns[i], err = b.Registry.Require(b.Session, c, target[i].Name)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, condition := range keep {
		plan = &logical.Filter{Input: plan, Condition: condition}
	}
	return project(plan, columns, fieldNames(target)), nil
}

// Into lays the columns of a plan out as those of a table with the same names; columns of
// the table that the plan has not are NULL.
func Into(o Options, plan logical.Node, target []types.Field, path catalog.Path, at ast.Span) (logical.Node, error) {
	b := &binder{Options: o}
	var listed []ast.Name
	for _, f := range plan.Fields() {
		listed = append(listed, ast.Name{Span: at, Text: f.Name})
	}
	return b.toTable(plan, target, listed, nil, path, at)
}

// Unique gives columns of equal names numbers, so that each has a name of its own.
func Unique(plan logical.Node) logical.Node {
	fields := plan.Fields()
	var names []string
	for _, f := range fields {
		name := f.Name
		for n := 0; slices.Contains(names, name); n++ {
			name = f.Name + strconv.Itoa(n)
		}
		names = append(names, name)
	}
	return project(plan, all(fields), names)
}
