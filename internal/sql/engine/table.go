package engine

import (
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// createTable makes a table, and fills it if it was made AS a query.
func (st *statement) createTable(c *ast.CreateTable) (*session.Result, error) {
	if c.As != nil {
		return st.createTableAs(c)
	}
	if c.Replace {
		return nil, expr.Refuse(c.Span, "REPLACE TABLE needs AS and a query")
	}
	path, err := st.qualify(&c.Name)
	if err != nil {
		return nil, err
	}
	t, err := st.table(c)
	if err != nil {
		return nil, err
	}
	return st.put(c, path, t)
}

// put keeps a table that was made.
func (st *statement) put(c *ast.CreateTable, path catalog.Path, t *catalog.Table) (*session.Result, error) {
	if c.OrReplace || c.Replace {
		old, err := st.names.Table(path)
		if err != nil {
			return nil, err
		}
		if old != nil {
			if old.Kind != catalog.BaseTable {
				return nil, refused(session.ClassValidation, "%s is a view, and REPLACE replaces tables", path)
			}
			if err := st.names.ReplaceTable(path, t); err != nil {
				return nil, err
			}
			return done(), nil
		}
	}
	if _, err := st.names.CreateTable(path, t, c.IfNotExists); err != nil {
		return nil, err
	}
	return done(), nil
}

// createTableAs makes a table of a query's columns, and begins the job that fills it.
func (st *statement) createTableAs(c *ast.CreateTable) (*session.Result, error) {
	path, t, sink, err := st.tableAs(c)
	if err != nil {
		return nil, err
	}
	if st.planOnly {
		return st.write(sink)
	}
	old, err := st.names.Table(path)
	if err != nil {
		return nil, err
	}
	if old != nil && c.IfNotExists {
		return done(), nil
	}
	if _, err := st.planned(sink); err != nil { // before the table is there
		return nil, err
	}
	if _, err := st.put(c, path, t); err != nil {
		return nil, err
	}
	return st.write(sink)
}

// tableAs makes the table of CREATE TABLE … AS, and the plan that fills it.
func (st *statement) tableAs(c *ast.CreateTable) (catalog.Path, *catalog.Table, *logical.Sink, error) {
	path, err := st.qualify(&c.Name)
	if err != nil {
		return path, nil, nil, err
	}
	if c.Temporary {
		return path, nil, nil, expr.Refuse(c.Span, "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
	}
	if c.Like != nil {
		return path, nil, nil, expr.Refuse(c.Like.Span, "a table is made LIKE another or AS a query, not both")
	}
	query, err := bind.Query(st.binding(), c.As)
	if err != nil {
		return path, nil, nil, err
	}
	query = bind.Unique(query)
	t, err := st.shaped(c, query.Fields())
	if err != nil {
		return path, nil, nil, err
	}
	input, err := bind.Into(st.binding(), query, t.Schema.Persisted(), path, c.As.Span)
	if err != nil {
		return path, nil, nil, err
	}
	return path, t, &logical.Sink{Path: path, Table: t, Input: input, Static: map[string]string{}}, nil
}

// shaped makes a table of a query's columns and of what else is declared.
func (st *statement) shaped(c *ast.CreateTable, fields []types.Field) (*catalog.Table, error) {
	t := &catalog.Table{Options: pairs(c.Options), Comment: text(c.Comment)}
	elements, err := queryColumns(t, c, fields)
	if err != nil {
		return nil, err
	}
	if err := st.elements(t, elements, true); err != nil {
		return nil, err
	}
	return t, laidOut(t, c)
}

// queryColumns begins a table with the columns of a query: in the order of the list if one
// was written, and else behind the columns that are declared. It gives the elements that
// are left to declare.
func queryColumns(t *catalog.Table, c *ast.CreateTable, fields []types.Field) ([]ast.TableElement, error) {
	var rest []ast.TableElement
	var listed []*ast.Column
	declared := map[string]bool{}
	for _, e := range c.Elements {
		column, ok := e.(*ast.Column)
		if ok && column.Kind == ast.ColumnReference {
			listed = append(listed, column)
			continue
		}
		if ok {
			declared[column.Name.Last()] = true
		}
		rest = append(rest, e)
	}
	names := map[string]types.Type{}
	var order []string
	for _, f := range fields {
		plain := f.Type
		plain.Time = types.NoTime
		names[f.Name] = plain
		order = append(order, f.Name)
	}
	if len(listed) > 0 {
		if len(listed) != len(fields) {
			return nil, expr.Refuse(c.Name.Span, "The number of columns in the column list must match the number of columns in the source schema.")
		}
		order = nil
		for _, l := range listed {
			if _, ok := names[l.Name.Last()]; !ok {
				return nil, expr.Refuse(l.Span, "Column '%s' not found in the source schema.", l.Name.Last())
			}
			if slices.Contains(order, l.Name.Last()) {
				return nil, expr.Refuse(l.Span, "Column '%s' is listed twice", l.Name.Last())
			}
			order = append(order, l.Name.Last())
		}
	}
	for _, name := range order {
		if !declared[name] {
			t.Schema.Columns = append(t.Schema.Columns, catalog.Column{Name: name, Type: names[name]})
		}
	}
	return rest, nil
}

// table makes what a catalog keeps of a CREATE TABLE.
func (st *statement) table(c *ast.CreateTable) (*catalog.Table, error) {
	t := &catalog.Table{Options: map[string]string{}}
	if c.Like != nil {
		base, err := st.like(c)
		if err != nil {
			return nil, err
		}
		t = base
	}
	for k, v := range pairs(c.Options) {
		t.Options[k] = v
	}
	t.Temporary = c.Temporary
	if c.Comment != nil {
		t.Comment = c.Comment.Value
	}
	if err := st.elements(t, c.Elements, false); err != nil {
		return nil, err
	}
	return t, laidOut(t, c)
}

// laidOut says how a table's rows are spread.
func laidOut(t *catalog.Table, c *ast.CreateTable) error {
	for i, name := range c.PartitionBy {
		if _, _, ok := t.Schema.Column(name.Text); !ok {
			return expr.Refuse(name.Span, "Partition column '%s' not defined in the table schema. Available columns: %s", name.Text, quotedList(t.Schema.Names()))
		}
		if !slices.Contains(t.Partitions[:min(i, len(t.Partitions))], name.Text) {
			t.Partitions = append(t.Partitions, name.Text)
		}
	}
	if c.Distribution != nil {
		return distribute(t, c.Distribution)
	}
	return nil
}

// distribute says how a table's rows are spread over buckets.
func distribute(t *catalog.Table, d *ast.Distribution) error {
	spread := &catalog.Distribution{Kind: d.Kind}
	for _, name := range d.Columns {
		if column, _, ok := t.Schema.Column(name.Text); !ok || column.Kind != catalog.Physical {
			return expr.Refuse(name.Span, "Invalid bucket key '%s'. A bucket key for a distribution must reference a physical column in the schema. Available columns are: %s", name.Text, quotedList(t.Schema.Names()))
		}
		spread.Keys = append(spread.Keys, name.Text)
	}
	if d.Buckets != nil {
		n, err := strconv.Atoi(d.Buckets.Text)
		if err != nil || n <= 0 {
			return expr.Refuse(d.Buckets.Span, "the number of buckets must be a whole number above 0, and this is %s", d.Buckets.Text)
		}
		spread.Buckets = n
	}
	t.Distribution = spread
	return nil
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

// qualify makes a name a whole path.
func (st *statement) qualify(name *ast.ObjectName) (catalog.Path, error) {
	path, err := st.names.Qualify(name.Strings())
	if err != nil {
		return path, expr.Refuse(name.Span, "%v", err)
	}
	return path, nil
}
