package bind

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// matchScope is what names mean in MEASURES and DEFINE.
type matchScope struct {
	b    *binder
	rows *scope
	// time is the column that rows are ordered by first.
	time int
	// variables are those that each name stands for: itself, or several of a SUBSET.
	variables map[string][]string
	// defining is the variable whose condition is bound; empty: measures are.
	defining string
}

// Column resolves A.x: the column of the last row of A; a name alone is of any row.
func (m *matchScope) Column(parts []ast.Name) (expr.Expr, int, error) {
	var variables []string
	rest := parts
	if len(parts) > 1 {
		if variables = m.variables[parts[0].Text]; variables == nil {
			return nil, 0, expr.Refuse(parts[0].Span, "Table '%s' not found: it is no variable of the pattern", parts[0].Text)
		}
		rest = parts[1:]
	}
	e, used, err := m.rows.own(rest[:1], rest[0].Span)
	if err != nil {
		return nil, 0, err
	}
	in, ok := e.(*expr.Input)
	switch {
	case !ok && variables == nil:
		return nil, 0, expr.Refuse(rest[0].Span, "Column '%s' not found in any table", rest[0].Text)
	case !ok:
		return nil, 0, expr.Refuse(rest[0].Span, "Column '%s' not found in table '%s'", rest[0].Text, parts[0].Text)
	}
	at := parts[0].Span.To(rest[0].Span)
	return &logical.MatchRow{Variables: variables, Column: in.Index, Name: in.Name, T: in.T.OrNull(), At: at}, used + len(parts) - len(rest), nil
}

// Special binds what tells of a run.
func (m *matchScope) Special(e ast.Expr) (expr.Expr, bool, error) {
	if u, ok := e.(*ast.Unary); ok && (u.Op == ast.Final || u.Op == ast.Running) {
		switch {
		case m.defining != "":
			return nil, true, expr.Refuse(u.Span, "Cannot use RUNNING/FINAL in DEFINE '%s'", ast.String(u))
		case u.Op == ast.Running:
			return nil, true, expr.Refuse(u.Span, "RUNNING is not supported in MATCH_RECOGNIZE")
		}
		value, err := m.b.expression(u.Operand, m) // measures are of whole matches as it is
		return value, true, err
	}
	c, ok := e.(*ast.Call)
	if !ok || len(c.Name.Parts) != 1 {
		if call := m.b.aggregate(e); call != nil {
			value, err := m.aggregate(call, e)
			return value, true, err
		}
		return nil, false, nil
	}
	var value expr.Expr
	var err error
	switch name := strings.ToUpper(c.Name.Last()); name {
	case "FIRST", "LAST", "PREV", "NEXT":
		value, err = m.navigate(c, name)
	case "CLASSIFIER", "MATCH_NUMBER":
		err = expr.Refuse(c.Span, "%s is not supported in MATCH_RECOGNIZE", name)
	case "MATCH_ROWTIME", "MATCH_PROCTIME":
		value, err = m.timeOf(c, name)
	default:
		call := m.b.aggregate(e)
		if call == nil {
			return nil, false, nil
		}
		value, err = m.aggregate(call, c)
	}
	return value, true, err
}

// navigate binds FIRST, LAST, PREV and NEXT: their argument, with its columns taken of
// another row.
func (m *matchScope) navigate(c *ast.Call, name string) (expr.Expr, error) {
	if len(c.Args) < 1 || len(c.Args) > 2 {
		return nil, expr.Refuse(c.Span, "%s takes a value, and how many rows to pass over", name)
	}
	physical := name == "PREV" || name == "NEXT"
	if physical && m.defining == "" {
		return nil, expr.Refuse(c.Span, "Cannot use PREV/NEXT in MEASURE '%s'", ast.String(c))
	}
	n := 0
	if physical {
		n = 1
	}
	if len(c.Args) == 2 {
		var err error
		if n, err = m.offset(c.Args[1]); err != nil {
			return nil, err
		}
	}
	if err := m.navigable(c); err != nil {
		return nil, err
	}
	e, err := m.b.expression(c.Args[0], m)
	if err != nil {
		return nil, err
	}
	if physical && n > 0 {
		// The row before the last one of another variable is the one before it in the run.
		row, column := e.(*logical.MatchRow)
		if name == "NEXT" || !column || len(row.Variables) == 1 && row.Variables[0] == m.defining {
			return nil, expr.Refuse(c.Span, "physical offsets within partition are not supported: LAST(%s, n) passes over rows of the match", ast.String(c.Args[0]))
		}
	}
	if _, err := m.oneVariable(c, e); err != nil {
		return nil, err
	}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		row, ok := e.(*logical.MatchRow)
		if !ok || row.Time {
			return e
		}
		found := *row
		found.At, found.First, found.Offset = c.Span, name == "FIRST", n
		return &found
	}), nil
}

// offset is how many rows are passed over.
func (m *matchScope) offset(e ast.Expr) (int, error) {
	bound, err := m.b.expression(e, m)
	if err != nil {
		return 0, err
	}
	l, ok := expr.Fold(bound, m.b.Session).(*expr.Literal)
	if !ok || l.IsNull() || l.T.Kind != types.Int || l.Value.I32[0] < 0 {
		return 0, expr.Refuse(e.Range(), "how many rows to pass over must be a constant whole number of 0 or more")
	}
	return int(l.Value.I32[0]), nil
}

// navigable refuses arguments of FIRST and its like that tell of more than a row.
func (m *matchScope) navigable(c *ast.Call) (err error) {
	ast.Walk(c.Args[0], func(n ast.Node) bool {
		if err != nil {
			return false
		}
		if e, ok := n.(ast.Expr); ok && m.b.aggregate(e) != nil {
			err = expr.Refuse(e.Range(), "Cannot use aggregation in navigation '%s'", ast.String(e))
		}
		if inner, ok := n.(*ast.Call); ok && len(inner.Name.Parts) == 1 {
			switch strings.ToUpper(inner.Name.Last()) {
			case "FIRST", "LAST", "PREV", "NEXT":
				err = expr.Refuse(inner.Span, "Cannot nest PREV/NEXT under LAST/FIRST '%s'", ast.String(inner))
			}
		}
		return true
	})
	return err
}

// oneVariable is the variable that the columns of an expression are of; nil: all.
func (m *matchScope) oneVariable(whole ast.Expr, es ...expr.Expr) (variables []string, err error) {
	first := true
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) bool {
			row, ok := e.(*logical.MatchRow)
			if !ok {
				return true
			}
			if !first && !slices.Equal(row.Variables, variables) {
				err = expr.Refuse(whole.Range(), "Multiple pattern variables in '%s'", ast.String(whole))
			}
			variables, first = row.Variables, false
			return true
		})
	}
	return variables, err
}

// timeOf binds the time of a run, which is that of its last row.
func (m *matchScope) timeOf(c *ast.Call, name string) (expr.Expr, error) {
	if len(c.Args) > 0 {
		return nil, expr.Refuse(c.Span, "%s takes no arguments", name)
	}
	if name == "MATCH_PROCTIME" {
		return m.b.call("PROCTIME", c.Span)
	}
	t := types.TimestampOf(3).NotNull()
	t.Time = types.Rowtime
	return &logical.MatchRow{Column: m.time, Time: true, Name: m.rows.fields()[m.time].Name, T: t, At: c.Span}, nil
}

// aggregate binds an aggregate over the rows of one variable.
func (m *matchScope) aggregate(c *aggregateCall, whole ast.Expr) (expr.Expr, error) {
	switch {
	case c.Quantifier != "":
		return nil, expr.Refuse(c.at, "DISTINCT/ALL not allowed with %s function", ast.String(whole))
	case c.Filter != nil:
		return nil, expr.Refuse(c.at, "FILTER is not supported in MATCH_RECOGNIZE")
	case len(c.WithinGroup)+len(c.WithinDistinct)+len(c.OrderBy) > 0 || c.Nulls != "":
		return nil, expr.Refuse(c.at, "aggregates of MATCH_RECOGNIZE take the rows as they are: there is no ORDER BY, WITHIN or NULLS in %s", ast.String(whole))
	}
	a := &logical.MatchAggregate{Fn: c.fn, At: c.at}
	var args []expr.Expr
	rows := false
	for _, arg := range c.args {
		if star, ok := arg.(*ast.Star); ok {
			if len(star.Qualifier) > 0 {
				return nil, expr.Refuse(star.Span, "Unknown field '*'")
			}
			rows = true
			continue
		}
		if inner := aggregateIn(m.b, arg); inner != nil {
			return nil, expr.Refuse(inner.Range(), "Aggregate expressions cannot be nested")
		}
		e, err := m.b.expression(arg, m)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	var err error
	if a.Variables, err = m.oneVariable(whole, args...); err != nil {
		return nil, err
	}
	for i, e := range args {
		args[i] = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			row, ok := e.(*logical.MatchRow)
			if !ok {
				return e
			}
			rows = true
			return &expr.Input{Index: row.Column, Name: row.Name, T: row.T, At: row.At}
		})
	}
	if !rows {
		return nil, expr.Refuse(c.at, "Null parameters in '%s'", ast.String(whole))
	}
	typed, err := m.b.Registry.CallFunction(m.b.Session, c.fn, c.at, args...)
	if err != nil {
		return nil, err
	}
	a.Args, a.T = typed.(*expr.Call).Args, typed.Type()
	return a, nil
}
