package bind

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// Options are what names and functions are looked up in.
type Options struct {
	Catalog  *catalog.Manager
	Registry *expr.Registry
	Session  *expr.Session
	// Parse reads the query of a view, and Expression a column's.
	Parse      func(text string) (*ast.Query, error)
	Expression func(text string) (ast.Expr, error)
	// DropNulls says that rows with NULL for a column that is NOT NULL are not written,
	// instead of failing.
	DropNulls bool
	// Function finds a user's function, with its whole path if it is in a database; nil:
	// there are none.
	Function func(name []string) (fn *expr.Function, path []string, err error)
	// FunctionNames are those of the user's functions that need no path, to suggest one;
	// nil: there are none.
	FunctionNames func() []string
	// Side finds the table that a table's connector has beside it, and no catalog; nil:
	// there are none.
	Side func(path catalog.Path) (*catalog.Table, error)
}

// Query binds a query.
func Query(o Options, q *ast.Query) (logical.Node, error) {
	return (&binder{Options: o}).query(q, nil, nil)
}

// Column binds an expression over the columns of a table, as computed columns and
// watermarks are.
func Column(o Options, e ast.Expr, columns []types.Field) (expr.Expr, error) {
	b := &binder{Options: o}
	s := &scope{b: b}
	s.add(nil, columns)
	return b.expression(e, s)
}

// maxViews is how deep views may refer to views: a bound for those that refer to
// themselves.
const maxViews = 100

// binder binds one statement.
type binder struct {
	Options
	views int // that are being bound
	// full is what names stand for, of a view's query; nil: nobody asks.
	full *fullNames
	// typed are the SELECTs whose columns get their types from what is around them, so
	// that one may be NULL and no more.
	typed map[*ast.Select]bool
}

// typedAround notes that what is around a query gives its columns their types.
func (b *binder) typedAround(body ast.QueryBody) {
	switch body := body.(type) {
	case *ast.Query:
		b.typedAround(body.Body)
	case *ast.Select:
		if b.typed == nil {
			b.typed = map[*ast.Select]bool{}
		}
		b.typed[body] = true
	}
}

// commonTables are the queries of WITH, the innermost first.
type commonTables struct {
	name   string
	plan   logical.Node
	around *commonTables
}

func (c *commonTables) find(name string) (logical.Node, bool) {
	for ; c != nil; c = c.around {
		if c.name == name {
			return c.plan, true
		}
	}
	return nil, false
}

// expression binds an expression where a scope says what names mean.
func (b *binder) expression(e ast.Expr, s expr.Scope) (expr.Expr, error) {
	return (&expr.Binder{Registry: b.Registry, Session: b.Session, Scope: s, Function: b.userFunction}).Expr(e)
}

// call makes the call of a function or operator.
func (b *binder) call(name string, at ast.Span, args ...expr.Expr) (expr.Expr, error) {
	return b.Registry.Call(b.Session, name, at, args...)
}

// userFunction finds a function that is not built in.
func (b *binder) userFunction(name *ast.ObjectName) (*expr.Function, error) {
	if b.Function != nil {
		fn, path, err := b.Function(name.Strings())
		switch {
		case err != nil:
			return nil, expr.Refuse(name.Span, "%v", err)
		case fn != nil && fn.Category == TableFunction:
			return nil, expr.Refuse(name.Span, "%s gives a table: it stands in FROM, as TABLE(%s(…))", name.Last(), name.Last())
		case fn != nil:
			b.full.function(name, path)
			return fn, nil
		}
	}
	near := nearest(name.Last(), b.functionNames())
	return nil, expr.Refuse(name.Parts[len(name.Parts)-1].Span, "No match found for function signature %s: there is no such function%s", dotted(name.Parts), near)
}

func (b *binder) functionNames() []string {
	var names []string
	for _, f := range b.Registry.Functions() {
		if f.Form != expr.Operator {
			names = append(names, f.Name)
		}
	}
	if b.FunctionNames != nil {
		names = append(names, b.FunctionNames()...)
	}
	return names
}

// query binds a query within the scope of another; outer is nil if there is none.
func (b *binder) query(q *ast.Query, outer expr.Scope, ctes *commonTables) (logical.Node, error) {
	for _, c := range q.With {
		if at := itself(c); q.Recursive && at != nil {
			return nil, expr.Refuse(at.Span, "WITH RECURSIVE is not supported: '%s' cannot be read in the query that makes it; write out its levels with UNION ALL", c.Name.Text)
		}
		plan, err := b.query(c.Query, outer, ctes)
		if err != nil {
			return nil, err
		}
		at := c.Span
		if n := len(c.Columns); n > 0 { // with the parentheses around them
			at = ast.Span{Start: c.Columns[0].Start - 1, End: c.Columns[n-1].End + 1}
		}
		if plan, err = rename(plan, c.Columns, at); err != nil {
			return nil, err
		}
		ctes = &commonTables{c.Name.Text, plan, ctes}
	}
	s, ok := q.Body.(*ast.Select)
	if ok {
		return b.selection(s, q, outer, ctes)
	}
	plan, err := b.body(q.Body, outer, ctes)
	if err != nil {
		return nil, err
	}
	return b.orderResult(plan, q, ctes)
}

// itself is where the query of a WITH reads what it makes; nil: nowhere.
func itself(c *ast.CommonTable) (at *ast.TableName) {
	ast.Walk(c.Query, func(n ast.Node) bool {
		if t, ok := n.(*ast.TableName); ok && at == nil && len(t.Name.Parts) == 1 && t.Name.Last() == c.Name.Text {
			at = t
		}
		return at == nil
	})
	return at
}

// body binds what a query or an operand of a set operation is.
func (b *binder) body(body ast.QueryBody, outer expr.Scope, ctes *commonTables) (logical.Node, error) {
	switch body := body.(type) {
	case *ast.Query:
		return b.query(body, outer, ctes)
	case *ast.Select:
		return b.selection(body, &ast.Query{}, outer, ctes)
	case *ast.SetOperation:
		return b.setOperation(body, outer, ctes)
	case *ast.Values:
		return b.values(body, outer, ctes)
	case *ast.ExplicitTable:
		plan, path, err := b.table(&body.Name, nil, ctes)
		b.full.table(&body.Name, path)
		return plan, err
	}
	return nil, expr.Refuse(body.Range(), "this is no query")
}

// rename gives a plan's columns other names; none: they keep theirs.
func rename(plan logical.Node, columns []ast.Name, at ast.Span) (logical.Node, error) {
	fields := plan.Fields()
	if len(columns) == 0 {
		return plan, nil
	}
	if len(columns) != len(fields) {
		return nil, expr.Refuse(at, "the list has %d names of columns, and the query %d columns", len(columns), len(fields))
	}
	p := &logical.Project{Input: plan}
	for i, f := range fields {
		p.Exprs, p.Names = append(p.Exprs, input(i, f, ast.Span{})), append(p.Names, columns[i].Text)
	}
	return p, nil
}

// all are the columns of a row as expressions.
func all(fields []types.Field) []expr.Expr {
	exprs := make([]expr.Expr, len(fields))
	for i, f := range fields {
		exprs[i] = input(i, f, ast.Span{})
	}
	return exprs
}

// values binds VALUES.
func (b *binder) values(v *ast.Values, outer expr.Scope, ctes *commonTables) (logical.Node, error) {
	s := &scope{b: b, outer: outer, ctes: ctes}
	var rows [][]expr.Expr
	for _, r := range v.Rows {
		var row []expr.Expr
		for _, c := range r.Elements {
			e, err := b.expression(c, s)
			if err != nil {
				return nil, err
			}
			row = append(row, e)
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			return nil, expr.Refuse(v.Range(), "Values passed to VALUES operator must have compatible types: a row of VALUES has %d columns, and the first %d", len(row), len(rows[0]))
		}
		rows = append(rows, row)
	}
	fields := make([]types.Field, len(rows[0]))
	for c := range fields {
		column := make([]expr.Expr, len(rows))
		for i, r := range rows {
			column[i] = r[c]
		}
		if err := b.unify(column, v.Range()); err != nil {
			return nil, err
		}
		fields[c] = types.Field{Name: generated(c), Type: column[0].Type()}
		for i, r := range rows {
			r[c] = column[i]
			fields[c].Type.Nullable = fields[c].Type.Nullable || column[i].Type().Nullable
		}
	}
	return &logical.Values{Row: fields, Rows: rows}, nil
}
