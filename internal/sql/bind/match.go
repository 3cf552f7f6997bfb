package bind

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/types"
)

// matchRecognize binds MATCH_RECOGNIZE.
func (b *binder) matchRecognize(m *ast.MatchRecognize, s *scope) (logical.Node, error) {
	rows := &scope{b: b, outer: s.outer, ctes: s.ctes}
	input, err := b.from(m.Relation, rows, nil)
	if err != nil {
		return nil, err
	}
	node := &logical.Match{Input: input, Pattern: m.Pattern, AtFirst: m.Start, AtLast: m.End, Defines: map[string]expr.Expr{}}
	names := map[string]bool{}
	for _, e := range m.PartitionBy {
		k, err := b.expression(e, rows)
		if err != nil {
			return nil, err
		}
		in, ok := k.(*expr.Input)
		switch {
		case !ok:
			return nil, expr.Refuse(e.Range(), "PARTITION BY of MATCH_RECOGNIZE takes columns")
		case names[in.Name]:
			return nil, expr.Refuse(e.Range(), "Column '%s' is ambiguous: rows are partitioned by it already", in.Name)
		}
		names[in.Name] = true
		node.Partition = append(node.Partition, in.Index)
	}
	if err := b.matchOrder(node, m, rows); err != nil {
		return nil, err
	}
	scope := &matchScope{b: b, rows: rows, time: node.Order[0].Column}
	if err := scope.pattern(node, m); err != nil {
		return nil, err
	}
	if err := b.matchRest(node, m, rows); err != nil {
		return nil, err
	}
	for _, d := range m.Define {
		scope.defining = d.Name.Text
		if node.Defines[d.Name.Text], err = b.condition(d.Condition, scope, "DEFINE"); err != nil {
			return nil, err
		}
	}
	scope.defining = ""
	for _, item := range m.Measures {
		e, err := b.expression(item.Expr, scope)
		if err != nil {
			return nil, err
		}
		name := item.Alias.Text
		if names[name] {
			return nil, expr.Refuse(item.Alias.Span, "Columns ambiguously defined: {%s}", name)
		}
		names[name] = true
		node.Measures, node.Names = append(node.Measures, e), append(node.Names, name)
	}
	if len(node.Measures) == 0 {
		return nil, expr.Refuse(m.Span, "MATCH_RECOGNIZE needs MEASURES")
	}
	return node, nil
}

// matchOrder binds ORDER BY, which begins with time.
func (b *binder) matchOrder(node *logical.Match, m *ast.MatchRecognize, rows *scope) error {
	for i, item := range m.OrderBy {
		k, err := b.expression(item.Expr, rows)
		if err != nil {
			return err
		}
		in, ok := k.(*expr.Input)
		switch {
		case !ok:
			return expr.Refuse(item.Span, "ORDER BY of MATCH_RECOGNIZE takes columns")
		case i == 0 && b.Session.Streaming && in.T.Time == types.NoTime:
			return expr.Refuse(item.Span, "You must specify either rowtime or proctime for order by as the first one.")
		case i == 0 && !in.T.Kind.IsTimestamp():
			return expr.Refuse(item.Span, "You must specify time point for order by as the first one.")
		}
		key := sortKey(in.Index, item)
		switch {
		case i == 0 && key.Descending && b.Session.Streaming:
			return expr.Refuse(item.Span, "Primary sort order of a streaming table must be ascending on time.")
		case i == 0 && key.Descending:
			return expr.Refuse(item.Span, "Primary sort order of a table must be ascending on time.")
		}
		node.Order = append(node.Order, key)
	}
	switch {
	case len(node.Order) == 0 && b.Session.Streaming:
		return expr.Refuse(m.Span, "You must specify either rowtime or proctime for order by.")
	case len(node.Order) == 0:
		return expr.Refuse(m.Span, "You must specify non-empty order by.")
	}
	return nil
}

// matchRest binds what is said of rows, of what comes after a run, and of its time.
func (b *binder) matchRest(node *logical.Match, m *ast.MatchRecognize, rows *scope) error {
	if m.Rows != "" && m.Rows != "ONE ROW PER MATCH" {
		return expr.Refuse(m.Span, "All rows per match mode is not supported yet.")
	}
	if a := m.After; a != nil {
		node.Skip.Kind = skips[a.Kind]
		if a.Variable != nil {
			if node.Skip.Element = slices.Index(node.Variables, a.Variable.Text); node.Skip.Element < 0 {
				return expr.Refuse(a.Variable.Span, "Unknown pattern '%s'", a.Variable.Text)
			}
		}
	}
	if m.Within == nil {
		return nil
	}
	e, err := b.expression(m.Within, rows)
	if err != nil {
		return err
	}
	c, ok := expr.Fold(e, b.Session).(*expr.Literal)
	switch {
	case !ok || c.IsNull() || c.T.Kind != types.IntervalDayTime:
		return expr.Refuse(m.Within.Range(), "Only constant intervals with millisecond resolution are supported as time constraints of patterns.")
	case c.Value.I64[0] < 0:
		return expr.Refuse(m.Within.Range(), "Interval must be non-negative")
	}
	node.Within = c.Value.I64[0]
	return nil
}

// skips are the places after a run as they are written.
var skips = map[string]pattern.SkipKind{
	"PAST LAST ROW": pattern.PastLastRow, "TO NEXT ROW": pattern.ToNextRow, "TO FIRST": pattern.ToFirst, "TO LAST": pattern.ToLast,
}

// pattern finds the variables of a pattern, those that are only defined, and the names of
// several, and refuses patterns that no run is found by.
func (m *matchScope) pattern(node *logical.Match, clause *ast.MatchRecognize) error {
	var spans []ast.Span
	if err := elements(node, clause.Pattern, &spans); err != nil {
		return err
	}
	m.variables = map[string][]string{}
	for i, v := range node.Variables {
		if m.variables[v] != nil {
			return expr.Refuse(spans[i], "Pattern variables must be unique. That might change in the future.")
		}
		m.variables[v] = []string{v}
	}
	if at, err := pattern.Check(node.Elements); err != nil {
		return expr.Refuse(spans[at], "%s", err)
	}
	for _, s := range clause.Subsets {
		if m.variables[s.Name.Text] != nil {
			return expr.Refuse(s.Name.Span, "Pattern variable '%s' has already been defined", s.Name.Text)
		}
		var members []string
		for _, name := range s.Members {
			if !slices.Contains(node.Variables, name.Text) {
				return expr.Refuse(name.Span, "Unknown pattern '%s'", name.Text)
			}
			members = append(members, name.Text)
		}
		m.variables[s.Name.Text] = members
	}
	defined := map[string]bool{}
	for _, d := range clause.Define {
		name := d.Name.Text
		if defined[name] || m.variables[name] != nil && !slices.Contains(node.Variables, name) {
			return expr.Refuse(d.Name.Span, "Pattern variable '%s' has already been defined", name)
		}
		defined[name], m.variables[name] = true, []string{name}
	}
	return nil
}

// elements adds the variables of a pattern, and where they are written.
func elements(node *logical.Match, p ast.Pattern, spans *[]ast.Span) error {
	add := func(name string, e pattern.Element, at ast.Span) error {
		node.Variables, node.Elements = append(node.Variables, name), append(node.Elements, e)
		*spans = append(*spans, at)
		return nil
	}
	switch p := p.(type) {
	case *ast.PatternVariable:
		return add(p.Name, pattern.One, p.Span)
	case *ast.PatternSequence:
		for _, item := range p.Items {
			if err := elements(node, item, spans); err != nil {
				return err
			}
		}
		return nil
	case *ast.PatternRepeat:
		v, one := p.Pattern.(*ast.PatternVariable)
		if !one {
			return expr.Refuse(p.Span, "Expression not supported: %s Group patterns are not supported yet.", ast.String(p.Pattern))
		}
		return add(v.Name, pattern.Element{Min: p.Min, Max: p.Max, Reluctant: p.Reluctant}, p.Span)
	}
	what := "branching patterns"
	switch p.(type) {
	case *ast.PatternExclude:
		what = "'{-' '-}' patterns"
	case *ast.PatternPermute:
		what = "PERMUTE patterns"
	}
	return expr.Refuse(p.Range(), "Expression not supported: %s. Currently, CEP doesn't support %s.", ast.String(p), what)
}

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
